/** Which pairs (i, j) of two index sets a list over both has, and how it is stored. In: two sizes.
 *  Out: the number of stored entries.
 *
 *  All pairs, row by row; or those of one triangle, the diagonal included. A symmetric list has the
 *  same value at (j, i). Full storage has a place for every pair, of which those outside of the triangle
 *  are neither read nor written; packed storage has the rows of the triangle one after another. Entry
 *  (i, j) has the number i n + j in full storage, i (i + 1)/2 + j in a packed lower triangle, and
 *  i n - i (i + 1)/2 + j in a packed upper one.
 *
 *  Decision  docs/decisions/0061-triangles-are-sets-of-pairs.md */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef enum weft_triangle { TRIANGLE_NONE, TRIANGLE_LOWER, TRIANGLE_UPPER } weft_triangle;

typedef struct weft_pairs {
    weft_triangle triangle; /* NONE: all pairs */
    bool symmetric, packed;
} weft_pairs;

static inline int64_t weft_pairs_count(weft_pairs pairs, int64_t first, int64_t second) {
    return pairs.packed ? first * (first + 1) / 2 : first * second;
}

/** " symmetric lower packed"; "": all pairs. */
static inline const char *weft_pairs_words(weft_pairs pairs) {
    static const char *const words[2][2][2] = {{{" triangular lower", " triangular lower packed"},
                                                {" triangular upper", " triangular upper packed"}},
                                               {{" symmetric lower", " symmetric lower packed"},
                                                {" symmetric upper", " symmetric upper packed"}}};
    return pairs.triangle == TRIANGLE_NONE
               ? ""
               : words[pairs.symmetric][pairs.triangle == TRIANGLE_UPPER][pairs.packed];
}
