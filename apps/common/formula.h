/** Formulas of the command line. In: texts of options, which may be given for groups. Out: texts as
 *  weft_expression takes them, one per component. */
#pragma once

#include "apps/common/option_table.h"
#include "fem/data/data.h"
#include "fem/weft_fem.h"

/** Add the text of an option, FORMULA or @GROUP=FORMULA, to those given before. A formula without a
 *  group replaces the one before it.
 *  formula  malloc'd, or NULL; in and out
 *  Errors   WEFT_ERROR_USAGE (an empty text), WEFT_ERROR_SYNTAX, WEFT_ERROR_MEMORY */
weft_status app_formula_add(const char *option, const char *text, char **formula,
                            weft_error *error);
/** The same, with the group apart: "" for none. */
weft_status app_formula_add_group(const char *option, const char *group, const char *text,
                                  char **formula, weft_error *error);
/** Reads an option of this kind into a char *. */
app_option_read app_read_formula;
