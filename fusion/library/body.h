/** Writing bodies of functions as generated code; shared by fusion/library/body_*.c.
 *
 *  Decision  docs/decisions/0018-bodies-are-parsed-and-printed.md */
#pragma once

#include "fusion/library/function.h"

/* Components of a local or result that are tracked one by one; larger ones as a whole. */
enum { BODY_COMPONENTS_MAX = 1024 };

/** The components that have a value at the writer's current statement. */
typedef struct body_value {
    bool any, all;
    uint64_t bits[BODY_COMPONENTS_MAX / 64];
} body_value;

/** What is known of the locals at the writer's current statement. */
typedef struct body_local {
    bool known; /* an int whose value is known; others are emitted by name */
    int64_t integer;
    body_value value;
} body_local;

typedef struct body_writer {
    const weft_specialisation *specialisation;
    const weft_variant *variant;
    const weft_accessor *arguments, *result;
    const weft_body_style *style;
    weft_text *out;
    weft_error *error;
    bool thread_known; /* the style's thread is a number */
    int64_t thread;
    body_local *locals; /* [n_locals] of the body; NULL: outside a body, where there are none */
    /* slices by the first subscript of tables with an unknown subscript, which are emitted as arrays:
     * bit k is slice k, the last bit is every slice from there on */
    uint64_t slices[WEFT_TABLES_MAX];
    bool keeps_loops; /* loops that remain have a directive not to unroll */
    bool unrolls;     /* and these one to unroll */
    int depth;        /* of indentation */
    body_value result_value;
    int n_doubts; /* enclosing branches and loops that may not be executed */
} body_writer;

/** The value of an int or condition; false: it is not known. */
bool weft_body_integer(const body_writer *w, const weft_term *term, int64_t *out);
/** The value of a constant real (literals, sizes, table entries); false: it depends on data. */
bool weft_body_constant(const body_writer *w, const weft_term *term, double *out);
/** Check that known subscripts are in range. */
weft_status weft_body_check(body_writer *w, const weft_term *term);

/* ---- values (fusion/library/body_values.c) ---- */

/** A local is declared; assigned: with a value. */
void weft_body_value_forget(body_writer *w, int local, bool assigned);
/** A place is assigned. */
void weft_body_value_set(body_writer *w, const weft_term *place);
/** Check that everything that a term reads has a value. */
weft_status weft_body_value_read(body_writer *w, const weft_term *term);
/** At the end: check that the result has its values, if the body computes the whole result. */
weft_status weft_body_value_finish(body_writer *w, bool whole);

void weft_body_print_integer(body_writer *w, const weft_term *term);
/** A value where a `real` is needed; constants are converted by the splat macro. */
void weft_body_print_real(body_writer *w, const weft_term *term);
void weft_body_print_place(body_writer *w, const weft_term *term);
