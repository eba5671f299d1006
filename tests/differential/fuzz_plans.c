/* Random scripts, each by several plans and devices, against 64-bit integers. Scripts are tried
 * many at once, a group in a process of its own, so that a compiler starts once for all of it and
 * a script that crashes is found too. What fails is reduced before it is shown. */
#include "core/host/compiler.h"
#include "core/weft_core.h"
#include "cross_check.h"
#include "device_batch.h"
#include "fusion/weft_library.h"
#include "random_natives.h"
#include "shrink.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEVICES = 8, AT_ONCE = 10, MOST_FAILURES = 3, MOST_JOBS = 256 };
enum { OPTIMISED = 10 /* one group in so many is compiled as the host's device does it */ };

/* What is compiled as users get it: by the best instruction set, and by each that there is. */
static const char *const optimised[] = {"optimised", "optimised:sse2", "optimised:avx2",
                                        "optimised:avx512", "optimised:neon"};
enum { N_OPTIMISED = sizeof optimised / sizeof *optimised };

typedef struct fuzz {
    const char *devices[DEVICES];
    int n_devices;
    int64_t count, seed;
    int jobs;
    bool print, verbose, plain, all;
} fuzz;

static weft_status device_open(const char *name, weft_device **out, weft_error *error) {
    if (device_batch_is(name))
        return device_batch_open(name, out, error);
    return weft_device_open(name, NULL, out, error);
}

/* What can go wrong, as bits. */
enum { DIFFERS = 1, REFUSED = 2, CRASHED = 4, NO_DEVICE = 8 };

static void show_failure(const random_script *script, const cross_check_way *way,
                         const weft_error *error) {
    char message[4096];
    weft_text text = {0};
    weft_error_text(error, message, sizeof message);
    cross_check_way_print(way, &text);
    printf("seed %lld, %s: %s\n", (long long)script->seed, text.data, message);
    weft_text_free(&text);
    fflush(stdout);
}

/* Processor time of this process, or of those that it has started and that have ended. */
static double seconds_of(int who) {
    struct rusage usage;
    getrusage(who, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* The kernel library, and the functions of all scripts. */
static weft_status library_make(random_script *const *scripts, int n, weft_library **out,
                                weft_error *error) {
    weft_status status = weft_library_make(out, error);
    if (status == WEFT_OK)
        status = random_natives_add(*out, error);
    for (int i = 0; i < n && status == WEFT_OK; ++i) {
        weft_text functions = {0};
        random_script_print_functions(scripts[i], &functions);
        if (functions.length > 0)
            status = weft_library_add_text(*out, "random.kernel.c", functions.data, error);
        weft_text_free(&functions);
    }
    return status;
}

/* All ways of all scripts on one device; what went wrong. */
static int try_device(const fuzz *f, const char *name, random_script *const *scripts, int n) {
    weft_error error = {0};
    weft_device *device = NULL;
    weft_library *library = NULL;
    cross_check *trials = random_alloc((size_t)(n * CROSS_CHECK_WAYS), sizeof *trials);
    weft_status *made = random_alloc((size_t)(n * CROSS_CHECK_WAYS), sizeof *made);
    int n_trials = 0, n_failures = 0, n_directed = 0, failures = 0;
    const double own = seconds_of(RUSAGE_SELF), compilers = seconds_of(RUSAGE_CHILDREN);
    double made_at = own;
    if (library_make(scripts, n, &library, &error) != WEFT_OK ||
        device_open(name, &device, &error) != WEFT_OK) {
        char message[4096];
        weft_error_text(&error, message, sizeof message);
        printf("%s\n", message);
        failures = NO_DEVICE;
        goto done;
    }
    for (int i = 0; i < n; ++i) {
        cross_check_way ways[CROSS_CHECK_WAYS];
        const int n_ways = cross_check_ways(scripts[i], name, ways);
        for (int k = 0; k < n_ways; ++k, ++n_trials) {
            made[n_trials] =
                cross_check_make(library, device, scripts[i], &ways[k], &trials[n_trials], &error);
            n_directed += trials[n_trials].directed;
            if (made[n_trials] == WEFT_OK)
                continue;
            show_failure(scripts[i], &ways[k], &error);
            failures |= REFUSED;
            ++n_failures;
        }
    }
    made_at = seconds_of(RUSAGE_SELF);
    for (int i = 0; i < n_trials; ++i) {
        random_values values;
        if (made[i] != WEFT_OK)
            continue;
        random_values_make(trials[i].script, &values);
        if (cross_check_run(&trials[i], &values, &error) != WEFT_OK) {
            show_failure(trials[i].script, &trials[i].way, &error);
            failures |= DIFFERS;
            ++n_failures;
        }
        random_values_free(&values);
    }
    if (f->verbose)
        printf(
            "%s: %d programs, %d by directives, %d fail; %.1f s planning, %.1f s running, %.1f s "
            "compilers\n",
            name, n_trials, n_directed, n_failures, made_at - own,
            seconds_of(RUSAGE_SELF) - made_at, seconds_of(RUSAGE_CHILDREN) - compilers);
done:
    for (int i = 0; i < n_trials; ++i)
        cross_check_free(&trials[i]);
    free(trials);
    free(made);
    weft_library_free(&library);
    weft_device_free(&device);
    return failures;
}

/* In a process of its own, which writes to `out`. */
static pid_t start_scripts(const fuzz *f, random_script *const *scripts, int n, FILE *out) {
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        int failures = 0;
        if (out == NULL || dup2(fileno(out), STDOUT_FILENO) < 0)
            _exit(NO_DEVICE);
        for (int i = 0; i < f->n_devices; ++i)
            failures |= try_device(f, f->devices[i], scripts, n);
        fflush(stdout);
        _exit(failures);
    }
    if (child < 0 || out == NULL) {
        perror("fuzz_plans");
        exit(2);
    }
    return child;
}

/* Shows what it wrote, and closes that; what went wrong, of a process that has ended. */
static int end_scripts(int status, random_script *const *scripts, int n, FILE *out) {
    char line[4096];
    rewind(out);
    while (fgets(line, sizeof line, out) != NULL)
        fputs(line, stdout);
    fclose(out);
    if (WIFSIGNALED(status))
        printf("seeds %lld to %lld: ended by signal %d\n", (long long)scripts[0]->seed,
               (long long)scripts[n - 1]->seed, WTERMSIG(status));
    fflush(stdout);
    return WIFEXITED(status) ? WEXITSTATUS(status) : CRASHED;
}

static int try_script(const fuzz *f, random_script *script, bool quiet) {
    int status = 0;
    FILE *out = quiet ? fopen("/dev/null", "w+") : tmpfile();
    const pid_t child = start_scripts(f, &script, 1, out);
    if (waitpid(child, &status, 0) != child) {
        perror("fuzz_plans");
        exit(2);
    }
    if (!quiet)
        return end_scripts(status, &script, 1, out);
    fclose(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : CRASHED;
}

typedef struct same_failure {
    const fuzz *fuzz;
    int failure;
} same_failure;

static bool still_fails(void *user, const random_script *script) {
    const same_failure *wanted = user;
    random_script *copy = random_script_copy(script);
    const int failure = try_script(wanted->fuzz, copy, true);
    random_script_free(&copy);
    return failure == wanted->failure;
}

static void show_script(const char *what, const random_script *script) {
    weft_text text = {0};
    random_script_print(script, RANDOM_DIRECTED, &text);
    printf("---- %s (seed %lld", what, (long long)script->seed);
    for (int i = 0; i < script->n_sets; ++i)
        printf(", %lld %s", (long long)script->sets[i].n, script->sets[i].name);
    printf("%s)\n%s", script->single ? ", float" : "", text.data);
    weft_text_free(&text);
    fflush(stdout);
}

/* Each script of a group alone, and the first that fail reduced. */
static int find_failures(const fuzz *f, random_script *const *scripts, int n) {
    int failures = 0;
    for (int i = 0; i < n && failures < MOST_FAILURES; ++i) {
        same_failure wanted = {f, try_script(f, scripts[i], true)};
        if (wanted.failure == 0)
            continue;
        ++failures;
        show_script("fails", scripts[i]);
        random_script *small = random_script_copy(scripts[i]);
        shrink(small, still_fails, &wanted);
        try_script(f, small, false);
        show_script("smaller", small);
        random_script_free(&small);
    }
    if (failures == 0)
        printf("none of seeds %lld to %lld fails alone\n", (long long)scripts[0]->seed,
               (long long)scripts[n - 1]->seed);
    return failures > 0 ? failures : 1;
}

/* ---- groups ---- */

typedef struct group {
    fuzz fuzz; /* with the devices that it is tried on */
    random_script *scripts[AT_ONCE];
    int n;
    pid_t child; /* 0: none */
    FILE *out;
} group;

static bool is_here(const char *name) {
    const char *set = strchr(name, ':');
    weft_processor processor;
    return set == NULL || weft_processor_read(set + 1, &processor, NULL) == WEFT_OK;
}

/* Those that this processor has, one after the other. */
static const char *optimised_of(int64_t iteration) {
    const char *here[N_OPTIMISED];
    int n = 0;
    for (int i = 0; i < N_OPTIMISED; ++i)
        if (is_here(optimised[i]))
            here[n++] = optimised[i];
    return here[iteration % n];
}

static void group_make(const fuzz *f, int64_t first, group *out) {
    const int64_t share = (f->count + f->jobs - 1) / f->jobs,
                  most = share < AT_ONCE ? share : AT_ONCE;
    *out = (group){.fuzz = *f};
    if (f->n_devices == 0) {
        const int64_t number = first / most;
        out->fuzz.devices[0] = number % OPTIMISED == 0 ? optimised_of(number / OPTIMISED) : "batch";
        out->fuzz.devices[1] = "emulated";
        out->fuzz.n_devices = 2;
    }
    for (; out->n < most && first + out->n < f->count; ++out->n)
        out->scripts[out->n] = random_script_make((uint64_t)(f->seed + first + out->n));
}

static void group_free(group *g) {
    for (int i = 0; i < g->n; ++i)
        random_script_free(&g->scripts[i]);
    *g = (group){0};
}

/* Waits for any group; how many of its scripts fail. */
static int group_end(group *groups, int n) {
    int status = 0, failures = 0;
    const pid_t child = waitpid(-1, &status, 0);
    for (int i = 0; i < n; ++i) {
        group *g = &groups[i];
        if (child <= 0 || g->child != child)
            continue;
        g->child = 0;
        const int wrong = end_scripts(status, g->scripts, g->n, g->out);
        if ((wrong & NO_DEVICE) != 0) /* a GPU may be missing; what compiles for the host may not */
            exit(device_batch_is(g->fuzz.devices[0]) ? 2 : 77);
        if (wrong != 0)
            failures = g->fuzz.all     ? 1
                       : g->fuzz.plain ? MOST_FAILURES
                                       : find_failures(&g->fuzz, g->scripts, g->n);
        group_free(g);
        return failures;
    }
    perror("fuzz_plans");
    exit(2);
}

static group *group_idle(group *groups, int n) {
    for (int i = 0; i < n; ++i)
        if (groups[i].child == 0)
            return &groups[i];
    return NULL;
}

static void print_scripts(const fuzz *f) {
    for (int64_t i = 0; i < f->count; ++i) {
        random_script *script = random_script_make((uint64_t)(f->seed + i));
        show_script("script", script);
        random_script_free(&script);
    }
}

static int run(const fuzz *f) {
    int failures = 0, n_running = 0;
    int64_t done = 0;
    group *groups = random_alloc((size_t)f->jobs, sizeof *groups);
    while (n_running > 0 || (done < f->count && (f->all || failures < MOST_FAILURES))) {
        group *idle = group_idle(groups, f->jobs);
        if (idle != NULL && done < f->count && (f->all || failures < MOST_FAILURES)) {
            group_make(f, done, idle);
            idle->out = tmpfile();
            idle->child = start_scripts(&idle->fuzz, idle->scripts, idle->n, idle->out);
            done += idle->n;
            ++n_running;
        } else {
            failures += group_end(groups, f->jobs);
            --n_running;
        }
    }
    free(groups);
    printf("%lld random scripts from seed %lld, %d %sfail\n", (long long)done, (long long)f->seed,
           failures, f->all ? "groups " : "");
    if (f->verbose)
        printf("%.1f s of processors\n", seconds_of(RUSAGE_CHILDREN));
    return failures > 0;
}

static void add_every_set(fuzz *f) {
    for (int i = 1; i < N_OPTIMISED && f->n_devices < DEVICES; ++i)
        if (is_here(optimised[i]))
            f->devices[f->n_devices++] = optimised[i];
}

static int usage(void) {
    fputs("usage: fuzz_plans [--count N] [--seed S] [--jobs J] [--device D]...\n"
          "                  [--print] [--plain] [--all] [--verbose] [--version]\n"
          "  devices: batch, optimised, optimised:SET (avx2), every-set (each of these that the\n"
          "    processor has), emulated, or any of weft's: host:2, cuda\n"
          "    without --device: emulated, and batch, or an optimised one for one group in ten\n"
          "  --jobs: number of groups of scripts that run concurrently\n"
          "  --print: print the scripts instead of running them\n"
          "  --plain: do not reduce failing scripts; --all: nor stop after several failures\n",
          stderr);
    return 2;
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"count", required_argument, NULL, 'n'}, {"seed", required_argument, NULL, 's'},
        {"jobs", required_argument, NULL, 'j'},  {"device", required_argument, NULL, 'd'},
        {"print", no_argument, NULL, 'p'},       {"verbose", no_argument, NULL, 'v'},
        {"plain", no_argument, NULL, 'q'},       {"all", no_argument, NULL, 'a'},
        {"version", no_argument, NULL, 'V'},     {0}};
    fuzz f = {.count = 100, .seed = 1, .jobs = 1};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 'n')
            f.count = strtoll(optarg, NULL, 10);
        else if (option == 's')
            f.seed = strtoll(optarg, NULL, 10);
        else if (option == 'j')
            f.jobs = (int)strtol(optarg, NULL, 10);
        else if (option == 'd' && strcmp(optarg, "every-set") == 0)
            add_every_set(&f);
        else if (option == 'd' && f.n_devices < DEVICES)
            f.devices[f.n_devices++] = optarg;
        else if (option == 'p')
            f.print = true;
        else if (option == 'q')
            f.plain = true;
        else if (option == 'a')
            f.plain = f.all = true;
        else if (option == 'v')
            f.verbose = true;
        else if (option == 'V')
            return puts("fuzz_plans (Weft) " WEFT_VERSION) < 0;
        else
            return usage();
    }
    if (optind < argc || f.count < 0 || f.jobs < 1 || f.jobs > MOST_JOBS)
        return usage();
    if (!f.print)
        return run(&f);
    print_scripts(&f);
    return 0;
}
