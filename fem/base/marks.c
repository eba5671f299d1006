/* Lists marks, eight at a time where none is set. */
#include "fem/base/marks.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = sizeof(uint64_t) };

/* Whether marks i .. i + 7 exist and are all 0. */
static bool none_set(const unsigned char *marks, int64_t n, int64_t i) {
    uint64_t word = 1;
    if (i + WORD <= n)
        memcpy(&word, marks + i, WORD);
    return word == 0;
}

unsigned char *weft_marks_of(const int32_t *list, int64_t n_list, int64_t n) {
    unsigned char *marks = calloc((size_t)n + 1, 1);
    for (int64_t k = 0; marks && k < n_list; ++k)
        marks[list[k]] = 1;
    return marks;
}

int64_t weft_marks_count(const unsigned char *marks, int64_t n) {
    int64_t count = 0;
    for (int64_t i = 0; i < n;) {
        if (none_set(marks, n, i)) {
            i += WORD;
            continue;
        }
        count += marks[i++] != 0;
    }
    return count;
}

void weft_marks_list(const unsigned char *marks, int64_t n, int32_t *out) {
    for (int64_t i = 0; i < n;) {
        if (none_set(marks, n, i)) {
            i += WORD;
            continue;
        }
        if (marks[i] != 0)
            *out++ = (int32_t)i;
        ++i;
    }
}
