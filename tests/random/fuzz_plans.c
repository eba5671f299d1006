/* Random scripts, each by several plans and devices, against 64-bit integers. Scripts are tried
 * many at once in a process of their own, so that one that crashes is found too. What fails is made
 * smaller before it is shown. */
#include "device_batch.h"
#include "shrink.h"
#include "trial.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEVICES = 8, AT_ONCE = 20, MOST_FAILURES = 3 };

typedef struct fuzz {
    const char *devices[DEVICES];
    int n_devices;
    int64_t count, seed;
    bool print, verbose, plain;
} fuzz;

static weft_status device_open(const char *name, weft_device **out, weft_error *error) {
    if (strcmp(name, "batch") == 0 || strcmp(name, "emulated") == 0)
        return device_batch_open(name[0] == 'e', out, error);
    return weft_device_open(name, NULL, out, error);
}

/* What can go wrong, as bits. */
enum { DIFFERS = 1, REFUSED = 2, CRASHED = 4 };

static void show_failure(const random_script *script, const trial_way *way,
                         const weft_error *error) {
    char message[4096];
    weft_text text = {0};
    weft_error_text(error, message, sizeof message);
    trial_way_print(way, &text);
    printf("seed %lld, %s: %s\n", (long long)script->seed, text.data, message);
    weft_text_free(&text);
    fflush(stdout);
}

/* All ways of all scripts on one device; what went wrong. */
static int try_device(const fuzz *f, const char *name, random_script *const *scripts, int n) {
    weft_error error = {0};
    weft_device *device = NULL;
    weft_library *library = NULL;
    trial *trials = random_alloc((size_t)(n * TRIAL_WAYS), sizeof *trials);
    weft_status *made = random_alloc((size_t)(n * TRIAL_WAYS), sizeof *made);
    int n_trials = 0, n_failures = 0, failures = 0;
    if (weft_library_make(&library, &error) != WEFT_OK ||
        device_open(name, &device, &error) != WEFT_OK) {
        char message[4096];
        weft_error_text(&error, message, sizeof message);
        printf("%s\n", message);
        failures = REFUSED;
        goto done;
    }
    for (int i = 0; i < n; ++i) {
        trial_way ways[TRIAL_WAYS];
        const int n_ways = trial_ways(scripts[i], name, ways);
        for (int k = 0; k < n_ways; ++k, ++n_trials) {
            made[n_trials] =
                trial_make(library, device, scripts[i], &ways[k], &trials[n_trials], &error);
            if (made[n_trials] == WEFT_OK)
                continue;
            show_failure(scripts[i], &ways[k], &error);
            failures |= REFUSED;
            ++n_failures;
        }
    }
    for (int i = 0; i < n_trials; ++i) {
        random_values values;
        if (made[i] != WEFT_OK)
            continue;
        random_values_make(trials[i].script, &values);
        if (trial_run(&trials[i], &values, &error) != WEFT_OK) {
            show_failure(trials[i].script, &trials[i].way, &error);
            failures |= DIFFERS;
            ++n_failures;
        }
        random_values_free(&values);
    }
    if (f->verbose)
        printf("%s: %d programs, %d fail\n", name, n_trials, n_failures);
done:
    for (int i = 0; i < n_trials; ++i)
        trial_free(&trials[i]);
    free(trials);
    free(made);
    weft_library_free(&library);
    weft_device_free(&device);
    return failures;
}

/* In a process of its own. */
static int try_scripts(const fuzz *f, random_script *const *scripts, int n, bool quiet) {
    int status = 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        int failures = 0;
        if (quiet && freopen("/dev/null", "w", stdout) == NULL)
            _exit(2);
        for (int i = 0; i < f->n_devices; ++i)
            failures |= try_device(f, f->devices[i], scripts, n);
        fflush(stdout);
        _exit(failures);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("fork");
        exit(2);
    }
    if (WIFSIGNALED(status) && !quiet)
        printf("seeds %lld to %lld: ended by signal %d\n", (long long)scripts[0]->seed,
               (long long)scripts[n - 1]->seed, WTERMSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : CRASHED;
}

typedef struct same_failure {
    const fuzz *fuzz;
    int failure;
} same_failure;

static bool still_fails(void *user, const random_script *script) {
    const same_failure *wanted = user;
    random_script *copy = random_script_copy(script);
    const int failure = try_scripts(wanted->fuzz, &copy, 1, true);
    random_script_free(&copy);
    return failure == wanted->failure;
}

static void show_script(const char *what, const random_script *script) {
    weft_text text = {0};
    random_script_print(script, &text);
    printf("---- %s (seed %lld", what, (long long)script->seed);
    for (int i = 0; i < script->n_sets; ++i)
        printf(", %lld %s", (long long)script->sets[i].n, script->sets[i].name);
    printf("%s)\n%s", script->single ? ", float" : "", text.data);
    weft_text_free(&text);
    fflush(stdout);
}

/* Each script of a group alone, and the first that fail made smaller. */
static int find_failures(const fuzz *f, random_script *const *scripts, int n) {
    int failures = 0;
    for (int i = 0; i < n && failures < MOST_FAILURES; ++i) {
        same_failure wanted = {f, try_scripts(f, &scripts[i], 1, true)};
        if (wanted.failure == 0)
            continue;
        ++failures;
        show_script("fails", scripts[i]);
        random_script *small = random_script_copy(scripts[i]);
        shrink(small, still_fails, &wanted);
        try_scripts(f, &small, 1, false);
        show_script("smaller", small);
        random_script_free(&small);
    }
    if (failures == 0)
        printf("none of seeds %lld to %lld fails alone\n", (long long)scripts[0]->seed,
               (long long)scripts[n - 1]->seed);
    return failures > 0 ? failures : 1;
}

static int run(const fuzz *f) {
    int failures = 0;
    int64_t done = 0;
    random_script *scripts[AT_ONCE];
    while (done < f->count && failures < MOST_FAILURES) {
        int n = 0;
        for (; n < AT_ONCE && done + n < f->count; ++n)
            scripts[n] = random_script_make((uint64_t)(f->seed + done + n));
        for (int i = 0; i < n && f->print; ++i)
            show_script("script", scripts[i]);
        if (!f->print && try_scripts(f, scripts, n, false) != 0)
            failures += f->plain ? MOST_FAILURES : find_failures(f, scripts, n);
        for (int i = 0; i < n; ++i)
            random_script_free(&scripts[i]);
        done += n;
    }
    if (!f->print)
        printf("%lld random scripts from seed %lld, %d fail\n", (long long)done, (long long)f->seed,
               failures);
    return failures > 0;
}

static int usage(void) {
    fputs(
        "usage: fuzz_plans [--count N] [--seed S] [--device D]... [--print] [--plain] [--verbose]\n"
        "  devices: batch and emulated (both without --device), or any of weft's: host:2, cuda\n"
        "  --print: the scripts, and nothing is run\n"
        "  --plain: what fails is not made smaller\n",
        stderr);
    return 2;
}

int main(int argc, char **argv) {
    static const struct option options[] = {{"count", required_argument, NULL, 'n'},
                                            {"seed", required_argument, NULL, 's'},
                                            {"device", required_argument, NULL, 'd'},
                                            {"print", no_argument, NULL, 'p'},
                                            {"verbose", no_argument, NULL, 'v'},
                                            {"plain", no_argument, NULL, 'q'},
                                            {0}};
    fuzz f = {.count = 100, .seed = 1};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 'n')
            f.count = strtoll(optarg, NULL, 10);
        else if (option == 's')
            f.seed = strtoll(optarg, NULL, 10);
        else if (option == 'd' && f.n_devices < DEVICES)
            f.devices[f.n_devices++] = optarg;
        else if (option == 'p')
            f.print = true;
        else if (option == 'q')
            f.plain = true;
        else if (option == 'v')
            f.verbose = true;
        else
            return usage();
    }
    if (optind < argc || f.count < 0)
        return usage();
    if (f.n_devices == 0) {
        f.devices[f.n_devices++] = "batch";
        f.devices[f.n_devices++] = "emulated";
    }
    return run(&f);
}
