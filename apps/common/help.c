/* Prints --help, --usage and --version. argp formats the options only: it would wrap every line of
 * the other texts, which breaks examples, and exit with its own codes. */
#include "apps/common/support.h"
#include "fem/weft_fem.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 79, KEY_USAGE = -3 };

const struct argp_option app_help_options[] = {
    {"help", '?', NULL, 0, "Print this help", -1},
    {"usage", KEY_USAGE, NULL, 0, "Print a short usage message", 0},
    {"version", 'V', NULL, 0, "Print the version", 0},
    {0}};

/* Print one line of text, wrapped at blanks to the width of the page. */
static void print_line(const char *line, size_t length) {
    while (line[0] != ' ' && length > COLUMNS) {
        size_t end = COLUMNS;
        while (end > 0 && line[end] != ' ')
            --end;
        if (end == 0) /* a word that is longer than a line */
            break;
        printf("%.*s\n", (int)end, line);
        line += end + 1;
        length -= end + 1;
    }
    printf("%.*s\n", (int)length, line);
}

static void print_text(const char *text) {
    while (*text) {
        const size_t length = strcspn(text, "\n");
        print_line(text, length);
        text += length + (text[length] == '\n');
    }
}

/* argp aborts if it gets no memory. */
static void end_aborted(int signal) {
    static const char text[] = "error: out of memory for the help text\n";
    (void)signal;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(3);
}

static void print_options(const struct argp *argp, unsigned flags, char *name) {
    const struct sigaction end = {.sa_handler = end_aborted};
    struct sigaction before;
    const bool set = sigaction(SIGABRT, &end, &before) == 0;
    argp_help(argp, stdout, flags, name);
    if (set)
        sigaction(SIGABRT, &before, NULL);
}

/* Append the kinds of preconditioners, "chebyshev (...), ... or hypre (...)". */
static void list_preconditioners(weft_text *out) {
    const int n = weft_preconditioner_count();
    for (int i = 0; i < n; ++i) {
        const weft_preconditioner_info *info = weft_preconditioner_about(i);
        weft_text_add(out, "%s%s (%s)",
                      i == 0      ? ""
                      : i + 1 < n ? ", "
                                  : " or ",
                      info->name, info->help);
    }
}

/* Filter of argp's texts: expands {assemblies}, {assembly names}, {preconditioners} and
 * {methods}. */
static char *fill_in(int key, const char *text, void *input) {
    static const char *const marks[] = {"{assembly names}", "{assemblies}", "{preconditioners}",
                                        "{methods}"};
    (void)key;
    (void)input;
    for (int i = 0; text && i < 4; ++i) {
        const char *mark = strstr(text, marks[i]);
        weft_text filled = {0};
        if (!mark)
            continue;
        weft_text_add(&filled, "%.*s", (int)(mark - text), text);
        if (i == 2)
            list_preconditioners(&filled);
        else if (i == 3)
            weft_method_list(&filled);
        else
            weft_assembly_list(&filled, i == 1);
        weft_text_add(&filled, "%s", mark + strlen(marks[i]));
        if (!filled.failed)
            return filled.data; /* argp frees it */
        weft_text_free(&filled);
    }
    return (char *)(uintptr_t)text;
}

weft_status app_help_print(const struct argp *argp, int key, const char *program,
                           weft_error *error) {
    const struct argp standard = {.options = app_help_options};
    struct argp filled = *argp;
    filled.help_filter = fill_in;
    const struct argp_child children[] = {{&filled, 0, NULL, 0}, {&standard, 0, NULL, 0}, {0}};
    const struct argp all = {.children = children};
    const char *after = argp->doc ? strchr(argp->doc, '\v') : NULL;
    char name[64];
    snprintf(name, sizeof name, "%s", strrchr(program, '/') ? strrchr(program, '/') + 1 : program);
    if (key == 'V') {
        printf("%s (Weft) " WEFT_VERSION "\n", name);
    } else if (key == KEY_USAGE) {
        print_options(&all, ARGP_HELP_USAGE, name);
    } else {
        print_options(&all, ARGP_HELP_SHORT_USAGE | ARGP_HELP_PRE_DOC | ARGP_HELP_LONG, name);
        if (after) {
            putchar('\n');
            print_text(after + 1);
        }
    }
    if (fflush(stdout) != 0 || ferror(stdout))
        return weft_error_set(error, WEFT_ERROR_IO, "cannot write to standard output");
    return WEFT_OK;
}
