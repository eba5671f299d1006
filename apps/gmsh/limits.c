/* Limits of memory and time for Gmsh, watched by a thread: an allocation that fails inside Gmsh
 * would end it by an abort, and a loop of a .geo file never ends by itself. */
#include "apps/gmsh/weft_gmsh.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const double least_memory = 1e9, memory_per_byte = 64, memory_share = 0.75;
static const double geo_seconds = 3600, least_seconds = 300, seconds_per_byte = 1e-5;

typedef struct watch {
    limits limit;
    const char *path;
    double bytes, started; /* size of the file; weft_clock() then */
    bool quiet;
    stream *out;
} watch;

static watch watched;
static atomic_bool stopped;

/* Bytes that this process holds in memory now. */
static double memory_now(void) {
    double pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    if (fscanf(file, "%*s %lf", &pages) != 1)
        pages = 0;
    fclose(file);
    return pages * (double)sysconf(_SC_PAGESIZE);
}

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
        if (memory_now() > watched.limit.memory)
            end_for_memory();
        if (seconds > watched.limit.seconds)
            end_for_time();
        if (seconds >= reported + 1)
            stream_tick(watched.out, reported = floor(seconds));
    }
    return NULL;
}

/* What neither an option nor the environment says. */
static void set_defaults(limits *limit, bool is_geo) {
    double machine = memory_share * (double)weft_memory_available();
    double file = least_memory + memory_per_byte * watched.bytes;
    if (limit->memory <= 0)
        limit->memory = is_geo || file > machine ? machine : file;
    if (limit->seconds <= 0)
        limit->seconds = is_geo ? geo_seconds : least_seconds + seconds_per_byte * watched.bytes;
}

weft_status limits_start(limits wanted, const char *path, bool quiet, stream *out,
                         weft_error *error) {
    weft_status status = WEFT_OK;
    const char *memory = getenv("WEFT_MESH_MEMORY"), *seconds = getenv("WEFT_MESH_TIME");
    struct stat info;
    pthread_t thread;
    if (wanted.memory <= 0 && memory && *memory)
        TRY(weft_parse_bytes("WEFT_MESH_MEMORY", memory, &wanted.memory, error));
    if (wanted.seconds <= 0 && seconds && *seconds)
        TRY(weft_parse_seconds("WEFT_MESH_TIME", seconds, &wanted.seconds, error));
    watched = (watch){wanted, path, 0, weft_clock(), quiet, out};
    if (stat(path, &info) == 0)
        watched.bytes = (double)info.st_size;
    set_defaults(&watched.limit, path_ends_with(path, ".geo"));
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
