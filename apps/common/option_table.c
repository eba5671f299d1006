/* Reads a command line by tables of options, which argp parses and lists in its help. */
#include "apps/common/option_table.h"
#include "apps/common/problem.h"

#include <stdlib.h>
#include <string.h>

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
    app_entries given; /* on the command line */
} bound_rows;

/* The key of a row in argp's table: its letter, or its index. */
static int key_of(const app_option *row, int index) {
    return row->letter ? row->letter : FIRST_KEY + index;
}

weft_status app_read_nothing(const app_option *row, const char *option, const char *text, void *at,
                             weft_error *error) {
    (void)row, (void)option, (void)text, (void)at, (void)error;
    return WEFT_OK;
}

/* Collect the options; they are read when all are known. */
static weft_status collect(void *user, int key, const char *text, weft_error *error) {
    bound_rows *bound = user;
    app_entry made = {.text = text};
    int i = 0;
    while (key != ARGP_KEY_ARG && (!bound->rows[i]->name || key_of(bound->rows[i], i) != key))
        ++i;
    if (key != ARGP_KEY_ARG) {
        made.row = bound->rows[i];
        made.values = bound->values[i];
    }
    return APP_APPEND(bound->given.list, bound->given.n, made, error);
}

static weft_status read_entry(const bound_rows *bound, const app_entry *entry, weft_error *error) {
    char option[64];
    if (!entry->row)
        return bound->line->argument(bound->line->user, entry->text, error);
    snprintf(option, sizeof option, "--%s", entry->row->name);
    return entry->row->read(entry->row, option, entry->text,
                            (char *)entry->values + entry->row->offset, error);
}

static bool is_named(const app_entry *entry, const char *name) {
    return entry->row && strcmp(entry->row->name, name) == 0;
}

/* Is the entry of the file replaced by one of the command line? */
static bool is_replaced(const bound_rows *bound, const app_entry *entry) {
    for (int i = 0; i < bound->given.n; ++i)
        if (app_entry_replaces(&bound->given.list[i], entry))
            return true;
    return false;
}

/* The options of the problem file that are not replaced, then those of the command line. */
static weft_status join_problem(bound_rows *bound, const char *path, app_entries *all,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    app_entries file = {0};
    if (path) {
        if (!*bound->line->texts)
            TRY(weft_arena_make(bound->line->texts, error));
        TRY(app_problem_read(path, bound->line, *bound->line->texts, &file, error));
    }
    for (int i = 0; i < file.n; ++i)
        if (!is_replaced(bound, &file.list[i]))
            TRY(APP_APPEND(all->list, all->n, file.list[i], error));
    for (int i = 0; i < bound->given.n; ++i)
        if (!is_named(&bound->given.list[i], "problem") &&
            !is_named(&bound->given.list[i], "print-problem"))
            TRY(APP_APPEND(all->list, all->n, bound->given.list[i], error));
done:
    free(file.list);
    return status;
}

static weft_status print_problem(const app_entries *all, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text text = {0};
    app_problem_write(all, &text);
    if (text.failed)
        TRY(weft_out_of_memory(error, NULL));
    if (text.data)
        fputs(text.data, stdout);
    if (fflush(stdout) != 0 || ferror(stdout))
        TRY(weft_error_set(error, WEFT_ERROR_IO, "the problem file cannot be printed"));
done:
    weft_text_free(&text);
    return status;
}

static weft_status read_all(bound_rows *bound, weft_error *error) {
    weft_status status = WEFT_OK;
    app_entries all = {0};
    const char *path = NULL;
    bool prints = false;
    for (int i = 0; i < bound->given.n; ++i) {
        const app_entry *entry = &bound->given.list[i];
        if (is_named(entry, "problem")) {
            path = entry->text;
            TRY(read_entry(bound, entry, error)); /* its name, for checks */
        }
        prints |= is_named(entry, "print-problem");
    }
    TRY(join_problem(bound, path, &all, error));
    for (int i = 0; i < all.n; ++i) {
        status = read_entry(bound, &all.list[i], error);
        if (status != WEFT_OK && all.list[i].line > 0)
            app_problem_locate(path, &all.list[i], error);
        TRY(status);
    }
    if (!prints)
        goto done;
    TRY(print_problem(&all, error));
    exit(0);
done:
    free(all.list);
    return status;
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
    TRY(app_options_parse(&argp, argc, argv, collect, &bound, error));
    TRY(read_all(&bound, error));
done:
    free(bound.given.list);
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
