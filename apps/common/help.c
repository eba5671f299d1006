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

/* Append "chebyshev (...), ... or hypre (...)". */
static void add_item(int i, int n, const char *name, const char *help, weft_text *out) {
    const char *between = i == 0 ? "" : i + 1 < n ? ", " : " or ";
    weft_text_add(out, "%s%s (%s)", between, name, help);
}

static void list_preconditioners(weft_text *out) {
    const int n = weft_preconditioner_count();
    for (int i = 0; i < n; ++i)
        add_item(i, n, weft_preconditioner_about(i)->name, weft_preconditioner_about(i)->help, out);
}

static void list_schemes(const weft_step_scheme_info *(*about)(int), weft_text *out) {
    for (int i = 0; about(i); ++i)
        add_item(i, about(i + 1) ? i + 2 : i + 1, about(i)->name, about(i)->help, out);
}

static void list_splittings(weft_text *out) {
    list_schemes(weft_splitting_about, out);
}

static void list_advection_schemes(weft_text *out) {
    list_schemes(weft_runge_kutta_about, out);
}

/* "name (default: ..., of order 2, 1 solve per step), ...", of the schemes of problems in time. */
static void list_time_schemes(weft_text *out) {
    const int n = weft_time_scheme_count();
    for (int i = 0; i < n; ++i) {
        const weft_time_scheme_info *about = weft_time_scheme_about((weft_time_scheme)i);
        weft_text help = {0};
        weft_text_add(&help, "%s%s, of order %d%s, %d solve%s per step",
                      i == (int)weft_time_scheme_default() ? "default: " : "", about->help,
                      about->order, about->takes_theta ? " for 0.5, else 1" : "", about->n_stages,
                      about->n_stages > 1 ? "s" : "");
        add_item(i, n, about->name, help.data ? help.data : "", out);
        weft_text_free(&help);
    }
}

static void list_assembly_names(weft_text *out) {
    weft_assembly_list(out, false);
}

static void list_assemblies(weft_text *out) {
    weft_assembly_list(out, true);
}

/* Filter of argp's texts: expands marks. */
static char *fill_in(int key, const char *text, void *input) {
    static const struct mark {
        const char *name;
        void (*write)(weft_text *out);
    } marks[] = {{"{assembly names}", list_assembly_names},
                 {"{assemblies}", list_assemblies},
                 {"{preconditioners}", list_preconditioners},
                 {"{methods}", weft_method_list},
                 {"{splittings}", list_splittings},
                 {"{time schemes}", list_time_schemes},
                 {"{advection schemes}", list_advection_schemes}};
    (void)key;
    (void)input;
    for (size_t i = 0; text && i < sizeof marks / sizeof *marks; ++i) {
        const char *at = strstr(text, marks[i].name);
        weft_text filled = {0};
        if (!at)
            continue;
        weft_text_add(&filled, "%.*s", (int)(at - text), text);
        marks[i].write(&filled);
        weft_text_add(&filled, "%s", at + strlen(marks[i].name));
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
