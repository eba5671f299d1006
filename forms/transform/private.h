/** Shared by the files of this folder. */
#pragma once

#include "forms/operators/operators.h"
#include "forms/transform/transform.h"

typedef enum ufl_rule_kind { UFL_BY_SPACE, UFL_BY_VARIABLE, UFL_BY_COEFFICIENT } ufl_rule_kind;

/** One kind of derivative: d/dx, d/d variable, or d/d coefficients in given directions. */
typedef struct ufl_ruleset {
    ufl_rule_kind kind;
    const ufl_node *variable;      /* or coefficient */
    const ufl_node *direction;     /* a UFL_COEFFICIENT_DERIVATIVE: its w and dw */
    int rank, shape[UFL_RANK_MAX]; /* axes that the derivative appends */
    ufl_map map;
    struct ufl_ruleset *next;
} ufl_ruleset;

/** The derivative of an expression without unexpanded derivatives. */
const ufl_node *ufl_differentiate(ufl_graph *graph, ufl_ruleset *rules, const ufl_node *node);
/** Of a UFL_MATH, UFL_ATAN2 or UFL_BESSEL, given those of its operands. */
const ufl_node *ufl_differentiate_function(ufl_graph *graph, const ufl_node *node,
                                           const ufl_node *const *d);
/** What takes the place of operand i of a node. */
typedef const ufl_node *ufl_operand_map(ufl_graph *graph, void *user, const ufl_node *node, int i);
/** Map all operands of a node, then make that node's place the current one.
 *  few  [3], used where they are enough; else the arena
 *  Returns the operands, or NULL and an error */
const ufl_node **ufl_map_operands(ufl_graph *graph, const ufl_node *node, const ufl_node *few[3],
                                  ufl_operand_map *map, void *user);
/** A new form of the integrands that a function returns, without those that are zero. */
typedef const ufl_node *ufl_integrand_map(ufl_graph *graph, void *user, const ufl_node *integrand);
const ufl_form *ufl_map_integrands(ufl_graph *graph, const ufl_form *form, ufl_integrand_map *map,
                                   void *user);
