/** Reading kernel files. In: text of kernel files. Out: functions.
 *
 *      text -> kernel tokens -> terms (formulas and expressions) -> statements -> function
 *
 *  Everything is in the library's arena; functions do not change after they are added. */
#pragma once

#include "fusion/library/function.h"

/* ---- the reader's state */

typedef enum reader_mode {
    READ_SIGNATURE, /* an unknown name becomes a size */
    READ_FORMULA,   /* sizes and parameters */
    READ_PATTERN,   /* and t */
    READ_BODY       /* and locals, accessors, tables, intrinsics */
} reader_mode;

typedef struct kernel_reader {
    weft_arena *arena;   /* for functions */
    weft_arena *scratch; /* for the tokens of one line or body */
    const weft_source *source;
    weft_error *error;
    const weft_token *token; /* the current one */
    const weft_token *start; /* the first one */
    reader_mode mode;
    weft_function *function;
    const weft_common *commons;   /* those that may be used here */
    bool in_common;               /* the current text is a common */
    bool in_identity;             /* the current body sees no arguments */
    weft_native *native;          /* the native body that is read; NULL: a plain part */
    weft_variant *native_variant; /* its variant, from its `threads` line on */
    int native_line;
    /* state of the current body */
    weft_local *locals;
    int n_locals;
    int *scope; /* locals that are visible, innermost last */
    int n_scope;
    int depth, n_statements;
    bool result_set;
    bool has_barriers; /* the body */
} kernel_reader;

/** The start of a line of the file. */
weft_location weft_reader_line(const kernel_reader *reader, int line);
weft_status weft_reader_memory(kernel_reader *reader);
/** Split text[0, length), which starts at a place of the file, into tokens. They replace the
 *  previous ones, and the first is the current one.
 *  use  NULL, or the place that all tokens get */
weft_status weft_kernel_tokens_make(kernel_reader *reader, const char *text, size_t length,
                                    weft_location place, const weft_location *use);
bool weft_reader_is(const kernel_reader *reader, const char *text);
bool weft_reader_accept(kernel_reader *reader, const char *text);
/** Step over the token `text`, or fail. what: for the message, "after the size". */
weft_status weft_reader_expect(kernel_reader *reader, const char *text, const char *what);
/** The current token for messages: "'x'" or "the end". */
const char *weft_reader_found(const kernel_reader *reader);
/** A name that may be declared: not a keyword or intrinsic, and without a reserved prefix. */
weft_status weft_reader_new_name(kernel_reader *reader, const char *what, const char **out);
/** Does a name mean a size, a parameter, a visible local, an argument, a table or the result? */
bool weft_reader_is_taken(const kernel_reader *reader, const char *name);
weft_term *weft_reader_term_make(kernel_reader *reader, weft_term_kind kind, weft_term_type type);

weft_status weft_reader_term(kernel_reader *reader, weft_term **out);
weft_status weft_reader_name(kernel_reader *reader, weft_term **out);
weft_status weft_reader_integer_term(kernel_reader *reader, const char *what, weft_term **out);
/** Accessor, array or scalar that may be the target of an assignment. */
weft_status weft_reader_target(kernel_reader *reader, weft_term **out);
weft_status weft_reader_check_real(kernel_reader *reader, const weft_term *term, const char *what);
weft_status weft_reader_body(kernel_reader *reader, weft_body *out);

/* ---- lines (fusion/library/metadata.c) */

/** A line `//@ keyword rest`; rest points into the text. */
typedef struct meta_line {
    const char *keyword, *rest, *end;
    size_t keyword_length;
    weft_location place, rest_place; /* of keyword and rest */
} meta_line;

weft_status weft_meta_tokens(kernel_reader *reader, const meta_line *meta);
weft_status weft_expect_end(kernel_reader *reader);
weft_status weft_reader_signature(kernel_reader *reader, const meta_line *meta);
weft_status weft_reader_parameter(kernel_reader *reader, const meta_line *meta);
weft_status weft_reader_tune(kernel_reader *reader, const meta_line *meta);
weft_status weft_reader_table(kernel_reader *reader, const meta_line *meta);
weft_status weft_reader_where(kernel_reader *reader, const meta_line *meta);
/** (fusion/library/examples.c) */
weft_status weft_reader_example(kernel_reader *reader, const meta_line *meta);
weft_status weft_reader_shift(kernel_reader *reader, const meta_line *meta);
weft_status weft_reader_product(kernel_reader *reader, const meta_line *meta);
weft_status weft_reader_kind(kernel_reader *reader, const meta_line *meta);
weft_status weft_reader_commutative(kernel_reader *reader, const meta_line *meta);
weft_status weft_reader_unroll(kernel_reader *reader, const meta_line *meta);
weft_status weft_reader_identity(kernel_reader *reader, const meta_line *meta, weft_variant **out);
/** Check the lines of an operator, at the end of its function. */
weft_status weft_reader_check_combine(kernel_reader *reader);
weft_status weft_reader_check_barriers(kernel_reader *reader);
weft_status weft_reader_source(kernel_reader *reader, const meta_line *meta);
weft_status weft_reader_flops(kernel_reader *reader, const meta_line *meta);
weft_status weft_reader_threads(kernel_reader *reader, const meta_line *meta, weft_variant **out);
/* ---- native bodies (fusion/library/native.c) */

/** `//@ body LANGUAGE` */
weft_status weft_reader_native(kernel_reader *reader, const meta_line *meta);
/** The end of a native body, if one is read: check that it is complete. */
weft_status weft_reader_native_finish(kernel_reader *reader);
/** Another line of a native body.  out  the routine whose text is below; NULL: none */
weft_status weft_reader_native_line(kernel_reader *reader, const meta_line *meta,
                                    weft_routine **out);
/** Search the text of a routine for what would break the code around it, and set the routine. */
weft_status weft_reader_routine(kernel_reader *reader, const weft_routine *text, weft_routine *out);
/** Check that every size of the function's types follows from its arguments, parameters and tables,
 *  in that order. */
weft_status weft_reader_check_names(kernel_reader *reader);
weft_status weft_reader_check_over(kernel_reader *reader);

typedef struct weft_function_list {
    weft_function **list;
    size_t n;
} weft_function_list;
/** Read a kernel file.
 *  source   its text is in the arena
 *  commons  in: those of earlier files; out: those of this file too */
weft_status weft_kernel_file_read(weft_arena *arena, const weft_source *source,
                                  const weft_common **commons, weft_function_list *out,
                                  weft_error *error);
const weft_common *weft_common_find(const weft_common *commons, const char *name, size_t length);
/** Add text with each line `use NAME;` replaced by the statements. */
void weft_common_expand(const weft_common *commons, const char *text, size_t length,
                        weft_text *out);

/** Check that each reduction of a list has its operator, in the list or in the library.
 *  (fusion/library/combine.c) */
weft_status weft_combines_check(const weft_library *library, const weft_function *const *list,
                                size_t n, weft_error *error);

/* ---- references (fusion/library/reference.c): a function as plain C */

/** The text before all references. */
void weft_reference_prelude(weft_text *out);
/** The reference kernel `NAME_NUMBER` of one call (weft_test_cases_make): of the sequential body, or
 *  of WEFT_IDENTITY, which has the result as its only argument. */
void weft_reference_print(const weft_specialisation *specialisation, const char *name, int number,
                          int variant, weft_text *out);
/** Those of an operator: combine_NUMBER, identity_NUMBER, fold_NUMBER. */
void weft_reference_combine(const weft_specialisation *op, int number, weft_text *out);
