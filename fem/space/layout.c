/* Finds which dofs of a part of a mesh other ranks own or need, and exchanges their values. */
#include "fem/space/layout.h"
#include "fem/mesh/part.h"
#include "fem/space/exchange.h"
#include "fem/space/space.h"

#include <stdlib.h>
#include <string.h>

/* Dofs that are exchanged with one rank, ascending. */
typedef struct neighbour {
    int rank;
    int64_t n_sent, n_received;
    int32_t *sent, *received;
    double *out, *in; /* their values */
} neighbour;

struct weft_layout {
    weft_comm *comm; /* borrowed */
    weft_part *part; /* borrowed; NULL: of rows alone */
    int64_t n;
    unsigned char *owned; /* [n], from weft_array_make */
    int32_t *numbers;     /* weft_layout_numbers */
    weft_memory *memory;  /* of owned */
    weft_share share;
    int n_neighbours;
    neighbour *neighbours;
    weft_message *messages;  /* [2 n_neighbours] */
    weft_team *team;         /* of GPUs; borrowed */
    weft_exchange *exchange; /* of a GPU; NULL: the host has the lists */
};

static weft_status no_memory(weft_error *error) {
    return weft_out_of_memory(error, "what ranks exchange");
}

/* ---- owners ---------------------------------------------------------------------------------- */

/* Who owns the vertices of a mesh. */
typedef struct division {
    const int64_t *starts;
    int n_ranks;
    const int32_t *numbers; /* of the vertices, in the whole; NULL: the mesh is the whole */
} division;

static int owner_of(const division *by, int64_t vertex) {
    return weft_part_owner_of(by->starts, by->n_ranks, by->numbers ? by->numbers[vertex] : vertex);
}

/* Nodes are numbered by the lowest vertex of their entity, its own node first. */
static weft_status owners_by_vertices(const weft_space *space, const division *by, int32_t *owners,
                                      weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(space);
    const int width = weft_space_element(space)->n_nodes, v = weft_mesh_cell_vertices(mesh);
    const int32_t *cells = NULL;
    int32_t *first = malloc(((size_t)mesh->n_nodes + 1) * sizeof *first);
    if (!first)
        TRY(no_memory(error));
    TRY(weft_space_read_cells(space, &cells, error));
    for (int64_t c = 0; c < mesh->n_cells; ++c)
        for (int k = 0; k < v; ++k)
            first[mesh->cells[c * v + k]] = cells[c * width + k];
    first[mesh->n_nodes] = (int32_t)weft_space_nodes(space);
    for (int64_t i = 0; i < mesh->n_nodes; ++i) {
        const int owner = owner_of(by, i);
        for (int32_t d = first[i]; d < first[i + 1]; ++d)
            owners[d] = owner;
    }
done:
    free(first);
    return status;
}

static weft_status owners_by_cells(const weft_space *space, const division *by, int32_t *owners,
                                   weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_mesh *mesh = weft_space_mesh(space);
    const int width = weft_space_element(space)->n_nodes, v = weft_mesh_cell_vertices(mesh);
    const int32_t *cells = NULL;
    TRY(weft_space_read_cells(space, &cells, error));
    for (int64_t c = 0; c < mesh->n_cells; ++c) {
        int32_t lowest = mesh->cells[c * v];
        for (int k = 1; k < v; ++k)
            lowest = mesh->cells[c * v + k] < lowest ? mesh->cells[c * v + k] : lowest;
        for (int k = 0; k < width; ++k)
            owners[cells[c * width + k]] = owner_of(by, lowest);
    }
done:
    return status;
}

static weft_status find_owners(const weft_space *space, const division *by, int32_t **out,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_element *element = weft_space_element(space);
    int32_t *owners = malloc((size_t)weft_space_nodes(space) * sizeof *owners + 1);
    if (!owners)
        TRY(no_memory(error));
    if (weft_family_about(element->family)->is_global)
        TRY(weft_error_refuse(error, WEFT_ERROR_UNSUPPORTED,
                              "functions that are one number for the whole mesh (Real) are not "
                              "divided among ranks",
                              "leave out --ranks, and mpirun"));
    if (weft_element_has_vertices(element))
        TRY(owners_by_vertices(space, by, owners, error));
    else if (!weft_element_is_shared(element))
        TRY(owners_by_cells(space, by, owners, error));
    else
        TRY(weft_error_refuse(error, WEFT_ERROR_UNSUPPORTED,
                              "elements without nodes at vertices, which cells share, are not "
                              "divided among ranks",
                              "use one rank, or Lagrange elements"));
    *out = owners;
    owners = NULL;
done:
    free(owners);
    return status;
}

weft_status weft_space_owners(const weft_space *space, int32_t **out, weft_error *error) {
    const weft_part *part = weft_space_mesh(space)->part;
    const division by = {part->starts, weft_comm_size(part->comm), part->nodes};
    return find_owners(space, &by, out, error);
}

weft_status weft_space_owners_by(const weft_space *space, const int64_t *starts, int n_ranks,
                                 int32_t **out, weft_error *error) {
    const division by = {starts, n_ranks, NULL};
    return find_owners(space, &by, out, error);
}

/* ---- what is exchanged ----------------------------------------------------------------------- */

/* Every other rank, at first. */
static weft_status find_neighbours(weft_layout *layout, weft_error *error) {
    const int size = weft_comm_size(layout->comm), rank = weft_comm_rank(layout->comm);
    layout->neighbours = calloc((size_t)size, sizeof *layout->neighbours);
    layout->messages = calloc(2 * (size_t)size, sizeof *layout->messages);
    if (!layout->neighbours || !layout->messages)
        return no_memory(error);
    for (int r = 0; r < size; ++r)
        if (r != rank)
            layout->neighbours[layout->n_neighbours++].rank = r;
    return WEFT_OK;
}

/* Dofs of this rank in cells that another one has, which needs them: cells with a vertex of it, and others. */
static void mark_sent(const weft_layout *layout, const weft_space *space, const int32_t *owners,
                      const int32_t *cells, int64_t first, int rank, unsigned char *marks) {
    const weft_mesh *mesh = weft_space_mesh(space);
    const weft_part *part = layout->part;
    const int width = weft_space_element(space)->n_nodes, v = weft_mesh_cell_vertices(mesh);
    const int components = weft_space_components(space), mine = weft_comm_rank(layout->comm);
    int64_t next = part->also_starts[rank];
    for (int64_t c = 0; c < mesh->n_cells; ++c) {
        bool is_there = next < part->also_starts[rank + 1] && part->also[next] == c;
        next += is_there;
        for (int k = 0; k < v; ++k) {
            const int64_t global = part->nodes[mesh->cells[c * v + k]];
            is_there |= global >= part->starts[rank] && global < part->starts[rank + 1];
        }
        for (int k = 0; k < width && is_there; ++k)
            if (owners[cells[c * width + k]] == mine)
                memset(marks + first + (int64_t)cells[c * width + k] * components, 1,
                       (size_t)components);
    }
}

static weft_status list_marked(const unsigned char *marks, int64_t n, int32_t **out, int64_t *count,
                               double **values, weft_error *error) {
    *count = 0;
    for (int64_t i = 0; i < n; ++i)
        *count += marks[i];
    *out = malloc((size_t)*count * sizeof **out + 1);
    *values = malloc((size_t)*count * sizeof **values + 1);
    if (!*out || !*values)
        return no_memory(error);
    *count = 0;
    for (int64_t i = 0; i < n; ++i)
        if (marks[i])
            (*out)[(*count)++] = (int32_t)i;
    return WEFT_OK;
}

/* owners  [n_spaces] of the nodes of each */
static weft_status make_lists(weft_layout *layout, const weft_space *const *spaces, int n_spaces,
                              int32_t *const *owners, weft_error *error) {
    weft_status status = WEFT_OK;
    unsigned char *marks = malloc((size_t)layout->n + 1);
    if (!marks)
        TRY(no_memory(error));
    for (int i = 0; i < layout->n_neighbours; ++i) {
        neighbour *one = &layout->neighbours[i];
        int64_t first = 0;
        memset(marks, 0, (size_t)layout->n);
        for (int s = 0; s < n_spaces; first += weft_space_dofs(spaces[s++])) {
            const int32_t *cells = NULL;
            TRY(weft_space_read_cells(spaces[s], &cells, error));
            mark_sent(layout, spaces[s], owners[s], cells, first, one->rank, marks);
        }
        TRY(list_marked(marks, layout->n, &one->sent, &one->n_sent, &one->out, error));
        memset(marks, 0, (size_t)layout->n);
        first = 0;
        for (int s = 0; s < n_spaces; first += weft_space_dofs(spaces[s++]))
            for (int64_t k = 0; k < weft_space_dofs(spaces[s]); ++k)
                marks[first + k] = owners[s][k / weft_space_components(spaces[s])] == one->rank;
        TRY(list_marked(marks, layout->n, &one->received, &one->n_received, &one->in, error));
    }
done:
    free(marks);
    return status;
}

static void drop_strangers(weft_layout *layout) {
    int n = 0;
    for (int i = 0; i < layout->n_neighbours; ++i) {
        neighbour *one = &layout->neighbours[i];
        if (one->n_sent > 0 || one->n_received > 0) {
            layout->neighbours[n++] = *one;
            continue;
        }
        free(one->sent);
        free(one->received);
        free(one->out);
        free(one->in);
    }
    layout->n_neighbours = n;
}

static weft_status update_share(void *user, weft_memory *list, bool single, weft_memory *active,
                                weft_error *error) {
    return weft_layout_exchange(user, list, single, active, error);
}

static void set_share(weft_layout *layout) {
    layout->share = (weft_share){.comm = layout->comm,
                                 .owned = layout->memory,
                                 .marks = layout->owned,
                                 .team = weft_team_memory(layout->team),
                                 .in_kernels = weft_team_in_kernels(layout->team),
                                 .update = update_share,
                                 .user = layout};
}

/* Where lists are on a GPU. */
static weft_status make_exchange(weft_layout *layout, weft_device *device, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_partner *partners = calloc((size_t)layout->n_neighbours + 1, sizeof *partners);
    if (!partners)
        TRY(no_memory(error));
    for (int i = 0; i < layout->n_neighbours; ++i) {
        const neighbour *one = &layout->neighbours[i];
        partners[i] =
            (weft_partner){one->rank, one->n_sent, one->n_received, one->sent, one->received};
    }
    if (weft_team_memory(layout->team) && weft_comm_size(layout->comm) > 1)
        TRY(weft_exchange_make(layout->comm, device, layout->team, partners, layout->n_neighbours,
                               &layout->exchange, error));
done:
    free(partners);
    return status;
}

static weft_status mark_owned(weft_layout *layout, const weft_space *const *spaces, int n_spaces,
                              int32_t *const *owners, weft_error *error) {
    weft_status status = WEFT_OK;
    const int mine = weft_comm_rank(layout->comm);
    int64_t first = 0;
    layout->owned = weft_array_make((size_t)layout->n, 1);
    if (!layout->owned)
        TRY(no_memory(error));
    for (int s = 0; s < n_spaces; first += weft_space_dofs(spaces[s++]))
        for (int64_t k = 0; k < weft_space_dofs(spaces[s]); ++k)
            layout->owned[first + k] = owners[s][k / weft_space_components(spaces[s])] == mine;
    TRY(weft_memory_wrap(weft_space_device(spaces[0]), layout->owned, (size_t)layout->n,
                         &layout->memory, error));
    set_share(layout);
done:
    return status;
}

static weft_status number_cells(weft_layout *layout, const weft_space *space, weft_error *error) {
    const int64_t width =
        (int64_t)weft_space_element(space)->n_nodes * weft_space_components(space);
    layout->numbers = malloc((size_t)layout->n * sizeof *layout->numbers + 1);
    if (!layout->numbers)
        return no_memory(error);
    for (int64_t i = 0; i < layout->n; ++i)
        layout->numbers[i] = (int32_t)(layout->part->cells[i / width] * width + i % width);
    return WEFT_OK;
}

weft_status weft_layout_make(const weft_space *const *spaces, int n_spaces, weft_layout **out,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_layout *layout = NULL;
    int32_t **owners = NULL;
    if (!weft_space_mesh(spaces[0])->part)
        goto done;
    layout = calloc(1, sizeof *layout);
    owners = calloc((size_t)n_spaces, sizeof *owners);
    if (!layout || !owners)
        TRY(no_memory(error));
    layout->part = weft_space_mesh(spaces[0])->part;
    layout->team = layout->part->team;
    layout->comm = layout->part->comm;
    for (int s = 0; s < n_spaces; ++s) {
        layout->n += weft_space_dofs(spaces[s]);
        TRY(weft_space_owners(spaces[s], &owners[s], error));
    }
    TRY(mark_owned(layout, spaces, n_spaces, owners, error));
    if (n_spaces == 1 && !weft_element_is_shared(weft_space_element(spaces[0])))
        TRY(number_cells(layout, spaces[0], error));
    TRY(find_neighbours(layout, error));
    TRY(make_lists(layout, spaces, n_spaces, owners, error));
    drop_strangers(layout);
    TRY(make_exchange(layout, weft_space_device(spaces[0]), error));
    *out = layout;
    layout = NULL;
done:
    for (int s = 0; s < n_spaces && owners; ++s)
        free(owners[s]);
    free(owners);
    weft_layout_free(&layout);
    return status;
}

void weft_layout_free(weft_layout **out) {
    weft_layout *layout = out ? *out : NULL;
    if (!layout)
        return;
    for (int i = 0; i < layout->n_neighbours; ++i) {
        free(layout->neighbours[i].sent);
        free(layout->neighbours[i].received);
        free(layout->neighbours[i].out);
        free(layout->neighbours[i].in);
    }
    weft_exchange_free(&layout->exchange);
    free(layout->neighbours);
    free(layout->messages);
    weft_memory_free(&layout->memory);
    free(layout->owned);
    free(layout->numbers);
    free(layout);
    *out = NULL;
}

const weft_share *weft_layout_share(const weft_layout *layout) {
    return layout ? &layout->share : NULL;
}

const unsigned char *weft_layout_owned(const weft_layout *layout) {
    return layout->owned;
}

const int32_t *weft_layout_numbers(const weft_layout *layout) {
    return layout->numbers;
}

weft_comm *weft_layout_comm(const weft_layout *layout) {
    return layout ? layout->comm : NULL;
}

struct weft_team *weft_layout_team(const weft_layout *layout) {
    return layout->team;
}

int64_t weft_layout_dofs(const weft_layout *layout) {
    return layout->n;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* What this rank wants of each other one. */
static weft_status list_wanted(weft_layout *layout, const weft_layout_rows *rows,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    unsigned char *marks = malloc((size_t)layout->n + 1);
    if (!marks)
        TRY(no_memory(error));
    for (int i = 0; i < layout->n_neighbours; ++i) {
        neighbour *one = &layout->neighbours[i];
        for (int64_t k = 0; k < layout->n; ++k)
            marks[k] = rows->wanted[k] && rows->owners[k] == one->rank;
        TRY(list_marked(marks, layout->n, &one->received, &one->n_received, &one->in, error));
    }
done:
    free(marks);
    return status;
}

/* Where a number is in a list in which it is. */
static int32_t place_of(const int32_t *numbers, int64_t n, int32_t number) {
    int64_t low = 0, high = n;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (numbers[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    return (int32_t)low;
}

/* How many rows each rank wants of each other one, [size][size]; free(). */
static weft_status count_wanted(const weft_layout *layout, int64_t **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t size = (size_t)weft_comm_size(layout->comm);
    int64_t *mine = calloc(size, sizeof *mine);
    *out = malloc(size * size * sizeof **out);
    if (!mine || !*out)
        TRY(no_memory(error));
    for (int i = 0; i < layout->n_neighbours; ++i)
        mine[layout->neighbours[i].rank] = layout->neighbours[i].n_received;
    TRY(weft_comm_gather(layout->comm, mine, size * sizeof *mine, *out, error));
done:
    free(mine);
    return status;
}

/* The numbers that a rank wants go to the owner, which finds them in its list. */
static weft_status ask_owners(weft_layout *layout, const weft_layout_rows *rows,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    const int size = weft_comm_size(layout->comm), rank = weft_comm_rank(layout->comm);
    weft_message *received = layout->messages + layout->n_neighbours;
    int64_t *wanted = NULL;
    TRY(count_wanted(layout, &wanted, error));
    for (int i = 0; i < layout->n_neighbours; ++i) {
        neighbour *one = &layout->neighbours[i];
        int32_t *asked = (int32_t *)(void *)one->in;
        for (int64_t k = 0; k < one->n_received; ++k)
            asked[k] = rows->numbers[one->received[k]];
        one->n_sent = wanted[(int64_t)one->rank * size + rank];
        one->sent = malloc((size_t)one->n_sent * sizeof *one->sent + 1);
        one->out = malloc((size_t)one->n_sent * sizeof *one->out + 1);
        if (!one->sent || !one->out)
            TRY(no_memory(error));
        layout->messages[i] =
            (weft_message){one->rank, asked, (size_t)one->n_received * sizeof *asked};
        received[i] = (weft_message){one->rank, one->sent, (size_t)one->n_sent * sizeof *one->sent};
    }
    TRY(weft_comm_exchange(layout->comm, layout->messages, layout->n_neighbours, received,
                           layout->n_neighbours, error));
    for (int i = 0; i < layout->n_neighbours; ++i)
        for (int64_t k = 0; k < layout->neighbours[i].n_sent; ++k)
            layout->neighbours[i].sent[k] =
                place_of(rows->numbers, layout->n, layout->neighbours[i].sent[k]);
done:
    free(wanted);
    return status;
}

weft_status weft_layout_of_rows(weft_device *device, const weft_layout_rows *rows,
                                weft_layout **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_layout *layout = calloc(1, sizeof *layout);
    if (!layout)
        TRY(no_memory(error));
    layout->comm = rows->comm;
    layout->team = rows->team;
    layout->n = rows->n;
    layout->owned = weft_array_make((size_t)layout->n, 1);
    if (!layout->owned)
        TRY(no_memory(error));
    for (int64_t k = 0; k < layout->n; ++k)
        layout->owned[k] = rows->owners[k] == weft_comm_rank(layout->comm);
    TRY(weft_memory_wrap(device, layout->owned, (size_t)layout->n, &layout->memory, error));
    set_share(layout);
    TRY(find_neighbours(layout, error));
    TRY(list_wanted(layout, rows, error));
    TRY(ask_owners(layout, rows, error));
    drop_strangers(layout);
    TRY(make_exchange(layout, device, error));
    *out = layout;
    layout = NULL;
done:
    weft_layout_free(&layout);
    return status;
}

/* ---- updates --------------------------------------------------------------------------------- */

static void pack(const neighbour *one, const void *values, bool single) {
    float *narrow = (float *)(void *)one->out;
    for (int64_t k = 0; k < one->n_sent; ++k)
        if (single)
            narrow[k] = ((const float *)values)[one->sent[k]];
        else
            one->out[k] = ((const double *)values)[one->sent[k]];
}

static void unpack(const neighbour *one, void *values, bool single) {
    const float *narrow = (const float *)(void *)one->in;
    for (int64_t k = 0; k < one->n_received; ++k)
        if (single)
            ((float *)values)[one->received[k]] = narrow[k];
        else
            ((double *)values)[one->received[k]] = one->in[k];
}

static weft_status exchange_on_host(weft_layout *layout, void *values, bool single,
                                    weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t bytes = single ? sizeof(float) : sizeof(double);
    weft_message *received = layout->messages + layout->n_neighbours;
    for (int i = 0; i < layout->n_neighbours; ++i) {
        const neighbour *one = &layout->neighbours[i];
        pack(one, values, single);
        layout->messages[i] = (weft_message){one->rank, one->out, (size_t)one->n_sent * bytes};
        received[i] = (weft_message){one->rank, one->in, (size_t)one->n_received * bytes};
    }
    TRY(weft_comm_exchange(layout->comm, layout->messages, layout->n_neighbours, received,
                           layout->n_neighbours, error));
    for (int i = 0; i < layout->n_neighbours; ++i)
        unpack(&layout->neighbours[i], values, single);
done:
    return status;
}

weft_status weft_layout_exchange(weft_layout *layout, weft_memory *list, bool single,
                                 weft_memory *active, weft_error *error) {
    void *values = weft_memory_host(list);
    if (layout->exchange)
        return weft_exchange_run(layout->exchange, list, single, active, error);
    return values ? exchange_on_host(layout, values, single, error) : WEFT_OK; /* one rank */
}

weft_status weft_layout_update_values(weft_layout *layout, double *values, weft_error *error) {
    return exchange_on_host(layout, values, false, error);
}

weft_status weft_layout_update(weft_layout *layout, weft_memory *list, weft_error *error) {
    return weft_layout_exchange(layout, list, false, NULL, error);
}

weft_status weft_layout_update_single(weft_layout *layout, weft_memory *list, weft_error *error) {
    return weft_layout_exchange(layout, list, true, NULL, error);
}

/* ---- lists on the device --------------------------------------------------------------------- */

weft_status weft_divided_collect(const weft_divided *from, weft_memory *list,
                                 const weft_space *const *whole, double *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)weft_layout_dofs(from->layout);
    double *values = weft_array_make(n, sizeof *values);
    if (!values)
        TRY(weft_out_of_memory(error, "the parts of a function"));
    TRY(weft_layout_update(from->layout, list, error));
    TRY(weft_memory_read(list, 0, values, n * sizeof *values, error));
    TRY(weft_layout_collect(from->spaces, from->n_spaces, values, whole, out, error));
done:
    free(values);
    return status;
}

weft_status weft_divided_spread(const weft_divided *to, const weft_space *const *whole,
                                const double *values, weft_memory *list, weft_error *error) {
    weft_status status = WEFT_OK;
    const size_t n = (size_t)weft_layout_dofs(to->layout);
    double *part = weft_array_make(n, sizeof *part);
    if (!part)
        TRY(weft_out_of_memory(error, "the parts of a function"));
    TRY(weft_layout_spread(to->spaces, to->n_spaces, whole, values, part, error));
    TRY(weft_memory_write(list, 0, part, n * sizeof *part, error));
done:
    free(part);
    return status;
}
