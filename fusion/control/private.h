/** Shared by the files of this folder: the builder of a script's steps. */
#pragma once

#include "fusion/control/program.h"

typedef struct control_builder {
    const weft_compilation *compilation;
    weft_arena *arena;
    weft_script *script; /* a copy, with reductions lifted out of arithmetic */
    weft_control *control;
    weft_script_statement *open; /* statements of the current segment */
    int n_open;
    weft_script_statement *deferred; /* updates of uniform values, delayed as long as possible */
    int n_deferred;
    int loop; /* current loop, or -1 */
    weft_error *error;
} control_builder;

/** Add a step to a list. */
weft_status weft_control_step_add(const control_builder *b, weft_control_steps *steps,
                                  const weft_control_step *step);
/** Compile the collected statements to a segment and, if statement `next` or a later one reads it,
 *  their uniform arithmetic. Names that are read there become names of the program. */
weft_status weft_control_segment_close(control_builder *b, weft_control_steps *steps, int next);
/** Make each reduction inside other arithmetic a statement of its own. */
weft_status weft_control_lift_reductions(control_builder *b);

/** Does a script need more than one segment? It does if it has loops, operators, updates of uniform
 *  values or returned uniform arithmetic. */
weft_status weft_control_needs_steps(weft_arena *arena, const weft_library *library,
                                     const weft_script *script, bool *out, weft_error *error);
/** The single step of a script that is one segment. */
weft_status weft_control_straight_make(const weft_compilation *compilation, weft_control **out,
                                       weft_error *error);
/** Errors  WEFT_ERROR_TYPE: a fuse block of the script spans several segments */
weft_status weft_control_check_directives(const weft_compilation *compilation,
                                          const weft_control *control, weft_error *error);
/** Make the steps and segments of a script.
 *  recomputed  [n_loops] does the loop recompute, in every iteration, values that only it reads?
 *              NULL: no loop does */
weft_status weft_control_build(const weft_compilation *compilation, const bool *recomputed,
                               weft_control **out, weft_error *error);
/** Move the statements that a loop could recompute in every iteration into it. */
weft_status weft_control_rematerialise(control_builder *b, int loop);

int weft_control_name_find(const weft_control *control, const char *name); /* visible, or -1 */
/** Is there a statement of the open segment that makes a name, or that updates it? */
bool weft_control_is_open(const control_builder *b, const char *name, bool update);
weft_status weft_control_name_add(control_builder *b, const weft_control_name *name, int *id);
bool weft_control_node_reads(const weft_node *node, const char *name);
/** Does a statement read a name, or update it, or accumulate into it? */
bool weft_control_statement_reads(const weft_script_statement *statement, const char *name);
/** Is a name read by statement `next` or a later one, read by a deferred update, or returned? */
bool weft_control_is_wanted(const control_builder *b, const char *name, int next);
/** Check that all names have a value here.  Errors  WEFT_ERROR_TYPE */
weft_status weft_control_check_reads(const control_builder *b, const weft_node *node,
                                     bool condition);
/** Make a name that the script does not have. */
weft_status weft_control_fresh_name(control_builder *b, const char *name, const char **out);

/** Convert an expression in uniform names. */
weft_status weft_control_scalar_make(control_builder *b, const weft_node *node, int target,
                                     weft_control_scalar *out);
/** Convert a condition: 1 if it holds, else 0. */
weft_status weft_control_condition_make(control_builder *b, const weft_node *node,
                                        weft_control_scalar *out);
