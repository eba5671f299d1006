/* Reads options of derived quantities, computes the quantities of a run, and reports them. */
#include "apps/common/run.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- options --------------------------------------------------------------------------------- */

static const char *const option_names[] = {"--derive", "--integral", "--extrema"};

/* Remove the blanks around a text, in place. */
static void strip(char *text) {
    size_t n = strlen(text), first = strspn(text, " \t");
    while (n > first && isspace((unsigned char)text[n - 1]))
        --n;
    memmove(text, text + first, n - first);
    text[n - first] = '\0';
}

static weft_status refuse_blank(const char *option, const char *text, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_USAGE, "a name, a group or an expression is missing");
    weft_error_location(error, option, text, 1, 1);
    weft_error_hint(error, "write %s 'NAME%s = EXPR'", option,
                    strcmp(option, "--derive") == 0 ? "" : "[@GROUP[|CELLS]]");
    return WEFT_ERROR_USAGE;
}

/* NAME=EXPR, NAME@GROUP=EXPR or NAME@"GROUP"=EXPR; GROUP may be FACETS|CELLS. */
weft_status app_derivation_read(app_derived_options *derived, weft_derive_kind kind,
                                const char *text, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *option = option_names[kind];
    const size_t at = strcspn(text, "@=");
    const bool has_group = kind != WEFT_DERIVE_FIELD && text[at] == '@';
    app_derivation made = {.kind = kind};
    if (has_group) {
        made.name = strndup(text, at);
        if (!made.name)
            TRY(weft_out_of_memory(error, NULL));
        const char *group = text + at + 1;
        TRY(app_split_assignment(option, group + strspn(group, " \t"), "GROUP=EXPR", &made.group,
                                 &made.text, error));
        strip(made.group);
    } else {
        TRY(app_split_assignment(option, text, "NAME=EXPR", &made.name, &made.text, error));
    }
    strip(made.name);
    strip(made.text);
    if (!made.name[0] || !made.text[0] || (made.group && !made.group[0]))
        TRY(refuse_blank(option, text, error));
    snprintf(made.origin, sizeof made.origin, "%s %.80s%s%.80s", option, made.name,
             made.group ? "@" : "", made.group ? made.group : "");
    TRY(APP_APPEND(derived->list, derived->n, made, error));
    made = (app_derivation){0};
done:
    free(made.name);
    free(made.group);
    free(made.text);
    return status;
}

void app_derived_options_clear(app_derived_options *derived) {
    for (int i = 0; i < derived->n; ++i) {
        free(derived->list[i].name);
        free(derived->list[i].group);
        free(derived->list[i].text);
    }
    free(derived->list);
    *derived = (app_derived_options){0};
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Fields go to --output and --line alone, and into quantities that name them. */
static void warn_unread(const app_run *run) {
    const app_derived_options *options = &run->options->derived;
    if (run->options->output || run->options->lines.n > 0)
        return;
    for (int i = 0; i < options->n; ++i) {
        const app_derivation *one = &options->list[i];
        bool is_read = one->kind != WEFT_DERIVE_FIELD;
        for (int k = 0; k < options->n; ++k)
            is_read |= k != i && weft_has_word(options->list[k].text, one->name);
        if (!is_read)
            weft_log(
                run->monitor, WEFT_LOG_WARNING,
                "%s: nothing shows `%s`: add --output FILE or --line, or name it in --integral or "
                "--extrema",
                one->origin, one->name);
    }
}

weft_status app_run_derive_make(app_run *run, const weft_derive_problem *settings,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const app_derived_options *options = &run->options->derived;
    weft_derived_quantity *quantities = NULL;
    weft_derive_problem complete = *settings;
    if (options->n == 0)
        goto done;
    quantities = calloc((size_t)options->n, sizeof *quantities);
    if (!quantities)
        TRY(weft_out_of_memory(error, NULL));
    for (int i = 0; i < options->n; ++i) {
        const app_derivation *one = &options->list[i];
        quantities[i] =
            (weft_derived_quantity){one->kind, one->name, one->group, one->text, one->origin};
    }
    complete.projection = options->projection;
    TRY(weft_problem_derive(run->problem, quantities, options->n, &complete, &run->derive, error));
    warn_unread(run);
done:
    free(quantities);
    return status;
}

/* ---- reports --------------------------------------------------------------------------------- */

static void print_value(const weft_derived_value *value, int dimension) {
    char least[64], greatest[64];
    const char *at = value->group ? "@" : "", *group = value->group ? value->group : "";
    if (value->kind == WEFT_DERIVE_INTEGRAL) {
        printf("integral    %s%s%s", value->name, at, group);
        app_values_print("", value->integral, value->n_components);
        putchar('\n');
        return;
    }
    printf("extrema     %s%s%s  %.10g at %s to %.10g at %s\n", value->name, at, group,
           app_strip_nan_sign(value->least), weft_point_text(value->least_at, dimension, least),
           app_strip_nan_sign(value->greatest),
           weft_point_text(value->greatest_at, dimension, greatest));
}

void app_run_print_derived(const app_run *run) {
    const weft_derived_value *values = NULL;
    const int n = run->derive ? weft_derive_values(run->derive, &values) : 0;
    for (int i = 0; i < n; ++i)
        print_value(&values[i], run->mesh->dimension);
    app_balance_print(run);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static bool set_value(json_t *object, const weft_derived_value *value, int dimension) {
    bool fine =
        app_json_set(object, "name", app_json_text(value->name)) &&
        app_json_set(object, "group", value->group ? app_json_text(value->group) : json_null());
    if (value->kind == WEFT_DERIVE_INTEGRAL)
        return fine && app_json_set(object, "integral",
                                    app_json_values(value->integral, value->n_components));
    return fine && app_json_set(object, "least", app_json_real(value->least)) &&
           app_json_set(object, "least_at", app_json_values(value->least_at, dimension)) &&
           app_json_set(object, "greatest", app_json_real(value->greatest)) &&
           app_json_set(object, "greatest_at", app_json_values(value->greatest_at, dimension));
}

bool app_run_json_derived(json_t *root, const app_run *run) {
    const weft_derived_value *values = NULL;
    const int n = run->derive && !run->is_null ? weft_derive_values(run->derive, &values) : 0;
    bool fine = true;
    if (run->derive) {
        json_t *array = json_array();
        fine = app_json_set(root, "derived", array);
        for (int i = 0; fine && i < n; ++i) {
            json_t *object = json_object();
            fine = json_array_append_new(array, object) == 0 &&
                   set_value(object, &values[i], run->mesh->dimension);
        }
    }
    return fine && app_balance_json(root, run);
}
