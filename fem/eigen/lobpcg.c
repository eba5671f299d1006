/* LOBPCG: the best vectors of the present ones X, preconditioned residuals W and former directions P, again and again. Columns that have
 * converged stay in X, without residuals and directions (soft locking). */
#include "fem/eigen/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the Gram matrices, scaled to a unit diagonal, from which on vectors count as dependent. */
static const double DEPENDENT = 1e-14, DEPENDENT_DIRECTION = 1e-12, CONDITION = 1e-10;
enum { REFRESH = 20, RESTARTS_MOST = 3, FILLINGS_MOST = 5 };

void iteration_free(iteration *it) {
    basis_free(&it->x);
    basis_free(&it->w);
    basis_free(&it->p);
    free(it->values);
    free(it->residuals);
    free(it->active);
    free(it->r);
    free(it->z);
}

static weft_status make(iteration *it, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = it->pencil->K.n_rows;
    const size_t m = (size_t)it->m;
    TRY(basis_make(it->pencil, it->m, &it->x, error));
    TRY(basis_make(it->pencil, it->m, &it->w, error));
    TRY(basis_make(it->pencil, it->m, &it->p, error));
    it->values = calloc(m + 1, sizeof *it->values);
    it->residuals = calloc(m + 1, sizeof *it->residuals);
    it->active = calloc(m + 1, sizeof *it->active);
    it->r = calloc((size_t)n + 1, sizeof *it->r);
    it->z = calloc((size_t)n + 1, sizeof *it->z);
    if (!it->values || !it->residuals || !it->active || !it->r || !it->z)
        TRY(weft_out_of_memory(error, "eigenvectors"));
done:
    return status;
}

/* ---- the approximate inverse ----------------------------------------------------------------- */

/* it->z = T it->r, 0 in dropped rows */
static weft_status apply(iteration *it, weft_error *error) {
    ++it->pairs->applications;
    return pencil_precondition(it->pencil, it->d, it->r, it->z, error);
}

/* A random residual, which does no work on null vectors. */
static weft_status fill(const iteration *it, int64_t seed, double *out, weft_error *error) {
    for (int64_t i = 0; i < it->pencil->K.n_rows; ++i)
        out[i] = it->d[i] > 0 ? weft_random_entry(i + seed) * sqrt(1 / it->d[i]) : 0;
    return basis_balance(it->pencil, it->null, out, error);
}

/* A cycle in single precision is symmetric up to its rounding. */
weft_status iteration_check_inverse(iteration *it, weft_error *error) {
    static const double ASYMMETRIC = 1e-3;
    weft_status status = WEFT_OK;
    const int64_t n = it->pencil->K.n_rows;
    double *a = calloc(2 * (size_t)n + 1, sizeof *a), *ta = a + n;
    double aa = 0, ab = 0, bb = 0, ba = 0;
    if (!a)
        TRY(weft_out_of_memory(error, "the test of a preconditioner"));
    TRY(fill(it, 0, it->r, error));
    memcpy(a, it->r, (size_t)n * sizeof *a);
    TRY(apply(it, error));
    memcpy(ta, it->z, (size_t)n * sizeof *ta);
    TRY(fill(it, n, it->r, error));
    TRY(apply(it, error));
    for (int64_t i = 0; i < n; ++i) {
        aa += a[i] * ta[i];
        ab += a[i] * it->z[i];
        ba += it->r[i] * ta[i];
        bb += it->r[i] * it->z[i];
    }
    if (!(aa > 0) || !(bb > 0))
        TRY(weft_error_refuse(error, WEFT_ERROR_UNSUPPORTED,
                              "the preconditioner is not positive definite, as eigenvalues need it",
                              "take another --preconditioner, or look at the sign of the form a"));
    if (!(fabs(ab - ba) <= ASYMMETRIC * sqrt(aa * bb)))
        TRY(weft_error_refuse(error, WEFT_ERROR_UNSUPPORTED,
                              "the preconditioner is not symmetric, as eigenvalues need it",
                              "take another --preconditioner"));
done:
    free(a);
    return status;
}

/* ---- bases ----------------------------------------------------------------------------------- */

/* The largest quotient of diagonal entries of K and M, if there are rows without mass; otherwise 0. */
static double find_quotient(const iteration *it) {
    const weft_csr *M = &it->pencil->M;
    double most = 0;
    bool is_singular = false;
    for (int64_t i = 0; i < M->n_rows; ++i) {
        const int64_t at = it->d[i] > 0 ? weft_csr_find(M, i, i) : -1;
        const double mass = at >= 0 ? M->values[at] : 0;
        is_singular |= it->d[i] > 0 && !(mass > 0);
        most = mass > 0 ? fmax(most, 1 / (it->d[i] * mass)) : most;
    }
    return is_singular ? most : 0;
}

/* Leave out columns without mass but for rounding: their quotients are far beyond those of any vector with mass. */
static weft_status drop_massless(iteration *it, basis *b, weft_error *error) {
    weft_status status = WEFT_OK;
    static const double FAR = 1e8;
    const int m = b->v.m;
    double *G = malloc(3 * (size_t)m * (size_t)m * sizeof *G + 1), *H = G + m * m, *C = H + m * m;
    int kept = 0;
    if (!G)
        TRY(weft_out_of_memory(error, "eigenvectors"));
    TRY(columns_product(it->pencil, &it->pencil->K, &b->v, &b->kv, error));
    TRY(columns_gram(it->pencil, &b->v, &b->kv, G, error));
    TRY(columns_gram(it->pencil, &b->v, &b->mv, H, error));
    for (int k = 0; k < m; ++k)
        kept += H[k * m + k] * FAR * it->quotient > G[k * m + k];
    memset(C, 0, (size_t)m * (size_t)m * sizeof *C);
    for (int k = 0, to = 0; k < m; ++k)
        if (H[k * m + k] * FAR * it->quotient > G[k * m + k])
            C[k * kept + to++] = 1;
    TRY(basis_combine(it->pencil, b, C, kept, error));
done:
    free(G);
    return status;
}

/* Keep b out of the null vectors and the columns of x, twice, and select what does not depend on others. */
static weft_status select_new(iteration *it, bool beside_x, basis *b, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int twice = 0; twice < 2; ++twice) {
        TRY(basis_project(it->pencil, it->null, &b->v, error));
        if (beside_x)
            TRY(basis_project(it->pencil, &it->x, &b->v, error));
    }
    b->kv.m = 0;
    TRY(columns_product(it->pencil, &it->pencil->M, &b->v, &b->mv, error));
    if (it->quotient > 0)
        TRY(drop_massless(it, b, error));
    TRY(basis_select(it->pencil, DEPENDENT, b, error));
    TRY(columns_product(it->pencil, &it->pencil->K, &b->v, &b->kv, error));
done:
    return status;
}

/* Columns of b behind those of x. */
static weft_status append(iteration *it, const basis *b, weft_error *error) {
    weft_status status = WEFT_OK;
    const int m = it->x.v.m, more = b->v.m < it->m - m ? b->v.m : it->m - m, all = m + more;
    double *C = calloc((size_t)b->v.m * (size_t)all + 1, sizeof *C);
    columns *const to[] = {&it->x.v, &it->x.kv, &it->x.mv};
    const columns *const from[] = {&b->v, &b->kv, &b->mv};
    if (!C)
        TRY(weft_out_of_memory(error, "eigenvectors"));
    for (int i = 0; i < more; ++i)
        C[i * all + m + i] = 1;
    for (int k = 0; k < 3; ++k) {
        const columns_term terms[] = {{to[k], NULL}, {from[k], C}};
        TRY(columns_combine(it->pencil, terms, 2, all, to[k], error));
    }
done:
    free(C);
    return status;
}

static weft_status refuse_rank(const iteration *it, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_INPUT,
                   "the mass has no rank of %d, as many columns as are needed for %d eigenvalues",
                   it->m, it->settings->n);
    weft_error_hint(error, "ask for fewer, or let the mass be that of more unknowns");
    return WEFT_ERROR_INPUT;
}

/* Random columns, as many as x lacks. */
static weft_status start(iteration *it, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int filling = 0; it->x.v.m < it->m; ++filling) {
        if (filling == FILLINGS_MOST)
            TRY(refuse_rank(it, error));
        TRY(columns_random(it->pencil, 0, it->m - it->x.v.m, filling * it->m, &it->w.v, error));
        TRY(select_new(it, true, &it->w, error));
        TRY(append(it, &it->w, error));
    }
done:
    return status;
}

/* ---- Rayleigh and Ritz ----------------------------------------------------------------------- */

enum { BASES = 3 };
/* The basis [X W P], the quotient's matrices and its combinations. */
typedef struct ritz {
    basis *list[BASES];
    int first[BASES + 1], n; /* n: bases */
    double *G, *H, *block;   /* [size][size]; block: of two bases */
    double *C;               /* [size][m] */
} ritz;

static weft_status ritz_make(iteration *it, bool with_new, bool with_former, ritz *out,
                             weft_error *error) {
    basis *const all[] = {&it->x, &it->w, &it->p};
    *out = (ritz){.n = 0};
    for (int k = 0; k < BASES; ++k) {
        if ((k == 1 && !with_new) || (k == 2 && !with_former) || all[k]->v.m == 0)
            continue;
        out->list[out->n] = all[k];
        out->first[out->n + 1] = out->first[out->n] + all[k]->v.m;
        ++out->n;
    }
    const size_t size = (size_t)out->first[out->n];
    out->G = malloc(4 * size * size * sizeof *out->G + 1);
    if (!out->G)
        return weft_out_of_memory(error, "small matrices");
    out->H = out->G + size * size;
    out->block = out->H + size * size;
    out->C = out->block + size * size;
    return WEFT_OK;
}

/* Gram matrices of two bases, into G and H and their transposes. */
static weft_status fill_block(const iteration *it, ritz *r, int i, int k, weft_error *error) {
    weft_status status = WEFT_OK;
    const int size = r->first[r->n];
    for (int which = 0; which < 2; ++which) {
        const basis *b = r->list[k];
        double *out = which ? r->H : r->G;
        const int rows = r->list[i]->v.m, n = b->v.m;
        TRY(columns_gram(it->pencil, &r->list[i]->v, which ? &b->mv : &b->kv, r->block, error));
        for (int row = 0; row < rows; ++row)
            for (int column = 0; column < n; ++column) {
                const int at = r->first[i] + row, to = r->first[k] + column;
                if (i == k && to < at)
                    continue;
                out[at * size + to] = out[to * size + at] = r->block[row * n + column];
            }
    }
done:
    return status;
}

/* X is orthonormal, and its quotients are the values, as the iteration before has left it. */
static void fill_first(const iteration *it, const ritz *r) {
    const int size = r->first[r->n];
    for (int i = 0; i < it->m; ++i)
        for (int k = 0; k < it->m; ++k) {
            r->G[i * size + k] = i == k ? it->values[i] : 0;
            r->H[i * size + k] = i == k;
        }
}

/* The values of it, and combinations for the m smallest. *fine: the basis is not dependent. */
static weft_status solve_small(iteration *it, ritz *r, bool *fine, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int i = 0; i < r->n; ++i)
        for (int k = i; k < r->n; ++k)
            if (i == 0 && k == 0 && r->n > 1)
                fill_first(it, r);
            else
                TRY(fill_block(it, r, i, k, error));
    TRY(pencil_diagonalise(r->first[r->n], it->m, r->G, r->H, it->values, r->C, CONDITION, fine,
                           error));
done:
    return status;
}

static columns *block_of(basis *b, int which) {
    return which == 0 ? &b->v : which == 1 ? &b->kv : &b->mv;
}

/* P = [W P] C, X = X C + P; of P the active columns stay. */
static weft_status update(iteration *it, const ritz *r, weft_error *error) {
    weft_status status = WEFT_OK;
    for (int which = 0; which < 3; ++which) {
        columns *x = block_of(&it->x, which), *p = block_of(&it->p, which);
        columns_term terms[BASES];
        for (int i = 0; i < r->n; ++i)
            terms[i] = (columns_term){block_of(r->list[i], which), r->C + r->first[i] * it->m};
        if (r->n == 1) {
            TRY(columns_combine(it->pencil, terms, 1, it->m, x, error));
            continue;
        }
        TRY(columns_combine(it->pencil, terms + 1, r->n - 1, it->m, p, error));
        TRY(columns_combine(it->pencil, (columns_term[]){terms[0], {p, NULL}}, 2, it->m, x, error));
        if (it->n_active < it->m)
            TRY(columns_take(it->pencil, it->active, it->n_active, p, error));
    }
done:
    return status;
}

/* Make P orthogonal to X and W, and select what does not depend on others. */
static weft_status repair(iteration *it, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(basis_project_all(it->pencil, &it->x, &it->p, error));
    TRY(basis_project_all(it->pencil, &it->w, &it->p, error));
    TRY(basis_select(it->pencil, DEPENDENT_DIRECTION, &it->p, error));
done:
    return status;
}

/* Try the basis [X W P], which is repaired where it is dependent, and then [X W]. */
enum { WITH_FORMER, REPAIRED, WITHOUT_FORMER, TRIALS };

/* The best vectors of X, W and P. */
static weft_status improve(iteration *it, bool with_new, weft_error *error) {
    weft_status status = WEFT_OK;
    ritz r = {.n = 0};
    bool fine = false;
    int trial = with_new && it->p.v.m > 0 ? WITH_FORMER : WITHOUT_FORMER;
    double *kept = malloc((size_t)it->m * sizeof *kept);
    if (!kept)
        TRY(weft_out_of_memory(error, "eigenvalues"));
    memcpy(kept, it->values, (size_t)it->m * sizeof *kept);
    for (; trial < TRIALS && !fine; ++trial) {
        if (trial == REPAIRED)
            TRY(repair(it, error));
        it->pairs->n_restarts += trial == WITHOUT_FORMER && with_new && it->p.v.m > 0;
        free(r.G);
        TRY(ritz_make(it, with_new, trial != WITHOUT_FORMER, &r, error));
        TRY(solve_small(it, &r, &fine, error));
        if (!fine)
            memcpy(it->values, kept, (size_t)it->m * sizeof *kept);
    }
    if (!fine || it->pairs->n_restarts > RESTARTS_MOST) {
        it->pairs->outcome = WEFT_EIGEN_BREAKDOWN;
        goto done;
    }
    TRY(update(it, &r, error));
done:
    free(kept);
    free(r.G);
    return status;
}

/* ---- residuals ------------------------------------------------------------------------------- */

/* Values that are smaller than this part of the largest count as zero, which no residual can be relative to. */
static const double ZERO = 1e-8;

/* |x| in the norm of K, or at least that of a value that is not rounding. */
static double scale_of(const iteration *it, int k) {
    if (it->pencil->is_buckling)
        return 1;
    return sqrt(fmax(weft_pencil_size_of(it->pencil, it->values[k]), it->least));
}

weft_status iteration_measure(iteration *it, weft_error *error) {
    weft_status status = WEFT_OK;
    const int wanted = it->settings->n < it->m ? it->settings->n : it->m;
    it->least = 0;
    TRY(columns_residuals(it->pencil, &it->x.kv, it->values, &it->x.mv, it->d, it->residuals,
                          error));
    for (int k = 0; k < wanted; ++k)
        it->least = fmax(it->least, ZERO * fabs(it->values[k]));
    it->n_active = 0;
    for (int k = 0; k < it->m; ++k) {
        it->residuals[k] = sqrt(it->residuals[k]) / scale_of(it, k);
        if (!(it->residuals[k] <= it->settings->tolerance))
            it->active[it->n_active++] = k;
    }
done:
    return status;
}

static bool has_converged(const iteration *it) {
    return it->n_active == 0 || it->active[0] >= it->settings->n;
}

/* W = T R of the active columns, scaled to 1 before. */
static weft_status precondition(iteration *it, weft_error *error) {
    weft_status status = WEFT_OK;
    const int a = it->n_active;
    double *C = calloc(2 * (size_t)it->m * (size_t)a + 1, sizeof *C), *D = C + it->m * a;
    if (!C)
        TRY(weft_out_of_memory(error, "residuals"));
    for (int k = 0; k < a; ++k) {
        const int at = it->active[k];
        C[at * a + k] = 1 / (it->residuals[at] * scale_of(it, at));
        D[at * a + k] = -it->values[at] * C[at * a + k];
    }
    const columns_term terms[] = {{&it->x.kv, C}, {&it->x.mv, D}};
    TRY(columns_combine(it->pencil, terms, 2, a, &it->w.v, error));
    TRY(columns_precondition(it->pencil, it->d, &it->w.v, it->r, it->z, error));
    it->pairs->applications += a;
done:
    free(C);
    return status;
}

/* ---- the iteration --------------------------------------------------------------------------- */

/* Take off what rounding has added up: products and quotients by the matrices themselves. */
static weft_status refresh(iteration *it, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(basis_products(it->pencil, &it->x, error));
    TRY(improve(it, false, error));
done:
    return status;
}

static weft_status step(iteration *it, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(precondition(it, error));
    TRY(select_new(it, true, &it->w, error));
    TRY(improve(it, true, error));
    if (++it->pairs->iterations % REFRESH == 0)
        TRY(refresh(it, error));
done:
    return status;
}

/* A negative quotient shows that K is not semidefinite, so that no inverse of it is definite, as it has to be. The diagonal's is. */
static weft_status check_sign(const iteration *it, weft_error *error) {
    if (!it->pencil->precondition || !(it->values[0] < -it->least))
        return WEFT_OK;
    return weft_error_refuse(error, WEFT_ERROR_INPUT,
                             "the matrix is not positive definite: it has negative eigenvalues, or "
                             "a null space that is not known, as curl curl has",
                             "find the values near a shift by --near, or of a matrix with negative "
                             "ones the smallest by --preconditioner jacobi");
}

/* Is a residual of a wanted value not a number? */
static bool is_nan(const iteration *it) {
    bool found = false;
    for (int k = 0; k < it->settings->n && k < it->m; ++k)
        found |= !isfinite(it->residuals[k]);
    return found;
}

weft_status iteration_run(iteration *it, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(make(it, error));
    TRY(iteration_check_inverse(it, error));
    it->quotient = find_quotient(it);
    TRY(start(it, error));
    it->pairs->outcome = WEFT_EIGEN_CONVERGED;
    TRY(improve(it, false, error));
    while (it->pairs->outcome == WEFT_EIGEN_CONVERGED) {
        TRY(weft_cancelled(it->pencil->monitor, error));
        TRY(iteration_measure(it, error));
        TRY(check_sign(it, error));
        weft_log(it->pencil->monitor, WEFT_LOG_DEBUG,
                 "eigenvalues, iteration %d: %d of %d residuals to go, the first is %.2e",
                 it->pairs->iterations, it->n_active, it->m,
                 it->n_active > 0 ? it->residuals[it->active[0]] : 0);
        if (is_nan(it))
            it->pairs->outcome = WEFT_EIGEN_NAN;
        else if (has_converged(it))
            break;
        else if (it->pairs->iterations == it->settings->max_iterations)
            it->pairs->outcome = WEFT_EIGEN_MAX_ITERATIONS;
        else
            TRY(step(it, error));
    }
    if (it->pairs->outcome == WEFT_EIGEN_CONVERGED)
        TRY(refresh(it, error));
done:
    return status;
}
