/** Sorting of integers. In: an array. Out: the same array, ascending. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** Sort n numbers in place. Also works for int32_t arrays without negative values. */
void weft_numbers_sort(uint32_t *numbers, size_t n);
