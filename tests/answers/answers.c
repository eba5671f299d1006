/* Metamorphic tests of answers: random problems, each solved in two or three ways whose answers have a known relation. */
#include "answers.h"

#include "test_support.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FAILURES = 10 };

typedef struct plan {
    int64_t count, seed;
    const char *relation;
} plan;

static const struct option options[] = {
    {"count", required_argument, NULL, 'c'},
    {"seed", required_argument, NULL, 's'},
    {"device", required_argument, NULL, 'd'},
    {"relation", required_argument, NULL, 'r'},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static void usage(void) {
    printf("usage: answers [--count N] [--seed S] [--device NAME] [--relation NAME] [--verbose]\n"
           "Solve N random problems (default 20), from seed S on (default 1), and compare the "
           "answers of\n"
           "descriptions of the same problem. What fails is printed; it is repeated, with its "
           "commands, by\n"
           "    answers --count 1 --seed SEED --relation NAME --verbose\n"
           "Relations:\n");
    for (const answers_relation *r = answers_relations; r->name; ++r)
        printf("  %-14s %s\n", r->name, r->what);
}

static const answers_relation *relation_of(const plan *p, int64_t seed) {
    int n = 0;
    for (; answers_relations[n].name; ++n)
        if (p->relation && strcmp(answers_relations[n].name, p->relation) == 0)
            return &answers_relations[n];
    return p->relation ? NULL : &answers_relations[(uint64_t)seed % (uint64_t)n];
}

/* One case; prints what is wrong. */
static bool try_case(answers_run *run, const answers_relation *relation, int64_t seed) {
    char why[1024] = "";
    answers_problem problem;
    uint64_t state = (uint64_t)seed * 7919u;
    do
        answers_problem_make((uint64_t)seed,
                             (answers_physics)answers_below(&state, ANSWERS_N_PHYSICS), &problem);
    while (!relation->applies(&problem));
    const bool holds = answers_holds(relation, run, &problem, &state, why, sizeof why);
    if (!holds)
        printf("--relation %s --seed %lld: %s\n", relation->name, (long long)seed, why);
    else if (run->verbose)
        printf("%s, seed %lld: holds\n", relation->name, (long long)seed);
    fflush(stdout);
    return holds;
}

static int try_all(answers_run *run, const plan *p) {
    int failures = 0;
    int64_t n = 0;
    for (; n < p->count && failures < MOST_FAILURES; ++n) {
        const answers_relation *relation = relation_of(p, p->seed + n);
        if (!relation) {
            fprintf(stderr, "there is no relation %s\n", p->relation);
            return 2;
        }
        failures += !try_case(run, relation, p->seed + n);
    }
    printf("%lld cases, %lld solutions, %d wrong\n", (long long)n, (long long)run->n_programs,
           failures);
    return failures > 0;
}

static bool has_numpy(const char *python) {
    if (!strchr(python, '/') && !test_program_exists(python))
        return false;
    test_run run = test_program((const char *const[]){python, "-c", "import numpy", NULL}, NULL);
    const bool found = run.exit_code == 0;
    test_run_free(&run);
    return found;
}

/* An interpreter that has NumPy, the system's at last, or NULL. */
static const char *find_python(void) {
    const char *const names[] = {getenv("PYTHON"), "python3", "/usr/bin/python3"};
    for (int i = 0; i < 3; ++i)
        if (names[i] && has_numpy(names[i]))
            return names[i];
    return NULL;
}

int main(int argc, char **argv) {
    answers_run run = {.build = getenv("WEFT_BUILD")};
    char source[4096], package[4096];
    plan p = {.count = 20, .seed = 1};
    int option;
    if (!run.build)
        run.build = WEFT_BINARY_DIR;
    const char *top = getenv("WEFT_SOURCE") ? getenv("WEFT_SOURCE") : WEFT_SOURCE_DIR;
    snprintf(source, sizeof source, "%s/tests/answers", top);
    snprintf(package, sizeof package, "%s/python", top);
    run.source = source;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
        switch (option) {
        case 'c':
            p.count = atoll(optarg);
            break;
        case 's':
            p.seed = atoll(optarg);
            break;
        case 'd':
            run.device = optarg;
            break;
        case 'r':
            p.relation = optarg;
            break;
        case 'v':
            run.verbose = true;
            break;
        default:
            usage();
            return option == 'h' ? 0 : 2;
        }
    run.python = find_python();
    setenv("PYTHONPATH", package, 1);
    setenv("WEFT_LIBRARY", WEFT_BINARY_DIR "/libweft.so", 0);
    run.folder = test_folder_make();
    const int failed = try_all(&run, &p);
    test_folder_remove(&run.folder);
    return failed;
}
