/** A script with loops, operators or uniform updates is a *flow*: straight-line segments, each a
 *  script of its own for the stages graph .. source, between them arithmetic on uniform values,
 *  products with opaque operators, and loops of all these.
 *
 *      fusion/control/program.c           from script to steps
 *      fusion/control/needs_program.c    which scripts are flows
 *      fusion/control/lift_reductions.c      reductions inside arithmetic get names
 *      fusion/control/segment.c   one segment: its inputs, its results, its compilation
 *      fusion/control/names.c     which names a statement reads, and what they are
 *      fusion/control/scalars.c   uniform arithmetic: made, evaluated
 *      fusion/codegen/program.c    the same as kernels of one thread, and one module of all
 *      fusion/control/rematerialise.c what a loop reads: stored before it, or made anew in every turn
 *      fusion/explain/print.c     printing
 *      fusion/control/directives.c    fuse blocks that reach too far
 *      fusion/runtime/control.c   binding and memory, fusion/runtime/loop.c running, fusion/runtime/graph.c as a graph */
#ifndef FLOW_INTERNAL_H
#define FLOW_INTERNAL_H

#include "core/weft_core.h"
#include "fusion/graph/graph.h"
#include "fusion/library/library.h"
#include "fusion/plan/plan.h"
#include "fusion/script/script.h"
#include "fusion/script/tokens.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"

/** What a flow keeps in memory: inputs, and what one step makes and another reads. */
typedef struct weft_flow_name {
    const char *name;
    weft_shape shape;
    int index_set; /* of the script; -1: uniform */
    bool is_input; /* of the script */
    bool returned; /* by the script */
    bool matrix;   /* made by A[dofs,dofs] += K: bound in its segment alone */
    bool hidden;   /* made in a loop that has ended */
    int loop;      /* that it is made in, or -1 */
    weft_place place;
} weft_flow_name;

/** target = arithmetic on components of uniform values; node i uses earlier nodes only. */
typedef struct weft_flow_scalar {
    int target; /* name, or -1: a loop's condition or number of turns */
    weft_arithmetic *nodes;
    int n_nodes;
    int *operands, *offsets; /* name and component */
    int n_operands;
} weft_flow_scalar;

typedef enum weft_flow_kind { FLOW_SEGMENT, FLOW_SCALARS, FLOW_APPLY, FLOW_LOOP } weft_flow_kind;

typedef struct weft_flow_step weft_flow_step;
typedef struct weft_flow_steps {
    weft_flow_step *list;
    int n;
} weft_flow_steps;

struct weft_flow_step {
    weft_flow_kind kind;
    int number;                /* FLOW_SEGMENT, FLOW_LOOP; FLOW_SCALARS: of its kernel */
    int loop;                  /* that it stands in, or -1 */
    weft_flow_scalar *scalars; /* FLOW_SCALARS */
    int n_scalars;
    int op, v, y, dot;                /* FLOW_APPLY: operator, names; dot -1: not wanted */
    weft_flow_scalar most, condition; /* FLOW_LOOP */
    weft_flow_steps body;
};

/** Of a loop: n names made before it that it could make anew in every turn; 0: none. Seconds of the
 *  whole script either way, for so many turns of every loop. */
typedef struct weft_flow_choice {
    int n;
    double turns, stored, recomputed;
    bool chosen; /* they are made anew */
} weft_flow_choice;

typedef struct weft_flow {
    const weft_script *script;
    weft_flow_name *names;
    int n_names;
    const weft_operator_choice **choices; /* [script->n_operators], NULL: none given */
    weft_compilation **segments;
    int *segment_loops; /* the loop that each stands in, or -1 */
    int n_segments, n_scalar_steps;
    weft_flow_steps steps;
    int last_loop;                            /* the last of the outermost loops, or -1 */
    const weft_flow_choice *choices_of_loops; /* [script->n_loops] */
} weft_flow;

/** Loops, operators, updates of uniform values or returned uniform arithmetic? */
weft_status weft_flow_wanted(weft_arena *arena, const weft_library *library,
                             const weft_script *script, bool *out, weft_error *error);
/** compilation has arena, library, limits, options and script. */
weft_status weft_flow_make(const weft_compilation *compilation, weft_flow **out, weft_error *error);

/* ---- while a flow is made -------------------------------------------------------------------- */

typedef struct flow_builder {
    const weft_compilation *compilation;
    weft_arena *arena;
    weft_script *script; /* a copy, with reductions lifted out of arithmetic */
    weft_flow *flow;
    int segment_capacity, name_capacity, open_capacity, deferred_capacity;
    weft_script_statement *open; /* of the segment being collected */
    int n_open;
    weft_script_statement *deferred; /* updates of uniform values, to be done as late as possible */
    int n_deferred;
    int loop; /* being read, or -1 */
    weft_error *error;
} flow_builder;

/** Add a step to a list. */
weft_status flow_step_add(const flow_builder *b, weft_flow_steps *steps,
                          const weft_flow_step *step);
/** Compile the statements collected, and the uniform arithmetic among them that is read from
 *  statement `next` on; names that are read there become the flow's. */
weft_status flow_segment_close(flow_builder *b, weft_flow_steps *steps, int next);
/** Let each reduction inside other arithmetic be a statement of its own. */
weft_status flow_lift_reductions(flow_builder *b);

/** Steps and segments of a script. recomputed: by loop, whether it makes anew in every turn what
 *  only it reads; NULL: none does. */
weft_status flow_build(const weft_compilation *compilation, const bool *recomputed, weft_flow **out,
                       weft_error *error);
/** Move what a loop could make itself, in every turn, into it. */
weft_status flow_recompute(flow_builder *b, int loop);

int flow_name_find(const weft_flow *flow, const char *name); /* visible, or -1 */
weft_status flow_name_add(flow_builder *b, const weft_flow_name *name, int *id);
bool flow_node_reads(const weft_node *node, const char *name);
/** Also what it updates or adds to. */
bool flow_statement_reads(const weft_script_statement *statement, const char *name);
/** Is a name wanted by statement `next` or a later one, by what is deferred, or outside? */
bool flow_is_wanted(const flow_builder *b, const char *name, int next);
/** Names without a value here: TYPE error. */
weft_status flow_check_reads(const flow_builder *b, const weft_node *node, bool condition);
/** A name that the script has not. */
weft_status flow_fresh_name(flow_builder *b, const char *name, const char **out);

/** value of uniform names. */
weft_status flow_scalar_make(flow_builder *b, const weft_node *node, int target,
                             weft_flow_scalar *out);
/** The same for a condition: 1 where it holds, else 0. */
weft_status flow_condition_make(flow_builder *b, const weft_node *node, weft_flow_scalar *out);
/** The number that it is: values [n_operands]. */
double weft_flow_evaluate(const weft_flow_scalar *scalar, const double *values);

/* ---- source and printing --------------------------------------------------------------------- */

/** Kernels of one thread, on devices with threads. All have as arguments after the number of
 *  instances: the uniform names that weft_flow_uses says, in their order, then `go` of the loop.
 *  "scalars_N"; and "loop_N_begin" and "loop_N_turn", with more: see fusion/codegen/program.c. */
weft_status weft_flow_source(const weft_compilation *compilation, const char **out,
                             weft_error *error);
/** Does a step read or write a name? For loops: their condition, number of turns and last scalars.
 */
bool weft_flow_uses(const weft_flow_step *step, int name);
/** The scalars that end a loop's body, done by its own kernel; NULL: there are none. */
const weft_flow_step *weft_flow_last_scalars(const weft_flow_step *loop);
/** The kernel that joins the reductions with which a loop's body ends, apart from uniform
 * arithmetic: on a GPU loop_N_turn does its work too, one launch less; it is given that kernel's
 * arguments last. NULL: there is none. *step: of the body, the segment whose last kernel it is. */
const weft_plan_kernel *weft_flow_joined(const weft_flow *flow, const weft_flow_step *loop,
                                         const weft_flow_step **step);
/** fusion/control/directives.c. Errors WEFT_ERROR_TYPE: a fuse block of the script reaches over segments */
weft_status weft_flow_check_wishes(const weft_compilation *compilation, const weft_flow *flow,
                                   weft_error *error);
enum { WEFT_RECORDS_MAX = 4 /* uniform values whose history is kept at once */ };

weft_status weft_flow_print(const weft_compilation *compilation, const char *stage,
                            const char *format, weft_text *out, weft_error *error);
weft_status weft_flow_explain(const weft_compilation *compilation, weft_text *out,
                              weft_error *error);
/** The stages graph .. plan of a compilation that has its script; not the source. */
weft_status weft_compile_stages(weft_compilation *compilation, weft_error *error);
weft_status weft_compilation_print_stage(const weft_compilation *compilation, const char *stage,
                                         const char *format, weft_text *out, weft_error *error);

#endif
