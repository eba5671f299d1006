/* Colours the elements of a connectivity so that no two of a colour share a target.
 *
 * First-fit greedy colouring in element order gives few colours, but the last ones are small; each
 * element then moves to the smallest colour that is free for it. Each pass uses 64 colours, one bit
 * each of a mask per target; an element that finds no free colour waits for the next pass. A target
 * of many elements needs a colour for each; those beyond WEFT_CELL_COLOURS share a serial one. */
#include "core/base/fault.h"
#include "fusion/connectivity/private.h"

#include <stdlib.h>
#include <string.h>

enum { BITS = 64 };
#define WAITS UINT16_MAX

typedef struct colouring {
    const int32_t *indices;
    int64_t n, n_to, n_waiting;
    int width, n_colours;
    uint64_t *masks;   /* [n_to] colours of this pass that a target's elements have */
    uint16_t *colours; /* [n] */
    int64_t n_cells[WEFT_CELL_COLOURS + 1];
} colouring;

static uint64_t met(const colouring *c, int64_t cell) {
    uint64_t taken = 0;
    for (int i = weft_fault("colours_collide"); i < c->width; ++i)
        taken |= c->masks[c->indices[cell * c->width + i]];
    return taken;
}

static void put(colouring *c, int64_t cell, int first, int colour) {
    for (int i = 0; i < c->width; ++i)
        c->masks[c->indices[cell * c->width + i]] |= (uint64_t)1 << (colour - first);
    c->colours[cell] = (uint16_t)colour;
    c->n_cells[colour] += 1;
}

static void take_away(colouring *c, int64_t cell, int first) {
    for (int i = 0; i < c->width; ++i)
        c->masks[c->indices[cell * c->width + i]] &= ~((uint64_t)1 << (c->colours[cell] - first));
    c->n_cells[c->colours[cell]] -= 1;
}

/* The smallest colour of this pass that is not taken. */
static int smallest(const colouring *c, int first, uint64_t taken) {
    int best = -1;
    for (int colour = first; colour < c->n_colours; ++colour)
        if (!(taken >> (colour - first) & 1) && (best < 0 || c->n_cells[colour] < c->n_cells[best]))
            best = colour;
    return best;
}

static void colour_pass(colouring *c) {
    const int first = c->n_colours;
    memset(c->masks, 0, (size_t)c->n_to * sizeof *c->masks);
    for (int64_t cell = 0; cell < c->n; ++cell) {
        const uint64_t taken = met(c, cell);
        if (c->colours[cell] != WAITS || taken == UINT64_MAX)
            continue;
        const int colour = first + __builtin_ctzll(~taken);
        if (colour == c->n_colours)
            c->n_colours += 1;
        put(c, cell, first, colour);
        c->n_waiting -= 1;
    }
    for (int64_t cell = 0; cell < c->n; ++cell) /* its own colour is free once taken away */
        if (c->colours[cell] >= first && c->colours[cell] != WAITS) {
            take_away(c, cell, first);
            put(c, cell, first, smallest(c, first, met(c, cell)));
        }
}

static void colour_rest(colouring *c) {
    for (int64_t cell = 0; cell < c->n; ++cell)
        if (c->colours[cell] == WAITS)
            c->colours[cell] = (uint16_t)c->n_colours;
    c->n_cells[c->n_colours++] = c->n_waiting;
}

/* List the elements of each colour, ascending. */
static weft_status colours_fill(const weft_connectivity *connectivity, const colouring *c,
                                weft_cell_colours *made, weft_error *error) {
    weft_status status = WEFT_OK;
    int64_t place[WEFT_CELL_COLOURS + 1];
    uint32_t *order = weft_array_make_unset((uint64_t)c->n * sizeof *order);
    made->start = calloc((size_t)c->n_colours + 1, sizeof *made->start);
    made->order = calloc((size_t)c->n_colours + 1, sizeof(weft_memory *));
    if (!order || !made->start || !made->order)
        TRY(weft_cells_no_memory("colours", connectivity->n_from, error));
    made->n_colours = c->n_colours;
    for (int i = 0; i < c->n_colours; ++i) {
        place[i] = made->start[i];
        made->start[i + 1] = made->start[i] + c->n_cells[i];
    }
    for (int64_t cell = 0; cell < c->n; ++cell)
        order[place[c->colours[cell]]++] = (uint32_t)cell;
    for (int i = 0; i < c->n_colours; ++i) {
        const size_t bytes = (size_t)c->n_cells[i] * sizeof *order;
        TRY(weft_memory_make_unset(connectivity->device, bytes, &made->order[i], error));
        TRY(weft_memory_write(made->order[i], 0, order + made->start[i], bytes, error));
    }
done:
    free(order);
    return status;
}

static weft_status colours_make(const weft_connectivity *connectivity, weft_cell_colours **out,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    colouring c = {.indices = connectivity->indices,
                   .n = connectivity->n_from,
                   .n_to = connectivity->n_to,
                   .n_waiting = connectivity->n_from,
                   .width = connectivity->width};
    weft_cell_colours *made = NULL;
    if (c.n > (int64_t)UINT32_MAX) {
        weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                       "%lld cells are too many to colour (2^32 numbers)", (long long)c.n);
        weft_error_hint(error, "accumulate by atomic additions, the scatter 'coloured'");
        TRY(WEFT_ERROR_UNSUPPORTED);
    }
    made = calloc(1, sizeof *made);
    c.masks = calloc((size_t)c.n_to + 1, sizeof *c.masks);
    c.colours = malloc(((size_t)c.n + 1) * sizeof *c.colours);
    if (!made || !c.masks || !c.colours)
        TRY(weft_cells_no_memory("colours", connectivity->n_from, error));
    memset(c.colours, 0xff, (size_t)c.n * sizeof *c.colours); /* WAITS */
    while (c.n_waiting > 0 && c.n_colours < WEFT_CELL_COLOURS)
        colour_pass(&c);
    made->is_serial_last = c.n_waiting > 0;
    if (made->is_serial_last)
        colour_rest(&c);
    TRY(colours_fill(connectivity, &c, made, error));
    *out = made;
    made = NULL;
done:
    weft_cell_colours_free(&made);
    free(c.masks);
    free(c.colours);
    return status;
}

void weft_cell_colours_free(weft_cell_colours **colours) {
    if (!colours || !*colours)
        return;
    for (int i = 0; i < (*colours)->n_colours; ++i)
        weft_memory_free(&(*colours)->order[i]);
    free((*colours)->order);
    free((*colours)->start);
    free(*colours);
    *colours = NULL;
}

weft_status weft_connectivity_colours(weft_connectivity *connectivity,
                                      const weft_cell_colours **out, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(weft_connectivity_read(connectivity, error));
    if (!connectivity->colours)
        TRY(colours_make(connectivity, &connectivity->colours, error));
    *out = connectivity->colours;
done:
    return status;
}
