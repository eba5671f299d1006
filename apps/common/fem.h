/** Shared by apps that solve on a mesh: memory estimates, scripts, and checks of the user's texts. Includes the options and reports of apps/common. */
#pragma once

#include "apps/common/option_table.h"
#include "apps/common/report.h"
#include "fem/linear/memory.h"
#include "forms/weft_ufl.h"

/* ---- memory ------------------------------------------------------------------------------- */

/** Before a large built-in mesh is made: refuse one with which functions of degree 1 do not fit on the
 *  device. On the null device, whether they would fit on the device that it stands for.
 *  (apps/common/memory_forecast.c)
 *  Errors  WEFT_ERROR_MEMORY: it does not fit; the hint names the largest mesh that does */
weft_status app_memory_forecast(weft_device *device, const app_run_options *options,
                                weft_error *error);
/* ---- the user's scripts (apps/common/script.c) ---------------------------------------------- */

/** Read a script.
 *  name    a file, a shipped script, or "-" for stdin; a file precedes a shipped script
 *  text    malloc'd
 *  Errors  WEFT_ERROR_IO (lists the shipped scripts), WEFT_ERROR_INPUT */
weft_status app_script_read(const char *name, char **text, weft_error *error);
/** The option --degrees of a form file: a row for a member of type weft_ufl_degrees. */
app_option_read app_read_degrees;
#define APP_DEGREES(type, member)                                                                  \
    {                                                                                              \
        "degrees", "VERSION",                                                                      \
            "Version of UFL whose degrees the quadrature rules of a form file have: 2026.1 "       \
            "(default), or 2026.2 or main, which take for a component of a mixed function the "    \
            "degree of its part instead of the largest one",                                       \
            APP_BY(app_read_degrees, type, member)                                                 \
    }
/** Does the name end in .ufl or .py? */
bool app_is_form_file(const char *name);
/** As app_script_read, and form files too (.ufl, .py), whose script is made.
 *  ufl   the form file, whose functions the script calls (weft_ufl_add_functions); caller's; weft_ufl_free.
 *        Left NULL for a script
 *  text  caller's; free()
 *  Errors  also those of weft_ufl_read and weft_ufl_script */
weft_status app_script_read_forms(const char *name, const weft_ufl_options *options, weft_ufl **ufl,
                                  char **text, weft_error *error);
/** Check that a file or shipped script exists.
 *  is_wanted  selects by text the shipped scripts that the error lists; NULL: all
 *  Errors     WEFT_ERROR_IO */
weft_status app_script_check(const char *name, bool (*is_wanted)(const char *text),
                             weft_error *error);

/* ---- checks (apps/common/check.c) ----------------------------------------------------------- */

/** Formulas of a command line with the options that they come from. Start from {0}; app_formulas_clear. */
typedef struct app_formulas {
    weft_expression *list; /* malloc'd; texts borrowed, or */
    int n;
    char **texts; /* [n_texts] of lists, malloc'd */
    int n_texts;
} app_formulas;
/** Append a formula; text NULL: nothing.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status app_formulas_add(app_formulas *formulas, const char *origin, const char *text,
                             weft_error *error);
/** Append those of a list with one for each component, but not `free`. */
weft_status app_formulas_add_list(app_formulas *formulas, const char *origin, const char *text,
                                  weft_error *error);
void app_formulas_clear(app_formulas *formulas);
/** Compile formulas only to find their errors, before a long run of the mesher.
 *  with_time    they may use t as well as x, y, z
 *  formulas   their names are set here
 *  Errors       WEFT_ERROR_SYNTAX, WEFT_ERROR_TYPE with a caret in the user's text */
weft_status app_expressions_check(const weft_library *library, const weft_limits *limits,
                                  bool with_time, app_formulas *formulas, weft_error *error);
