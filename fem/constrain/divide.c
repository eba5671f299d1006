/* Gives each rank what it needs of the constraints, modes and loads at points that the first one has found on the whole mesh. */
#include "fem/base/memory.h"
#include "fem/constrain/private.h"
#include "fem/constrain/ranks.h"

#include <stdlib.h>
#include <string.h>

static weft_status no_memory(weft_error *error) {
    return weft_out_of_memory(error, "constraints on several ranks");
}

/* ---- messages -------------------------------------------------------------------------------- */

/* What the first rank writes and all read, in the same order. */
typedef struct message {
    weft_text bytes;
    const char *at;
} message;

static void put(message *m, const void *bytes, size_t n) {
    weft_text_add_bytes(&m->bytes, bytes, n);
}

static void get(message *m, void *bytes, size_t n) {
    memcpy(bytes, m->at, n);
    m->at += n;
}

static void put_number(message *m, int64_t number) {
    put(m, &number, sizeof number);
}

static int64_t get_number(message *m) {
    int64_t number = 0;
    get(m, &number, sizeof number);
    return number;
}

static void put_text(message *m, const char *text) {
    put_number(m, (int64_t)strlen(text));
    put(m, text, strlen(text) + 1);
}

/* Borrowed from the message. */
static const char *get_text(message *m) {
    const int64_t n = get_number(m);
    const char *text = m->at;
    m->at += n + 1;
    return text;
}

static weft_status share(message *m, weft_comm *comm, weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t n = (int64_t)m->bytes.length;
    if (m->bytes.failed)
        TRY(no_memory(error));
    TRY(weft_comm_broadcast(comm, &n, sizeof n, 0, error));
    if (weft_comm_rank(comm) > 0) {
        m->bytes.data = malloc((size_t)n + 1);
        m->bytes.length = (size_t)n;
        if (!m->bytes.data)
            TRY(no_memory(error));
    }
    TRY(weft_comm_broadcast(comm, m->bytes.data, (size_t)n, 0, error));
    m->at = m->bytes.data;
done:
    return status;
}

/* ---- dofs ------------------------------------------------------------------------------------ */

/* The dofs of a part by their numbers in the whole. */
typedef struct numbering {
    int64_t n, n_whole;
    double *numbers; /* [n] ascending */
} numbering;

static weft_status numbering_make(const weft_constraint_division *by, numbering *out,
                                  weft_error *error) {
    weft_status status = WEFT_OK;
    double *whole = NULL;
    numbering made = {.n = weft_layout_dofs(by->layout)};
    for (int f = 0; f < by->n_fields && by->whole; ++f)
        made.n_whole += weft_space_dofs(by->whole[f]);
    made.numbers = malloc((size_t)made.n * sizeof *made.numbers + 1);
    whole = malloc((size_t)made.n_whole * sizeof *whole + 1);
    if (!made.numbers || !whole)
        TRY(no_memory(error));
    for (int64_t i = 0; i < made.n_whole; ++i)
        whole[i] = (double)i;
    TRY(weft_layout_spread(by->spaces, by->n_fields, by->whole, whole, made.numbers, error));
    TRY(weft_comm_broadcast(weft_layout_comm(by->layout), &made.n_whole, sizeof made.n_whole, 0,
                            error));
    *out = made;
    made.numbers = NULL;
done:
    free(made.numbers);
    free(whole);
    return status;
}

/* The number in the part; of prescribed values, which all ranks have, behind its dofs; -1: it is not there. */
static int64_t find(const numbering *by, int64_t number) {
    int64_t low = 0, high = by->n;
    if (number >= by->n_whole)
        return by->n + number - by->n_whole;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (by->numbers[middle] < (double)number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < by->n && by->numbers[low] == (double)number ? low : -1;
}

/* ---- values at points ------------------------------------------------------------------------ */

static void put_values(message *m, const point_values *values) {
    const int d = weft_space_mesh(values->space)->dimension;
    put_number(m, values->n_values);
    for (int i = 0; i < values->n_values; ++i) {
        const point_formula *formula = &values->formulas[values->values[i].formula];
        put_text(m, formula->text);
        put_text(m, formula->origin);
        put(m, formula->points + values->values[i].point * d, (size_t)d * sizeof(double));
    }
}

static weft_status get_values(message *m, point_values *values, weft_error *error) {
    weft_status status = WEFT_OK;
    const int d = weft_space_mesh(values->space)->dimension;
    const int64_t n = get_number(m);
    double point[3];
    for (int64_t i = 0; i < n; ++i) {
        const char *text = get_text(m), *origin = get_text(m);
        get(m, point, (size_t)d * sizeof *point);
        TRY(point_values_add(values, point, text, origin, error));
    }
done:
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void put_row(message *m, const constraint_row *row) {
    put_number(m, row->dof);
    put_number(m, row->source);
    put_number(m, row->n);
    put(m, &row->constant, sizeof row->constant);
    put(m, row->dofs, (size_t)row->n * sizeof *row->dofs);
    put(m, row->factors, (size_t)row->n * sizeof *row->factors);
}

/* is_there  the rank has all dofs that the row refers to */
static weft_status get_row(message *m, const numbering *by, constraint_row *out, bool *is_there,
                           weft_error *error) {
    constraint_row row = {.dof = (int32_t)get_number(m)};
    row.source = (int)get_number(m);
    row.n = (int)get_number(m);
    get(m, &row.constant, sizeof row.constant);
    row.dofs = malloc((size_t)row.n * sizeof *row.dofs + 1);
    row.factors = malloc((size_t)row.n * sizeof *row.factors + 1);
    *out = row;
    if (!row.dofs || !row.factors)
        return no_memory(error);
    get(m, row.dofs, (size_t)row.n * sizeof *row.dofs);
    get(m, row.factors, (size_t)row.n * sizeof *row.factors);
    *is_there = true;
    for (int k = 0; k < row.n; ++k) {
        row.dofs[k] = (int32_t)find(by, row.dofs[k]);
        *is_there &= row.dofs[k] >= 0;
    }
    if (row.dof >= 0)
        out->dof = (int32_t)find(by, row.dof);
    return WEFT_OK;
}

static void free_row(constraint_row *row) {
    free(row->dofs);
    free(row->factors);
    free(row->origin);
    *row = (constraint_row){0};
}

static weft_status miss_row(weft_error *error) {
    return weft_error_set(error, WEFT_ERROR_INTERNAL,
                          "a rank does not have the dofs that its constraints are about");
}

static weft_status get_rows(message *m, const numbering *by, weft_constraints *made,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    const unsigned char *owned = weft_layout_owned(made->layout);
    constraint_row row = {0};
    made->rows = calloc((size_t)made->n_all + 1, sizeof *made->rows);
    made->lost = calloc((size_t)made->n_dofs + 1, 1);
    if (!made->rows || !made->lost)
        TRY(no_memory(error));
    for (int64_t i = 0; i < made->n_all; ++i) {
        bool is_there = false;
        TRY(get_row(m, by, &row, &is_there, error));
        const int32_t dof = row.dof;
        if (dof >= 0 && !is_there && owned[dof])
            TRY(miss_row(error));
        if (dof >= 0 && is_there) {
            made->row_of[dof] = made->n_rows;
            made->rows[made->n_rows++] = row;
            row = (constraint_row){0};
        } else if (dof >= 0) {
            made->lost[dof] = 1;
        }
        free_row(&row);
    }
    made->capacity = (int)made->n_all + 1;
    made->is_resolved = true;
done:
    free_row(&row);
    return status;
}

int32_t constraint_check_dof(const weft_constraints *constraints, const constraint_row *row) {
    for (int k = 0; k < row->n; ++k)
        if (row->dofs[k] < constraints->n_dofs)
            return row->dofs[k];
    return -1;
}

/* Each is checked by the owner of its first dof, or by the first rank. */
static weft_status get_checks(message *m, const numbering *by, int64_t n, weft_constraints *made,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const unsigned char *owned = weft_layout_owned(made->layout);
    const bool is_first = weft_comm_rank(weft_layout_comm(made->layout)) == 0;
    made->checks = calloc((size_t)n + 1, sizeof *made->checks);
    if (!made->checks)
        TRY(no_memory(error));
    for (int64_t i = 0; i < n; ++i) {
        constraint_row *row = &made->checks[made->n_checks];
        bool is_there = false;
        const int64_t number = get_number(m), dof = number < 0 ? -1 : find(by, number);
        const char *origin = get_text(m);
        TRY(get_row(m, by, row, &is_there, error));
        if (number < 0 ? !is_first : dof < 0 || !owned[dof]) {
            free_row(row);
            continue;
        }
        ++made->n_checks;
        if (!is_there)
            TRY(miss_row(error));
        row->origin = strdup(origin);
        if (!row->origin)
            TRY(no_memory(error));
    }
done:
    return status;
}

/* ---- constraints ----------------------------------------------------------------------------- */

static void put_sources(message *m, const weft_constraints *whole) {
    put_number(m, whole->n_sources);
    for (int i = 0; i < whole->n_sources; ++i) {
        put_text(m, whole->sources[i].origin);
        put_number(m, whole->sources[i].joined);
        put_number(m, whole->sources[i].supplies);
    }
}

static weft_status get_sources(message *m, weft_constraints *made, weft_error *error) {
    const int64_t n = get_number(m);
    made->sources = calloc((size_t)n + 1, sizeof *made->sources);
    if (!made->sources)
        return no_memory(error);
    for (; made->n_sources < n; ++made->n_sources) {
        constraint_source *source = &made->sources[made->n_sources];
        source->origin = strdup(get_text(m));
        source->joined = (int)get_number(m);
        source->supplies = get_number(m) != 0;
        if (!source->origin)
            return no_memory(error);
    }
    return WEFT_OK;
}

static void put_all(message *m, const weft_constraints *whole) {
    bool has_constant = whole->values.n_values > 0;
    for (int i = 0; i < whole->n_rows; ++i)
        has_constant |= whole->rows[i].constant != 0;
    put_number(m, whole->n_rows);
    put_number(m, whole->n_checks);
    put_number(m, has_constant);
    put_sources(m, whole);
    put_values(m, &whole->values);
    for (int i = 0; i < whole->n_rows; ++i)
        put_row(m, &whole->rows[i]);
    for (int i = 0; i < whole->n_checks; ++i) {
        put_number(m, constraint_check_dof(whole, &whole->checks[i]));
        put_text(m, whole->checks[i].origin);
        put_row(m, &whole->checks[i]);
    }
}

static weft_status get_all(message *m, const numbering *by, weft_constraints *made,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    made->n_all = get_number(m);
    const int64_t n_checks = get_number(m);
    made->has_checks = n_checks > 0;
    made->has_constant = get_number(m) != 0;
    TRY(get_sources(m, made, error));
    TRY(get_values(m, &made->values, error));
    TRY(get_rows(m, by, made, error));
    TRY(get_checks(m, by, n_checks, made, error));
done:
    return status;
}

weft_status weft_constraints_divide(weft_constraints *whole, const weft_constraint_division *by,
                                    weft_constraints **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_comm *comm = weft_layout_comm(by->layout);
    weft_constraints *made = NULL;
    numbering numbers = {0};
    message m = {{0}, NULL};
    put_number(&m, whole != NULL);
    if (whole) {
        TRY(constraints_resolve(whole, error));
        put_all(&m, whole);
    }
    TRY(share(&m, comm, error));
    if (get_number(&m) == 0) {
        *out = NULL;
        goto done;
    }
    TRY(numbering_make(by, &numbers, error));
    TRY(weft_constraints_make_in(by->context, by->fields, by->n_fields, &made, error));
    made->layout = by->layout;
    made->whole = whole;
    made->spaces = by->spaces;
    made->whole_spaces = by->whole;
    TRY(get_all(&m, &numbers, made, error));
    *out = made;
    made = NULL;
done:
    weft_constraints_free(&made);
    free(numbers.numbers);
    weft_text_free(&m.bytes);
    return status;
}

/* ---- modes ----------------------------------------------------------------------------------- */

static int64_t dofs_of(const weft_space *const *spaces, int n) {
    int64_t sum = 0;
    for (int f = 0; f < n; ++f)
        sum += weft_space_dofs(spaces[f]);
    return sum;
}

/* Lists of the dofs of parts, from those of the whole.
 * whole  [n][dofs of the whole]; NULL on ranks besides the first */
static weft_status spread(const weft_constraint_division *by, const double *whole, int n,
                          double **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const int64_t size = weft_layout_dofs(by->layout);
    const int64_t all = by->whole ? dofs_of(by->whole, by->n_fields) : 0;
    double *made = weft_array_make((size_t)n * (size_t)size, sizeof *made);
    if (!made)
        TRY(no_memory(error));
    for (int k = 0; k < n; ++k)
        TRY(weft_layout_spread(by->spaces, by->n_fields, by->whole, whole ? whole + k * all : NULL,
                               made + k * size, error));
    *out = made;
    made = NULL;
done:
    free(made);
    return status;
}

static weft_status divide_held(const weft_held_modes *whole, const weft_constraint_division *by,
                               weft_held_modes *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_comm *comm = weft_layout_comm(by->layout);
    const size_t bytes = (size_t)out->n * sizeof *out->work;
    out->work = calloc((size_t)out->n, sizeof *out->work);
    out->amounts = calloc((size_t)out->n, sizeof *out->amounts);
    if (!out->work || !out->amounts)
        TRY(no_memory(error));
    if (whole)
        memcpy(out->work, whole->work, bytes);
    TRY(weft_comm_broadcast(comm, out->work, bytes, 0, error));
    TRY(spread(by, whole ? whole->modes : NULL, out->n, &out->modes, error));
    TRY(spread(by, whole ? whole->pulls : NULL, out->n, &out->pulls, error));
done:
    return status;
}

weft_status weft_free_modes_divide(const weft_free_modes *whole, const weft_constraint_division *by,
                                   weft_free_modes *out, weft_error *error) {
    weft_status status = WEFT_OK;
    int n[2] = {whole ? whole->n : 0, whole ? whole->held.n : 0};
    weft_free_modes made = {0};
    TRY(weft_comm_broadcast(weft_layout_comm(by->layout), n, sizeof n, 0, error));
    made.n = n[0];
    made.held.n = n[1];
    made.share = made.held.share = weft_layout_share(by->layout);
    if (made.n > 0) {
        TRY(spread(by, whole ? whole->modes : NULL, made.n, &made.modes, error));
        TRY(spread(by, whole ? whole->weighted : NULL, made.n, &made.weighted, error));
    }
    if (made.held.n > 0)
        TRY(divide_held(whole ? &whole->held : NULL, by, &made.held, error));
    *out = made;
    made = (weft_free_modes){0};
done:
    weft_free_modes_clear(&made);
    return status;
}

/* ---- loads at points ------------------------------------------------------------------------- */

static weft_status get_entries(message *m, const numbering *by, weft_point_loads *made,
                               weft_error *error) {
    const int64_t n = get_number(m);
    load_entry one;
    made->entries = calloc((size_t)n + 1, sizeof *made->entries);
    if (!made->entries)
        return no_memory(error);
    for (int64_t i = 0; i < n; ++i) {
        get(m, &one, sizeof one);
        one.dof = (int32_t)find(by, one.dof);
        if (one.dof >= 0)
            made->entries[made->n_entries++] = one;
    }
    return WEFT_OK;
}

weft_status weft_point_loads_divide(const weft_point_loads *whole,
                                    const weft_constraint_division *by, weft_point_loads **out,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    weft_point_loads *made = NULL;
    numbering numbers = {0};
    message m = {{0}, NULL};
    if (whole) {
        put_values(&m, &whole->values);
        put_number(&m, whole->n_entries);
        put(&m, whole->entries, (size_t)whole->n_entries * sizeof *whole->entries);
    }
    TRY(share(&m, weft_layout_comm(by->layout), error));
    TRY(numbering_make(by, &numbers, error));
    TRY(weft_point_loads_make_in(by->context, by->fields, by->n_fields, &made, error));
    made->vectors.share = weft_layout_share(by->layout);
    TRY(get_values(&m, &made->values, error));
    TRY(get_entries(&m, &numbers, made, error));
    *out = made;
    made = NULL;
done:
    weft_point_loads_free(&made);
    free(numbers.numbers);
    weft_text_free(&m.bytes);
    return status;
}
