/* Values near a shift s: Lanczos' method for (K - s M)^-1 M, whose largest values are those of 1/(l - s), by blocks, with all vectors
 * orthogonal to each other in the inner product of M; of buckling, where M is any symmetric matrix, and s = 0, in that of K. */
#include "fem/base/eigen.h"
#include "fem/eigen/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 2, ROUNDS_MOST = 40 };
enum { CHECKS = 4 }; /* steps of a round that looks for other vectors */
/* What a residual of the inverse's values may be, relative to the tolerance; values of rounds that agree; a solve that is wrong. */
static const double CLOSE = 0.1, AGREE = 1e-8, WRONG = 1e-6;
/* Squares of new parts of vectors, relative to the whole, that are rounding. */
static const double OLD = 1e-20;
/* A column whose square falls below this part, when its part along another column is taken off, depends on all by rounding. */
static const double LOST = 1e-2;

/* Start from {0}; near_free. */
typedef struct near {
    iteration it; /* of the result: d, null and pairs are used from the start */
    const weft_pencil *pencil;
    int most;                 /* columns of v */
    int block;                /* columns of a block, at most */
    basis last;               /* the last block, which is also in v; without kv */
    columns one, mass_of_one; /* a column */
    columns v, mv;            /* all vectors, and M times them */
    int n_new;                /* columns of the block that `coupling` is about */
    int n_last;               /* of the block to which the inverse was applied last */
    int done;                 /* those to which the inverse was applied */
    double *H;                /* [most][most] V^T M A V, A the inverse times M, of these */
    double *
        coupling; /* [block][block] w^T M w, w = A of the last block that was done, but for its parts in v */
    double *values; /* [done] of A, the largest first, and S [done][done] their combinations */
    double *S;
    double *before; /* [n] the largest of the round before */
    double longest; /* the largest square of A v for vectors v of length 1, in M */
} near;

static void near_free(near *l) {
    iteration_free(&l->it);
    basis_free(&l->last);
    columns_free(&l->v);
    columns_free(&l->mv);
    columns_free(&l->one);
    columns_free(&l->mass_of_one);
    free(l->H);
    free(l->coupling);
    free(l->values);
    free(l->S);
    free(l->before);
}

static weft_status near_make(near *l, int n, int64_t n_free, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t rows = l->pencil->K.n_rows;
    const int wanted = 3 * n + 12 * BLOCK;
    l->most = wanted < n_free ? wanted : (int)n_free;
    l->block = l->most < BLOCK ? l->most : BLOCK;
    const size_t q = (size_t)(l->most + BLOCK);
    TRY(columns_make(l->pencil, (int)q, &l->v, error));
    TRY(columns_make(l->pencil, (int)q, &l->mv, error));
    TRY(basis_make(l->pencil, BLOCK, &l->last, error));
    TRY(columns_make(l->pencil, 1, &l->one, error));
    TRY(columns_make(l->pencil, 1, &l->mass_of_one, error));
    l->one.m = 1;
    l->H = calloc(q * q, sizeof *l->H);
    l->S = calloc(q * q, sizeof *l->S);
    l->coupling = calloc(BLOCK * BLOCK, sizeof *l->coupling);
    l->values = calloc(q, sizeof *l->values);
    l->before = calloc(q, sizeof *l->before);
    l->it.r = calloc((size_t)rows + 1, sizeof *l->it.r);
    l->it.z = calloc((size_t)rows + 1, sizeof *l->it.z);
    if (!l->H || !l->S || !l->coupling || !l->values || !l->before || !l->it.r || !l->it.z)
        TRY(weft_out_of_memory(error, "eigenvectors"));
done:
    return status;
}

/* ---- the inverse ----------------------------------------------------------------------------- */

static weft_status invert(near *l, weft_error *error) {
    ++l->it.pairs->applications;
    return l->pencil->invert(l->pencil->user, l->it.r, l->it.z, error);
}

/* The matrix of the inner product. */
static const weft_csr *inner_of(const near *l) {
    return l->pencil->is_buckling ? &l->pencil->K : &l->pencil->M;
}

/* v = A v, without null vectors. mv is M v, or, of buckling, overwritten by it. */
static weft_status apply(near *l, basis *b, weft_error *error) {
    weft_status status = WEFT_OK;
    if (l->pencil->is_buckling)
        TRY(columns_product(l->pencil, &l->pencil->M, &b->v, &b->mv, error));
    for (int k = 0; k < b->v.m; ++k) {
        TRY(columns_get(l->pencil, &b->mv, k, l->it.r, error));
        TRY(invert(l, error));
        TRY(columns_set(l->pencil, &b->v, k, l->it.z, error));
    }
    TRY(basis_project(l->pencil, l->it.null, &b->v, error));
done:
    return status;
}

static double norm(const double *x, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* One solve with a random right-hand side, which does no work on null vectors: what the factors of a matrix whose scales are far apart
 * have lost is seen here and not in the usual backward error. */
static weft_status check_inverse(near *l, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = l->pencil->K.n_rows;
    columns x = {.n = 0}, kx = {.n = 0}, mx = {.n = 0};
    TRY(columns_make(l->pencil, 1, &x, error));
    TRY(columns_make(l->pencil, 1, &kx, error));
    TRY(columns_make(l->pencil, 1, &mx, error));
    for (int64_t i = 0; i < n; ++i)
        l->it.r[i] = l->it.d[i] > 0 ? weft_random_entry(i) : 0;
    TRY(basis_balance(l->pencil, l->it.null, l->it.r, error));
    TRY(invert(l, error));
    x.m = 1;
    TRY(columns_set(l->pencil, &x, 0, l->it.z, error));
    TRY(columns_product(l->pencil, &l->pencil->K, &x, &kx, error));
    TRY(columns_product(l->pencil, &l->pencil->M, &x, &mx, error));
    const double size = norm(l->it.r, n);
    for (int64_t i = 0; i < n; ++i)
        l->it.r[i] -= l->it.d[i] > 0
                          ? kx.values[i * kx.stride] - l->pencil->shift * mx.values[i * mx.stride]
                          : 0;
    const double residual = norm(l->it.r, n);
    if (!(residual <= WRONG * size)) {
        status = weft_error_set(
            error, WEFT_ERROR_INPUT,
            "the factors of K - s M are wrong for s = %g: a solve leaves %.1e of its "
            "right-hand side",
            l->pencil->shift, residual / size);
        weft_error_hint(error, "the shift is an eigenvalue, nothing holds u, or scales are too far "
                               "apart: take another "
                               "shift, or the smallest values by --preconditioner aggregation");
    }
done:
    columns_free(&x);
    columns_free(&kx);
    columns_free(&mx);
    return status;
}

/* ---- the basis ------------------------------------------------------------------------------- */

/* w -= V (MV^T w), twice; what was taken off is added to C [v.m][w.m]. */
static weft_status orthogonalise(near *l, columns *w, double *C, weft_error *error) {
    weft_status status = WEFT_OK;
    const int q = l->v.m, m = w->m;
    double *part = malloc((size_t)(q + m) * (size_t)m * sizeof *part + 1);
    if (!part)
        TRY(weft_out_of_memory(error, "eigenvectors"));
    memset(C, 0, (size_t)q * (size_t)m * sizeof *C);
    for (int twice = 0; twice < 2 && q > 0; ++twice) {
        TRY(columns_gram(l->pencil, &l->mv, w, part, error));
        for (int i = 0; i < q * m; ++i) {
            C[i] += part[i];
            part[i] = -part[i];
        }
        for (int i = 0; i < m * m; ++i)
            part[q * m + i] = i % (m + 1) == 0;
        const columns_term terms[] = {{w, part + q * m}, {&l->v, part}};
        TRY(columns_combine(l->pencil, terms, 2, m, w, error));
        TRY(basis_project(l->pencil, l->it.null, w, error));
    }
done:
    free(part);
    return status;
}

/* Columns behind those of a list of blocks. */
static void append(columns *to, const columns *from) {
    for (int64_t i = 0; i < to->n; ++i)
        memcpy(to->values + i * to->stride + to->m, from->values + i * from->stride,
               (size_t)from->m * sizeof *to->values);
    to->m += from->m;
}

static weft_status measure_one(near *l, double *square, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(columns_product(l->pencil, inner_of(l), &l->one, &l->mass_of_one, error));
    TRY(columns_gram(l->pencil, &l->one, &l->mass_of_one, square, error));
done:
    return status;
}

/* Append column k of the last block, orthogonal to all, of length 1, unless it is rounding; the last block's column *kept becomes this one. */
static weft_status take_column(near *l, int k, double size, int *kept, weft_error *error) {
    weft_status status = WEFT_OK;
    double square = 0;
    double *C = malloc((size_t)l->v.m * sizeof *C + 1);
    if (!C)
        TRY(weft_out_of_memory(error, "eigenvectors"));
    TRY(columns_get(l->pencil, &l->last.v, k, l->it.r, error));
    TRY(columns_set(l->pencil, &l->one, 0, l->it.r, error));
    l->last.v.m = l->last.mv.m = *kept;
    TRY(basis_project(l->pencil, &l->last, &l->one, error));
    TRY(measure_one(l, &square, error));
    if (square < LOST * l->coupling[k * l->n_new + k]) {
        TRY(orthogonalise(l, &l->one, C, error));
        TRY(measure_one(l, &square, error));
    }
    if (!(square > OLD * size))
        goto done;
    const double factor = 1 / sqrt(square);
    columns *const blocks[] = {&l->one, &l->mass_of_one}, *const to[] = {&l->last.v, &l->last.mv};
    columns *const all[] = {&l->v, &l->mv};
    for (int i = 0; i < 2; ++i) {
        TRY(columns_combine(l->pencil, &(columns_term){blocks[i], &factor}, 1, 1, blocks[i],
                            error));
        TRY(columns_get(l->pencil, blocks[i], 0, l->it.r, error));
        TRY(columns_set(l->pencil, to[i], *kept, l->it.r, error));
        append(all[i], blocks[i]);
    }
    ++*kept;
done:
    free(C);
    return status;
}

/* Let the last block, which is orthogonal to v, be what is new of it, and append it. Sums of small Gram matrices would not see what is
 * left of columns that are nearly parallel.
 *  sizes  squares in M to which rounding is relative */
static weft_status take_block(near *l, const double *sizes, weft_error *error) {
    weft_status status = WEFT_OK;
    const int m = l->last.v.m;
    int kept = 0;
    TRY(columns_product(l->pencil, inner_of(l), &l->last.v, &l->last.mv, error));
    TRY(columns_gram(l->pencil, &l->last.v, &l->last.mv, l->coupling, error));
    l->n_new = m;
    for (int k = 0; k < m; ++k)
        TRY(take_column(l, k, sizes[k], &kept, error));
    l->last.v.m = l->last.mv.m = kept;
done:
    return status;
}

/* The squares of the last block's columns in M. */
static weft_status measure(near *l, double *sizes, weft_error *error) {
    weft_status status = WEFT_OK;
    double G[BLOCK * BLOCK];
    TRY(columns_product(l->pencil, inner_of(l), &l->last.v, &l->last.mv, error));
    TRY(columns_gram(l->pencil, &l->last.v, &l->last.mv, G, error));
    for (int k = 0; k < l->last.v.m; ++k)
        sizes[k] = G[k * l->last.v.m + k];
done:
    return status;
}

/* A block of random vectors, to which the inverse was applied once. */
static weft_status start(near *l, int seed, weft_error *error) {
    weft_status status = WEFT_OK;
    double random[BLOCK], sizes[BLOCK];
    double *C = malloc((size_t)(l->v.m + 1) * BLOCK * sizeof *C);
    if (!C)
        TRY(weft_out_of_memory(error, "eigenvectors"));
    TRY(columns_random(l->pencil, 0, l->block, seed, &l->last.v, error));
    TRY(measure(l, random, error));
    TRY(apply(l, &l->last, error));
    TRY(measure(l, sizes, error));
    for (int k = 0; k < l->last.v.m; ++k)
        sizes[k] = fmax(sizes[k], l->longest * random[k]);
    TRY(orthogonalise(l, &l->last.v, C, error));
    TRY(take_block(l, sizes, error));
done:
    free(C);
    return status;
}

/* Apply the inverse to the last block; what is new is the next one. */
static weft_status expand(near *l, weft_error *error) {
    weft_status status = WEFT_OK;
    const int m = l->last.v.m, first = l->done, q = l->v.m, most = l->most + BLOCK;
    double sizes[BLOCK];
    double *C = malloc((size_t)q * BLOCK * sizeof *C + 1);
    if (!C)
        TRY(weft_out_of_memory(error, "eigenvectors"));
    TRY(apply(l, &l->last, error));
    TRY(measure(l, sizes, error));
    for (int k = 0; k < m; ++k)
        l->longest = fmax(l->longest, sizes[k]);
    for (int k = 0; k < m; ++k)
        sizes[k] = l->longest;
    TRY(orthogonalise(l, &l->last.v, C, error));
    for (int i = 0; i < q; ++i)
        for (int k = 0; k < m; ++k)
            l->H[i * most + first + k] = l->H[(first + k) * most + i] = C[i * m + k];
    l->done = q;
    l->n_last = m;
    TRY(take_block(l, sizes, error));
done:
    free(C);
    return status;
}

/* ---- Rayleigh and Ritz ----------------------------------------------------------------------- */

/* The values of H, the largest without its sign first, with their vectors. */
static weft_status find_ritz(near *l, weft_error *error) {
    const int q = l->done, most = l->most + BLOCK;
    double *V = malloc(((size_t)q * (size_t)q + 4 * (size_t)q) * sizeof *V + 1);
    if (!V)
        return weft_out_of_memory(error, "eigenvectors");
    double *values = V + q * q;
    for (int i = 0; i < q * q; ++i)
        V[i] = (l->H[i / q * most + i % q] + l->H[i % q * most + i / q]) / 2;
    weft_eigenvectors(q, V, values, values + q);
    for (int k = 0, low = 0, high = q - 1; k < q; ++k) {
        const int at = fabs(values[low]) > fabs(values[high]) ? low++ : high--;
        l->values[k] = values[at];
        for (int i = 0; i < q; ++i)
            l->S[i * q + k] = V[i * q + at];
    }
    free(V);
    return WEFT_OK;
}

/* The residual of A x = value x of vector k, relative to the value. */
static double residual_of(const near *l, int k) {
    const int m = l->n_last, first = l->done - m;
    double sum = 0;
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < m; ++j)
            sum += l->coupling[i * m + j] * l->S[(first + i) * l->done + k] *
                   l->S[(first + j) * l->done + k];
    return sqrt(fmax(sum, 0)) / fabs(l->values[k]);
}

/* How many of the best vectors have converged. */
static int count_converged(const near *l) {
    int n = 0;
    while (n < l->done && residual_of(l, n) <= CLOSE * l->it.settings->tolerance)
        ++n;
    return n;
}

/* Let v be the best `keep` vectors, and the last block behind them. */
static weft_status restart(near *l, int keep, weft_error *error) {
    weft_status status = WEFT_OK;
    const int q = l->done, all = l->v.m, m = keep + all - q, most = l->most + BLOCK;
    double *C = calloc((size_t)all * (size_t)m + 1, sizeof *C);
    if (!C)
        TRY(weft_out_of_memory(error, "eigenvectors"));
    for (int i = 0; i < q; ++i)
        for (int k = 0; k < keep; ++k)
            C[i * m + k] = l->S[i * q + k];
    for (int i = q; i < all; ++i)
        C[i * m + keep + i - q] = 1;
    TRY(columns_combine(l->pencil, &(columns_term){&l->v, C}, 1, m, &l->v, error));
    TRY(columns_combine(l->pencil, &(columns_term){&l->mv, C}, 1, m, &l->mv, error));
    memset(l->H, 0, (size_t)most * (size_t)most * sizeof *l->H);
    for (int k = 0; k < keep; ++k)
        l->H[k * most + k] = l->values[k];
    l->done = keep;
done:
    free(C);
    return status;
}

/* Do the n largest values agree with those of the round before? */
static bool agree(const near *l, int n) {
    bool fine = true;
    for (int k = 0; k < n; ++k)
        fine &= fabs(l->values[k] - l->before[k]) <= AGREE * fabs(l->before[k]);
    return fine;
}

/* Columns are appended, at least as many as `least`, until the basis is full, nothing is new, or the first n have converged. */
static weft_status fill(near *l, int n, int least, bool *converged, weft_error *error) {
    weft_status status = WEFT_OK;
    *converged = false;
    while (l->last.v.m > 0 && l->done + l->last.v.m <= l->most &&
           (!*converged || l->done < least)) {
        TRY(weft_cancelled(l->pencil->monitor, error));
        TRY(expand(l, error));
        TRY(find_ritz(l, error));
        *converged = count_converged(l) >= n;
    }
    *converged |= l->last.v.m == 0;
done:
    return status;
}

/* A round has converged: start another one with vectors that are known and random ones. *all: there are no others */
static weft_status look_for_others(near *l, int *least, bool *all, weft_error *error) {
    weft_status status = WEFT_OK;
    const int known = l->last.v.m > 0 ? count_converged(l) : l->done;
    l->v.m = l->mv.m = l->done; /* without the last block */
    TRY(restart(l, known, error));
    TRY(start(l, l->it.pairs->iterations, error));
    *least = known + CHECKS * BLOCK;
    TRY(find_ritz(l, error)); /* of those that are kept */
    *all = l->last.v.m == 0;
done:
    return status;
}

/* Rounds until the n values converge, and one more that starts with other vectors has found no others. */
static weft_status iterate(near *l, int n, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_eigenpairs *pairs = l->it.pairs;
    const int most = l->it.settings->max_iterations;
    bool is_checked = false, is_same = false, converged = false, all = false;
    int least = 0;
    pairs->outcome = WEFT_EIGEN_MAX_ITERATIONS;
    TRY(start(l, 0, error));
    while (!all && !is_same && pairs->iterations < (most < ROUNDS_MOST ? most : ROUNDS_MOST)) {
        TRY(fill(l, n, least, &converged, error));
        ++pairs->iterations;
        const int extra = n + n / 2 + 2, keep = extra < l->done ? extra : l->done;
        if (!converged) {
            TRY(restart(l, keep, error));
            continue;
        }
        is_same = is_checked && l->done >= n && agree(l, n);
        if (is_same)
            continue;
        for (int k = 0; k < n; ++k)
            l->before[k] = k < l->done ? l->values[k] : 0;
        is_checked = true;
        TRY(look_for_others(l, &least, &all, error));
    }
    if (all || is_same)
        pairs->outcome = WEFT_EIGEN_CONVERGED;
done:
    return status;
}

/* ---- the result ------------------------------------------------------------------------------ */

/* Which of m ascending values is the farthest from the shift: the first or the last? */
static int farthest(const near *l, int m) {
    const double first = fabs(l->it.values[0] - l->pencil->shift);
    return first > fabs(l->it.values[m - 1] - l->pencil->shift) ? 0 : m - 1;
}

/* The vectors of the values but the first of them, where that is not wanted. */
static weft_status leave_out_first(iteration *it, weft_error *error) {
    weft_status status = WEFT_OK;
    const int m = it->m;
    double *C = calloc((size_t)m * (size_t)m, sizeof *C);
    if (!C)
        TRY(weft_out_of_memory(error, "eigenvectors"));
    it->pairs->next = it->values[0];
    it->pairs->next_is_first = true;
    for (int k = 0; k + 1 < m; ++k) {
        C[(k + 1) * (m - 1) + k] = 1;
        it->values[k] = it->values[k + 1];
    }
    TRY(basis_combine(it->pencil, &it->x, C, --it->m, error));
done:
    free(C);
    return status;
}

/* Values of the inverse that are not rounding: others are those of l that are infinite, or too far from the shift. */
static int count_finite(const near *l) {
    static const double INFINITE = 1e-13;
    int n = 0;
    while (n < l->done && fabs(l->values[n]) > INFINITE * fabs(l->values[0]))
        ++n;
    return n;
}

/* 1/mu of ascending values, ascending, with their columns of C [m][m]: those of each sign in the opposite order. */
static weft_status turn_round(int m, double *values, double *C, weft_error *error) {
    double *copy = malloc(((size_t)m * (size_t)m + (size_t)m) * sizeof *copy + 1);
    int n_negative = 0;
    if (!copy)
        return weft_out_of_memory(error, "eigenvectors");
    memcpy(copy, C, (size_t)m * (size_t)m * sizeof *C);
    double *mu = copy + m * m;
    memcpy(mu, values, (size_t)m * sizeof *values);
    while (n_negative < m && mu[n_negative] < 0)
        ++n_negative;
    for (int k = 0; k < m; ++k) {
        const int from = k < n_negative ? n_negative - 1 - k : m - 1 - (k - n_negative);
        values[k] = 1 / mu[from];
        for (int i = 0; i < m; ++i)
            C[i * m + k] = copy[i * m + from];
    }
    free(copy);
    return WEFT_OK;
}

/* The values and vectors of x by their quotients of K and M. */
static weft_status find_quotients(near *l, weft_error *error) {
    weft_status status = WEFT_OK;
    iteration *it = &l->it;
    const int m = it->m;
    bool fine = false;
    double *G = malloc(3 * (size_t)m * (size_t)m * sizeof *G + 1), *H = G + m * m, *C = H + m * m;
    if (!G)
        TRY(weft_out_of_memory(error, "eigenvectors"));
    TRY(basis_products(l->pencil, &it->x, error));
    TRY(columns_gram(l->pencil, &it->x.v, &it->x.kv, G, error));
    TRY(columns_gram(l->pencil, &it->x.v, &it->x.mv, H, error));
    TRY(pencil_diagonalise(m, m, l->pencil->is_buckling ? H : G, l->pencil->is_buckling ? G : H,
                           it->values, C, 1e-14, &fine, error));
    if (fine && l->pencil->is_buckling)
        TRY(turn_round(m, it->values, C, error));
    if (!fine)
        it->pairs->outcome = WEFT_EIGEN_BREAKDOWN;
    else
        TRY(basis_combine(l->pencil, &it->x, C, m, error));
    TRY(iteration_measure(it, error));
done:
    free(G);
    return status;
}

/* x: the n best vectors, and the next one where it has converged: the quotient of another could be any. What they have of the largest values of K, which the inverse sees little of,
 * is taken off by one more application, if there is too much of it. */
static weft_status take_vectors(near *l, int n, weft_error *error) {
    weft_status status = WEFT_OK;
    iteration *it = &l->it;
    const int known = count_finite(l), m = known > n && count_converged(l) > n ? n + 1 : n;
    if (known < n && it->pairs->outcome == WEFT_EIGEN_CONVERGED)
        TRY(pairs_refuse_number(n, known, error));
    if (known < n)
        TRY(weft_error_refuse(error, WEFT_ERROR_INPUT,
                              "the iteration limit is reached before there are as many vectors as "
                              "eigenvalues are wanted",
                              "raise --max-iterations, which counts rounds of Lanczos' method"));
    it->m = m;
    it->values = calloc((size_t)m + 1, sizeof *it->values);
    it->residuals = calloc((size_t)m + 1, sizeof *it->residuals);
    it->active = calloc((size_t)m + 1, sizeof *it->active);
    if (!it->values || !it->residuals || !it->active)
        TRY(weft_out_of_memory(error, "eigenvectors"));
    TRY(basis_make(l->pencil, m, &it->x, error));
    l->v.m = l->mv.m = l->done;
    TRY(restart(l, m, error));
    append(&it->x.v, &l->v);
    TRY(find_quotients(l, error));
    if (it->n_active > 0 && it->active[0] < n) {
        TRY(apply(l, &it->x, error));
        TRY(find_quotients(l, error));
    }
    if (m > n && farthest(l, m) == 0)
        TRY(leave_out_first(it, error));
done:
    return status;
}

/* One over the size of the diagonal of K, and of the shifted mass where that is not positive. */
static weft_status find_diagonal(const weft_pencil *pencil, double *d, weft_error *error) {
    weft_error ignored;
    if (pencil->is_buckling)
        return pencil_diagonal(pencil, d, error);
    if (pencil_diagonal(pencil, d, &ignored) == WEFT_OK)
        return WEFT_OK;
    int64_t next = 0;
    for (int64_t i = 0; i < pencil->K.n_rows; ++i) {
        const int64_t k = weft_csr_find(&pencil->K, i, i), m = weft_csr_find(&pencil->M, i, i);
        const bool is_dropped = next < pencil->n_dropped && pencil->dropped[next] == i;
        const double size = (k < 0 ? 0 : fabs(pencil->K.values[k])) +
                            (m < 0 ? 0 : fabs(pencil->shift * pencil->M.values[m]));
        next += is_dropped;
        d[i] = is_dropped ? 0 : 1 / size;
        if (!is_dropped && !(size > 0 && isfinite(size)))
            return weft_error_set(error, WEFT_ERROR_INPUT,
                                  "the diagonal of row %lld of the matrix is 0, or not finite",
                                  (long long)i);
    }
    return WEFT_OK;
}

weft_status weft_eigen_near(const weft_pencil *pencil, const weft_eigen_settings *settings,
                            weft_eigenpairs *out, weft_error *error) {
    weft_status status = WEFT_OK;
    basis null = {.v = {0}};
    const int n = settings->n;
    const int64_t n_free = pencil->K.n_rows - pencil->n_dropped - pencil->n_null;
    double *d = calloc((size_t)pencil->K.n_rows + 1, sizeof *d);
    near l = {.pencil = pencil,
              .it = {.pencil = pencil, .settings = settings, .d = d, .null = &null, .pairs = out}};
    if (!d)
        TRY(weft_out_of_memory(error, "eigenvalues"));
    if (n > n_free)
        TRY(pairs_refuse_number(n, n_free, error));
    TRY(find_diagonal(pencil, d, error));
    if (!pencil->is_buckling)
        TRY(pairs_check_mass(pencil, d, error));
    TRY(pairs_place_null(pencil, &null, error));
    TRY(near_make(&l, n, n_free, error));
    TRY(check_inverse(&l, error));
    TRY(iterate(&l, n < n_free ? n + 1 : n,
                error)); /* the next one tells whether they end in a cluster */
    out->n_columns = l.block;
    TRY(take_vectors(&l, n, error));
    TRY(pairs_describe(&l.it, error));
done:
    near_free(&l);
    basis_free(&null);
    free(d);
    return status;
}
