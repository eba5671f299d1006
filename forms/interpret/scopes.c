/* Scopes: hash tables from names to values. */
#include "forms/interpret/private.h"

#include <string.h>

enum { SCOPE_BITS = 4 };

ufl_scope *ufl_scope_make(ufl_interpreter *interpreter, ufl_scope *parent) {
    ufl_scope *scope = ufl_alloc(interpreter->context, 1, sizeof *scope);
    if (!scope)
        return NULL;
    scope->parent = parent;
    scope->bits = SCOPE_BITS;
    scope->names = ufl_alloc(interpreter->context, (size_t)1 << scope->bits, sizeof *scope->names);
    scope->values =
        ufl_alloc(interpreter->context, (size_t)1 << scope->bits, sizeof *scope->values);
    return scope->names && scope->values ? scope : NULL;
}

static size_t slot_of(const ufl_scope *scope, const char *name) {
    size_t mask = ((size_t)1 << scope->bits) - 1, at = (size_t)weft_hash_text(name) & mask;
    while (scope->names[at] && strcmp(scope->names[at], name) != 0)
        at = (at + 1) & mask;
    return at;
}

ufl_value *ufl_scope_find(const ufl_scope *scope, const char *name) {
    size_t at = slot_of(scope, name);
    bool bound = scope->names[at] && scope->values[at].kind != UFL_K_UNBOUND;
    return bound ? &scope->values[at] : NULL;
}

static bool grow(ufl_interpreter *interpreter, ufl_scope *scope) {
    ufl_scope old = *scope;
    ++scope->bits;
    scope->names = ufl_alloc(interpreter->context, (size_t)1 << scope->bits, sizeof *scope->names);
    scope->values =
        ufl_alloc(interpreter->context, (size_t)1 << scope->bits, sizeof *scope->values);
    if (!scope->names || !scope->values)
        return false;
    for (size_t i = 0; i < (size_t)1 << old.bits; ++i)
        if (old.names[i]) {
            size_t at = slot_of(scope, old.names[i]);
            scope->names[at] = old.names[i];
            scope->values[at] = old.values[i];
        }
    return true;
}

bool ufl_scope_bind(ufl_interpreter *interpreter, ufl_scope *scope, const char *name,
                    ufl_value value) {
    if (2 * (scope->n + 1) > (size_t)1 << scope->bits && !grow(interpreter, scope))
        return false;
    size_t at = slot_of(scope, name);
    if (!scope->names[at]) {
        scope->names[at] = name;
        ++scope->n;
    }
    scope->values[at] = value;
    return true;
}
