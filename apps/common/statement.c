/* States the solved problem in one line: equation, data, conditions, defaults. */
#include "apps/common/statement.h"
#include "apps/common/constraints.h"
#include "apps/common/fem.h"

#include <stdlib.h>
#include <string.h>

/* Characters of a formula, and of the whole, at most: the values of a table can be long, and an attribute of HDF5 has
 * 64 KB. */
enum { SHOWN = 200, SHOWN_IN_ALL = 20000 };

/* A formula on one line. */
static void add_formula(weft_text *out, const char *text) {
    int n = 0;
    bool was_blank = true;
    for (; *text && n < SHOWN; ++text) {
        const bool is_blank = (unsigned char)*text <= ' ' || *text == 127;
        if (!is_blank || !was_blank)
            weft_text_add(out, "%c", is_blank ? ' ' : *text);
        n += !is_blank || !was_blank;
        was_blank = is_blank;
    }
    if (*text)
        weft_text_add(out, "...");
}

void app_state_datum(weft_text *out, const char *name, const char *value, const char *otherwise) {
    weft_text_add(out, ", %s = ", name);
    add_formula(out, value ? value : otherwise);
    weft_text_add(out, value ? "" : " (default)");
}

static void add_condition(const app_condition *one, const char *unknown, weft_text *out) {
    if (one->kind == WEFT_DIRICHLET)
        weft_text_add(out, "; %s = ", unknown);
    else
        weft_text_add(out, "; flux ");
    add_formula(out, one->value);
    if (one->alpha) {
        const bool is_sum = strpbrk(one->alpha, "+-*/^,; ") != NULL;
        weft_text_add(out, is_sum ? " - (" : " - ");
        add_formula(out, one->alpha);
        weft_text_add(out, is_sum ? ") %s" : " %s", unknown);
    }
    weft_text_add(out, " on ");
    add_formula(out, one->group);
}

/* What holds where no condition does. Components that are `free` in a condition have none. */
static void add_rest(const app_run *run, const char *unknown, const char *natural, weft_text *out) {
    const app_conditions *conditions = &run->options->conditions;
    bool is_covered = false;
    for (int i = 0; i < conditions->n; ++i)
        is_covered |= strcmp(conditions->list[i].group, "boundary") == 0 &&
                      !weft_has_word(conditions->list[i].value, "free");
    if (conditions->n == 0 && !natural && !app_has_constraints(run->options))
        weft_text_add(out, "; %s = 0 on the whole boundary (default)", unknown);
    else if (!is_covered)
        weft_text_add(out, "; %s%s (default)", natural ? natural : "flux 0",
                      conditions->n == 0 ? " on the whole boundary" : " elsewhere");
    if (run->problem->system.linear.project_mean)
        weft_text_add(out, "; the integral of %s is 0, for nothing fixes a constant", unknown);
}

weft_status app_run_state(app_run *run, const weft_text *equation, const char *unknown,
                          const char *natural, weft_error *error) {
    weft_text out = {0}, constraints = {0};
    weft_text_add(&out, "%s", equation->data ? equation->data : "");
    for (int i = 0; i < run->options->conditions.n; ++i)
        add_condition(&run->options->conditions.list[i], unknown, &out);
    app_constraints_write(&run->options->constraints, &constraints);
    if (constraints.data) {
        weft_text_add(&out, "; ");
        add_formula(&out, constraints.data);
    }
    add_rest(run, unknown, natural, &out);
    free(run->statement);
    run->statement = out.failed || equation->failed || constraints.failed
                         ? NULL
                         : strndup(out.data, SHOWN_IN_ALL);
    weft_text_free(&out);
    weft_text_free(&constraints);
    return run->statement ? WEFT_OK : weft_out_of_memory(error, NULL);
}

void app_run_print_statement(const app_run *run) {
    if (run->statement)
        printf("problem     %s\n", run->statement);
}

bool app_run_json_statement(json_t *root, const app_run *run) {
    return app_json_set(root, "problem",
                        run->statement ? app_json_text(run->statement) : json_null());
}
