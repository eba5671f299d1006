/** What was solved, as one line of text for reports, JSON and result files.
 *  In: what a program says of its equation, and the conditions of the options. Out: run->statement, in which
 *  "(default)" marks what was not given:
 *
 *      -div(k grad u) = f, k = 1 (default), f = x; u = 0 on left; flux 0 elsewhere (default) */
#pragma once

#include "apps/common/run.h"

/** Append ", NAME = VALUE", or the default with its mark where value is NULL. */
void app_state_datum(weft_text *out, const char *name, const char *value, const char *otherwise);
/** Set run->statement. The space is there.
 *  equation  with its data; borrowed
 *  unknown   "u"
 *  natural   what holds where no condition is given, "natural"; NULL: without any condition u = 0 on the whole
 *            boundary, else no flux
 *  Errors    WEFT_ERROR_MEMORY */
weft_status app_run_state(app_run *run, const weft_text *equation, const char *unknown,
                          const char *natural, weft_error *error);
/** Print the line `problem` to stdout. */
void app_run_print_statement(const app_run *run);
/** Add "problem". */
bool app_run_json_statement(json_t *root, const app_run *run);
