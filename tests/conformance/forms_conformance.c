/* labels: full */
/* Reads every form file of a folder and compares forms, elements, degrees and, where the oracle has samples,
 * tensors with those that FFCx found.
 * usage: forms_conformance [--verbose] [--device DEVICE] [--precision float|double] [--part K/N] [DIR]
 *   DIR          corpus/SET/FILE, oracle/SET/FILE.json, CORPUS.md with a line "| FILE | TIER | ..." a file
 *                below "## SET"; default: WEFT_UFL_ORACLE. Without either the test is skipped.
 *   --device     that computes the tensors: one of Weft's, or one of device_batch.h: batch (the default),
 *                emulated
 *   --precision  default: double
 *   --part       of N parts of the files, the K-th (from 1), to run several at once
 * Tier 1 and 2 must be read and agree, where FFCx compiled the form; tensors of tier 1 must be compiled and
 * equal, those of tier 2 equal where they are compiled. Files of tier 3 are refused with a message that has a line, or like
 * those of tier 2; where FFCx refused a form they are refused. Every body of a function runs, and for matrices the action too. */
#include "device_batch.h"
#include "tensors.h"

#include <dirent.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETS_MAX = 32, TIERS = 4, PATH_SIZE = 4096, SKIPPED = 77 };

typedef struct table_row {
    int files, read, refused, right; /* right: as expected */
    int forms, integrals, degrees;   /* of the oracle; degrees: integrals that agree */
    int compiled, matched;           /* integrals whose tensors were compared */
    int actions, bodies;             /* matched integrals with an action; functions that ran */
} table_row;

typedef struct corpus_study {
    const char *folder;
    char *tiers; /* text of CORPUS.md, or NULL */
    char sets[SETS_MAX][64];
    table_row rows[SETS_MAX][TIERS];
    int n_sets, n_files, part, n_parts;
    bool verbose;
    tensor_way way;
} corpus_study;

static void complain(const char *set, const char *file, const char *form, const char *what) {
    printf("%s/%s%s%s: %s\n", set, file, form[0] ? " " : "", form, what);
}

/* ---- tiers ---- */

/* The tier in "## SET ... | FILE | 2 |"; 0 where the file is not listed. */
static int tier_of(const corpus_study *study, const char *set, const char *file) {
    char heading[128], cell[300];
    snprintf(heading, sizeof heading, "\n## %s", set);
    snprintf(cell, sizeof cell, "\n| %s | ", file);
    const char *section = study->tiers ? strstr(study->tiers, heading) : NULL;
    const char *line = section ? strstr(section, cell) : NULL;
    const char *next = section ? strstr(section + 1, "\n## ") : NULL;
    return line && (!next || line < next) ? line[strlen(cell)] - '0' : 0;
}

/* ---- what the oracle says ---- */

static void describe_shape(const json_t *shape, char *out, size_t size) {
    size_t length = (size_t)snprintf(out, size, "("), n = json_array_size(shape);
    for (size_t i = 0; i < n && length < size; ++i)
        length += (size_t)snprintf(out + length, size - length, "%s%lld", i ? ", " : "",
                                   (long long)json_integer_value(json_array_get(shape, i)));
    if (length < size)
        snprintf(out + length, size - length, n == 1 ? ",)" : ")");
}

/* The element in the words of weft_ufl_terminal_info. "" where the oracle does not know enough. */
static void describe_element(const json_t *element, char *out, size_t size) {
    char part[400], shape[100];
    const json_t *mixed = json_object_get(element, "mixed");
    const json_t *block = json_object_get(element, "block");
    if (mixed) {
        size_t length = (size_t)snprintf(out, size, "[");
        for (size_t i = 0; i < json_array_size(mixed) && length < size; ++i) {
            describe_element(json_array_get(mixed, i), part, sizeof part);
            if (!part[0]) {
                out[0] = '\0';
                return;
            }
            length += (size_t)snprintf(out + length, size - length, "%s%s", i ? ", " : "", part);
        }
        if (length < size)
            snprintf(out + length, size - length, "]");
        return;
    }
    if (block) {
        describe_shape(block, shape, sizeof shape);
        describe_element(json_object_get(element, "of"), part, sizeof part);
        snprintf(out, size, part[0] ? "%s%s x %s" : "",
                 json_is_true(json_object_get(element, "symmetric")) ? "symmetric " : "", shape,
                 part);
        return;
    }
    const char *family = json_string_value(json_object_get(element, "family"));
    const char *cell = json_string_value(json_object_get(element, "cell"));
    long long degree = json_integer_value(json_object_get(element, "degree"));
    bool discontinuous = json_is_true(json_object_get(element, "discontinuous"));
    if (strcmp(family, "P") == 0)
        snprintf(out, size, "%s%lld %s", discontinuous ? "DG" : "P", degree, cell);
    else if (strcmp(family, "Real") == 0)
        snprintf(out, size, "Real %s", cell);
    else
        out[0] = '\0';
}

/* Numbers of a JSON array of integers as text, "0 2 4". */
static void describe_degrees(const json_t *degrees, char *out, size_t size) {
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0; i < json_array_size(degrees) && length < size; ++i)
        length += (size_t)snprintf(out + length, size - length, "%s%lld", i ? " " : "",
                                   (long long)json_integer_value(json_array_get(degrees, i)));
}

/* ---- what Weft says ---- */

static int by_value(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

/* The degrees of all integrals of a type and id, sorted, each once. */
static void our_degrees(const weft_ufl *ufl, int form, const char *type, int id, char *out,
                        size_t size) {
    weft_ufl_form_info info;
    int degrees[256], n = 0;
    size_t length = 0;
    weft_ufl_form(ufl, form, &info);
    for (int i = 0; i < info.n_integrals; ++i) {
        weft_ufl_integral_info integral;
        weft_ufl_integral(ufl, form, i, &integral);
        if (strcmp(integral.type, type) == 0 && integral.id == id && n < 256)
            degrees[n++] = integral.degree;
    }
    qsort(degrees, (size_t)n, sizeof *degrees, by_value);
    out[0] = '\0';
    for (int i = 0; i < n && length < size; ++i)
        if (i == 0 || degrees[i] != degrees[i - 1])
            length +=
                (size_t)snprintf(out + length, size - length, "%s%d", i ? " " : "", degrees[i]);
}

/* Compare the elements or shapes of arguments, coefficients or constants. */
static bool compare_terminals(const weft_ufl *ufl, int form, weft_ufl_terminal kind, int n,
                              const json_t *expected, char *what, size_t size) {
    static const char *const names[] = {"arguments", "coefficients", "constants"};
    if ((size_t)n != json_array_size(expected)) {
        snprintf(what, size, "%d %s, FFCx has %zu", n, names[kind], json_array_size(expected));
        return false;
    }
    for (int i = 0; i < n; ++i) {
        const char *name = NULL, *element = NULL;
        char theirs[400], ours[400];
        int rank = 0, shape[16];
        const json_t *item = json_array_get(expected, (size_t)i);
        weft_ufl_terminal_info(ufl, form, kind, i, &name, &element, &rank, shape);
        if (kind == WEFT_UFL_CONSTANT) {
            json_t *list = json_array();
            for (int k = 0; k < rank; ++k)
                json_array_append_new(list, json_integer(shape[k]));
            describe_shape(list, ours, sizeof ours);
            describe_shape(item, theirs, sizeof theirs);
            json_decref(list);
        } else {
            snprintf(ours, sizeof ours, "%s", element);
            describe_element(item, theirs, sizeof theirs);
        }
        char *order = strstr(ours, " (lexicographic)");
        if (order)
            *order = '\0';
        if (theirs[0] && strcmp(ours, theirs) != 0) {
            snprintf(what, size, "%s %d (%s) is %s, FFCx has %s", names[kind], i, name, ours,
                     theirs);
            return false;
        }
    }
    return true;
}

static bool compare_form(const weft_ufl *ufl, int form, const json_t *expected, table_row *row,
                         char *what, size_t size) {
    weft_ufl_form_info info;
    weft_ufl_form(ufl, form, &info);
    const char *name = json_string_value(json_object_get(expected, "name"));
    bool fine = true;
    if (strcmp(info.name, name) != 0) {
        snprintf(what, size, "the form is called %s, by FFCx %s", info.name, name);
        return false;
    }
    const json_t *integrals = json_object_get(expected, "integrals");
    if (!compare_terminals(ufl, form, WEFT_UFL_ARGUMENT, info.rank,
                           json_object_get(expected, "arguments"), what, size) ||
        !compare_terminals(ufl, form, WEFT_UFL_COEFFICIENT, info.n_coefficients,
                           json_object_get(expected, "coefficients"), what, size) ||
        !compare_terminals(ufl, form, WEFT_UFL_CONSTANT, info.n_constants,
                           json_object_get(expected, "constants"), what, size))
        fine = false;
    for (size_t i = 0; i < json_array_size(integrals); ++i) {
        const json_t *integral = json_array_get(integrals, i);
        const char *type = json_string_value(json_object_get(integral, "type"));
        int id = (int)json_integer_value(json_object_get(integral, "id"));
        char ours[300], theirs[300];
        our_degrees(ufl, form, type, id, ours, sizeof ours);
        describe_degrees(json_object_get(integral, "quadrature_degrees"), theirs, sizeof theirs);
        bool same = strcmp(ours, theirs) == 0;
        row->degrees += same;
        if (!same && fine)
            snprintf(what, size, "%s %d has the degrees '%s', FFCx '%s'", type, id, ours, theirs);
        fine = fine && same;
    }
    int ours = 0; /* pairs of type and id */
    for (int i = 0; i < info.n_integrals; ++i) {
        weft_ufl_integral_info a, b = {0};
        weft_ufl_integral(ufl, form, i, &a);
        if (i > 0)
            weft_ufl_integral(ufl, form, i - 1, &b);
        ours += i == 0 || strcmp(a.type, b.type) != 0 || a.id != b.id;
    }
    if (fine && (size_t)ours != json_array_size(integrals)) {
        snprintf(what, size, "%d integrals, FFCx has %zu", ours, json_array_size(integrals));
        fine = false;
    }
    return fine;
}

/* ---- files ---- */

static void count_expected(const json_t *forms, table_row *row) {
    for (size_t i = 0; i < json_array_size(forms); ++i) {
        row->forms += 1;
        row->integrals +=
            (int)json_array_size(json_object_get(json_array_get(forms, i), "integrals"));
    }
}

/* Does the oracle have an error for the file or one of its forms? */
static bool oracle_refuses(const json_t *oracle) {
    const json_t *forms = json_object_get(oracle, "forms");
    if (json_object_get(oracle, "error"))
        return true;
    for (size_t i = 0; i < json_array_size(forms); ++i)
        if (json_object_get(json_array_get(forms, i), "error"))
            return true;
    return false;
}

typedef struct tensor_count {
    const json_t *forms;
    const char *set, *file;
    int tier;
    table_row *row;
    bool verbose, fine;
} tensor_count;

static void count_tensor(void *user, const tensor_finding *finding) {
    tensor_count *count = user;
    const json_t *form = json_array_get(count->forms, (size_t)finding->form);
    const json_t *integral =
        json_array_get(json_object_get(form, "integrals"), (size_t)finding->integral);
    const bool matched = finding->outcome == TENSOR_MATCHED;
    char what[1300];
    count->row->compiled += matched || finding->outcome == TENSOR_WRONG;
    count->row->matched += matched;
    count->row->actions += matched && finding->has_action;
    count->row->bodies += finding->n_bodies;
    count->fine = count->fine && finding->outcome != TENSOR_WRONG &&
                  !(finding->outcome == TENSOR_UNSUPPORTED && count->tier < 2);
    snprintf(what, sizeof what, "%s %lld: %s", json_string_value(json_object_get(integral, "type")),
             (long long)json_integer_value(json_object_get(integral, "id")), finding->what);
    if (finding->outcome != TENSOR_MATCHED &&
        (finding->outcome != TENSOR_UNKNOWN || count->verbose))
        complain(count->set, count->file, json_string_value(json_object_get(form, "name")), what);
}

static void study_file(corpus_study *study, int set, const char *file) {
    char path[PATH_SIZE], what[1000] = "";
    const char *name = study->sets[set];
    int tier = tier_of(study, name, file);
    table_row *row = &study->rows[set][tier];
    weft_ufl *ufl = NULL;
    weft_error error = {0};
    json_error_t json_error;
    snprintf(path, sizeof path, "%s/oracle/%s/%s.json", study->folder, name, file);
    json_t *oracle = json_load_file(path, 0, &json_error);
    snprintf(path, sizeof path, "%s/corpus/%s/%s", study->folder, name, file);
    ++row->files;
    const json_t *forms = oracle ? json_object_get(oracle, "forms") : NULL;
    count_expected(forms, row);
    weft_status status = weft_ufl_read(path, NULL, &ufl, &error);
    row->read += status == WEFT_OK;
    row->refused += status != WEFT_OK;
    bool expect_refusal = oracle && oracle_refuses(oracle);
    if (status != WEFT_OK) {
        bool right = (expect_refusal || tier == 3) && error.line > 0 && error.message[0];
        row->right += right;
        if (!right || study->verbose)
            printf("%s/%s:%d:%d: %s\n", name, file, error.line, error.column, error.message);
    } else if (expect_refusal) {
        complain(name, file, "", "is read, but should be refused");
    } else if (!oracle) {
        complain(name, file, "", "has no oracle");
    } else {
        size_t n = (size_t)weft_ufl_n_forms(ufl);
        bool fine = n == json_array_size(forms);
        if (!fine)
            complain(name, file, "", "has another number of forms than FFCx finds");
        for (size_t i = 0; i < n && i < json_array_size(forms); ++i) {
            if (!compare_form(ufl, (int)i, json_array_get(forms, i), row, what, sizeof what)) {
                complain(name, file,
                         json_string_value(json_object_get(json_array_get(forms, i), "name")),
                         what);
                fine = false;
            }
        }
        tensor_count count = {forms, name, file, tier, row, study->verbose, true};
        if (n == json_array_size(forms))
            tensors_compare(&study->way, ufl, forms, count_tensor, &count);
        row->right += fine && count.fine;
    }
    weft_ufl_free(&ufl);
    json_decref(oracle);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in a folder that do not start with a dot, sorted; malloc'd. */
static size_t list_folder(const char *path, char ***out) {
    size_t n = 0, capacity = 0;
    char **names = NULL;
    DIR *folder = opendir(path);
    for (const struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        if (n == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            char **grown = realloc(names, capacity * sizeof *names);
            if (!grown)
                break;
            names = grown;
        }
        names[n] = strdup(entry->d_name);
        n += names[n] != NULL;
    }
    if (folder)
        closedir(folder);
    if (n > 1)
        qsort(names, n, sizeof *names, by_text);
    *out = names;
    return n;
}

static bool is_form_file(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot && (strcmp(dot, ".ufl") == 0 || strcmp(dot, ".py") == 0);
}

static void study_sets(corpus_study *study) {
    char path[PATH_SIZE], **sets = NULL;
    snprintf(path, sizeof path, "%s/corpus", study->folder);
    size_t n = list_folder(path, &sets);
    for (size_t i = 0; i < n; ++i) {
        char **files = NULL;
        int set = study->n_sets;
        snprintf(path, sizeof path, "%s/corpus/%s", study->folder, sets[i]);
        size_t n_files = list_folder(path, &files);
        if (n_files > 0 && set < SETS_MAX) {
            snprintf(study->sets[set], sizeof study->sets[set], "%.60s", sets[i]);
            ++study->n_sets;
        }
        for (size_t k = 0; k < n_files; ++k) {
            if (set < SETS_MAX && is_form_file(files[k]) &&
                study->n_files++ % study->n_parts == study->part - 1)
                study_file(study, set, files[k]);
            free(files[k]);
        }
        free(files);
        free(sets[i]);
    }
    free(sets);
}

static void print_row(const char *set, const char *tier, const table_row *row) {
    printf("%-14s %-5s %6d %6d %8d %9d %6d %10d %8d %9d %8d %8d %7d\n", set, tier, row->files,
           row->read, row->refused, row->right, row->forms, row->integrals, row->degrees,
           row->compiled, row->matched, row->actions, row->bodies);
}

/* Returns whether every file is as expected. */
static bool print_table(const corpus_study *study) {
    static const char *const names[TIERS] = {"?", "1", "2", "3"};
    table_row sum = {0};
    printf("%-14s %-5s %6s %6s %8s %9s %6s %10s %8s %9s %8s %8s %7s\n", "set", "tier", "files",
           "read", "refused", "expected", "forms", "integrals", "degrees", "compiled", "matched",
           "actions", "bodies");
    for (int tier = 0; tier < TIERS; ++tier)
        for (int set = 0; set < study->n_sets; ++set) {
            const table_row *row = &study->rows[set][tier];
            if (row->files == 0)
                continue;
            print_row(study->sets[set], names[tier], row);
            sum.files += row->files;
            sum.read += row->read;
            sum.refused += row->refused;
            sum.right += row->right;
            sum.forms += row->forms;
            sum.integrals += row->integrals;
            sum.degrees += row->degrees;
            sum.compiled += row->compiled;
            sum.matched += row->matched;
            sum.actions += row->actions;
            sum.bodies += row->bodies;
        }
    print_row("all", "", &sum);
    return sum.files > 0 && sum.right == sum.files;
}

static int usage(void) {
    fputs("usage: forms_conformance [--verbose] [--device DEVICE] [--precision float|double] "
          "[--part K/N] [DIR]\n",
          stderr);
    return 2;
}

/* Returns false where an option is wrong. */
static bool read_options(int argc, char **argv, corpus_study *study, const char **device) {
    static const struct option options[] = {{"verbose", no_argument, NULL, 'v'},
                                            {"device", required_argument, NULL, 'd'},
                                            {"precision", required_argument, NULL, 'p'},
                                            {"part", required_argument, NULL, 'k'},
                                            {0}};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        char *end = NULL;
        if (option == 'v')
            study->verbose = true;
        else if (option == 'd')
            *device = optarg;
        else if (option == 'p' && (strcmp(optarg, "float") == 0 || strcmp(optarg, "double") == 0))
            study->way.single = optarg[0] == 'f';
        else if (option == 'k') {
            study->part = (int)strtol(optarg, &end, 10);
            study->n_parts = *end == '/' ? (int)strtol(end + 1, &end, 10) : 0;
            if (*end != '\0' || study->part < 1 || study->part > study->n_parts)
                return false;
        } else
            return false;
    }
    if (optind < argc)
        study->folder = argv[optind];
    return optind + 1 >= argc;
}

int main(int argc, char **argv) {
    corpus_study study = {.folder = getenv("WEFT_UFL_ORACLE"), .part = 1, .n_parts = 1};
    char path[PATH_SIZE];
    const char *device = "batch";
    weft_error error = {0};
    if (!read_options(argc, argv, &study, &device))
        return usage();
    if (!study.folder) {
        puts("skipped: WEFT_UFL_ORACLE is not set (a folder with corpus/, oracle/ and CORPUS.md)");
        return SKIPPED;
    }
    snprintf(path, sizeof path, "%s/CORPUS.md", study.folder);
    if (weft_file_read(path, &study.tiers, NULL, NULL) != WEFT_OK)
        study.tiers = NULL;
    const weft_status status = device_batch_is(device)
                                   ? device_batch_open(device, &study.way.device, &error)
                                   : weft_device_open(device, NULL, &study.way.device, &error);
    if (status != WEFT_OK) {
        fprintf(stderr, "error: %s\n", error.message);
        return 3;
    }
    study_sets(&study);
    bool fine = print_table(&study);
    weft_device_free(&study.way.device);
    free(study.tiers);
    return fine ? 0 : 1;
}
