/** Sorting of numbers. In: an array. Out: the same array, ascending. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** Sort n numbers. An array of int32_t that are not negative may be passed too. */
void weft_numbers_sort(uint32_t *numbers, size_t n);
