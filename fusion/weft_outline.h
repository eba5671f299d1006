/** Script outlines. In: script text. Out: the names that it declares and assigns; nothing is
 *  compiled. */
#ifndef WEFT_OUTLINE_H
#define WEFT_OUTLINE_H

#include "fusion/weft_compile.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A parsed script, for programs that must know its names before they compile it. */
typedef struct weft_outline weft_outline;
/** Parse a script.
 *  fragments  borrowed for the call
 *  out        caller's; weft_outline_free
 *  Errors     those of weft_compile that parsing finds: WEFT_ERROR_SYNTAX, _TYPE, _UNSUPPORTED with
 *             file, line, column; _MEMORY */
weft_status weft_outline_make(const weft_fragment *fragments, int n_fragments, weft_outline **out,
                              weft_error *error);
void weft_outline_free(weft_outline **outline);
/** Is a word reserved, so that no script can declare it? */
bool weft_outline_reserved(const char *word);
typedef struct weft_outline_name {
    const char *name; /* borrowed from the outline */
    weft_name_kind kind;
    bool in_loop;     /* assigned by a statement in a loop */
    bool accumulated; /* NAME[...] += ... */
    bool read;        /* by the value of a statement, or by a loop's condition or iteration limit */
} weft_outline_name;
/** Number of names, in the order of their first appearance. */
int weft_outline_names(const weft_outline *outline);
void weft_outline_describe(const weft_outline *outline, int i, weft_outline_name *out);
/** Does the script have this name? out may be NULL. */
bool weft_outline_find(const weft_outline *outline, const char *name, weft_outline_name *out);
/** Does the script have a return statement? */
bool weft_outline_returns(const weft_outline *outline);
/** Overwrite the return statements with blanks, in place; other lines and columns do not move.
 *  text  the unchanged text of this fragment */
weft_status weft_outline_strip(const weft_outline *outline, int fragment, char *text,
                               weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
