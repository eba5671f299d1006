/** JSON values for printing. In: numbers and text. Out: values of jansson, and their text.
 *  Functions return NULL if memory runs out; since jansson propagates NULL, only the root must be
 *  checked. */
#pragma once

#include "core/weft_core.h"

#include <jansson.h>

/** A string of any bytes; those that are not valid UTF-8 are replaced. */
json_t *weft_json_string(const char *text);
/** A number; an integer if it is integral and below 1e15 in magnitude. */
json_t *weft_json_number(double number);
json_t *weft_json_integers(const int *list, int n);
/** Append `value`, and take ownership of it. If either is NULL, or memory runs out, *list is freed
 *  and set to NULL. */
void weft_json_append(json_t **list, json_t *value);
/** Add a key to an object, and take ownership of value. If either is NULL, or memory runs out,
 *  *object is freed and set to NULL. */
void weft_json_set(json_t **object, const char *key, json_t *value);
/** Write and free a value. NULL sets out->failed. */
void weft_json_write(json_t *root, weft_text *out);
