/* Run the command of a view, and read the numbers of its JSON. */
#include "answers.h"

#include "test_support.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(answers_result *r, const char *name, answers_kind kind, const json_t *value) {
    answers_quantity *q = &r->all[r->n];
    if (r->n == ANSWERS_QUANTITIES || (!json_is_number(value) && !json_is_array(value)))
        return;
    *q = (answers_quantity){.kind = kind, .n = 1};
    snprintf(q->name, sizeof q->name, "%s", name);
    if (json_is_number(value))
        q->v[0] = json_number_value(value);
    else
        for (q->n = 0; q->n < 3 && q->n < (int)json_array_size(value); ++q->n)
            q->v[q->n] = json_number_value(json_array_get(value, (size_t)q->n));
    ++r->n;
}

static void read_flows(answers_result *r, const json_t *root) {
    static const char *const keys[] = {"reactions", "exchange"}, *const values[] = {"reaction",
                                                                                    "exchange"};
    size_t i;
    const json_t *item;
    for (int k = 0; k < 2; ++k)
        json_array_foreach(json_object_get(root, keys[k]), i, item) {
            char name[64];
            snprintf(name, sizeof name, "%s %s", values[k],
                     json_string_value(json_object_get(item, "group")));
            add(r, name, ANSWERS_FLOW, json_object_get(item, values[k]));
        }
    add(r, "loads", ANSWERS_FLOW, json_object_get(root, "loads"));
    if (json_is_null(json_object_get(root, "loads"))) /* sources are in `equation` then */
        add(r, "loads of conditions", ANSWERS_FLOW, json_object_get(root, "loads_of_conditions"));
    add(r, "equation", ANSWERS_FLOW, json_object_get(root, "equation"));
    add(r, "balance", ANSWERS_FLOW, json_object_get(root, "balance"));
}

static void read(answers_result *r, const json_t *root) {
    size_t i;
    const json_t *item;
    json_array_foreach(json_object_get(root, "probes"), i, item) {
        char name[32];
        snprintf(name, sizeof name, "probe %zu", i);
        add(r, name, ANSWERS_VALUE, json_object_get(item, "u"));
    }
    json_array_foreach(json_object_get(root, "derived"), i, item) {
        const char *name = json_string_value(json_object_get(item, "name"));
        add(r, name ? name : "", ANSWERS_INTEGRAL, json_object_get(item, "integral"));
        add(r, "least", ANSWERS_VALUE, json_object_get(item, "least"));
        add(r, "greatest", ANSWERS_VALUE, json_object_get(item, "greatest"));
    }
    read_flows(r, root);
}

void answers_solve(answers_run *run, const answers_problem *problem, const answers_view *view,
                   answers_result *out) {
    char path[4096];
    snprintf(path, sizeof path, "%s/mesh.vtkhdf", run->folder);
    answers_mesh_write(problem, view, NULL, path);
    if (view->from_files) {
        snprintf(path, sizeof path, "%s/field.vtkhdf", run->folder);
        answers_mesh_write(problem, view, &problem->sides[0].value, path);
    }
    char **command = answers_command(run, problem, view);
    test_run made = test_program((const char *const *)command, NULL);
    *out =
        (answers_result){.exit_code = made.exit_code, .output = made.output, .error = made.error};
    ++run->n_programs;
    if (run->verbose) {
        for (int i = 0; command[i]; ++i)
            printf("%s'%s'", i ? " " : "  ", command[i]);
        printf("\n  exit %d, %.2f s\n", made.exit_code, made.seconds);
    }
    json_t *root = json_loads(made.output, 0, NULL);
    if (root)
        read(out, root);
    json_decref(root);
    answers_command_free(command);
}

void answers_result_free(answers_result *result) {
    free(result->output);
    free(result->error);
    *result = (answers_result){.n = 0};
}
