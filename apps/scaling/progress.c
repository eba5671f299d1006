/* Shows the progress of a study on a terminal. */
#include "apps/scaling/scaling.h"

#include <stdlib.h>
#include <sys/ioctl.h>

weft_status scaling_progress_make(app_messages *messages, const scaling_cases *cases,
                                  const scaling_study *study, scaling_progress *out,
                                  weft_error *error) {
    *out = (scaling_progress){.messages = messages, .cases = cases, .study = study};
    out->typical = calloc((size_t)cases->n_cases, sizeof *out->typical);
    out->failed = calloc((size_t)cases->n_cases, sizeof *out->failed);
    if (out->typical && out->failed)
        return WEFT_OK;
    scaling_progress_clear(out);
    return weft_out_of_memory(error, NULL);
}

void scaling_progress_clear(scaling_progress *progress) {
    for (int i = 0; progress->failed && i < progress->cases->n_cases; ++i)
        free(progress->failed[i]);
    free(progress->failed);
    free(progress->typical);
    progress->failed = NULL;
    progress->typical = NULL;
}

/* Estimate a run of a case by its last run. A case without runs is larger than the previous ones,
 * so the longest run so far is a lower bound. */
static double seconds_left(const scaling_progress *progress, int *n_left, bool *at_least) {
    double seconds = 0, longest = 0;
    *n_left = 0;
    *at_least = false;
    for (int i = 0; i < progress->cases->n_cases; ++i)
        longest = progress->typical[i] > longest ? progress->typical[i] : longest;
    for (int i = 0; i < progress->cases->n_cases; ++i)
        for (int round = 0; round < progress->study->rounds; ++round) {
            if (scaling_study_at(progress->study, i, round) || progress->failed[i])
                continue;
            ++*n_left;
            seconds += progress->typical[i] > 0 ? progress->typical[i] : longest;
            *at_least = *at_least || progress->typical[i] <= 0;
        }
    return seconds;
}

void scaling_progress_draw(void *user) {
    enum { WIDTH = 20 };
    scaling_progress *progress = user;
    app_messages *messages = progress->messages;
    if (!messages->bar)
        return;
    bool at_least = false;
    int left = 0;
    char line[240];
    struct winsize size;
    const int all = progress->study->n_cases * progress->study->rounds;
    double seconds = seconds_left(progress, &left, &at_least);
    const int filled = (all - left) * WIDTH / all;
    snprintf(line, sizeof line, "[%.*s%*s] %.80s, run %d of %d; %d runs left, %s%.0f s", filled,
             "====================", WIDTH - filled, "",
             progress->cases->cases[progress->current].name, progress->round + 1,
             progress->study->rounds, left, at_least ? "at least " : "", seconds);
    /* A line that wraps cannot be erased. */
    const bool narrow = ioctl(fileno(messages->stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    fprintf(messages->stream, "\r\033[K%.*s", narrow ? size.ws_col - 1 : (int)sizeof line, line);
    fflush(messages->stream);
    messages->drawn = true;
}
