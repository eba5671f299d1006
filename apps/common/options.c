/* Checks and parses command lines and the values of options. */
#include "apps/common/support.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 128 };

static bool is_last(const struct argp_option *option) {
    return !option->name && !option->key && !option->doc && !option->group;
}

/* A name on the command line and its table entry. As in argp, a name with OPTION_ALIAS is an alias
 * of the preceding entry. */
typedef struct named_option {
    const char *name;
    const struct argp_option *entry;
} named_option;

/* List the visible names first: a misspelled option is not corrected to a hidden one. */
typedef struct option_list {
    named_option items[OPTIONS_MAX];
    size_t n, n_shown;
} option_list;

static void list_names(const struct argp_option *options, bool hidden, option_list *out) {
    const struct argp_option *entry = NULL;
    for (const struct argp_option *o = options; !is_last(o) && out->n < OPTIONS_MAX; ++o) {
        if ((o->flags & OPTION_ALIAS) == 0)
            entry = o;
        if (o->name && ((o->flags & OPTION_HIDDEN) != 0) == hidden)
            out->items[out->n++] = (named_option){o->name, entry};
    }
}

static void list_options(const struct argp_option *options, option_list *out) {
    out->n = 0;
    list_names(options, false, out);
    list_names(app_help_options, false, out);
    out->n_shown = out->n;
    list_names(options, true, out);
}

/* Find an option by its exact name or by an unambiguous prefix, as getopt_long does. */
static const named_option *find_long(const option_list *list, const char *name, size_t length) {
    const named_option *found = NULL;
    int n_found = 0;
    for (size_t i = 0; i < list->n; ++i) {
        if (strncmp(list->items[i].name, name, length) != 0)
            continue;
        if (strlen(list->items[i].name) == length)
            return &list->items[i];
        found = &list->items[i];
        ++n_found;
    }
    return n_found == 1 ? found : NULL;
}

static weft_status refuse_unknown(const option_list *list, const char *argument, size_t length,
                                  weft_error *error) {
    const char *names[OPTIONS_MAX];
    for (size_t i = 0; i < list->n_shown; ++i)
        names[i] = list->items[i].name;
    char *name = strndup(argument + 2, length);
    if (!name)
        return weft_out_of_memory(error, NULL);
    const char *nearest = weft_nearest_name(name, names, list->n_shown);
    weft_error_set(error, WEFT_ERROR_USAGE, "unknown option '--%s'", name);
    if (nearest)
        weft_error_hint(error, "did you mean '--%s'? --help lists all options", nearest);
    else
        weft_error_hint(error, "--help lists all options");
    free(name);
    return WEFT_ERROR_USAGE;
}

/* Number of words in the value of an option: 2 for "CALL CALL". */
static int count_words(const struct argp_option *option) {
    if (!option->arg || (option->flags & OPTION_ARG_OPTIONAL))
        return 0;
    return strchr(option->arg, ' ') ? 2 : 1;
}

/* State of the check of a command line. */
typedef struct walk {
    option_list list;
    char *const *argv;
    int argc, at;
    int asked; /* key of the first of --help, --usage and --version; 0: none */
} walk;

static void note_asked(walk *w, const struct argp_option *option) {
    for (const struct argp_option *o = app_help_options; !is_last(o); ++o)
        if (o == option && w->asked == 0)
            w->asked = o->key;
}

/* Skip the values of an option, n_inside of which are in its own word. */
static weft_status skip_values(walk *w, const struct argp_option *option, int n_inside,
                               const char *spelled, weft_error *error) {
    const int n_words = count_words(option);
    int n = n_inside;
    for (; n < n_words && w->at + 1 < w->argc; ++n) {
        /* getopt takes whatever follows as the first value */
        if (n > 0 && w->argv[w->at + 1][0] == '-')
            break;
        ++w->at;
    }
    if (n >= n_words)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_USAGE, "option '%s' needs %s", spelled,
                   n_words == 1 ? "a value" : "two values");
    weft_error_hint(error, "write %s %s", spelled, option->arg);
    return WEFT_ERROR_USAGE;
}

/* One "--name", "--name=value" or "--name value". */
static weft_status check_long(walk *w, const char *argument, weft_error *error) {
    size_t length = strcspn(argument + 2, "=");
    bool has_value = argument[2 + length] == '=';
    char spelled[64];
    const named_option *option = find_long(&w->list, argument + 2, length);
    if (!option)
        return refuse_unknown(&w->list, argument, length, error);
    if (has_value && !option->entry->arg) {
        weft_error_set(error, WEFT_ERROR_USAGE, "option '--%s' takes no value", option->name);
        weft_error_hint(error, "write --%s alone", option->name);
        return WEFT_ERROR_USAGE;
    }
    note_asked(w, option->entry);
    snprintf(spelled, sizeof spelled, "--%s", option->name);
    return skip_values(w, option->entry, has_value, spelled, error);
}

/* A cluster of letters: "-qv", "-oFILE", "-o FILE". */
static weft_status check_short(walk *w, const char *argument, weft_error *error) {
    for (const char *c = argument + 1; *c; ++c) {
        const struct argp_option *option = NULL;
        for (size_t i = 0; i < w->list.n && !option; ++i)
            if (w->list.items[i].entry->key == *c)
                option = w->list.items[i].entry;
        if (!option) {
            weft_error_set(error, WEFT_ERROR_USAGE, "unknown option '-%c'", *c);
            weft_error_hint(error, "--help lists all options");
            return WEFT_ERROR_USAGE;
        }
        note_asked(w, option);
        if (option->arg) {
            const char spelled[] = {'-', *c, '\0'};
            return skip_values(w, option, c[1] != '\0', spelled, error);
        }
    }
    return WEFT_OK;
}

static weft_status check_all(const struct argp_option *options, int argc, char *const *argv,
                             int *asked, weft_error *error) {
    weft_status status = WEFT_OK;
    walk w = {.argv = argv, .argc = argc};
    list_options(options, &w.list);
    for (w.at = 1; w.at < argc; ++w.at) {
        const char *argument = argv[w.at];
        if (strcmp(argument, "--") == 0)
            break;
        if (argument[0] == '-' && argument[1] == '-')
            TRY(check_long(&w, argument, error));
        else if (argument[0] == '-' && argument[1])
            TRY(check_short(&w, argument, error));
    }
    *asked = w.asked;
done:
    return status;
}

weft_status app_options_check(const struct argp_option *options, int argc, char *const *argv,
                              weft_error *error) {
    int asked = 0;
    return check_all(options, argc, argv, &asked, error);
}

typedef struct reading {
    app_option_reader read;
    void *user;
    weft_error *error;
    weft_status status;
    const struct argp_option *options;
} reading;

static int words_of_key(const struct argp_option *options, int key) {
    for (const struct argp_option *o = options; !is_last(o); ++o)
        if (o->name && o->key == key)
            return count_words(o);
    return 0;
}

static error_t take_option(int key, char *text, struct argp_state *state) {
    reading *in = state->input;
    if ((key & 0x1000000) != 0)
        return ARGP_ERR_UNKNOWN; /* argp's own events */
    in->status = in->read(in->user, key, text, in->error);
    if (in->status == WEFT_OK && key != ARGP_KEY_ARG && words_of_key(in->options, key) == 2)
        in->status = in->read(in->user, key, state->argv[state->next++], in->error);
    return in->status == WEFT_OK ? 0 : EINVAL;
}

weft_status app_options_parse(const struct argp *argp, int argc, char **argv,
                              app_option_reader read, void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    const struct argp_option *options = argp->options;
    /* glibc's argp leaks two bytes in --help if a table has no options. */
    const struct argp_option *table = is_last(options) ? NULL : options;
    const struct argp taken = {
        .options = table, .parser = take_option, .args_doc = argp->args_doc, .doc = argp->doc};
    reading in = {read, user, error, WEFT_OK, options};
    int asked = 0;
    TRY(check_all(options, argc, argv, &asked, error));
    if (asked != 0) {
        TRY(app_help_print(&taken, asked, argv[0], error));
        exit(0);
    }
    if (argp_parse(&taken, argc, argv, ARGP_NO_HELP | ARGP_NO_ERRS, NULL, &in) != 0)
        status = in.status != WEFT_OK
                     ? in.status
                     : weft_error_set(error, WEFT_ERROR_USAGE, "the options are not understood");
done:
    return status;
}

weft_status app_array_reserve(void *array, int n, size_t size, weft_error *error) {
    void *items = NULL;
    if (n & (n - 1)) /* the capacity for n elements is a power of two */
        return WEFT_OK;
    memcpy(&items, array, sizeof items);
    items = reallocarray(items, n ? 2 * (size_t)n : 1, size);
    if (!items)
        return weft_out_of_memory(error, NULL);
    memcpy(array, &items, sizeof items);
    return WEFT_OK;
}

bool app_ends_with(const char *path, const char *ending) {
    const size_t length = strlen(path), n = strlen(ending);
    return length > n && path[length - n - 1] != '/' && strcmp(path + length - n, ending) == 0;
}

weft_status app_parse_text(const char *option, const char *text, const char **out,
                           weft_error *error) {
    if (!text[strspn(text, " \t")]) {
        weft_error_set(error, WEFT_ERROR_USAGE, "option '%s' needs a value that is not empty",
                       option);
        weft_error_hint(error, "--help shows what to give");
        return WEFT_ERROR_USAGE;
    }
    *out = text;
    return WEFT_OK;
}

static weft_status refuse_value(weft_error *error, const char *option, const char *text,
                                size_t offset, const char *message) {
    weft_error_set(error, WEFT_ERROR_USAGE, "%s", message);
    weft_error_location(error, option, text, 1, (int)offset + 1);
    return WEFT_ERROR_USAGE;
}

/* As strtod, but for plain decimal numbers only: no hexadecimal, nan or inf. */
static const char *scan_number(const char *text, double *out) {
    const char *c = text + (*text == '-' || *text == '+');
    if (!isdigit((unsigned char)*c) && !(*c == '.' && isdigit((unsigned char)c[1])))
        return text;
    if (c[0] == '0' && (c[1] == 'x' || c[1] == 'X'))
        return c + 1;
    char *end = NULL;
    *out = strtod(text, &end);
    return end;
}

static weft_status parse_part(const char *option, const char *text, const char **at, double *out,
                              weft_error *error) {
    *at += strspn(*at, " \t");
    const char *start = *at;
    *at = scan_number(start, out);
    if (*at == start) {
        refuse_value(error, option, text, (size_t)(start - text), "expected a number");
        weft_error_hint(error, "write it as 0.01 or 1e-2");
        return WEFT_ERROR_USAGE;
    }
    if (!isfinite(*out))
        return refuse_value(error, option, text, (size_t)(start - text),
                            "this number is too large");
    *at += strspn(*at, " \t");
    return WEFT_OK;
}

weft_status app_parse_number(const char *option, const char *text, double low, double high,
                             double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *at = text;
    double value = 0;
    TRY(parse_part(option, text, &at, &value, error));
    if (*at) {
        status =
            refuse_value(error, option, text, (size_t)(at - text), "this is not part of a number");
        weft_error_hint(error, "give one number, such as 0.01 or 1e-2");
    } else if (value < low || value > high) {
        status = refuse_value(error, option, text, 0, "this number is out of range");
        if (high < HUGE_VAL)
            weft_error_hint(error, "it must lie between %g and %g", low, high);
        else
            weft_error_hint(error, "it must be at least %g", low);
    } else {
        *out = value;
    }
done:
    return status;
}

weft_status app_parse_integer(const char *option, const char *text, int low, int high, int *out,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    double value = 0;
    TRY(app_parse_number(option, text, low, high, &value, error));
    if (value != floor(value)) {
        status = refuse_value(error, option, text, 0, "expected a whole number");
        weft_error_hint(error, "it must be a whole number between %d and %d", low, high);
    } else {
        *out = (int)value;
    }
done:
    return status;
}

weft_status app_parse_choice(const char *option, const char *text, const char *const *names, int n,
                             int *out, weft_error *error) {
    weft_text list = {0};
    for (int i = 0; i < n; ++i) {
        if (strcmp(text, names[i]) == 0) {
            *out = i;
            weft_text_free(&list);
            return WEFT_OK;
        }
        weft_text_add(&list, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " or ", names[i]);
    }
    char message[256];
    snprintf(message, sizeof message, "'%.100s' is not one of its values", text);
    refuse_value(error, option, text, 0, message);
    const char *nearest = weft_nearest_name(text, names, (size_t)n);
    weft_error_hint(error, "%s%s%sthe values are %s", nearest ? "did you mean '" : "",
                    nearest ? nearest : "", nearest ? "'? " : "",
                    list.failed ? "listed by --help" : list.data);
    weft_text_free(&list);
    return WEFT_ERROR_USAGE;
}

weft_status app_parse_point(const char *option, const char *text, double out[3], int *n,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    const char *at = text;
    for (*n = 0;; ++at) {
        TRY(parse_part(option, text, &at, &out[*n], error));
        ++*n;
        if (*at != ',' || *n == 3)
            break;
    }
    if (*at) {
        status =
            refuse_value(error, option, text, (size_t)(at - text),
                         *at == ',' ? "a point has at most three coordinates" : "expected a comma");
        weft_error_hint(error, "write %s X,Y in the plane and %s X,Y,Z in space", option, option);
    }
done:
    return status;
}

/* Copy the parts before and after text[at]; both must be nonblank. */
static weft_status split_at(const char *option, const char *text, size_t at, const char *form,
                            char **left, char **right, weft_error *error) {
    const char *rest = text + at + 1;
    size_t before = strspn(text, " \t");
    if (before >= at || !rest[strspn(rest, " \t")]) {
        refuse_value(error, option, text, before >= at ? 0 : at + 1,
                     before >= at ? "the text before the separator is empty"
                                  : "the text after the separator is empty");
        weft_error_hint(error, "write %s %s", option, form);
        return WEFT_ERROR_USAGE;
    }
    char *a = strndup(text, at), *b = strdup(rest);
    if (!a || !b) {
        free(a);
        free(b);
        return weft_out_of_memory(error, NULL);
    }
    *left = a;
    *right = b;
    return WEFT_OK;
}

/* Read "NAME" in quotes, in which "" means one quote, into *out (unless out is NULL). Returns the
 * text after the closing quote, or NULL if there is none. */
static const char *read_quoted(const char *text, char *out) {
    for (const char *c = text + 1; *c; ++c) {
        if (*c == '"' && *++c != '"') {
            if (out)
                *out = '\0';
            return c;
        }
        if (out)
            *out++ = *c;
    }
    return NULL;
}

static weft_status split_quoted(const char *option, const char *text, const char *form, char **left,
                                char **right, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *rest = read_quoted(text, NULL);
    char *whole = NULL, *value = NULL;
    if (!rest || *rest != '=' || rest == text + 2) {
        refuse_value(error, option, text, rest ? (size_t)(rest - text) : 0,
                     !rest              ? "this quote is not closed"
                     : rest == text + 2 ? "the text between the quotes is empty"
                                        : "expected '=' after the name in quotes");
        weft_error_hint(error, "write %s '\"NAME\"=...'; a quote in the name is written twice",
                        option);
        TRY(WEFT_ERROR_USAGE);
    }
    TRY(split_at(option, text, (size_t)(rest - text), form, &whole, &value, error));
    read_quoted(text, whole); /* shorter than the text with its quotes */
    *left = whole;
    *right = value;
done:
    return status;
}

weft_status app_split_assignment(const char *option, const char *text, const char *form,
                                 char **left, char **right, weft_error *error) {
    size_t at = strcspn(text, "=");
    if (text[0] == '"' && (strncmp(form, "GROUP", 5) == 0 || strncmp(form, "POINT", 5) == 0))
        return split_quoted(option, text, form, left, right, error);
    if (!text[at]) {
        refuse_value(error, option, text, at, "expected '='");
        weft_error_hint(error, "write %s %s%s", option, form,
                        strncmp(form, "GROUP", 5) == 0
                            ? "; GROUP is the name of a physical group, or boundary"
                            : "");
        return WEFT_ERROR_USAGE;
    }
    return split_at(option, text, at, form, left, right, error);
}

weft_status app_split_comma(const char *option, const char *text, const char *form, char **left,
                            char **right, weft_error *error) {
    int depth = 0;
    size_t at = 0;
    for (; text[at] && !(text[at] == ',' && depth == 0); ++at)
        depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (!text[at]) {
        refuse_value(error, option, text, at, "expected a comma between two expressions");
        weft_error_hint(error, "write %s %s", option, form);
        return WEFT_ERROR_USAGE;
    }
    return split_at(option, text, at, form, left, right, error);
}
