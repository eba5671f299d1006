/** Prints the balance of a solution (fem/weft_problem_results.h), and adds it to JSON. */
#pragma once

#include "apps/common/support.h"

struct app_run;
void app_balance_print(const struct app_run *run);
/** Add "reactions", "exchange", "loads", "equation", "storage" and "balance". */
bool app_balance_json(json_t *root, const struct app_run *run);
