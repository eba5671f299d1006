/** What the files of this folder share while the steps of a script are made. */
#pragma once

#include "fusion/control/program.h"

typedef struct control_builder {
    const weft_compilation *compilation;
    weft_arena *arena;
    weft_script *script; /* a copy, with reductions lifted out of arithmetic */
    weft_control *control;
    int segment_capacity, name_capacity, open_capacity, deferred_capacity;
    weft_script_statement *open; /* of the segment being collected */
    int n_open;
    weft_script_statement *deferred; /* updates of uniform values, to be done as late as possible */
    int n_deferred;
    int loop; /* being read, or -1 */
    weft_error *error;
} control_builder;

/** Add a step to a list. */
weft_status weft_control_step_add(const control_builder *b, weft_control_steps *steps,
                                  const weft_control_step *step);
/** Compile the statements collected, and the uniform arithmetic among them that is read from
 *  statement `next` on; names that are read there become the flow's. */
weft_status weft_control_segment_close(control_builder *b, weft_control_steps *steps, int next);
/** Let each reduction inside other arithmetic be a statement of its own. */
weft_status weft_control_lift_reductions(control_builder *b);

/** Loops, operators, updates of uniform values or returned uniform arithmetic: does a script need
 *  more steps than one segment? */
weft_status weft_control_needs_steps(weft_arena *arena, const weft_library *library,
                                     const weft_script *script, bool *out, weft_error *error);
/** A script that is one segment. */
weft_status weft_control_straight_make(const weft_compilation *compilation, weft_control **out,
                                       weft_error *error);
/** Errors WEFT_ERROR_TYPE: a fuse block of the script reaches over segments. */
weft_status weft_control_check_directives(const weft_compilation *compilation,
                                          const weft_control *control, weft_error *error);
/** Steps and segments of a script. recomputed: by loop, whether it rematerialises in every
 *  iteration what only it reads; NULL: none does. */
weft_status weft_control_build(const weft_compilation *compilation, const bool *recomputed,
                               weft_control **out, weft_error *error);
/** Move what a loop could make itself, in every iteration, into it. */
weft_status weft_control_rematerialise(control_builder *b, int loop);

int weft_control_name_find(const weft_control *control, const char *name); /* visible, or -1 */
weft_status weft_control_name_add(control_builder *b, const weft_control_name *name, int *id);
bool weft_control_node_reads(const weft_node *node, const char *name);
/** Also what it updates or adds to. */
bool weft_control_statement_reads(const weft_script_statement *statement, const char *name);
/** Is a name wanted by statement `next` or a later one, by what is deferred, or outside? */
bool weft_control_is_wanted(const control_builder *b, const char *name, int next);
/** Names without a value here: TYPE error. */
weft_status weft_control_check_reads(const control_builder *b, const weft_node *node,
                                     bool condition);
/** A name that the script has not. */
weft_status weft_control_fresh_name(control_builder *b, const char *name, const char **out);

/** value of uniform names. */
weft_status weft_control_scalar_make(control_builder *b, const weft_node *node, int target,
                                     weft_control_scalar *out);
/** The same for a condition: 1 where it holds, else 0. */
weft_status weft_control_condition_make(control_builder *b, const weft_node *node,
                                        weft_control_scalar *out);
