/* Dictionaries: entries in the order in which they were made, with a hash table of their keys. */
#include "forms/interpret/private.h"

#include <string.h>

enum { FEW = 8, FIRST_BITS = 6, HASHED_ITEMS = 8 };

/* Entry e of the dictionary is in slots[] as e + 1; 0: free. At most half of the slots are used. */
struct ufl_keys {
    uint32_t *slots;
    int bits;
    size_t n; /* entries that are in the table: the first ones */
};

/* ---- hashes: equal keys have equal ones ------------------------------------------------------ */

static uint64_t mix(uint64_t hash, uint64_t bits) {
    hash = (hash ^ bits) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

/* 1, 1.0, True and the constant 1 of a form are equal, as are 0 and -0. */
static uint64_t hash_number(double number) {
    uint64_t bits;
    number = number == 0 ? 0 : number;
    memcpy(&bits, &number, sizeof bits);
    return mix(1, bits);
}

static uint64_t hash_node(const ufl_node *node) {
    return ufl_is_number(node) || (ufl_is_zero(node) && ufl_is_true_scalar(node))
               ? hash_number(ufl_number(node))
               : mix(2, (uint64_t)(uintptr_t)node);
}

static uint64_t hash_of(ufl_value key, int depth) {
    uint64_t hash = mix(0, (uint64_t)key.kind);
    switch (key.kind) {
    case UFL_K_BOOL:
    case UFL_K_INT:
        return hash_number((double)key.integer);
    case UFL_K_FLOAT:
        return hash_number(key.number);
    case UFL_K_NODE:
        return hash_node(key.node);
    case UFL_K_STRING:
    case UFL_K_ENUM:
        return mix(hash, weft_hash_text(key.text));
    case UFL_K_TUPLE:
        hash = mix(hash, key.list->n);
        for (size_t i = 0; i < key.list->n && i < HASHED_ITEMS && depth < 2; ++i)
            hash = mix(hash, hash_of(key.list->items[i], depth + 1));
        return hash;
    case UFL_K_NONE:
    case UFL_K_ELLIPSIS:
    case UFL_K_LIST: /* it may change after it has become a key */
        return hash;
    case UFL_K_INDEX:
    case UFL_K_CELL:
        return mix(hash, (uint64_t)key.integer);
    default:
        return mix(hash, (uint64_t)(uintptr_t)key.text);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

static void insert(struct ufl_keys *keys, uint64_t hash, size_t entry) {
    const size_t mask = ((size_t)1 << keys->bits) - 1;
    size_t at = (size_t)hash & mask;
    while (keys->slots[at])
        at = (at + 1) & mask;
    keys->slots[at] = (uint32_t)entry + 1;
}

/* Bring the table up to the entries of the dictionary, which may have been appended without it. */
static bool update_table(ufl_interpreter *interpreter, ufl_list *dict) {
    struct ufl_keys *keys = dict->keys;
    const size_t n = dict->n / 2;
    if (!keys)
        keys = dict->keys = ufl_alloc(interpreter->context, 1, sizeof *keys);
    if (!keys)
        return false;
    if (!keys->slots || 2 * n > (size_t)1 << keys->bits) {
        keys->bits = keys->slots ? keys->bits + 1 : FIRST_BITS;
        while (2 * n > (size_t)1 << keys->bits)
            ++keys->bits;
        keys->slots = ufl_alloc(interpreter->context, (size_t)1 << keys->bits, sizeof *keys->slots);
        keys->n = 0;
    }
    if (!keys->slots || !ufl_charge(interpreter, (int64_t)(n - keys->n)))
        return false;
    for (; keys->n < n; ++keys->n)
        insert(keys, hash_of(dict->items[2 * keys->n], 0), keys->n);
    return true;
}

/* The items that a comparison with a key visits. */
static int64_t visits(const ufl_value *key) {
    switch (key->kind) {
    case UFL_K_TUPLE:
    case UFL_K_LIST:
        return 1 + (int64_t)key->list->n;
    default:
        return 1;
    }
}

static bool is_key(ufl_interpreter *interpreter, const ufl_list *dict, size_t entry, ufl_value key,
                   bool *same) {
    *same = ufl_equal(dict->items[2 * entry], key);
    return ufl_charge(interpreter, visits(&key));
}

bool ufl_dict_find(ufl_interpreter *interpreter, ufl_list *dict, ufl_value key, ufl_value **out) {
    const size_t n = dict->n / 2;
    bool same = false;
    *out = NULL;
    if (n <= FEW) {
        for (size_t entry = 0; entry < n && !same; ++entry) {
            if (!is_key(interpreter, dict, entry, key, &same))
                return false;
            *out = same ? &dict->items[2 * entry + 1] : NULL;
        }
        return true;
    }
    if (!update_table(interpreter, dict))
        return false;
    const size_t mask = ((size_t)1 << dict->keys->bits) - 1;
    for (size_t at = (size_t)hash_of(key, 0) & mask; dict->keys->slots[at]; at = (at + 1) & mask) {
        const size_t entry = dict->keys->slots[at] - 1;
        if (!is_key(interpreter, dict, entry, key, &same))
            return false;
        if (same) {
            *out = &dict->items[2 * entry + 1];
            return true;
        }
    }
    return true;
}

bool ufl_dict_set(ufl_interpreter *interpreter, ufl_list *dict, ufl_value key, ufl_value value) {
    ufl_value *found = NULL;
    if (!ufl_dict_find(interpreter, dict, key, &found))
        return false;
    if (found) {
        *found = value;
        return true;
    }
    return ufl_append(interpreter, dict, key) && ufl_append(interpreter, dict, value);
}
