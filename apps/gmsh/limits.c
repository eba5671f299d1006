/* Limits of memory and time for Gmsh, watched by a thread: an allocation that fails inside Gmsh
 * would end it by an abort, and a loop of a .geo file never ends by itself. */
#include "apps/gmsh/weft_gmsh.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct watch {
    weft_reading_limits limit;
    const char *path;
    double bytes, started; /* size of the file; weft_clock() then */
    bool quiet;
    stream *out;
} watch;

static watch watched;
static atomic_bool stopped;

static const char *bytes_text(double bytes, char out[32]) {
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    int unit = 0;
    for (; bytes >= 1000 && unit < 4; ++unit)
        bytes /= 1000;
    snprintf(out, 32, "%.3g %s", bytes, units[unit]);
    return out;
}

static void end_process(const weft_error *error) {
    stream_error(watched.out, error);
    if (!watched.quiet) {
        char text[4096];
        weft_error_text(error, text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    _exit(weft_status_exit_code(error->status));
}

static void end_for_memory(void) {
    char limit[32], size[32];
    weft_error error = {0};
    weft_error_set(&error, WEFT_ERROR_MEMORY,
                   "Gmsh needs more than %s of memory for this file of %s, and was stopped",
                   bytes_text(watched.limit.memory, limit), bytes_text(watched.bytes, size));
    weft_error_location(&error, watched.path, NULL, 0, 0);
    weft_error_hint(&error, "where the file is right and the machine has more memory, raise the "
                            "limit by --mesh-memory (such as 64G) or WEFT_MESH_MEMORY; a larger "
                            "--size makes a smaller mesh");
    end_process(&error);
}

static void end_for_time(void) {
    weft_error error = {0};
    weft_error_set(&error, WEFT_ERROR_INPUT,
                   "Gmsh had not finished with this file after %g seconds, and was stopped",
                   watched.limit.seconds);
    weft_error_location(&error, watched.path, NULL, 0, 0);
    weft_error_hint(&error, "look for a loop that does not end, and for a mesh size that is far "
                            "too small; where neither is there, raise the limit of seconds by "
                            "--mesh-time or WEFT_MESH_TIME");
    end_process(&error);
}

static void *watch_limits(void *user) {
    const struct timespec pause = {0, 20000000};
    double reported = 0;
    (void)user;
    while (!atomic_load(&stopped)) {
        nanosleep(&pause, NULL);
        double seconds = weft_clock() - watched.started;
        if (atomic_load(&stopped))
            break;
        if (weft_process_bytes(true) > watched.limit.memory)
            end_for_memory();
        if (seconds > watched.limit.seconds)
            end_for_time();
        if (seconds >= reported + 1)
            stream_tick(watched.out, reported = floor(seconds));
    }
    return NULL;
}

weft_status limits_start(weft_reading_limits wanted, const char *path, bool quiet, stream *out,
                         weft_error *error) {
    weft_status status = WEFT_OK;
    struct stat info;
    pthread_t thread;
    watched = (watch){{0}, path, 0, weft_clock(), quiet, out};
    TRY(weft_reading_limits_find(path, path_ends_with(path, ".geo"), wanted, &watched.limit,
                                 error));
    if (stat(path, &info) == 0)
        watched.bytes = (double)info.st_size;
    int number = pthread_create(&thread, NULL, watch_limits, NULL);
    if (number != 0)
        status =
            weft_error_set(error, WEFT_ERROR_MEMORY, "cannot start a thread: %s", strerror(number));
    else
        pthread_detach(thread);
done:
    return status;
}

void limits_stop(void) {
    atomic_store(&stopped, true);
}
