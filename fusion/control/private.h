/** What the files of this folder share while the steps of a script are made. */
#pragma once

#include "fusion/control/program.h"

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

/** Loops, operators, updates of uniform values or returned uniform arithmetic: does a script need
 *  more steps than one segment? */
weft_status flow_needs_steps(weft_arena *arena, const weft_library *library,
                             const weft_script *script, bool *out, weft_error *error);
/** A script that is one segment. */
weft_status flow_straight_make(const weft_compilation *compilation, weft_flow **out,
                               weft_error *error);
/** Errors WEFT_ERROR_TYPE: a fuse block of the script reaches over segments. */
weft_status flow_check_wishes(const weft_compilation *compilation, const weft_flow *flow,
                              weft_error *error);
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
