/* MUMPS, its sequential version: a multifrontal factorization L U of A as a direct solver, for any regular matrix. */
#include "fem/external/private.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The beginning of DMUMPS_STRUC_C, which the version number at its place tells from others. */
typedef struct mumps_structure {
    int sym, par, job, comm_fortran;
    int icntl[60], keep[500];
    double cntl[15], dkeep[230];
    int64_t keep8[150];
    int n, nblk, nz_alloc, nz;
    int64_t nnz;
    int *irn, *jcn;
    double *a;
    int nz_loc;
    int64_t nnz_loc;
    void *distributed[3];
    int nelt;
    void *elements_to_scalings[10];
    int scalings_from_mumps[2];
    double *rhs;
    void *others[8];
    int sizes[14];
    int info[80], infog[80];
    double rinfo[40], rinfog[40];
    int deficiency;
    void *null_space[2];
    int size_schur;
    void *schur[2];
    int instance_number;
    void *wk_user;
    char version_number[32];
    unsigned char rest[8192]; /* about 1 KB in version 5.5 */
} mumps_structure;

enum { /* of MUMPS's constants; entries of arrays are counted from 1 in its manual */
       START = -1,
       END = -2,
       ANALYSE = 1,
       FACTORISE = 2,
       SOLVE = 3,
       WORLD = -987654,
       MESSAGES_MOST = 3, /* icntl(1) to icntl(3) are units of output */
       PRINT_LEVEL = 4,
       MORE_MEMORY = 14, /* per cent */
       SINGULAR_PATTERN = -6,
       TOO_LITTLE_INTEGER = -8,
       TOO_LITTLE_REAL = -9,
       SINGULAR = -10,
       NO_MEMORY = -13,
       NO_MEMORY_ORDERING = -7,
       MORE_MEMORY_MOST = 1000
};

typedef struct mumps_state {
    void (*mumps)(mumps_structure *);
    mumps_structure *id;
    bool is_started, is_analysed;
} mumps_state;

static const char *const function_names[] = {"dmumps_c"};

static int run(mumps_state *s, int job) {
    s->id->job = job;
    s->mumps(s->id);
    return s->id->infog[0];
}

static weft_status check(int code, const weft_external_system *system, weft_error *error) {
    if (code == SINGULAR || code == SINGULAR_PATTERN)
        return weft_external_refuse_singular("MUMPS", error);
    if (code == NO_MEMORY || code == NO_MEMORY_ORDERING || code == TOO_LITTLE_REAL ||
        code == TOO_LITTLE_INTEGER)
        return weft_external_refuse_memory("MUMPS", system, error);
    return code >= 0 ? WEFT_OK : weft_external_ended("MUMPS", code, error);
}

static weft_status start(void *library, void *state, char *description, weft_error *error) {
    weft_status status = WEFT_OK;
    mumps_state *s = state;
    int major = 0, minor = 0;
    TRY(weft_external_functions(library, "MUMPS", function_names, 1, &s->mumps, error));
    s->id = calloc(1, sizeof *s->id);
    if (!s->id)
        TRY(weft_out_of_memory(error, "MUMPS"));
    s->id->par = 1;
    s->id->comm_fortran = WORLD;
    (void)run(s, START);
    s->is_started = true;
    s->id->version_number[sizeof s->id->version_number - 1] = 0;
    if (sscanf(s->id->version_number, "%d.%d.", &major, &minor) != 2 || major != 5) {
        s->is_started = false; /* what stands where is not known */
        TRY(weft_external_unknown_version(&weft_external_mumps, major, minor, error));
    }
    for (int i = 0; i < MESSAGES_MOST; ++i)
        s->id->icntl[i] = -1;
    s->id->icntl[PRINT_LEVEL - 1] = 0;
    snprintf(description, 128, "MUMPS %.20s, L U", s->id->version_number);
done:
    return status;
}

static weft_status place(void *state, const weft_external_system *system, weft_error *error) {
    mumps_state *s = state;
    const size_t n_entries = (size_t)system->row_start[system->n];
    mumps_structure *id = s->id;
    id->n = system->n;
    id->nnz = (int64_t)n_entries;
    id->irn = weft_array_make(n_entries, sizeof *id->irn);
    id->jcn = weft_array_make(n_entries, sizeof *id->jcn);
    if (!id->irn || !id->jcn)
        return weft_out_of_memory(error, "MUMPS");
    for (int i = 0; i < system->n; ++i)
        for (int e = system->row_start[i]; e < system->row_start[i + 1]; ++e) {
            id->irn[e] = i + 1;
            id->jcn[e] = system->columns[e] + 1;
        }
    return WEFT_OK;
}

/* Pivots may need more memory than was predicted. */
static weft_status update(void *state, const weft_external_system *system, weft_error *error) {
    mumps_state *s = state;
    int code = 0;
    s->id->a = system->values;
    if (!s->is_analysed)
        code = run(s, ANALYSE);
    s->is_analysed = code >= 0;
    if (code >= 0)
        code = run(s, FACTORISE);
    for (int *more = &s->id->icntl[MORE_MEMORY - 1];
         (code == TOO_LITTLE_REAL || code == TOO_LITTLE_INTEGER) && *more < MORE_MEMORY_MOST;) {
        *more *= 2;
        code = run(s, FACTORISE);
    }
    return check(code, system, error);
}

static weft_status apply(void *state, const double *r, double *z, weft_error *error) {
    mumps_state *s = state;
    memcpy(z, r, (size_t)s->id->n * sizeof *z);
    s->id->rhs = z;
    const int code = run(s, SOLVE);
    return code >= 0 ? WEFT_OK : weft_external_ended("MUMPS", code, error);
}

/* MUMPS would free arrays that it is given. */
static void state_free(void *state) {
    mumps_state *s = state;
    if (s->id) {
        int *const irn = s->id->irn, *const jcn = s->id->jcn;
        s->id->irn = s->id->jcn = NULL;
        s->id->a = s->id->rhs = NULL;
        if (s->is_started)
            (void)run(s, END);
        free(irn);
        free(jcn);
    }
    free(s->id);
    free(s);
}

static const char *const methods[] = {"lu", NULL};
/* Debian 13, Ubuntu 24.04, Debian 12: the sequential ones, which need no MPI. */
static const char *const names[] = {"libdmumps_seq-5.7.so", "libdmumps_seq-5.6.so",
                                    "libdmumps_seq-5.5.so", NULL};

const weft_external_library weft_external_mumps = {
    .info = {.name = "mumps",
             .help = "LU factorization of the library MUMPS",
             .variable = "WEFT_MUMPS",
             .package = "libmumps-seq-5.5 in Debian 12",
             .methods = methods,
             .is_direct = true,
             .takes_general = true,
             .takes_indefinite = true},
    .title = "MUMPS",
    .names = names,
    .state_bytes = sizeof(mumps_state),
    .start = start,
    .place = place,
    .update = update,
    .apply = apply,
    .free = state_free,
};
