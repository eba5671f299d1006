/** A page for a browser: page.c writes it, page_graph.c draws the graph with its kernels. */
#ifndef PAGE_INTERNAL_H
#define PAGE_INTERNAL_H

#include "graph_print_internal.h"

/** Text with the characters of markup spelled out. */
void page_text(const char *text, weft_text *out);
/** "hsl(47, 60%, 90%)": the colour of a kernel. */
void page_colour(int kernel, weft_text *out);
/** The graph of one segment as SVG: a band a kernel, in the order of the plan, the lists that it
 *  starts from above, what it leaves below. first: the number of its first kernel on the page. */
weft_status page_graph(const weft_compilation *c, int first, weft_text *out, weft_error *error);

#endif
