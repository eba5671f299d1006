/* Reads problem files: YAML by libyaml's events, without aliases, into texts for options. */
#include "apps/common/problem.h"
#include "apps/common/run_options.h"
#include "core/base/file.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { DEPTH_MAX = 6, ROWS_MAX = 128 };

const app_option app_problem_options[] = {
    {.help = "Problem file:"},
    {"problem", "FILE.yaml",
     "Read options from a file, whose keys are their names; options of the command line come after "
     "it and take precedence",
     APP_TEXT(app_run_options, problem_file)},
    {"print-problem", NULL,
     "Write the problem file for this command line to standard output, and end",
     .read = app_read_nothing},
    {0}};

/* ---- YAML ------------------------------------------------------------------------------------ */

typedef enum value_kind { VALUE_TEXT, VALUE_LIST, VALUE_MAP } value_kind;

/* A value of the file; those of a list or map follow each other by `next`. */
typedef struct value {
    value_kind kind;
    const char *key;  /* in a map */
    const char *text; /* of a text */
    struct value *first, *next;
    int line, column, key_line, key_column;
} value;

typedef struct problem_reader {
    const char *path;
    char *content;
    weft_arena *arena;
    const app_command_line *line;
    app_entries *entries;
    yaml_parser_t parser;
    weft_error *error;
} problem_reader;

static weft_status refuse(const problem_reader *r, int line, int column, const char *hint,
                          const char *message) {
    weft_error_set(r->error, WEFT_ERROR_INPUT, "%s", message);
    weft_error_location(r->error, r->path, r->content, line, column);
    if (hint)
        weft_error_hint(r->error, "%s", hint);
    return WEFT_ERROR_INPUT;
}

static weft_status refuse_value(const problem_reader *r, const value *v, const char *hint,
                                const char *message) {
    return refuse(r, v->line, v->column, hint, message);
}

static weft_status next_event(problem_reader *r, yaml_event_t *event) {
    char message[200];
    if (yaml_parser_parse(&r->parser, event))
        return WEFT_OK;
    const yaml_parser_t *p = &r->parser;
    if (p->error == YAML_MEMORY_ERROR)
        return weft_out_of_memory(r->error, NULL);
    const size_t line = p->problem_mark.line, column = p->problem_mark.column;
    snprintf(message, sizeof message, "this is not YAML: %s",
             p->problem ? p->problem : "it cannot be parsed");
    return refuse(
        r, (int)line + 1, (int)column + 1,
        "write one \"key: value\" in each line; values with : # { } [ ] , & * ! or quotes "
        "in quotes",
        message);
}

/* Keys in the order of their names, those of one name in the order of the file. */
static int by_key(const void *a, const void *b) {
    const value *p = *(value *const *)a, *q = *(value *const *)b;
    const int order = strcmp(p->key, q->key);
    return order ? order
           : p->key_line != q->key_line
               ? (p->key_line > q->key_line ? 1 : -1)
               : (p->key_column > q->key_column) - (p->key_column < q->key_column);
}

/* Refuse the first key of the map that is given a second time. */
static weft_status check_keys(const problem_reader *r, const value *map, size_t n) {
    weft_status status = WEFT_OK;
    const value *twice = NULL, **keys = malloc((n + 1) * sizeof *keys);
    size_t used = 0;
    if (!keys)
        return weft_out_of_memory(r->error, NULL);
    for (const value *item = map->first; item; item = item->next)
        keys[used++] = item;
    qsort(keys, n, sizeof *keys, by_key);
    for (size_t i = 1; i < n; ++i)
        if (strcmp(keys[i - 1]->key, keys[i]->key) == 0 &&
            (!twice || keys[i]->key_line < twice->key_line ||
             (keys[i]->key_line == twice->key_line && keys[i]->key_column < twice->key_column)))
            twice = keys[i];
    if (twice)
        status = refuse(r, twice->key_line, twice->key_column, "leave one of them out",
                        "this key is given twice");
    free(keys);
    return status;
}

static weft_status read_value(problem_reader *r, const yaml_event_t *event, int depth, value **out);

/* The values up to the end of a list or map; in a map each follows its key. */
static weft_status read_items(problem_reader *r, value *into, yaml_event_type_t end, int depth) {
    weft_status status = WEFT_OK;
    yaml_event_t event;
    value **tail = &into->first;
    for (size_t n = 0;; ++n) {
        value *key = NULL, *item = NULL;
        TRY(next_event(r, &event));
        const bool is_end = event.type == end;
        if (!is_end)
            status = read_value(r, &event, depth, &item);
        yaml_event_delete(&event);
        TRY(status);
        if (is_end && into->kind == VALUE_MAP)
            TRY(check_keys(r, into, n));
        if (is_end)
            break;
        if (into->kind == VALUE_MAP) {
            key = item;
            if (key->kind != VALUE_TEXT)
                TRY(refuse_value(r, key, NULL, "a key must be a name"));
            TRY(next_event(r, &event));
            status = read_value(r, &event, depth, &item);
            yaml_event_delete(&event);
            TRY(status);
            item->key = key->text;
            item->key_line = key->line;
            item->key_column = key->column;
        }
        *tail = item;
        tail = &item->next;
    }
done:
    return status;
}

static weft_status read_value(problem_reader *r, const yaml_event_t *event, int depth,
                              value **out) {
    weft_status status = WEFT_OK;
    value *v = weft_arena_alloc(r->arena, 1, sizeof *v);
    if (!v)
        TRY(weft_out_of_memory(r->error, NULL));
    v->line = (int)event->start_mark.line + 1;
    v->column = (int)event->start_mark.column + 1;
    if (depth > DEPTH_MAX)
        TRY(refuse_value(r, v, NULL, "these lists are nested too deep"));
    if (event->type == YAML_ALIAS_EVENT)
        TRY(refuse_value(r, v, "repeat the value; one that starts with * is put in quotes",
                         "aliases are not allowed"));
    if (event->type == YAML_SCALAR_EVENT) {
        const char *text = (const char *)event->data.scalar.value;
        if (strlen(text) != event->data.scalar.length)
            TRY(refuse_value(r, v, NULL, "this value contains a zero byte"));
        v->text = weft_arena_copy(r->arena, text, strlen(text));
        *out = v;
        status = v->text ? WEFT_OK : weft_out_of_memory(r->error, NULL);
        goto done;
    }
    if (event->type != YAML_SEQUENCE_START_EVENT && event->type != YAML_MAPPING_START_EVENT)
        TRY(refuse_value(r, v, NULL, "expected a value"));
    v->kind = event->type == YAML_SEQUENCE_START_EVENT ? VALUE_LIST : VALUE_MAP;
    TRY(read_items(r, v, v->kind == VALUE_LIST ? YAML_SEQUENCE_END_EVENT : YAML_MAPPING_END_EVENT,
                   depth + 1));
    *out = v;
done:
    return status;
}

/* The map of the only document; NULL: the file has none. */
static weft_status read_document(problem_reader *r, value **out) {
    weft_status status = WEFT_OK;
    yaml_event_type_t type = YAML_NO_EVENT;
    do {
        yaml_event_t event;
        value *found = NULL;
        TRY(next_event(r, &event));
        type = event.type;
        const int line = (int)event.start_mark.line + 1;
        const bool is_value = type != YAML_STREAM_START_EVENT && type != YAML_STREAM_END_EVENT &&
                              type != YAML_DOCUMENT_START_EVENT && type != YAML_DOCUMENT_END_EVENT;
        if (is_value)
            status = read_value(r, &event, 1, &found);
        yaml_event_delete(&event);
        TRY(status);
        if (type == YAML_DOCUMENT_START_EVENT && *out)
            TRY(refuse(r, line, 1, "write one file for each problem", "a second document"));
        if (is_value && found->kind != VALUE_MAP)
            TRY(refuse_value(r, found, "write mesh: FILE.geo, for example",
                             "expected keys with values"));
        if (is_value)
            *out = found;
    } while (type != YAML_STREAM_END_EVENT);
done:
    return status;
}

/* ---- texts for options ----------------------------------------------------------------------- */

/* How an option's value is written: one text, GROUP=... or NAME=..., or [@GROUP=]... */
typedef enum row_form { FORM_FLAG, FORM_TEXT, FORM_KEYED, FORM_GROUPED } row_form;

static row_form form_of(const app_option *row) {
    if (!row || !row->value)
        return row ? FORM_FLAG : FORM_TEXT;
    if (row->value[0] == '[' && row->value[1] == '@')
        return FORM_GROUPED;
    const char *equals = strchr(row->value, '=');
    return equals ? FORM_KEYED : FORM_TEXT;
}

static weft_status add_entry(problem_reader *r, const app_option_table *table,
                             const app_option *row, const value *v, const char *text) {
    const app_entry made = {row, table ? table->values : NULL, text, v->line, v->column};
    if (!text && row && row->value)
        return weft_out_of_memory(r->error, NULL);
    return APP_APPEND(r->entries->list, r->entries->n, made, r->error);
}

static bool is_simple(const char *name) {
    return name[0] &&
           !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")];
}

static const char *quote(problem_reader *r, const char *name) {
    weft_text text = {0};
    weft_text_add(&text, "\"");
    for (const char *c = name; *c; ++c)
        weft_text_add(&text, *c == '"' ? "\"\"" : "%c", *c);
    weft_text_add(&text, "\"");
    const char *out = text.failed ? NULL : weft_arena_copy(r->arena, text.data, text.length);
    weft_text_free(&text);
    return out;
}

/* A text, or the texts of a list with commas between them. */
static weft_status join(problem_reader *r, const value *v, const char **out) {
    weft_status status = WEFT_OK;
    weft_text text = {0};
    if (v->kind == VALUE_TEXT) {
        *out = v->text;
        goto done;
    }
    if (v->kind == VALUE_MAP || !v->first)
        TRY(refuse_value(r, v, NULL, "expected a value, or a list of values"));
    for (const value *item = v->first; item; item = item->next) {
        if (item->kind != VALUE_TEXT)
            TRY(refuse_value(r, item, NULL, "expected a value"));
        weft_text_add(&text, "%s%s", item == v->first ? "" : ",", item->text);
    }
    *out = text.failed ? NULL : weft_arena_copy(r->arena, text.data, text.length);
    if (!*out)
        status = weft_out_of_memory(r->error, NULL);
done:
    weft_text_free(&text);
    return status;
}

/* key: value, or for NAME[@GROUP] key: {group: value, default: value} */
static weft_status add_keyed(problem_reader *r, const app_option_table *table,
                             const app_option *row, const value *v) {
    weft_status status = WEFT_OK;
    const char *text = NULL;
    const bool groups = strstr(row->value, "[@GROUP]") != NULL;
    if (v->kind != VALUE_MAP || !groups) {
        const bool quotes = strncmp(row->value, "GROUP=", 6) == 0 && !is_simple(v->key);
        const char *key = quotes ? quote(r, v->key) : v->key;
        TRY(join(r, v, &text));
        TRY(add_entry(r, table, row, v,
                      key ? weft_arena_print(r->arena, "%s=%s", key, text) : NULL));
        goto done;
    }
    for (const value *item = v->first; item; item = item->next) {
        TRY(join(r, item, &text));
        const char *group = quote(r, item->key);
        const bool is_default = strcmp(item->key, "default") == 0;
        TRY(add_entry(r, table, row, item,
                      !group       ? NULL
                      : is_default ? weft_arena_print(r->arena, "%s=%s", v->key, text)
                      : is_simple(item->key)
                          ? weft_arena_print(r->arena, "%s@%s=%s", v->key, item->key, text)
                          : weft_arena_print(r->arena, "%s=@%s=%s", v->key, group, text)));
    }
done:
    return status;
}

/* {group: value, default: value}, or a value */
static weft_status add_grouped(problem_reader *r, const app_option_table *table,
                               const app_option *row, const value *v) {
    weft_status status = WEFT_OK;
    const char *text = NULL;
    if (v->kind != VALUE_MAP) {
        TRY(join(r, v, &text));
        status = add_entry(r, table, row, v, text);
        goto done;
    }
    for (const value *item = v->first; item; item = item->next) {
        const bool is_default = strcmp(item->key, "default") == 0;
        const char *group = quote(r, item->key);
        TRY(join(r, item, &text));
        TRY(add_entry(r, table, row, item,
                      is_default ? text
                      : group    ? weft_arena_print(r->arena, "@%s=%s", group, text)
                                 : NULL));
    }
done:
    return status;
}

static weft_status add_flag(problem_reader *r, const app_option_table *table, const app_option *row,
                            const value *v) {
    const bool is_text = v->kind == VALUE_TEXT;
    if (is_text && strcmp(v->text, "false") == 0)
        return WEFT_OK;
    if (is_text && strcmp(v->text, "true") == 0)
        return add_entry(r, table, row, v, NULL);
    return refuse_value(r, v, NULL, "expected true or false");
}

static weft_status add_value(problem_reader *r, const app_option_table *table,
                             const app_option *row, const value *v) {
    weft_status status = WEFT_OK;
    const row_form form = form_of(row);
    const char *text = NULL;
    if (form == FORM_FLAG)
        TRY(add_flag(r, table, row, v));
    else if (form == FORM_GROUPED)
        TRY(add_grouped(r, table, row, v));
    else if (v->kind == VALUE_MAP && form == FORM_KEYED) {
        for (const value *item = v->first; item; item = item->next)
            TRY(add_keyed(r, table, row, item));
    } else if (v->kind == VALUE_LIST && row && row->is_joined) {
        TRY(join(r, v, &text));
        TRY(add_entry(r, table, row, v, text));
    } else if (v->kind == VALUE_LIST) {
        for (const value *item = v->first; item; item = item->next) {
            TRY(join(r, item, &text));
            TRY(add_entry(r, table, row, item, text));
        }
    } else if (v->kind == VALUE_MAP) {
        status = refuse_value(r, v, NULL, "expected a value, or a list of values");
    } else {
        status = add_entry(r, table, row, v, v->text);
    }
done:
    return status;
}

static weft_status refuse_key(const problem_reader *r, const value *v) {
    const char *names[ROWS_MAX];
    char message[160];
    size_t n = 0;
    for (const app_option_table *table = r->line->tables; table->rows; ++table)
        for (const app_option *row = table->rows; row->name || row->help; ++row)
            if (row->name && row->help && n < ROWS_MAX)
                names[n++] = row->name;
    const char *nearest = weft_nearest_name(v->key, names, n);
    snprintf(message, sizeof message, "unknown key `%.100s`", v->key);
    refuse(r, v->key_line, v->key_column, NULL, message);
    if (nearest)
        weft_error_hint(r->error,
                        "did you mean `%s`? Keys are the options without --, as --help lists them",
                        nearest);
    else
        weft_error_hint(r->error, "keys are the options without --, as --help lists them");
    return WEFT_ERROR_INPUT;
}

static weft_status add_key(problem_reader *r, const value *v) {
    for (const app_option_table *table = r->line->tables; table->rows; ++table)
        for (const app_option *row = table->rows; row->name || row->help; ++row)
            if (row->name && table->rows != app_problem_options &&
                (strcmp(row->name, v->key) == 0 ||
                 (row->former && strcmp(row->former, v->key) == 0)))
                return add_value(r, table, row, v);
    if (r->line->arguments && strcmp(v->key, "script") == 0)
        return add_value(r, NULL, NULL, v);
    return refuse_key(r, v);
}

static weft_status read_content(problem_reader *r) {
    size_t length = 0;
    weft_status status = WEFT_OK;
    TRY(weft_file_read_as(r->path, WEFT_FILE_PROBLEM, &r->content, &length, r->error));
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)r->content, length);
done:
    return status;
}

weft_status app_problem_read(const char *path, const app_command_line *line, weft_arena *arena,
                             app_entries *entries, weft_error *error) {
    weft_status status = WEFT_OK;
    problem_reader r = {
        .path = path, .arena = arena, .line = line, .entries = entries, .error = error};
    value *root = NULL;
    if (!yaml_parser_initialize(&r.parser))
        TRY(weft_out_of_memory(error, NULL));
    TRY(read_content(&r));
    TRY(read_document(&r, &root));
    for (const value *v = root ? root->first : NULL; v; v = v->next)
        TRY(add_key(&r, v));
done:
    yaml_parser_delete(&r.parser);
    free(r.content);
    return status;
}

void app_problem_locate(const char *path, const app_entry *entry, weft_error *error) {
    char *content = NULL;
    size_t length = 0;
    if (!error || weft_file_read_as(path, WEFT_FILE_PROBLEM, &content, &length, NULL) != WEFT_OK)
        return;
    weft_error_location(error, path, content, entry->line, entry->column);
    free(content);
}

/* ---- entries --------------------------------------------------------------------------------- */

/* The text of an entry, divided at the '=' after its name or group. */
typedef struct divided {
    char key[300]; /* "": none */
    const char *rest;
} divided;

/* NAME, or "NAME" in which "" is a quote, and '='; NULL: neither. */
static const char *read_name(const char *text, char *out, size_t size) {
    size_t n = 0;
    const bool quoted = *text == '"';
    for (text += quoted; *text; ++text) {
        if (quoted && *text == '"' && text[1] != '"') {
            ++text;
            break;
        }
        if (!quoted && *text == '=')
            break;
        text += quoted && *text == '"';
        if (n + 1 < size)
            out[n++] = *text;
    }
    out[n] = '\0';
    return *text == '=' ? text + 1 : NULL;
}

static divided divide(const app_entry *entry) {
    divided out = {"", entry->text ? entry->text : ""};
    const row_form form = form_of(entry->row);
    const char *start = out.rest;
    if (form == FORM_GROUPED && *start != '@')
        return out;
    if (form == FORM_GROUPED || form == FORM_KEYED) {
        const char *rest = read_name(start + (form == FORM_GROUPED), out.key, sizeof out.key);
        out.rest = rest ? rest : start;
        if (!rest)
            out.key[0] = '\0';
    }
    return out;
}

bool app_entry_replaces(const app_entry *b, const app_entry *a) {
    if (a->row != b->row)
        return false;
    const divided x = divide(a), y = divide(b);
    return strcmp(x.key, y.key) == 0;
}

/* A plain text of YAML where that is surely one, otherwise one in quotes. */
static void write_text(const char *text, weft_text *out) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-";
    const bool starts = strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./_",
                               text[0]) != NULL;
    if (text[0] && starts && !text[strspn(text, plain)]) {
        weft_text_add(out, "%s", text);
        return;
    }
    weft_text_add(out, "\"");
    for (const char *c = text; *c; ++c) {
        const unsigned char byte = (unsigned char)*c;
        if (byte == '"' || byte == '\\')
            weft_text_add(out, "\\%c", byte);
        else if (byte < 0x20 || byte == 0x7f)
            weft_text_add(out, "\\x%02X", byte);
        else
            weft_text_add(out, "%c", byte);
    }
    weft_text_add(out, "\"");
}

static bool is_same_option(const app_entry *a, const app_entry *b) {
    return a->row == b->row;
}

/* Has each use of the option a name or group of its own? */
static bool has_keys(const app_entries *entries, int first) {
    for (int i = first; i < entries->n; ++i) {
        if (!is_same_option(&entries->list[i], &entries->list[first]))
            continue;
        const divided at = divide(&entries->list[i]);
        if (!at.key[0] || strcmp(at.key, "default") == 0)
            return false;
        for (int k = first; k < i; ++k)
            if (app_entry_replaces(&entries->list[i], &entries->list[k]))
                return false;
    }
    return true;
}

/* All uses of an option under its key: a value, a map by names, or a list of texts. */
static void write_option(const app_entries *entries, int first, weft_text *out) {
    const app_entry *entry = &entries->list[first];
    int n = 0;
    for (int i = first; i < entries->n; ++i)
        n += is_same_option(&entries->list[i], entry);
    const bool by_key = has_keys(entries, first);
    weft_text_add(out, "%s:", entry->row ? entry->row->name : "script");
    if (!entry->text || (n == 1 && !by_key)) {
        weft_text_add(out, " ");
        write_text(entry->text ? entry->text : "true", out);
        weft_text_add(out, "\n");
        return;
    }
    weft_text_add(out, "\n");
    for (int i = first; i < entries->n; ++i) {
        if (!is_same_option(&entries->list[i], entry))
            continue;
        const divided at = divide(&entries->list[i]);
        weft_text_add(out, by_key ? "  " : "  - ");
        if (by_key) {
            write_text(at.key, out);
            weft_text_add(out, ": ");
        }
        write_text(by_key ? at.rest : entries->list[i].text, out);
        weft_text_add(out, "\n");
    }
}

/* With a formula for everything else, groups are {default: ..., group: ...}. */
static void write_groups(const app_entries *entries, int first, weft_text *out) {
    const app_entry *entry = &entries->list[first];
    weft_text_add(out, "%s:\n", entry->row->name);
    for (int i = first; i < entries->n; ++i) {
        if (!is_same_option(&entries->list[i], entry))
            continue;
        const divided at = divide(&entries->list[i]);
        weft_text_add(out, "  ");
        write_text(at.key[0] ? at.key : "default", out);
        weft_text_add(out, ": ");
        write_text(at.rest, out);
        weft_text_add(out, "\n");
    }
}

void app_problem_write(const app_entries *entries, weft_text *out) {
    for (int i = 0; i < entries->n; ++i) {
        bool is_first = true, has_more = false;
        for (int k = 0; k < entries->n; ++k) {
            is_first &= k >= i || !is_same_option(&entries->list[k], &entries->list[i]);
            has_more |= k > i && is_same_option(&entries->list[k], &entries->list[i]);
        }
        if (is_first && has_more && form_of(entries->list[i].row) == FORM_GROUPED)
            write_groups(entries, i, out);
        else if (is_first)
            write_option(entries, i, out);
    }
}
