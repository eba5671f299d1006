/* Writes what a file of MSH 1 or 2 holds as MSH 4.1, binary: an entity for each set of physical groups, nodes numbered
 * from 1 on. Gmsh reference manual, section "MSH file format". */
#include "apps/gmsh/msh_old.h"
#include "core/base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Elements of one dimension, entity and set of groups. */
typedef struct entity {
    int dimension, tag;
    int64_t elementary, first, n; /* of the order of elements */
    int64_t *physical;            /* [n_physical] */
    int n_physical;
} entity;

typedef struct rewriting {
    const char *path;
    msh_old *old;
    msh_counts *counts;
    int64_t *order; /* [n] elements that are kept, by entity */
    int64_t n;
    entity *entities;
    int n_entities;
    int64_t *sorted; /* [n_nodes] nodes by number */
    int64_t *place;  /* [n_nodes] number from 1 of a node that an element has, else 0 */
    int64_t n_used;
    weft_text out;     /* bytes that are not yet written */
    int file, failure; /* errno of the first write that failed; 0: none */
    weft_error *error;
} rewriting;

static weft_status refuse(rewriting *r, const char *hint, const char *format, int64_t a,
                          int64_t b) {
    weft_error_set(r->error, WEFT_ERROR_INPUT, format, (long long)a, (long long)b);
    weft_error_location(r->error, r->path, NULL, 0, 0);
    weft_error_hint(r->error, "%s", hint);
    return WEFT_ERROR_INPUT;
}

/* ---- nodes ---------------------------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b, void *user) {
    const msh_old *old = user;
    const int64_t p = old->numbers[*(const int64_t *)a], q = old->numbers[*(const int64_t *)b];
    return (p > q) - (p < q);
}

static weft_status sort_nodes(rewriting *r) {
    const msh_old *old = r->old;
    const size_t n = (size_t)old->n_nodes;
    r->sorted = malloc((n + 1) * sizeof *r->sorted);
    if (!r->sorted)
        return weft_out_of_memory(r->error, "a .msh file");
    for (size_t i = 0; i < n; ++i)
        r->sorted[i] = (int64_t)i;
    qsort_r(r->sorted, n, sizeof *r->sorted, compare_numbers, r->old);
    for (size_t i = 1; i < n; ++i)
        if (old->numbers[r->sorted[i]] == old->numbers[r->sorted[i - 1]])
            return refuse(r, "give each node a number of its own",
                          "two nodes have the number %lld (of %lld nodes)",
                          old->numbers[r->sorted[i]], old->n_nodes);
    return WEFT_OK;
}

/* Index of the node of a number; -1: there is none. */
static int64_t find_node(const rewriting *r, int64_t number) {
    const msh_old *old = r->old;
    int64_t low = 0, high = old->n_nodes;
    if (number > 0 && number <= old->n_nodes && old->numbers[number - 1] == number)
        return number - 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (old->numbers[r->sorted[middle]] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < old->n_nodes && old->numbers[r->sorted[low]] == number ? r->sorted[low] : -1;
}

static weft_status number_used(rewriting *r) {
    const msh_old *old = r->old;
    r->place = calloc((size_t)old->n_nodes + 1, sizeof *r->place);
    if (!r->place)
        return weft_out_of_memory(r->error, "a .msh file");
    for (int64_t i = 0; i < old->n_element_nodes; ++i)
        r->place[old->nodes[i]] = 1;
    for (int64_t i = 0; i < old->n_nodes; ++i)
        if (r->place[i])
            r->place[i] = ++r->n_used;
    r->counts->nodes = old->n_nodes;
    return WEFT_OK;
}

/* From here on the nodes of elements and pairs are indices from 0. */
static weft_status index_nodes(rewriting *r) {
    weft_status status = WEFT_OK;
    msh_old *old = r->old;
    TRY(sort_nodes(r));
    for (int64_t e = 0; e < old->n_elements; ++e)
        for (int k = 0; k < msh_type_nodes(old->elements[e].type); ++k) {
            int64_t *node = &old->nodes[old->elements[e].first + k];
            const int64_t found = find_node(r, *node);
            if (found < 0)
                TRY(refuse(r, "the file is damaged, or a part of a larger one: write it again",
                           "element %lld has the node %lld, which is not among the nodes",
                           old->elements[e].number, *node));
            *node = found;
        }
    for (int64_t i = 0; i < 2 * old->n_pairs; ++i)
        old->pairs[i] = find_node(r, old->pairs[i]);
    TRY(number_used(r));
done:
    return status;
}

/* ---- entities ------------------------------------------------------------------------------------- */

/* By dimension, entity, type, nodes, group; equal elements of several groups follow each other. */
static int compare_elements(const void *a, const void *b, void *user) {
    const msh_old *old = user;
    const msh_old_element *p = &old->elements[*(const int64_t *)a],
                          *q = &old->elements[*(const int64_t *)b];
    const int of_p = msh_type_dimension(p->type), of_q = msh_type_dimension(q->type);
    if (of_p != of_q)
        return of_p - of_q;
    if (p->elementary != q->elementary)
        return p->elementary < q->elementary ? -1 : 1;
    if (p->type != q->type)
        return p->type - q->type;
    for (int k = 0; k < msh_type_nodes(p->type); ++k) {
        const int64_t u = old->nodes[p->first + k], v = old->nodes[q->first + k];
        if (u != v)
            return u < v ? -1 : 1;
    }
    return (p->physical > q->physical) - (p->physical < q->physical);
}

static bool is_same(const msh_old *old, const msh_old_element *p, const msh_old_element *q) {
    return p->type == q->type && p->elementary == q->elementary &&
           memcmp(old->nodes + p->first, old->nodes + q->first,
                  (size_t)msh_type_nodes(p->type) * sizeof *old->nodes) == 0;
}

/* The groups of an element: those of the n that are the same. */
typedef struct membership {
    int64_t element; /* the first one of them in the file */
    int64_t first;   /* of the sorted elements */
    int n;
} membership;

typedef struct memberships {
    const rewriting *r;
    const int64_t *sorted;
    membership *list;
    int64_t n;
} memberships;

static int64_t group_of(const memberships *m, const membership *of, int k) {
    return m->r->old->elements[m->sorted[of->first + k]].physical;
}

static int compare_groups(const memberships *m, const membership *p, const membership *q) {
    const msh_old_element *a = &m->r->old->elements[p->element],
                          *b = &m->r->old->elements[q->element];
    const int of_a = msh_type_dimension(a->type), of_b = msh_type_dimension(b->type);
    if (of_a != of_b)
        return of_a - of_b;
    if (a->elementary != b->elementary)
        return a->elementary < b->elementary ? -1 : 1;
    for (int k = 0; k < p->n && k < q->n; ++k)
        if (group_of(m, p, k) != group_of(m, q, k))
            return group_of(m, p, k) < group_of(m, q, k) ? -1 : 1;
    return p->n - q->n;
}

/* By entity and groups, in each by type and then as in the file. */
static int compare_memberships(const void *a, const void *b, void *user) {
    const memberships *m = user;
    const membership *p = a, *q = b;
    const int order = compare_groups(m, p, q);
    if (order)
        return order;
    const int of_p = m->r->old->elements[p->element].type,
              of_q = m->r->old->elements[q->element].type;
    return of_p != of_q ? of_p - of_q : (p->element > q->element) - (p->element < q->element);
}

/* Take equal elements of different groups together. Those that repeat a group stay: they are errors. */
static void merge(rewriting *r, memberships *m) {
    const msh_old *old = r->old;
    for (int64_t i = 0; i < old->n_elements; ++i) {
        const msh_old_element *element = &old->elements[m->sorted[i]];
        membership *last = m->n > 0 ? &m->list[m->n - 1] : NULL;
        const msh_old_element *before = i > 0 ? &old->elements[m->sorted[i - 1]] : NULL;
        if (last && is_same(old, before, element) && before->physical != element->physical) {
            ++last->n;
            last->element = m->sorted[i] < last->element ? m->sorted[i] : last->element;
            --r->counts->elements[element->type];
        } else {
            m->list[m->n++] = (membership){m->sorted[i], i, 1};
        }
    }
}

static weft_status add_entity(rewriting *r, const memberships *m, int64_t i) {
    const membership *from = &m->list[i];
    const msh_old_element *element = &r->old->elements[from->element];
    entity *list = reallocarray(r->entities, (size_t)r->n_entities + 1, sizeof *list);
    if (!list)
        return weft_out_of_memory(r->error, "a .msh file");
    r->entities = list;
    entity *made = &list[r->n_entities];
    *made = (entity){.dimension = msh_type_dimension(element->type),
                     .tag = r->n_entities + 1,
                     .elementary = element->elementary,
                     .first = i};
    made->physical = malloc((size_t)from->n * sizeof *made->physical);
    if (!made->physical)
        return weft_out_of_memory(r->error, "a .msh file");
    ++r->n_entities;
    for (int k = 0; k < from->n; ++k)
        if (group_of(m, from, k) != 0)
            made->physical[made->n_physical++] = group_of(m, from, k);
    return WEFT_OK;
}

static weft_status make_entities(rewriting *r) {
    weft_status status = WEFT_OK;
    const msh_old *old = r->old;
    const size_t n = (size_t)old->n_elements;
    int64_t *sorted = malloc((n + 1) * sizeof *sorted);
    memberships m = {r, sorted, malloc((n + 1) * sizeof *m.list), 0};
    r->order = malloc((n + 1) * sizeof *r->order);
    if (!sorted || !m.list || !r->order)
        TRY(weft_out_of_memory(r->error, "a .msh file"));
    for (size_t i = 0; i < n; ++i)
        sorted[i] = (int64_t)i;
    qsort_r(sorted, n, sizeof *sorted, compare_elements, r->old);
    merge(r, &m);
    qsort_r(m.list, (size_t)m.n, sizeof *m.list, compare_memberships, &m);
    for (int64_t i = 0; i < m.n; ++i) {
        r->order[r->n++] = m.list[i].element;
        if (i == 0 || compare_groups(&m, &m.list[i - 1], &m.list[i]) != 0)
            TRY(add_entity(r, &m, i));
        ++r->entities[r->n_entities - 1].n;
    }
done:
    free(sorted);
    free(m.list);
    return status;
}

/* ---- writing -------------------------------------------------------------------------------------- */

enum { PIECE = 1 << 20 };

static void flush(rewriting *r) {
    if (r->failure == 0 && r->out.failed)
        r->failure = ENOMEM;
    if (r->failure == 0 && weft_write_all(r->file, r->out.data, r->out.length) != WEFT_OK)
        r->failure = errno;
    weft_text_free(&r->out);
}

static void put(rewriting *r, const void *bytes, size_t n) {
    if (r->out.length + n > PIECE)
        flush(r);
    weft_text_add_bytes(&r->out, bytes, n);
}

static void put_int(rewriting *r, int64_t value) {
    const int32_t number = (int32_t)value;
    put(r, &number, sizeof number);
}

static void put_size(rewriting *r, int64_t value) {
    put(r, &value, sizeof value);
}

static void put_text(rewriting *r, const char *text) {
    put(r, text, strlen(text));
}

/* Each: number, a point or a box, groups, and, but for points, what bounds it. */
static void write_entities(rewriting *r) {
    const double box[6] = {0};
    int64_t n[4] = {0};
    put_text(r, "$Entities\n");
    for (int i = 0; i < r->n_entities; ++i)
        ++n[r->entities[i].dimension];
    for (int d = 0; d < 4; ++d)
        put_size(r, n[d]);
    for (int i = 0; i < r->n_entities; ++i) { /* ascending in dimension */
        const entity *e = &r->entities[i];
        put_int(r, e->tag);
        put(r, box, (e->dimension > 0 ? 6 : 3) * sizeof *box);
        put_size(r, e->n_physical);
        for (int k = 0; k < e->n_physical; ++k)
            put_int(r, e->physical[k]);
        if (e->dimension > 0)
            put_size(r, 0);
    }
    put_text(r, "\n$EndEntities\n");
}

static void write_nodes(rewriting *r) {
    const msh_old *old = r->old;
    const entity *last = &r->entities[r->n_entities - 1];
    put_text(r, "$Nodes\n");
    put_size(r, 1);
    put_size(r, r->n_used);
    put_size(r, 1);
    put_size(r, r->n_used);
    put_int(r, last->dimension);
    put_int(r, last->tag);
    put_int(r, 0);
    put_size(r, r->n_used);
    for (int64_t i = 1; i <= r->n_used; ++i)
        put_size(r, i);
    for (int64_t i = 0; i < old->n_nodes; ++i)
        if (r->place[i])
            put(r, old->x + 3 * i, 3 * sizeof *old->x);
    put_text(r, "\n$EndNodes\n");
}

/* Elements from place i on that are of one type and entity. */
static int64_t block_length(const rewriting *r, const entity *e, int64_t i) {
    int64_t n = 0;
    const int type = r->old->elements[r->order[i]].type;
    while (i + n < e->first + e->n && r->old->elements[r->order[i + n]].type == type)
        ++n;
    return n;
}

static int64_t least_number(const msh_old *old) {
    int64_t least = 1;
    for (int64_t e = 0; e < old->n_elements; ++e)
        least = old->elements[e].number < least ? old->elements[e].number : least;
    return least;
}

static void write_elements(rewriting *r) {
    const msh_old *old = r->old;
    const int64_t least = least_number(old);
    int64_t n_blocks = 0;
    for (int k = 0; k < r->n_entities; ++k)
        for (int64_t i = 0; i < r->entities[k].n; ++n_blocks)
            i += block_length(r, &r->entities[k], r->entities[k].first + i);
    put_text(r, "$Elements\n");
    put_size(r, n_blocks);
    put_size(r, r->n);
    put_size(r, 1);
    put_size(r, r->n);
    for (int k = 0; k < r->n_entities; ++k) {
        const entity *e = &r->entities[k];
        for (int64_t i = e->first, n = 0; i < e->first + e->n; i += n) {
            const int type = old->elements[r->order[i]].type;
            n = block_length(r, e, i);
            put_int(r, e->dimension);
            put_int(r, e->tag);
            put_int(r, type);
            put_size(r, n);
            for (int64_t j = i; j < i + n; ++j) {
                const msh_old_element *element = &old->elements[r->order[j]];
                put_size(r, element->number - least + 1);
                for (int v = 0; v < msh_type_nodes(type); ++v)
                    put_size(r, r->place[old->nodes[element->first + v]]);
            }
        }
    }
    put_text(r, "\n$EndElements\n");
}

/* The tag of the first entity that a file's entity has become; 0: it has no elements. */
static int tag_of(const rewriting *r, int dimension, int64_t elementary) {
    for (int i = 0; i < r->n_entities; ++i)
        if (r->entities[i].dimension == dimension && r->entities[i].elementary == elementary)
            return r->entities[i].tag;
    return 0;
}

/* Do elements have both nodes? */
static bool is_pair(const rewriting *r, int64_t i) {
    const int64_t *pair = r->old->pairs + 2 * i;
    return pair[0] >= 0 && pair[1] >= 0 && r->place[pair[0]] && r->place[pair[1]];
}

static int64_t count_pairs(const rewriting *r, const msh_old_link *link) {
    int64_t n = 0;
    for (int64_t i = link->first; i < link->first + link->n; ++i)
        n += is_pair(r, i);
    return n;
}

static void write_periodic(rewriting *r) {
    const msh_old *old = r->old;
    int64_t n_links = 0;
    for (int64_t i = 0; i < old->n_links; ++i)
        n_links += tag_of(r, old->links[i].dimension, old->links[i].entity) > 0 &&
                   tag_of(r, old->links[i].dimension, old->links[i].master) > 0;
    if (n_links == 0)
        return;
    put_text(r, "$Periodic\n");
    put_size(r, n_links);
    for (int64_t i = 0; i < old->n_links; ++i) {
        const msh_old_link *link = &old->links[i];
        const int tag = tag_of(r, link->dimension, link->entity),
                  master = tag_of(r, link->dimension, link->master);
        if (tag == 0 || master == 0)
            continue;
        put_int(r, link->dimension);
        put_int(r, tag);
        put_int(r, master);
        put_size(r, 0);
        put_size(r, count_pairs(r, link));
        for (int64_t k = link->first; k < link->first + link->n; ++k)
            if (is_pair(r, k)) {
                put_size(r, r->place[old->pairs[2 * k]]);
                put_size(r, r->place[old->pairs[2 * k + 1]]);
            }
    }
    put_text(r, "\n$EndPeriodic\n");
}

static int compare_ints(const void *a, const void *b) {
    const int p = *(const int *)a, q = *(const int *)b;
    return (p > q) - (p < q);
}

/* Do all cells name parts, and not all parts that are named have cells? */
static weft_status check_parts(rewriting *r) {
    const msh_old *old = r->old;
    int64_t n = 0, n_found = 0;
    int dimension = 0;
    if (old->greatest_part < 2)
        return WEFT_OK;
    for (int64_t i = 0; i < old->n_elements; ++i)
        if (msh_type_dimension(old->elements[i].type) > dimension)
            dimension = msh_type_dimension(old->elements[i].type);
    int *parts = malloc((size_t)old->n_elements * sizeof *parts);
    if (!parts)
        return weft_out_of_memory(r->error, "a .msh file");
    for (int64_t i = 0; i < old->n_elements; ++i)
        if (msh_type_dimension(old->elements[i].type) == dimension)
            parts[n++] = old->elements[i].part;
    qsort(parts, (size_t)n, sizeof *parts, compare_ints);
    for (int64_t i = 0; i < n; ++i)
        n_found += i == 0 || parts[i] != parts[i - 1];
    const bool whole = parts[0] == 0 || n_found >= old->greatest_part;
    free(parts);
    return whole ? WEFT_OK : msh_refuse_part(r->path, old->greatest_part, n_found, r->error);
}

static void write_all(rewriting *r) {
    put_text(r, "$MeshFormat\n4.1 1 8\n");
    put_int(r, 1);
    put_text(r, "\n$EndMeshFormat\n");
    if (r->n_entities > 0) {
        write_entities(r);
        write_nodes(r);
        write_elements(r);
        write_periodic(r);
    }
    flush(r);
}

static weft_status write_old(msh_file *file, msh_old *old, msh_counts *counts, int out) {
    weft_status status = WEFT_OK;
    rewriting r = {
        .path = file->path, .old = old, .counts = counts, .file = out, .error = file->error};
    TRY(check_parts(&r));
    TRY(index_nodes(&r));
    TRY(make_entities(&r));
    write_all(&r);
    if (r.failure == ENOMEM)
        status = weft_out_of_memory(file->error, "a .msh file");
    else if (r.failure != 0)
        status = weft_error_set(file->error, WEFT_ERROR_IO, "cannot copy %s: %s", file->path,
                                strerror(r.failure));
done:
    weft_text_free(&r.out);
    for (int i = 0; i < r.n_entities; ++i)
        free(r.entities[i].physical);
    free(r.entities);
    free(r.order);
    free(r.sorted);
    free(r.place);
    return status;
}

bool msh_old_is(const msh_file *file) {
    return (file->version > 0 && file->version < 3) || msh_foreign_is(file);
}

weft_status msh_old_rewrite(msh_file *file, msh_counts *counts, int out) {
    weft_status status = WEFT_OK;
    msh_old old = {0};
    TRY(msh_foreign_is(file) ? msh_foreign_read(file, &old) : msh_old_read(file, &old));
    TRY(write_old(file, &old, counts, out));
done:
    msh_old_clear(&old);
    return status;
}
