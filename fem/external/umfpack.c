/* UMFPACK: a multifrontal factorization L U = P R A Q as a direct solver, for any regular matrix. */
#include "fem/external/private.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { /* of UMFPACK's constants, which versions 5 and 6 share */
       N_CONTROL = 20,
       N_INFO = 90,
       PRINT_LEVEL = 0,
       PIVOT_TOLERANCE = 3,
       BLOCK_SIZE = 4,
       STRATEGY = 5,
       REFINEMENTS = 7,
       ORDERING = 10,
       SYMMETRIC_PIVOT_TOLERANCE = 15,
       SYMMETRIC = 3,
       AMD = 1,
       METIS = 3,
       SYSTEM_TRANSPOSED = 2,
       SINGULAR = 1,
       OUT_OF_MEMORY = -1,
       ORDERING_FAILED = -18
};

#define UMFPACK_FUNCTIONS(FUNCTION)                                                                \
    FUNCTION(void, umfpack_dl_defaults, (double *))                                                \
    FUNCTION(int, umfpack_dl_symbolic,                                                             \
             (int64_t, int64_t, const int64_t *, const int64_t *, const double *, void **,         \
              const double *, double *))                                                           \
    FUNCTION(int, umfpack_dl_numeric,                                                              \
             (const int64_t *, const int64_t *, const double *, void *, void **, const double *,   \
              double *))                                                                           \
    FUNCTION(int, umfpack_dl_wsolve,                                                               \
             (int, const int64_t *, const int64_t *, const double *, double *, const double *,     \
              void *, const double *, double *, int64_t *, double *))                              \
    FUNCTION(void, umfpack_dl_free_symbolic, (void **))                                            \
    FUNCTION(void, umfpack_dl_free_numeric, (void **))                                             \
    FUNCTION(int, SuiteSparse_version, (int *))

#define POINTER(type, name, parameters) type(*name) parameters;
typedef struct umfpack_functions {
    UMFPACK_FUNCTIONS(POINTER)
} umfpack_functions;
#undef POINTER
#define NAME(type, name, parameters) #name,
static const char *const function_names[] = {UMFPACK_FUNCTIONS(NAME)};
#undef NAME
enum { N_FUNCTIONS = sizeof function_names / sizeof function_names[0] };

typedef struct umfpack_state {
    umfpack_functions umfpack;
    double control[N_CONTROL];
    int64_t *start, *columns; /* the rows of A, which UMFPACK takes for the columns of A^T */
    const double *values;     /* of the system */
    void *symbolic, *numeric;
    int64_t *integers; /* [n] */
    double *reals;     /* [n] */
} umfpack_state;

/* The meaning of the parameters is recognised by UMFPACK's defaults. The patterns of forms are symmetric, for which pivots
 * near the diagonal and METIS halve the factors, and are more accurate than the strategy that UMFPACK chooses for
 * saddle points. Residuals are refined by the Krylov method. */
static weft_status start(void *library, void *state, char *description, weft_error *error) {
    weft_status status = WEFT_OK;
    umfpack_state *s = state;
    int version[3] = {0};
    double *c = s->control;
    TRY(weft_external_functions(library, "UMFPACK", function_names, N_FUNCTIONS, &s->umfpack,
                                error));
    s->umfpack.SuiteSparse_version(version);
    s->umfpack.umfpack_dl_defaults(c);
    if (c[PRINT_LEVEL] != 1 || c[PIVOT_TOLERANCE] != 0.1 || c[BLOCK_SIZE] != 32 ||
        c[REFINEMENTS] != 2 || c[SYMMETRIC_PIVOT_TOLERANCE] != 0.001)
        TRY(weft_external_unknown_version(&weft_external_umfpack, version[0], version[1], error));
    c[REFINEMENTS] = 0;
    c[STRATEGY] = SYMMETRIC;
    c[ORDERING] = METIS;
    snprintf(description, 128, "UMFPACK of SuiteSparse %d.%d.%d, L U", version[0], version[1],
             version[2]);
done:
    return status;
}

static weft_status place(void *state, const weft_external_system *system, weft_error *error) {
    umfpack_state *s = state;
    const size_t n = (size_t)system->n, n_entries = (size_t)system->row_start[system->n];
    s->start = weft_array_make(n + 1, sizeof *s->start);
    s->columns = weft_array_make(n_entries, sizeof *s->columns);
    s->integers = weft_array_make(n, sizeof *s->integers);
    s->reals = weft_array_make(n, sizeof *s->reals);
    if (!s->start || !s->columns || !s->integers || !s->reals)
        return weft_out_of_memory(error, "UMFPACK");
    for (size_t i = 0; i <= n; ++i)
        s->start[i] = system->row_start[i];
    for (size_t e = 0; e < n_entries; ++e)
        s->columns[e] = system->columns[e];
    return WEFT_OK;
}

static weft_status check(int code, const weft_external_system *system, weft_error *error) {
    if (code == SINGULAR)
        return weft_external_refuse_singular("UMFPACK", error);
    if (code == OUT_OF_MEMORY)
        return weft_external_refuse_memory("UMFPACK", system, error);
    return code == 0 ? WEFT_OK : weft_external_ended("UMFPACK", code, error);
}

static int order(umfpack_state *s, const weft_external_system *system) {
    return s->umfpack.umfpack_dl_symbolic(system->n, system->n, s->start, s->columns,
                                          system->values, &s->symbolic, s->control, NULL);
}

/* A UMFPACK without METIS takes the minimum degree. */
static weft_status update(void *state, const weft_external_system *system, weft_error *error) {
    umfpack_state *s = state;
    int code = 0;
    s->values = system->values;
    s->umfpack.umfpack_dl_free_numeric(&s->numeric);
    if (!s->symbolic)
        code = order(s, system);
    if (code == ORDERING_FAILED) {
        s->control[ORDERING] = AMD;
        code = order(s, system);
    }
    if (code == 0)
        code = s->umfpack.umfpack_dl_numeric(s->start, s->columns, system->values, s->symbolic,
                                             &s->numeric, s->control, NULL);
    return check(code, system, error);
}

static weft_status apply(void *state, const double *r, double *z, weft_error *error) {
    umfpack_state *s = state;
    const int code =
        s->umfpack.umfpack_dl_wsolve(SYSTEM_TRANSPOSED, s->start, s->columns, s->values, z, r,
                                     s->numeric, s->control, NULL, s->integers, s->reals);
    return code == 0 ? WEFT_OK : weft_external_ended("UMFPACK", code, error);
}

static void state_free(void *state) {
    umfpack_state *s = state;
    if (s->numeric)
        s->umfpack.umfpack_dl_free_numeric(&s->numeric);
    if (s->symbolic)
        s->umfpack.umfpack_dl_free_symbolic(&s->symbolic);
    free(s->start);
    free(s->columns);
    free(s->integers);
    free(s->reals);
    free(s);
}

static const char *const methods[] = {"lu", NULL};
/* Debian 13 and Ubuntu 24.04, Debian 12. */
static const char *const names[] = {"libumfpack.so.6", "libumfpack.so.5", NULL};

const weft_external_library weft_external_umfpack = {
    .info = {.name = "umfpack",
             .help = "LU factorization of the library UMFPACK",
             .variable = "WEFT_UMFPACK",
             .package = "libumfpack5 in Debian 12, libumfpack6 in Debian 13 and Ubuntu 24.04",
             .methods = methods,
             .is_direct = true,
             .takes_general = true,
             .takes_indefinite = true},
    .title = "UMFPACK",
    .names = names,
    .state_bytes = sizeof(umfpack_state),
    .start = start,
    .place = place,
    .update = update,
    .apply = apply,
    .free = state_free,
};
