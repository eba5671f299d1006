/* Makes JSON values of text and numbers, and writes them. */
#include "fusion/base/json.h"
#include "core/weft_escape.h"

json_t *weft_json_string(const char *text) {
    weft_text quoted = {0};
    weft_text_add_json(&quoted, text);
    json_t *made =
        quoted.failed ? NULL : json_loadb(quoted.data, quoted.length, JSON_DECODE_ANY, NULL);
    weft_text_free(&quoted);
    return made;
}

json_t *weft_json_number(double number) {
    const bool whole = number > -1e15 && number < 1e15 && number == (double)(json_int_t)number;
    return whole ? json_integer((json_int_t)number) : json_real(number);
}

json_t *weft_json_integers(const int *list, int n) {
    json_t *made = json_array();
    for (int i = 0; i < n; ++i)
        weft_json_append(&made, json_integer(list[i]));
    return made;
}

/* jansson takes ownership of the value even if it fails, and fails for NULL. */
void weft_json_append(json_t **list, json_t *value) {
    if (json_array_append_new(*list, value) != 0) {
        json_decref(*list);
        *list = NULL;
    }
}

void weft_json_set(json_t **object, const char *key, json_t *value) {
    if (json_object_set_new(*object, key, value) != 0) {
        json_decref(*object);
        *object = NULL;
    }
}

static int add(const char *bytes, size_t n, void *out) {
    weft_text_add_bytes(out, bytes, n);
    return ((weft_text *)out)->failed ? -1 : 0;
}

void weft_json_write(json_t *root, weft_text *out) {
    if (!root || json_dump_callback(root, add, out, JSON_INDENT(2)) != 0)
        out->failed = true;
    weft_text_add_bytes(out, "\n", 1);
    json_decref(root);
}
