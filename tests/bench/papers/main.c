/* Reads the command line of bench_papers, and makes one paper's tables and figures after another. */
#include "papers.h"

#include "apps/common/option_table.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NO_GPU = 77 };

static const paper *const papers[] = {&paper_fousek, &paper_filipovic, &paper_dey, &paper_kurzak,
                                      &paper_markall};
enum { PAPERS = sizeof papers / sizeof *papers };

static const app_option rows[] = {
    {"device", "NAME",
     "The device: host, cuda, cuda:N, or null:h200, which has predictions instead of times "
     "(default: auto)",
     APP_TEXT(papers_options, device)},
    {"out", "DIR", "The folder of the papers' folders (default: papers)",
     APP_TEXT(papers_options, out)},
    {"quick", NULL, "Small sizes and few repetitions: a test of this program, nothing to compare",
     APP_FLAG(papers_options, quick, true)},
    {"tune", "SECONDS", "kurzak: search so long for each of the 16 products (default: 3)",
     APP_NUMBER(papers_options, seconds, 0.1, 1e5)},
    {"threads", "N", "kurzak: threads on a multiprocessor of Fermi, at least (default: 512)",
     APP_INTEGER(papers_options, threads, 1, 1536)},
    {"blocks", "N", "kurzak: blocks on a multiprocessor of Fermi, at least (default: 2)",
     APP_INTEGER(papers_options, blocks, 1, 8)},
    {"reuse", "X",
     "kurzak: multiply-adds per element read from shared memory, at least (default: table 1 of the "
     "paper)",
     APP_NUMBER(papers_options, reuse, 0.01, 100)},
    {0}};

static const char doc[] =
    "Make the tables and figures of the five papers behind Weft with this device: fousek, "
    "filipovic, dey, kurzak, markall, or all of them."
    "\vFor each paper DIR/NAME has the data NAME.json, charts, and comparison.txt, whose lines "
    "compare with the paper's numbers and hardware. What cannot be measured on the device is left "
    "out, and a line says why.\n"
    "\n"
    "Exit status: 0 done, 2 wrong usage, 3 the device failed, 77 there is no such GPU.\n"
    "\nExamples:\n"
    "  bench_papers kurzak --device null:h200\n"
    "  bench_papers all --device cuda --out figures\n";

static weft_status read_name(void *user, const char *text, weft_error *error) {
    papers_options *options = user;
    const char *names[PAPERS + 1] = {"all"};
    int which = 0;
    for (int i = 0; i < PAPERS; ++i)
        names[i + 1] = papers[i]->name;
    if (options->n_names == (int)(sizeof options->names / sizeof *options->names))
        return weft_error_set(error, WEFT_ERROR_USAGE, "unexpected argument '%.200s'", text);
    options->names[options->n_names++] = text;
    return app_parse_choice("paper", text, names, PAPERS + 1, &which, error);
}

static bool is_asked(const papers_options *options, const paper *about) {
    for (int i = 0; i < options->n_names; ++i)
        if (strcmp(options->names[i], "all") == 0 || strcmp(options->names[i], about->name) == 0)
            return true;
    return false;
}

/* The folder of this program, where Weft's programs are too. */
static weft_status find_programs(char *out, size_t size, weft_error *error) {
    const ssize_t length = readlink("/proc/self/exe", out, size - 1);
    if (length <= 0)
        return weft_error_set(error, WEFT_ERROR_IO, "cannot read /proc/self/exe");
    out[length] = '\0';
    *strrchr(out, '/') = '\0';
    return WEFT_OK;
}

int main(int argc, char **argv) {
    weft_status status = WEFT_OK;
    weft_error error = {0};
    app_messages messages;
    char programs[4096] = "";
    papers_options options = {
        .device = "auto", .out = "papers", .programs = programs, .seconds = 3};
    app_ensure_standard_streams();
    TRY(app_messages_make(&messages, "bench_papers", stderr, APP_NORMAL, &error));
    TRY(app_command_line_read(&(app_command_line){.arguments = "PAPER...",
                                                  .doc = doc,
                                                  .tables = {{rows, &options}},
                                                  .argument = read_name,
                                                  .user = &options},
                              argc, argv, &error));
    if (options.n_names == 0)
        TRY(weft_error_refuse(&error, WEFT_ERROR_USAGE, "no paper is named",
                              "bench_papers --help lists them"));
    TRY(find_programs(programs, sizeof programs, &error));
    for (int i = 0; i < PAPERS; ++i)
        if (is_asked(&options, papers[i]))
            TRY(paper_make(&options, papers[i], &messages.monitor, &error));
done:
    if (status == WEFT_OK)
        return 0;
    const int code = app_messages_fail(&messages, &error);
    return status == WEFT_ERROR_DEVICE && strncmp(options.device, "cuda", 4) == 0 ? NO_GPU : code;
}
