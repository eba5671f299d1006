/* The command line tool weft: dispatches to its subcommands. */
#include "apps/weft/tool.h"

#include <string.h>

static const struct {
    const char *name;
    weft_command *run;
    const char *summary;
} commands[] = {
    {"compile", weft_tool_fuse, "Compile a script and print one stage: graph, plan, source, ..."},
    {"explain", weft_tool_explain, "Explain the plans of a script, and what prevents more fusion"},
    {"run", weft_tool_run, "Run a script on a mesh, with loops of its own"},
    {"ufl", weft_tool_ufl, "Read a UFL form file and print its forms or their degrees"},
    {"plan", weft_tool_plan, "Show the differences of two saved plans"},
    {"library", weft_tool_library, "List and show the elementary functions"},
    {"new", weft_tool_new, "Write a template of a function or of a script"},
    {"test", weft_tool_test, "Check functions against their reference implementations"},
    {"compare", weft_tool_compare, "Show what became faster or slower between two studies"},
    {"cache", weft_tool_cache, "List, verify or clear the cache of compiled kernels"},
    {"calibrate", weft_tool_calibrate, "Measure a device, so that run times can be predicted"},
    {"tune", weft_tool_tune_parameters, "Find the fastest values of the parameters of functions"},
    {"tuning", weft_tool_tuning, "List, verify or clear the measurements of devices"},
    {"gemm", weft_tool_gemm, "Compute, time and tune dense matrix products"},
    {"devices", weft_tool_devices, "List the devices and their limits"},
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static void print_help(void) {
    puts(
        "Usage: weft COMMAND [OPTION...]\n"
        "Compile scripts, inspect plans, and manage functions, caches and measurements of Weft.\n");
    for (int i = 0; i < N_COMMANDS; ++i)
        printf("  %-10s %s\n", commands[i].name, commands[i].summary);
    puts("\n"
         "  weft COMMAND --help   the options of a command, with examples\n"
         "  weft --version        the version\n"
         "\n"
         "Examples:\n"
         "  weft explain poisson.weft\n"
         "  weft compile poisson.weft --param d=3 --print source\n"
         "  weft library show jacobian\n"
         "  weft cache list\n"
         "\n"
         "Exit status: 0 done, 1 a check found something, 2 wrong usage or input, 3 the device "
         "failed.");
}

static weft_status run_command(int argc, char **argv, const weft_monitor *monitor, int *code,
                               weft_error *error) {
    const char *names[N_COMMANDS];
    const char *name = strcmp(argv[1], "fuse") == 0 ? "compile" : argv[1]; /* its former name */
    for (int i = 0; i < N_COMMANDS; ++i) {
        names[i] = commands[i].name;
        if (strcmp(name, names[i]) == 0) {
            char title[64];
            snprintf(title, sizeof title, "weft %s", names[i]);
            argv[1] = title;
            return commands[i].run(argc - 1, argv + 1, monitor, code, error);
        }
    }
    return weft_tool_refuse(argv[1][0] == '-' ? "option" : "command", argv[1], names, N_COMMANDS,
                            error);
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c) {
    return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

int main(int argc, char **argv) {
    weft_status status = WEFT_OK;
    weft_error error = {0};
    app_messages messages;
    int code = 0;
    app_ensure_standard_streams();
    TRY(app_messages_make(&messages, "weft", stderr, APP_NORMAL, &error));
    if (argc < 2) {
        status = weft_error_set(&error, WEFT_ERROR_USAGE, "no command is given");
        weft_error_hint(&error, "weft --help lists the commands");
    } else if (is_one_of(argv[1], "--help", "-?", "help")) {
        print_help();
    } else if (is_one_of(argv[1], "--version", "-V", "version")) {
        puts("weft (Weft) " WEFT_VERSION);
    } else {
        TRY(app_ranks_refuse("weft", &error));
        TRY(run_command(argc, argv, &messages.monitor, &code, &error));
    }
    if (fflush(stdout) != 0 || ferror(stdout))
        status = weft_error_set(&error, WEFT_ERROR_IO, "cannot write to standard output");
done:
    return status == WEFT_OK ? code : app_messages_fail(&messages, &error);
}
