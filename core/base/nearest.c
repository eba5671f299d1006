/* Finds the name nearest to a misspelt one by edit distance. */
#include "core/weft_core.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 63 };

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Optimal string alignment distance: insertions, deletions, substitutions and transpositions of
 * neighbours. A change of case costs nothing. */
static size_t edit_distance(const char *a, size_t n, const char *b, size_t m) {
    size_t rows[3][LONGEST + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; ++j)
        last[j] = j;
    for (size_t i = 1; i <= n; ++i) {
        row[0] = i;
        for (size_t j = 1; j <= m; ++j) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            row[j] = smaller(last[j - 1] + (x != y), smaller(last[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                tolower((unsigned char)a[i - 2]) == y)
                row[j] = smaller(row[j], before[j - 2] + 1);
        }
        size_t *recycled = before;
        before = last;
        last = row;
        row = recycled;
    }
    return last[m];
}

const char *weft_nearest_name(const char *name, const char *const *names, size_t n) {
    const char *nearest = NULL;
    if (!name)
        return NULL;
    size_t length = strlen(name);
    if (length == 0 || length > LONGEST)
        return NULL;
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < n; ++i) {
        size_t other = names[i] ? strlen(names[i]) : 0;
        if (other == 0 || other > LONGEST)
            continue;
        /* A third of the name may differ, but never all of it. */
        size_t longer = length > other ? length : other;
        size_t limit = longer < 3 ? (longer > 1) : (longer + 1) / 3;
        size_t distance = edit_distance(name, length, names[i], other);
        if (distance <= limit && distance < best) {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}
