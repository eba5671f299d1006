/** Marks of numbers, one byte each, most of them 0.
 *  In: marks.  Out: how many are set, and which. */
#pragma once

#include <stdint.h>

/** Marks [n] of the numbers of a list. Caller's; free(). NULL: out of memory */
unsigned char *weft_marks_of(const int32_t *list, int64_t n_list, int64_t n);
int64_t weft_marks_count(const unsigned char *marks, int64_t n);
/** out [weft_marks_count] gets the numbers of the marks that are not 0, ascending. */
void weft_marks_list(const unsigned char *marks, int64_t n, int32_t *out);
