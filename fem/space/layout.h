/** Where the dofs of spaces are, when each rank has a part of the mesh. Not installed.
 *
 *      spaces on a part of a mesh -> which dofs are this rank's own; what it sends to other ranks
 *
 *  A node belongs to the rank that owns the lowest vertex of its vertex, edge, face or cell; nodes of discontinuous elements
 *  to that of the lowest vertex of their cell. Every rank finds what others need of it from its own cells, and all lists
 *  ascend, so that nothing has to be agreed upon.
 *
 *  Decision  docs/decisions/0069-ranks-keep-the-order-of-the-whole.md */
#pragma once

#include "fem/weft_space.h"
#include "fusion/weft_share.h"

typedef struct weft_layout weft_layout;
/** The layout of the dofs of one space, or of several, one space after another.
 *  spaces  [n_spaces], borrowed; must outlive the result
 *  out     caller's; weft_layout_free; NULL where the mesh is whole
 *  Errors  WEFT_ERROR_UNSUPPORTED (elements whose nodes are on facets alone), WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_layout_make(const weft_space *const *spaces, int n_spaces, weft_layout **out,
                             weft_error *error);
void weft_layout_free(weft_layout **layout);
/** Which dofs are this rank's own, for programs. Borrowed. */
const weft_share *weft_layout_share(const weft_layout *layout);
weft_comm *weft_layout_comm(const weft_layout *layout);
/** Of GPUs (weft_part); NULL: the host has the lists. Borrowed. */
struct weft_team *weft_layout_team(const weft_layout *layout);
/** The same on the host: [dofs] 1 or 0; borrowed. */
const unsigned char *weft_layout_owned(const weft_layout *layout);
int64_t weft_layout_dofs(const weft_layout *layout);
/** [dofs] the number of each in the whole, ascending, where those of a rank are scattered: of one space whose cells share no node, which are
 *  in the order of cells. NULL: those of a rank follow each other, in the order of ranks. Borrowed. */
const int32_t *weft_layout_numbers(const weft_layout *layout);
/** Copy the values of other ranks' dofs from these. All ranks call it.
 *  list    [dofs] doubles
 *  Errors  those of weft_comm_exchange */
weft_status weft_layout_update(weft_layout *layout, weft_memory *list, weft_error *error);
/** The same of a list on the host: [dofs]. */
weft_status weft_layout_update_values(weft_layout *layout, double *values, weft_error *error);
/** The same of floats. */
weft_status weft_layout_update_single(weft_layout *layout, weft_memory *list, weft_error *error);
/** The same in a captured loop.
 *  single  the list has floats
 *  active  uint32_t on the device: where it is 0, nothing is exchanged; NULL: 1 */
weft_status weft_layout_exchange(weft_layout *layout, weft_memory *list, bool single,
                                 weft_memory *active, weft_error *error);

/** Rows of a matrix or of a list that this rank has: its own, and copies of others. */
typedef struct weft_layout_rows {
    weft_comm *comm;        /* borrowed */
    struct weft_team *team; /* of GPUs (weft_part); NULL: the host has the lists; borrowed */
    int64_t n;
    const int32_t *numbers; /* [n] in the whole, ascending */
    const int32_t *owners;  /* [n] the rank of each */
    const unsigned char
        *wanted; /* [n] 1: updates bring the owner's value, unless this rank is it */
} weft_layout_rows;
/** The layout of such rows. All ranks call it.
 *  rows    borrowed for the call; owners have the rows that others want
 *  out     caller's; weft_layout_free
 *  Errors  those of weft_comm_exchange; WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_layout_of_rows(weft_device *device, const weft_layout_rows *rows,
                                weft_layout **out, weft_error *error);

/** The rank that owns each node of a space.
 *  out     [nodes], malloc'd; caller's
 *  Errors  as weft_layout_make */
weft_status weft_space_owners(const weft_space *space, int32_t **out, weft_error *error);
/** The same of a space on the whole mesh, for ranks that are to divide it.
 *  starts  [n_ranks + 1] weft_part_starts */
weft_status weft_space_owners_by(const weft_space *space, const int64_t *starts, int n_ranks,
                                 int32_t **out, weft_error *error);
/** Let numbers at the nodes of a space on a part, which follow from the cells of each node, be those of the nodes' owners, which have all
 *  these cells: nothing where nodes are not shared. All ranks call it.
 *  values  [nodes]
 *  Errors  those of weft_comm_exchange; WEFT_ERROR_MEMORY */
weft_status weft_space_take_owners(const weft_space *space, double *values, weft_error *error);
/** Tell a connectivity to nodes of the space what ranks have of it; nothing where the mesh is whole.
 *  Errors  WEFT_ERROR_MEMORY */
weft_status weft_space_share(const weft_space *space, weft_connectivity *connectivity,
                             weft_error *error);
/** Collect a function of spaces on a part of the mesh as one of the same spaces on the whole mesh, on rank 0.
 *  values  [dofs of spaces], with the values of other ranks' dofs; borrowed
 *  whole   [n_spaces] on the whole mesh; NULL on other ranks
 *  out     [dofs of whole]; NULL on other ranks
 *  Errors  those of weft_comm_exchange; WEFT_ERROR_MEMORY */
weft_status weft_layout_collect(const weft_space *const *spaces, int n_spaces, const double *values,
                                const weft_space *const *whole, double *out, weft_error *error);
/** The reverse: give each rank its part of a function that the first one has.
 *  values  [dofs of whole], borrowed; NULL on other ranks
 *  out     [dofs of spaces], of other ranks' dofs as well */
weft_status weft_layout_spread(const weft_space *const *spaces, int n_spaces,
                               const weft_space *const *whole, const double *values, double *out,
                               weft_error *error);

/** Functions of which ranks have parts. */
typedef struct weft_divided {
    weft_layout *layout; /* NULL: the mesh is whole */
    const weft_space *const *spaces;
    int n_spaces;
} weft_divided;
/** weft_layout_collect of a list on the device, whose copies of other ranks' dofs get the values of their owners. */
weft_status weft_divided_collect(const weft_divided *from, weft_memory *list,
                                 const weft_space *const *whole, double *out, weft_error *error);
/** weft_layout_spread to a list on the device. */
weft_status weft_divided_spread(const weft_divided *to, const weft_space *const *whole,
                                const double *values, weft_memory *list, weft_error *error);
