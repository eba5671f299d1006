/** JSON values for printing. In: numbers and text. Out: values of jansson, and their text. A function
 *  that returns a value returns NULL when memory runs out; jansson hands such a NULL on, so that only
 *  the root need be looked at. */
#pragma once

#include "core/weft_core.h"

#include <jansson.h>

/** Text of any bytes; those that are not UTF-8 are replaced. */
json_t *weft_json_string(const char *text);
/** An integer where the number is one. */
json_t *weft_json_number(double number);
json_t *weft_json_integers(const int *list, int n);
/** Take `value` to the end of *list. Where either is NULL, or memory runs out, *list is NULL. */
void weft_json_append(json_t **list, json_t *value);
/** Give an object one more key. Where it or the value is NULL, or memory runs out, *object is NULL. */
void weft_json_set(json_t **object, const char *key, json_t *value);
/** Write and free a value. NULL: out->failed. */
void weft_json_write(json_t *root, weft_text *out);
