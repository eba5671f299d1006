/* CHOLMOD: a supernodal Cholesky factorization A = P^T L L^T P as a direct solver. */
#include "fem/external/private.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The beginning of cholmod_common, from version 3.0 on. What follows is CHOLMOD's own. */
typedef struct cholmod_common {
    double dbound, grow0, grow1;
    size_t grow2, maxrank;
    double supernodal_switch;
    int supernodal, final_asis, final_super, final_ll, final_pack, final_monotonic, final_resymbol;
    double zrelax[3];
    size_t nrelax[3];
    int prefer_zomplex, prefer_upper, quick_return_if_not_posdef, prefer_binary;
    int print, precise, try_catch;
    unsigned char others[16384]; /* less than 4 KB in version 3, and not much more in later ones */
} cholmod_common;

typedef struct cholmod_sparse {
    size_t nrow, ncol, nzmax;
    void *p, *i, *nz, *x, *z; /* 64-bit integers; doubles */
    int stype, itype, xtype, dtype, sorted, packed;
} cholmod_sparse;

typedef struct cholmod_dense {
    size_t nrow, ncol, nzmax, d;
    void *x, *z;
    int xtype, dtype;
} cholmod_dense;

/* The beginning of it. */
typedef struct cholmod_factor {
    size_t n, minor; /* the factorization ended at column minor if that is below n */
} cholmod_factor;

#define CHOLMOD_FUNCTIONS(FUNCTION)                                                                \
    FUNCTION(int, cholmod_version, (int *))                                                        \
    FUNCTION(int, cholmod_l_start, (cholmod_common *))                                             \
    FUNCTION(int, cholmod_l_finish, (cholmod_common *))                                            \
    FUNCTION(cholmod_sparse *, cholmod_l_allocate_sparse,                                          \
             (size_t, size_t, size_t, int, int, int, int, cholmod_common *))                       \
    FUNCTION(int, cholmod_l_free_sparse, (cholmod_sparse **, cholmod_common *))                    \
    FUNCTION(cholmod_dense *, cholmod_l_allocate_dense,                                            \
             (size_t, size_t, size_t, int, cholmod_common *))                                      \
    FUNCTION(int, cholmod_l_free_dense, (cholmod_dense **, cholmod_common *))                      \
    FUNCTION(cholmod_factor *, cholmod_l_analyze, (cholmod_sparse *, cholmod_common *))            \
    FUNCTION(int, cholmod_l_factorize, (cholmod_sparse *, cholmod_factor *, cholmod_common *))     \
    FUNCTION(cholmod_dense *, cholmod_l_solve,                                                     \
             (int, cholmod_factor *, cholmod_dense *, cholmod_common *))                           \
    FUNCTION(int, cholmod_l_free_factor, (cholmod_factor **, cholmod_common *))

#define POINTER(type, name, parameters) type(*name) parameters;
typedef struct cholmod_functions {
    CHOLMOD_FUNCTIONS(POINTER)
} cholmod_functions;
#undef POINTER
#define NAME(type, name, parameters) #name,
static const char *const function_names[] = {CHOLMOD_FUNCTIONS(NAME)};
#undef NAME
enum { N_FUNCTIONS = sizeof function_names / sizeof function_names[0] };

enum { /* of CHOLMOD's constants */
       AUTO = 1,
       SUPERNODAL = 2,
       PRINT_WARNINGS = 3,
       LOWER = -1,
       REAL = 1,
       SYSTEM_A = 0,
       FIRST_MAJOR = 3, /* of the versions whose structures are those above */
       LAST_MAJOR = 5
};

typedef struct cholmod_state {
    cholmod_functions cholmod;
    cholmod_common common;
    bool is_started;
    cholmod_sparse *matrix;
    cholmod_factor *factor;
    cholmod_dense *b;
} cholmod_state;

/* The structure is recognised by CHOLMOD's defaults. A supernodal factorization is always L L^T,
 * which ends at a pivot that is not positive; without print level 0 CHOLMOD would print that. */
static weft_status start(void *library, void *state, char *description, weft_error *error) {
    weft_status status = WEFT_OK;
    cholmod_state *s = state;
    int version[3] = {0};
    cholmod_common *c = &s->common;
    TRY(weft_external_functions(library, "CHOLMOD", function_names, N_FUNCTIONS, &s->cholmod,
                                error));
    s->cholmod.cholmod_version(version);
    bool is_known = version[0] >= FIRST_MAJOR && version[0] <= LAST_MAJOR;
    if (is_known) {
        s->is_started = s->cholmod.cholmod_l_start(c) != 0;
        is_known = c->supernodal == AUTO && c->final_asis == 1 && c->final_super == 1 &&
                   c->final_ll == 0 && c->final_pack == 1 && c->print == PRINT_WARNINGS &&
                   c->precise == 0 && c->try_catch == 0;
    }
    if (!is_known)
        TRY(weft_external_unknown_version(&weft_external_cholmod, version[0], version[1], error));
    c->supernodal = SUPERNODAL;
    c->quick_return_if_not_posdef = 1;
    c->print = 0;
    snprintf(description, 128, "CHOLMOD %d.%d.%d, L L^T", version[0], version[1], version[2]);
done:
    return status;
}

static weft_status place(void *state, const weft_external_system *system, weft_error *error) {
    cholmod_state *s = state;
    const size_t n = (size_t)system->n;
    size_t n_lower = 0;
    for (int i = 0; i < system->n; ++i)
        for (int e = system->row_start[i]; e < system->row_start[i + 1]; ++e)
            n_lower += system->columns[e] >= i;
    /* Columns of the lower triangle are rows of the upper one. */
    s->matrix = s->cholmod.cholmod_l_allocate_sparse(n, n, n_lower, 1, 1, LOWER, REAL, &s->common);
    s->b = s->cholmod.cholmod_l_allocate_dense(n, 1, n, REAL, &s->common);
    if (!s->matrix || !s->b)
        return weft_out_of_memory(error, "CHOLMOD");
    int64_t *start = s->matrix->p, *rows = s->matrix->i, at = 0;
    for (int i = 0; i < system->n; ++i) {
        start[i] = at;
        for (int e = system->row_start[i]; e < system->row_start[i + 1]; ++e)
            if (system->columns[e] >= i)
                rows[at++] = system->columns[e];
    }
    start[n] = at;
    return WEFT_OK;
}

static weft_status update(void *state, const weft_external_system *system, weft_error *error) {
    cholmod_state *s = state;
    double *values = s->matrix->x;
    for (int i = 0; i < system->n; ++i)
        for (int e = system->row_start[i]; e < system->row_start[i + 1]; ++e)
            if (system->columns[e] >= i)
                *values++ = system->values[e];
    if (!s->factor)
        s->factor = s->cholmod.cholmod_l_analyze(s->matrix, &s->common);
    if (!s->factor)
        return weft_out_of_memory(error, "the ordering of a factorization (CHOLMOD)");
    bool is_done = s->cholmod.cholmod_l_factorize(s->matrix, s->factor, &s->common) != 0;
    if (is_done && s->factor->minor < s->factor->n)
        return weft_error_set(
            error, WEFT_ERROR_INPUT,
            "the matrix is not positive definite: CHOLMOD's pivot %zu of %zu is not positive",
            s->factor->minor + 1, s->factor->n);
    return is_done ? WEFT_OK : weft_out_of_memory(error, "a factorization (CHOLMOD)");
}

static weft_status apply(void *state, const double *r, double *z, weft_error *error) {
    cholmod_state *s = state;
    const size_t bytes = s->b->nrow * sizeof(double);
    memcpy(s->b->x, r, bytes);
    cholmod_dense *x = s->cholmod.cholmod_l_solve(SYSTEM_A, s->factor, s->b, &s->common);
    if (!x)
        return weft_out_of_memory(error, "a solution (CHOLMOD)");
    memcpy(z, x->x, bytes);
    s->cholmod.cholmod_l_free_dense(&x, &s->common);
    return WEFT_OK;
}

static void state_free(void *state) {
    cholmod_state *s = state;
    if (s->is_started) {
        s->cholmod.cholmod_l_free_factor(&s->factor, &s->common);
        s->cholmod.cholmod_l_free_sparse(&s->matrix, &s->common);
        s->cholmod.cholmod_l_free_dense(&s->b, &s->common);
        s->cholmod.cholmod_l_finish(&s->common);
    }
    free(s);
}

static const char *const methods[] = {"cholesky", NULL};
/* Debian 13 and Ubuntu 24.04, Ubuntu 23, Debian 12. */
static const char *const names[] = {"libcholmod.so.5", "libcholmod.so.4", "libcholmod.so.3", NULL};

const weft_external_library weft_external_cholmod = {
    .info = {.name = "cholmod",
             .help = "Cholesky factorization of the library CHOLMOD",
             .variable = "WEFT_CHOLMOD",
             .package = "libcholmod3 in Debian 12, libcholmod5 in Debian 13 and Ubuntu 24.04",
             .methods = methods,
             .is_direct = true},
    .title = "CHOLMOD",
    .names = names,
    .state_bytes = sizeof(cholmod_state),
    .start = start,
    .place = place,
    .update = update,
    .apply = apply,
    .free = state_free,
};
