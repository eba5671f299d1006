/** Shared by the operators: merging free indices, describing operands in messages. */
#pragma once

#include "forms/operators/operators.h"

enum { UFL_FREE_MAX = 64 }; /* free indices of one expression */

/** Merge the free indices of a and b into out[UFL_FREE_MAX].
 *  repeated  numbers that both have, which then are not in out; NULL: they stay, once
 *  Returns the number of indices in out, or -1 and an error. */
int ufl_merge_free(ufl_graph *graph, const ufl_node *a, const ufl_node *b, ufl_free_index *out,
                   int *repeated, int *n_repeated);
/** "a vector of shape (3,)", "a scalar", for messages. */
const char *ufl_describe(const ufl_node *node, char *out, size_t size);
bool ufl_same_shape(const ufl_node *a, const ufl_node *b);
bool ufl_same_free(const ufl_node *a, const ufl_node *b);
/** Fail with a message unless the node is a scalar without free indices. */
bool ufl_want_true_scalar(ufl_graph *graph, const ufl_node *node, const char *what);
/** A node without payload of the shape and free indices of `like`. */
const ufl_node *ufl_make_like(ufl_graph *graph, ufl_type type, int detail,
                              const ufl_node *const *operands, int n, const ufl_node *like);
/** A scalar node without free indices. */
const ufl_node *ufl_make_scalar(ufl_graph *graph, ufl_type type, int detail,
                                const ufl_node *const *operands, int n);
