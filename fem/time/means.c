/* Keeps the means of parts that are insulated, or nearly: over long steps the mass, which alone holds them, is so far
 * below the stiffness that a residual that is small says nothing about them.
 *
 *      A = a M + K,  K 1 = 0:   1.b = 1.(A x) = a 1.(M x)
 *
 * The constant c = 1.b / 1.(A 1) is taken off, the rest w solves A w = b - c A 1, and what w has of constants is
 * corrected in the end, with A 1 = a M 1 (and what Robin conditions add), in which K does not round. */
#include "fem/base/share.h"
#include "fem/mesh/part.h"
#include "fem/time/transient.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What holds a constant, relative to the terms without signs, below which its mean is kept apart. */
static const double WEAK = 1e-5;
/* The same, below which A is singular up to rounding. */
static const double SINGULAR = 1e-9;

enum { PARTS_MOST = 16 };

typedef struct means {
    weft_time_system *system;
    int components;
    int64_t n, n_parts;
    int32_t *part; /* [mesh nodes]; NULL: there is one */
    double *e, *y, *more, *sizes;
    double least; /* the weakest hold, relative to the terms without signs */
    weft_memory *e_memory, *y_memory;
    weft_operator *robin;
} means;

static void clear(means *m) {
    free(m->part);
    free(m->e);
    free(m->y);
    free(m->more);
    free(m->sizes);
    weft_memory_free(&m->e_memory);
    weft_memory_free(&m->y_memory);
    weft_operator_free(&m->robin);
}

static weft_status start(means *m, weft_time_system *system, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_transient_problem *problem = system->problem;
    const weft_space *space = problem->fields[0].space;
    const weft_mesh *mesh = weft_space_mesh(space);
    weft_device *device = system->context->device;
    *m = (means){.system = system,
                 .components = weft_space_components(space),
                 .n = system->n,
                 .n_parts = 1,
                 .least = INFINITY};
    m->e = weft_array_make((size_t)m->n, sizeof *m->e);
    m->more = weft_array_make((size_t)m->n, sizeof *m->more);
    if (!m->e || !m->more)
        TRY(weft_out_of_memory(error, "means"));
    TRY(weft_memory_make(device, (size_t)m->n * sizeof *m->e, &m->e_memory, error));
    TRY(weft_vector_make(device, m->n, &m->y, &m->y_memory, error));
    /* parts are those of the mesh's nodes */
    if (m->n != mesh->n_nodes * m->components || (mesh->part && mesh->part->n_pieces == 1))
        goto done;
    m->part = weft_array_make((size_t)mesh->n_nodes, sizeof *m->part);
    if (!m->part)
        TRY(weft_out_of_memory(error, "means"));
    TRY(weft_bc_parts(problem->bc, m->part, &m->n_parts, error));
done:
    return status;
}

static const weft_share *share_of(const means *m) {
    return weft_layout_share(m->system->layout);
}

/* Whether something is true on all ranks. */
static weft_status agree(const means *m, bool *value, weft_error *error) {
    double fails = *value ? 0 : 1;
    const weft_status status = weft_comm_maximum(weft_share_comm(share_of(m)), &fails, error);
    *value = fails == 0;
    return status;
}

/* e, 1 in a component of a part; false: Dirichlet values or constraints hold it. */
static weft_status fill(means *m, int component, int64_t part, bool *is_free, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_time_system *system = m->system;
    int64_t n_constrained = 0;
    const int32_t *constrained = weft_bc_constrained(system->problem->bc, &n_constrained);
    *is_free = true;
    for (int64_t i = 0; i < m->n; ++i)
        m->e[i] =
            i % m->components == component && (!m->part || m->part[i / m->components] == part);
    for (int64_t i = 0; i < n_constrained; ++i)
        *is_free &= m->e[constrained[i]] == 0;
    TRY(agree(m, is_free, error));
    TRY(weft_memory_write(m->e_memory, 0, m->e, (size_t)m->n * sizeof *m->e, error));
    if (!system->reduction || !*is_free)
        goto done;
    TRY(weft_reduction_fill(system->reduction, 0, m->e_memory, error));
    TRY(weft_memory_read(m->e_memory, 0, m->more, (size_t)m->n * sizeof *m->more, error));
    for (int64_t i = 0; i < m->n; ++i)
        *is_free &= fabs(m->more[i] - m->e[i]) < 1e-9;
    TRY(agree(m, is_free, error));
    TRY(weft_memory_write(m->e_memory, 0, m->e, (size_t)m->n * sizeof *m->e, error));
done:
    return status;
}

static weft_status apply(means *m, weft_operator *op, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_operator_apply(op, m->e_memory, m->y_memory, error));
    TRY(weft_vector_pull(m->y_memory, out, m->n, error));
done:
    return status;
}

static weft_status product(const means *m, const double *a, const double *b, double *out,
                           weft_error *error) {
    return weft_share_product(share_of(m), a, b, m->n, out, error);
}

/* Is a row of y more than rounding? */
static weft_status is_seen(const means *m, const double *y, bool *out, weft_error *error) {
    const unsigned char *owned = weft_share_owned(share_of(m));
    double most = owned ? 0 : weft_operator_seen(y, m->sizes, m->n);
    for (int64_t i = 0; owned && i < m->n; ++i)
        if (owned[i])
            most = fmax(most, weft_operator_seen(y + i, m->sizes + i, 1));
    const weft_status status = weft_comm_maximum(weft_share_comm(share_of(m)), &most, error);
    *out = most > WEFT_UNSEEN;
    return status;
}

/* A without signs times vectors of signs, once a constant needs it. */
static weft_status need_sizes(means *m, weft_error *error) {
    if (m->sizes)
        return WEFT_OK;
    m->sizes = weft_array_make((size_t)m->n, sizeof *m->sizes);
    return m->sizes ? weft_operator_row_sizes(m->system->context->device, m->system->total,
                                              m->sizes, error)
                    : weft_out_of_memory(error, "means");
}

static weft_status need_robin(means *m, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_form *robin = NULL;
    const int n_robin = m->robin ? 0 : weft_bc_forms(m->system->problem->bc, &robin);
    if (n_robin == 0)
        goto done;
    TRY(weft_operator_make(m->system->context, WEFT_ASSEMBLY_MATRIX_FREE, robin, n_robin, &m->robin,
                           error));
    TRY(weft_operator_assemble(m->robin, error));
done:
    return status;
}

/* pull = A e, without rounding of K e, if that is zero. */
static weft_status find_pull(means *m, double *pull, bool *is_weak, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_time_system *system = m->system;
    double *kept = weft_array_make((size_t)m->n, sizeof *kept), size = 0, work = 0;
    bool has_more = false;
    if (!kept)
        TRY(weft_out_of_memory(error, "means"));
    TRY(need_sizes(m, error));
    TRY(apply(m, system->total, pull, error));
    TRY(product(m, m->e, m->sizes, &size, error));
    TRY(product(m, m->e, pull, &work, error));
    *is_weak = work > 0 && work <= WEAK * size;
    m->least = fmin(m->least, work / size);
    if (!*is_weak || !system->mass)
        goto done;
    TRY(apply(m, system->mass, kept, error));
    for (int64_t i = 0; i < m->n; ++i) {
        kept[i] *= system->a;
        pull[i] -= kept[i];
    }
    TRY(need_robin(m, error));
    if (m->robin) {
        TRY(apply(m, m->robin, m->more, error));
        for (int64_t i = 0; i < m->n; ++i) {
            pull[i] -= m->more[i];
            kept[i] += m->more[i];
        }
    }
    TRY(is_seen(m, pull, &has_more, error));
    for (int64_t i = 0; i < m->n; ++i)
        pull[i] = kept[i] + (has_more ? pull[i] : 0);
done:
    free(kept);
    return status;
}

static weft_status allocate(const means *m, weft_held_modes *held, weft_error *error) {
    const size_t n = (size_t)m->n, most = (size_t)m->n_parts * (size_t)m->components;
    held->modes = weft_array_make(most * n, sizeof *held->modes);
    held->pulls = weft_array_make(most * n, sizeof *held->pulls);
    held->work = weft_array_make(most, sizeof *held->work);
    held->amounts = weft_array_make(most, sizeof *held->amounts);
    return held->modes && held->pulls && held->work && held->amounts
               ? WEFT_OK
               : weft_out_of_memory(error, "means");
}

/* Constants of different components may be coupled, as by an anisotropic condition: then none is kept apart. */
static weft_status are_apart(const means *m, const weft_held_modes *held, bool *out,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    *out = true;
    for (int k = 0; k < held->n; ++k)
        for (int l = 0; l < k; ++l) {
            double both = 0;
            TRY(product(m, held->modes + k * m->n, held->pulls + l * m->n, &both, error));
            *out &= fabs(both) <= 1e-9 * sqrt(held->work[k] * held->work[l]);
        }
done:
    return status;
}

static weft_status add_means(means *m, weft_held_modes *held, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = m->n;
    bool apart = false;
    for (int64_t part = 0; part < m->n_parts; ++part)
        for (int component = 0; component < m->components; ++component) {
            bool is_free = false, is_weak = false;
            double *pull = held->pulls + held->n * n;
            TRY(fill(m, component, part, &is_free, error));
            if (is_free)
                TRY(find_pull(m, pull, &is_weak, error));
            if (!is_weak)
                continue;
            memcpy(held->modes + held->n * n, m->e, (size_t)n * sizeof *m->e);
            TRY(product(m, m->e, pull, &held->work[held->n++], error));
        }
    TRY(are_apart(m, held, &apart, error));
    if (!apart)
        held->n = 0;
done:
    return status;
}

/* Whether all constants are held by values, or nothing can be done about them. */
static bool needs_none(const weft_time_system *system) {
    const weft_transient_problem *problem = system->problem;
    return problem->n_fields != 1 || problem->is_nonlinear ||
           !weft_method_about(system->linear.choice.method)->needs_symmetric ||
           !weft_element_is_shared(weft_space_element(problem->fields[0].space)) ||
           weft_device_limits(system->context->device)->records_only;
}

weft_status weft_time_means_find(weft_time_system *system, weft_error *error) {
    weft_status status = WEFT_OK;
    means m = {0};
    weft_held_modes_clear(&system->means);
    system->is_singular = false;
    if (needs_none(system))
        goto done;
    TRY(start(&m, system, error));
    if (m.n_parts > PARTS_MOST)
        goto done;
    TRY(allocate(&m, &system->means, error));
    TRY(add_means(&m, &system->means, error));
    system->is_singular = m.least <= SINGULAR;
    if (system->means.n > 0)
        weft_log(system->context->monitor, WEFT_LOG_INFO,
                 "the step is so long that the mass is far below the stiffness: the mean of %d "
                 "constant%s is computed apart",
                 system->means.n, system->means.n == 1 ? "" : "s");
done:
    if (system->means.n == 0)
        weft_held_modes_clear(&system->means);
    clear(&m);
    return status;
}

weft_status weft_time_means_round(weft_time_system *system, weft_memory *work, weft_error *error) {
    weft_status status = WEFT_OK;
    double *values = NULL;
    means m = {0};
    if (needs_none(system))
        goto done;
    TRY(start(&m, system, error));
    values = weft_array_make((size_t)m.n, sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, "means"));
    TRY(weft_vector_pull(work, values, m.n, error));
    for (int64_t k = 0; k < m.n_parts * m.components && m.n_parts <= PARTS_MOST; ++k) {
        bool is_free = false, seen = false;
        double sum = 0, count = 0;
        TRY(fill(&m, (int)(k % m.components), k / m.components, &is_free, error));
        if (!is_free)
            continue;
        TRY(need_sizes(&m, error));
        TRY(apply(&m, system->total, m.y, error));
        TRY(is_seen(&m, m.y, &seen, error));
        if (seen)
            continue;
        TRY(product(&m, m.e, values, &sum, error));
        TRY(product(&m, m.e, m.e, &count, error));
        for (int64_t i = 0; i < m.n; ++i)
            values[i] -= sum / count * m.e[i];
    }
    TRY(weft_vector_push(work, values, m.n, error));
done:
    free(values);
    clear(&m);
    return status;
}

/* memory += factor sum amounts vectors */
static weft_status add_to(const weft_time_system *system, weft_memory *memory, double factor,
                          const double *vectors, double *values, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_held_modes *held = &system->means;
    TRY(weft_vector_pull(memory, values, system->n, error));
    weft_held_modes_add(held, system->n, factor, held->amounts, vectors, values);
    TRY(weft_vector_push(memory, values, system->n, error));
done:
    return status;
}

weft_status weft_time_means_enter(weft_time_system *system, weft_memory *b, weft_memory *x,
                                  double *tolerance, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = system->n;
    weft_held_modes *held = &system->means;
    const weft_share *share = weft_layout_share(system->layout);
    double *values = NULL, before = 0, after = 0;
    if (held->n == 0)
        goto done;
    values = weft_array_make((size_t)n, sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, "means"));
    TRY(weft_vector_pull(b, values, n, error));
    TRY(weft_share_norm(share, values, n, &before, error));
    for (int k = 0; k < held->n; ++k) {
        TRY(weft_share_product(share, held->modes + k * n, values, n, &held->amounts[k], error));
        held->amounts[k] /= held->work[k];
    }
    weft_held_modes_add(held, n, -1, held->amounts, held->pulls, values);
    TRY(weft_share_norm(share, values, n, &after, error));
    TRY(weft_vector_push(b, values, n, error));
    TRY(add_to(system, x, -1, held->modes, values, error));
    if (after > 0 && after < before) /* the same residual */
        *tolerance = fmin(*tolerance * before / after, fmax(*tolerance, 1e-2));
done:
    free(values);
    return status;
}

weft_status weft_time_means_leave(weft_time_system *system, weft_memory *b, weft_memory *x,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t n = system->n;
    weft_held_modes *held = &system->means;
    double *values = NULL, lack[PARTS_MOST * WEFT_VALUES_MAX];
    if (held->n == 0)
        goto done;
    values = weft_array_make((size_t)n, sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, "means"));
    TRY(add_to(system, b, 1, held->pulls, values, error));
    TRY(weft_vector_pull(x, values, n, error));
    for (int k = 0; k < held->n; ++k)
        TRY(weft_share_product(weft_layout_share(system->layout), held->pulls + k * n, values, n,
                               &lack[k], error));
    for (int k = 0; k < held->n; ++k)
        held->amounts[k] -= lack[k] / held->work[k];
    TRY(add_to(system, x, 1, held->modes, values, error));
done:
    free(values);
    return status;
}
