/* Finds and runs other programs, and handles signals meanwhile. */
#include "apps/common/support.h"
#include "core/base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TICK_NANOSECONDS = 200000000 };

/* Except those that the parent process has set to be ignored, as nohup does. */
static void stop_signals(sigset_t *out) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    sigemptyset(out);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        struct sigaction action;
        if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(out, numbers[i]);
    }
}

void app_signals_block(void) {
    sigset_t set;
    signal(SIGCHLD, SIG_DFL); /* if it is ignored, children's exit codes are lost */
    stop_signals(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

int app_interrupt_requested(void) {
    sigset_t set;
    stop_signals(&set);
    const struct timespec now = {0, 0};
    int number = sigtimedwait(&set, NULL, &now);
    return number > 0 ? number : 0;
}

/* Wait for the child. Pass on the first signal to stop, and kill the child at the second. */
static void wait_for(weft_process *process, const app_child_start *start, int *stopped) {
    const struct timespec pause = {0, TICK_NANOSECONDS};
    sigset_t set;
    stop_signals(&set);
    sigaddset(&set, SIGCHLD);
    while (!weft_process_ended(process)) {
        int number = sigtimedwait(&set, NULL, &pause);
        if (number > 0 && number != SIGCHLD) {
            kill(process->pid, *stopped ? SIGKILL : SIGTERM);
            *stopped = number;
        } else if (number < 0 && start->tick) {
            start->tick(start->user);
        }
    }
}

static char *read_back(FILE *file) {
    long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *text = length >= 0 ? malloc((size_t)length + 1) : NULL;
    if (text) {
        rewind(file);
        text[fread(text, 1, (size_t)length, file)] = '\0';
    }
    return text;
}

static bool write_input(const char *text, FILE *file) {
    return fputs(text, file) >= 0 && fflush(file) == 0 && fseek(file, 0, SEEK_SET) == 0;
}

/* The child's streams are unnamed temporary files, so that it never blocks. */
weft_status app_child_run(const app_child_start *what, app_child *out, int *stopped,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    weft_process process;
    weft_process_result result;
    weft_process_start start = {
        .program = what->arguments[0], .arguments = what->arguments, .folder = -1};
    *out = (app_child){0};
    FILE *output = tmpfile(), *messages = tmpfile(), *input = what->input ? tmpfile() : NULL;
    if (!output || !messages || (what->input && (!input || !write_input(what->input, input))))
        TRY(weft_error_set(error, WEFT_ERROR_IO, "cannot make a temporary file: %s",
                           strerror(errno)));
    start.output = fileno(output);
    start.errors = fileno(messages);
    start.input = input ? fileno(input) : 0;
    if (what->folder && (start.folder = open(what->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        TRY(weft_error_set(error, WEFT_ERROR_IO, "cannot open %s: %s", what->folder,
                           strerror(errno)));
    TRY(weft_process_begin(&start, &process, error));
    wait_for(&process, what, stopped);
    out->seconds = weft_clock() - process.began;
    weft_process_end(&process, false, &result);
    out->exit_code = result.exit_code;
    out->output = read_back(output);
    out->error = read_back(messages);
    if (!out->output || !out->error) {
        app_child_clear(out);
        status = weft_out_of_memory(error, NULL);
    }
done:
    if (input)
        fclose(input);
    if (output)
        fclose(output);
    if (messages)
        fclose(messages);
    if (start.folder >= 0)
        close(start.folder);
    return status;
}

void app_child_clear(app_child *child) {
    free(child->output);
    free(child->error);
    child->output = child->error = NULL;
}
