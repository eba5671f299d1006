/* Handles Ctrl-C in long loops: the first requests a stop, the second ends the program. */
#include "apps/common/support.h"

#include <signal.h>
#include <string.h>

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
enum { NUMBERS = sizeof numbers / sizeof *numbers };
static volatile sig_atomic_t caught;

static void take(int number) {
    caught = number;
    for (int i = 0; i < NUMBERS; ++i) /* the next one ends the program at once */
        signal(numbers[i], SIG_DFL);
}

void app_stop_catch(void) {
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = take;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    caught = 0;
    for (int i = 0; i < NUMBERS; ++i) /* signals ignored because of nohup stay ignored */
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
}

int app_stop_caught(void) {
    return caught;
}

void app_stop_release(void) {
    struct sigaction now;
    for (int i = 0; i < NUMBERS; ++i)
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler == take)
            signal(numbers[i], SIG_DFL);
}
