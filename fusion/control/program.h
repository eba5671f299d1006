/** From a script to a list of steps. In: script, library, limits, options. Out: weft_control. A
 *  segment is a straight-line script of its own for the stages graph .. plan; between segments
 *  stand arithmetic on uniform values, products with opaque operators, and loops of all these. A
 *  script without any of them is one step, which is one segment.
 *
 *      program.c          from script to steps
 *      needs_program.c    which scripts are more than one segment
 *      lift_reductions.c  reductions inside arithmetic get names
 *      segment.c          one segment: its inputs, its results, its plan
 *      names.c            which names a statement reads, and what they are
 *      scalars.c          uniform arithmetic: made, evaluated
 *      rematerialise.c    what a loop reads: stored before it, or rematerialised in every iteration
 *      directives.c       fuse blocks that reach too far
 *
 *  fusion/codegen/program.c writes the source of all steps, fusion/runtime runs them. */
#pragma once

#include "fusion/plan/segment.h"

/** What steps keep in memory: inputs, and what one step makes and another reads. */
typedef struct weft_control_name {
    const char *name;
    weft_shape shape;
    int index_set; /* of the script; -1: uniform */
    bool is_input; /* of the script */
    bool returned; /* by the script */
    bool matrix;   /* made by A[dofs,dofs] += K: bound in its segment alone */
    bool hidden;   /* made in a loop that has ended */
    int loop;      /* that it is made in, or -1 */
    weft_location place;
} weft_control_name;

/** target = arithmetic on components of uniform values; node i uses earlier nodes only. */
typedef struct weft_control_scalar {
    int target; /* name, or -1: a loop's condition or number of iterations */
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
    int number; /* CONTROL_SEGMENT, CONTROL_LOOP; CONTROL_SCALARS: of its kernel */
    int loop;   /* that it stands in, or -1 */
    weft_control_scalar *scalars; /* CONTROL_SCALARS */
    int n_scalars;
    int op, v, y, dot;                   /* CONTROL_APPLY: operator, names; dot -1: not wanted */
    weft_control_scalar most, condition; /* CONTROL_LOOP */
    weft_control_steps body;
};

/** Of a loop: n names made before it that it could rematerialise in every iteration; 0: none.
 *  Seconds of the whole script either way, for so many iterations of every loop. */
typedef struct weft_control_choice {
    int n;
    double iterations, stored, recomputed;
    bool chosen; /* they are made again */
} weft_control_choice;

typedef struct weft_control {
    const weft_script *script;
    weft_control_name *names; /* of a straight script: its inputs and what it returns */
    int n_names;
    const weft_operator_choice **choices; /* [script->n_operators], NULL: none given */
    weft_segment **segments;
    int n_segments, n_scalar_steps;
    weft_control_steps steps;
    int last_loop;                               /* the last of the outermost loops, or -1 */
    const weft_control_choice *choices_of_loops; /* [script->n_loops] */
} weft_control;

/** All that is made of a script, in one arena. */
struct weft_compilation {
    weft_arena *arena;
    const weft_library *library;
    weft_limits limits;
    weft_compile_options options; /* copied into the arena */
    weft_script *script;
    weft_control *control;
    const char *source; /* of all steps */
};

/** The segment that a script is, where it is nothing else; NULL: it has loops, operators, uniform
 *  updates. */
const weft_segment *weft_compilation_only(const weft_compilation *compilation);
/** compilation has arena, library, limits, options and script. */
weft_status weft_control_make(const weft_compilation *compilation, weft_control **out,
                              weft_error *error);

/* ---- what the generated source and the runtime ask of steps ----------------------------------- */

/** The number that it is: values [n_operands]. */
double weft_control_evaluate(const weft_control_scalar *scalar, const double *values);
/** Does a step read or write a name? For loops: their condition, number of iterations and last
 *  scalars. */
bool weft_control_uses(const weft_control_step *step, int name);
/** The scalars that end a loop's body, done by its own kernel; NULL: there are none. */
const weft_control_step *weft_control_last_scalars(const weft_control_step *loop);
/** The kernel that joins the reductions with which a loop's body ends, apart from uniform
 * arithmetic: on a GPU loop_N_iteration does its work too, one launch less; it is given that
 * kernel's arguments last. NULL: there is none. *step: of the body, the segment whose last kernel
 * it is. */
const weft_plan_kernel *weft_control_joined(const weft_control *control,
                                            const weft_control_step *loop,
                                            const weft_control_step **step);
enum { WEFT_HISTORIES_MAX = 4 /* uniform values whose history is kept at once */ };
