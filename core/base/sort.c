/* Sorts integers: short lists, which are by far the most frequent, by insertion. */
#include "core/base/sort.h"

#include <stdlib.h>

enum { FEW = 128 };

static int compare(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void weft_numbers_sort(uint32_t *numbers, size_t n) {
    if (n > FEW) {
        qsort(numbers, n, sizeof *numbers, compare);
        return;
    }
    for (size_t i = 1; i < n; ++i) {
        const uint32_t moved = numbers[i];
        size_t k = i;
        for (; k > 0 && numbers[k - 1] > moved; --k)
            numbers[k] = numbers[k - 1];
        numbers[k] = moved;
    }
}
