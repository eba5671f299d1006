/* Sorts integers: short lists, which are by far the most frequent, by insertion, others in place by
 * their digits from the highest (American flag sort: McIlroy, Bostic and McIlroy 1993). */
#include "core/base/sort.h"

#include <stdlib.h>

enum { FEW = 128, DIGITS = 256 };

static void sort_few(uint32_t *numbers, size_t n) {
    for (size_t i = 1; i < n; ++i) {
        const uint32_t moved = numbers[i];
        size_t k = i;
        for (; k > 0 && numbers[k - 1] > moved; --k)
            numbers[k] = numbers[k - 1];
        numbers[k] = moved;
    }
}

/* Each number goes to the next free position of its digit, and the number that it displaces to its own. */
static void sort_by_digits(uint32_t *numbers, size_t n, int shift) {
    size_t next[DIGITS] = {0}, end[DIGITS], sum = 0;
    if (n <= FEW) {
        sort_few(numbers, n);
        return;
    }
    for (size_t i = 0; i < n; ++i)
        ++next[numbers[i] >> shift & (DIGITS - 1)];
    for (int digit = 0; digit < DIGITS; ++digit) {
        const size_t count = next[digit];
        next[digit] = sum;
        sum += count;
        end[digit] = sum;
    }
    for (uint32_t digit = 0; digit < DIGITS; ++digit)
        while (next[digit] < end[digit]) {
            uint32_t moved = numbers[next[digit]];
            for (uint32_t own = moved >> shift & (DIGITS - 1); own != digit;
                 own = moved >> shift & (DIGITS - 1)) {
                const uint32_t there = numbers[next[own]];
                numbers[next[own]++] = moved;
                moved = there;
            }
            numbers[next[digit]++] = moved;
        }
    for (int digit = 0; digit < DIGITS && shift > 0; ++digit) {
        const size_t first = digit > 0 ? end[digit - 1] : 0;
        sort_by_digits(numbers + first, end[digit] - first, shift - 8);
    }
}

void weft_numbers_sort(uint32_t *numbers, size_t n) {
    uint32_t all = 0;
    int shift = 0;
    for (size_t i = 0; i < n && n > FEW; ++i)
        all |= numbers[i];
    while (all >> shift >= DIGITS)
        shift += 8;
    sort_by_digits(numbers, n, shift);
}
