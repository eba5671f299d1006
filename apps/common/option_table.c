/* Reads a command line by tables of options, which argp parses and lists in its help. */
#include "apps/common/option_table.h"

#include <stdlib.h>

enum { FIRST_KEY = 0x100 };

static void store(const app_option *row, void *at, int value) {
    if (row->size == sizeof(bool))
        *(bool *)at = value != 0;
    else
        *(int *)at = value;
}

weft_status app_read_text(const app_option *row, const char *option, const char *text, void *at,
                          weft_error *error) {
    (void)row;
    return app_parse_text(option, text, at, error);
}

weft_status app_read_number(const app_option *row, const char *option, const char *text, void *at,
                            weft_error *error) {
    return app_parse_number(option, text, row->low, row->high, at, error);
}

weft_status app_read_integer(const app_option *row, const char *option, const char *text, void *at,
                             weft_error *error) {
    return app_parse_integer(option, text, (int)row->low, (int)row->high, at, error);
}

weft_status app_read_choice(const app_option *row, const char *option, const char *text, void *at,
                            weft_error *error) {
    int n = 0, choice = 0;
    while (row->choices[n])
        ++n;
    const weft_status status = app_parse_choice(option, text, row->choices, n, &choice, error);
    if (status == WEFT_OK)
        store(row, at, choice);
    return status;
}

weft_status app_read_flag(const app_option *row, const char *option, const char *text, void *at,
                          weft_error *error) {
    (void)option, (void)text, (void)error;
    store(row, at, (int)row->low);
    return WEFT_OK;
}

/* Every row of a command line, with the values of its table. */
typedef struct bound_rows {
    const app_command_line *line;
    const app_option **rows; /* [n] */
    void **values;           /* [n] */
    int n;
} bound_rows;

/* The key of a row in argp's table: its letter, or its index. */
static int key_of(const app_option *row, int index) {
    return row->letter ? row->letter : FIRST_KEY + index;
}

static weft_status read_option(void *user, int key, const char *text, weft_error *error) {
    const bound_rows *bound = user;
    char option[64];
    if (key == ARGP_KEY_ARG)
        return bound->line->argument(bound->line->user, text, error);
    int i = 0;
    while (!bound->rows[i]->name || key_of(bound->rows[i], i) != key)
        ++i;
    const app_option *row = bound->rows[i];
    snprintf(option, sizeof option, "--%s", row->name);
    return row->read(row, option, text, (char *)bound->values[i] + row->offset, error);
}

static bool is_end(const app_option *row) {
    return !row->name && !row->help;
}

/* List the rows of all tables, and their entries for argp: at most two per row. */
static void bind_rows(bound_rows *bound, struct argp_option *entries) {
    int group = 0;
    for (const app_option_table *table = bound->line->tables; table->rows; ++table)
        for (const app_option *row = table->rows; !is_end(row); ++row) {
            bound->rows[bound->n] = row;
            bound->values[bound->n] = table->values;
            if (!row->name)
                *entries++ = (struct argp_option){.doc = row->help, .group = ++group};
            else
                *entries++ = (struct argp_option){.name = row->name,
                                                  .key = key_of(row, bound->n),
                                                  .arg = row->value,
                                                  .flags = row->help ? 0 : OPTION_HIDDEN,
                                                  .doc = row->help};
            if (row->former)
                *entries++ = (struct argp_option)APP_HIDDEN_ALIAS(row->former);
            ++bound->n;
        }
}

weft_status app_command_line_read(const app_command_line *line, int argc, char **argv,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    size_t n = 0;
    for (const app_option_table *table = line->tables; table->rows; ++table)
        for (const app_option *row = table->rows; !is_end(row); ++row)
            ++n;
    struct argp_option *entries = calloc(2 * n + 1, sizeof *entries);
    bound_rows bound = {.line = line,
                        .rows = calloc(n + 1, sizeof *bound.rows),
                        .values = calloc(n + 1, sizeof *bound.values)};
    if (!entries || !bound.rows || !bound.values)
        TRY(weft_out_of_memory(error, NULL));
    bind_rows(&bound, entries);
    const struct argp argp = {.options = entries, .args_doc = line->arguments, .doc = line->doc};
    TRY(app_options_parse(&argp, argc, argv, read_option, &bound, error));
done:
    free(entries);
    free(bound.rows);
    free(bound.values);
    return status;
}

weft_status app_argument_refuse(void *user, const char *text, weft_error *error) {
    (void)user;
    weft_error_set(error, WEFT_ERROR_USAGE, "unexpected argument '%s'", text);
    weft_error_hint(
        error, "a mesh is given by --mesh %s; put expressions with blanks or brackets in quotes",
        text);
    return WEFT_ERROR_USAGE;
}
