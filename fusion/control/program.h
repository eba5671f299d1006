/** Control flow. In: script, library, limits, options. Out: weft_control, a list of steps.
 *
 *  A step is a segment (a straight-line script that passes through the stages graph .. plan),
 *  arithmetic on uniform values, a product with an opaque operator, or a loop of steps. A script
 *  without arithmetic on uniform values, opaque operators and loops is a single segment.
 *
 *      program.c          from script to steps
 *      needs_program.c    which scripts are more than one segment
 *      lift_reductions.c  gives names to reductions inside arithmetic
 *      segment.c          one segment: its inputs, its results, its plan
 *      names.c            which names a statement reads, and what they are
 *      scalars.c          uniform arithmetic: from syntax tree to nodes, evaluation
 *      rematerialise.c    loop invariants: stored, or recomputed in every iteration
 *      kept_plan.c        plans as text that is kept on disk
 *      directives.c       rejects fuse blocks that span several segments
 *
 *  fusion/codegen/program.c writes the source of all steps, fusion/runtime runs them.
 *
 *  Decision  docs/decisions/0006-compilations-are-lists-of-steps.md */
#pragma once

#include "fusion/plan/segment.h"

/** A list or uniform value in memory: an input, or a value that one step computes and another
 *  reads. */
typedef struct weft_control_name {
    const char *name;
    weft_shape shape;
    int index_set; /* of the script; -1: uniform */
    bool is_input; /* of the script */
    bool returned; /* by the script */
    bool matrix;   /* target of A[dofs,dofs] += K: bound in its segment only */
    bool hidden;   /* assigned in a loop that has ended */
    int loop;      /* in which it is assigned, or -1 */
    weft_location place;
} weft_control_name;

/** target = arithmetic on components of uniform values; node i uses earlier nodes only. */
typedef struct weft_control_scalar {
    int target; /* name, or -1: a loop's condition or iteration limit */
    weft_arithmetic *nodes;
    int n_nodes;
    int *operands, *offsets; /* name and component */
    int n_operands;
} weft_control_scalar;

typedef enum weft_control_kind {
    CONTROL_SEGMENT,
    CONTROL_SCALARS,
    CONTROL_APPLY,
    CONTROL_LOOP
} weft_control_kind;

typedef struct weft_control_step weft_control_step;
typedef struct weft_control_steps {
    weft_control_step *list;
    int n;
} weft_control_steps;

struct weft_control_step {
    weft_control_kind kind;
    int number;                   /* of the segment, the loop or the kernel scalars_N */
    int loop;                     /* that contains the step, or -1 */
    weft_control_scalar *scalars; /* CONTROL_SCALARS */
    int n_scalars;
    int op, v, y, dot;                   /* CONTROL_APPLY: operator, names; dot -1: not wanted */
    weft_control_scalar most, condition; /* CONTROL_LOOP */
    weft_control_steps body;
};

/** The rematerialisation choice of a loop. */
typedef struct weft_control_choice {
    int n; /* names assigned before the loop that it could recompute in every iteration */
    /* expected iterations of every loop; predicted seconds of the script with these names stored
     * and recomputed */
    double iterations, stored, recomputed;
    bool chosen; /* the loop recomputes them */
} weft_control_choice;

typedef struct weft_control {
    const weft_script *script;
    weft_control_name *names; /* of a script that is one segment: its inputs and returned values */
    int n_names;
    const weft_operator_choice **choices; /* [script->n_operators], NULL: none given */
    weft_segment **segments;
    int n_segments, n_scalar_steps;
    weft_control_steps steps;
    int last_loop;                               /* the last of the outermost loops, or -1 */
    const weft_control_choice *choices_of_loops; /* [script->n_loops] */
} weft_control;

typedef struct weft_kept_plan weft_kept_plan; /* fusion/control/kept_plan.h */

/** The results of all stages, in one arena. */
struct weft_compilation {
    weft_arena *arena;
    weft_arena *basis; /* of the kept plan, own; NULL: not in one of its own */
    const weft_library *library;
    weft_limits limits;
    weft_compile_options options; /* copied into the arena */
    const weft_kept_plan *kept;   /* replaces the planner's search; NULL: the planner chose */
    char key[33];                 /* under which options.plans keeps the plan; "": it does not */
    weft_script *script;
    weft_control *control;
    const char *source;  /* of all steps */
    const char *body;    /* the part of source after the prelude */
    weft_device *device; /* of the correction (weft_compilation_correct); NULL: there was none */
    weft_module *module; /* own, its compiled source there; NULL: programs make their own */
};

/** The name that a compilation's module has in messages: that of its first kernel. */
const char *weft_compilation_module_name(const weft_compilation *compilation);

/** The segment of a script that is a single segment; NULL: it has more steps. */
const weft_segment *weft_compilation_only(const weft_compilation *compilation);
/** Make the steps of a script, with a plan for each segment.
 *  compilation  has arena, library, limits, options and script already
 *  out          in the compilation's arena
 *  Errors       those of weft_compile after parsing */
weft_status weft_control_make(const weft_compilation *compilation, weft_control **out,
                              weft_error *error);

/* ---- queries of code generation and runtime -------------------------------------------------- */

/** Evaluate uniform arithmetic.
 *  values  [n_operands] */
double weft_control_evaluate(const weft_control_scalar *scalar, const double *values);
/** Does a step read or write a name? Loops: their condition, iteration limit and last scalars. */
bool weft_control_uses(const weft_control_step *step, int name);
/** The uniform arithmetic that ends a loop's body and is part of loop_N_iteration; NULL: none. */
const weft_control_step *weft_control_last_scalars(const weft_control_step *loop);
/** The final reduction at the end of a loop's body (only uniform arithmetic may follow it). On a
 *  GPU loop_N_iteration does its work and takes its arguments last, which saves a launch.
 *  step     out: the segment that the kernel is the last one of
 *  Returns  NULL if the body does not end so; *step unchanged */
const weft_plan_kernel *weft_control_joined(const weft_control *control,
                                            const weft_control_step *loop,
                                            const weft_control_step **step);
enum { WEFT_HISTORIES_MAX = 4 /* histories recorded at the same time */ };
