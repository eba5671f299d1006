/** Text of the user's (paths, names, formulas, messages) inside of text in another language: one
 *  function per language, and no other way in. Each takes any bytes up to the zero, and what it
 * adds can neither end the place it stands in nor break the file. Bytes that are not UTF-8, control
 *  characters and characters that reorder the line (bidirectional controls) are replaced, by U+FFFD
 *  where not said otherwise. NULL adds what "" does. docs/security.md lists who uses which. */
#ifndef WEFT_ESCAPE_H
#define WEFT_ESCAPE_H

#include "core/weft_core.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A JSON string, quoted. Control characters are escaped, not replaced. */
void weft_text_add_json(weft_text *text, const char *string);
/** HTML, SVG and XML: text, and values of attributes in either kind of quotes. */
void weft_text_add_markup(weft_text *text, const char *string);
/** Inside of a comment in C or CUDA, of either kind: ASCII on one line; '*', '?', '\' and what is
 *  not ASCII become '_', so that neither an end of the comment, a trigraph nor a joined line is
 *  there. */
void weft_text_add_comment(weft_text *text, const char *string);
/** Inside of a string of Graphviz in double quotes; a line's end becomes "\n". */
void weft_text_add_dot(weft_text *text, const char *string);
/** A string of gnuplot, quoted, on one line: in single quotes neither '`' nor '@' nor '\' means
 *  anything. */
void weft_text_add_gnuplot(weft_text *text, const char *string);
/** Text of Markdown on one line, in a table's cell too. */
void weft_text_add_markdown(weft_text *text, const char *string);
/** What is written to a terminal: lines and tabs stay, '?' replaces. */
void weft_text_add_terminal(weft_text *text, const char *string);

/** The length in bytes of the character at `at` (0 at the end); *shown: it is whole, and neither a
 *  control character, a line's end and a tab included, nor a bidirectional control. */
int weft_character_length(const char *at, bool *shown);

#ifdef __cplusplus
}
#endif

#endif
