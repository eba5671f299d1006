/** Reading a script without compiling it: text in, the names that it declares and makes out. */
#ifndef WEFT_OUTLINE_H
#define WEFT_OUTLINE_H

#include "fusion/weft_compile.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a script says, by the parser alone: for programs that must know before they compile it. */
typedef struct weft_outline weft_outline;
/** fragments  borrowed for the call; free with weft_outline_free
 *  Errors     those of weft_compile that a text has by itself: WEFT_ERROR_SYNTAX, _TYPE,
 *             _UNSUPPORTED with file, line, column; _MEMORY */
weft_status weft_outline_make(const weft_fragment *fragments, int n_fragments, weft_outline **out,
                              weft_error *error);
void weft_outline_free(weft_outline **outline);
typedef struct weft_outline_name {
    const char *name; /* borrowed from the outline */
    weft_name_kind kind;
    bool in_loop;     /* made by a statement in a loop */
    bool accumulated; /* NAME[...] += ... */
    bool read; /* in the value of a statement, or in a loop's condition or number of iterations */
} weft_outline_name;
/** In the order of their first appearance. */
int weft_outline_names(const weft_outline *outline);
void weft_outline_describe(const weft_outline *outline, int i, weft_outline_name *out);
/** Is there such a name? out may be NULL. */
bool weft_outline_find(const weft_outline *outline, const char *name, weft_outline_name *out);
/** Is there a return statement? */
bool weft_outline_returns(const weft_outline *outline);
/** Put blanks in the place of the return statements; lines and columns of the rest stay.
 *  text  that of the fragment, unchanged */
weft_status weft_outline_strip(const weft_outline *outline, int fragment, char *text,
                               weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
