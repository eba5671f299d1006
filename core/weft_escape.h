/** Escaping of user text (paths, names, formulas, messages) inside text of another language: one
 *  function per language, and no other way in.
 *  In: any bytes up to the terminating zero; NULL is the same as "".
 *  Out: appended text that can neither end the enclosing construct nor break the file. Bytes that
 *  are not UTF-8, control characters and bidirectional controls are replaced, by U+FFFD if not
 *  stated otherwise. docs/security.md lists the users of each function. */
#ifndef WEFT_ESCAPE_H
#define WEFT_ESCAPE_H

#include "core/weft_core.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A JSON string with its quotes. Control characters are escaped, not replaced. */
void weft_text_add_json(weft_text *text, const char *string);
/** HTML, SVG and XML: text, and attribute values in either kind of quotes. */
void weft_text_add_markup(weft_text *text, const char *string);
/** Inside a C or CUDA comment of either kind: ASCII on one line. '*', '?', '\' and non-ASCII
 *  characters become '_', so the text contains no comment end, trigraph or line continuation. */
void weft_text_add_comment(weft_text *text, const char *string);
/** Inside a double-quoted Graphviz string; a newline becomes "\n". */
void weft_text_add_dot(weft_text *text, const char *string);
/** A single-quoted gnuplot string on one line, in which '`', '@' and '\' have no meaning. */
void weft_text_add_gnuplot(weft_text *text, const char *string);
/** Markdown text on one line, also inside table cells. */
void weft_text_add_markdown(weft_text *text, const char *string);
/** Terminal output: newlines and tabs are kept; the replacement character is '?'. */
void weft_text_add_terminal(weft_text *text, const char *string);
/** As vsnprintf, in the C locale, for messages: control characters become '?', as names in files may
 *  hold line feeds, with which they would begin a line of their own ("error: ..."). Tabs are kept, and
 *  line feeds from the first one of the format itself on ("refused:\n%s"). */
int weft_message_print(char *out, size_t size, const char *format, va_list arguments);

/** Length in bytes of the UTF-8 character at `at`; 0 at the end of the text.
 *  shown  set to whether it is a complete character and not a control character (newline, tab) or a
 *         bidirectional control */
int weft_character_length(const char *at, bool *shown);

#ifdef __cplusplus
}
#endif

#endif
