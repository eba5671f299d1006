/* Specialises functions: binds sizes from argument shapes, makes tables, infers results. */
#include "core/base/fault.h"
#include "core/base/number.h"
#include "fusion/base/array.h"
#include "fusion/library/function.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int weft_shape_count(const weft_shape *shape) {
    int64_t count = 1;
    for (int i = 0; i < shape->rank; ++i)
        if (__builtin_mul_overflow(count, (int64_t)shape->sizes[i], &count) || count > INT32_MAX)
            return INT32_MAX;
    return (int)count;
}

bool weft_shape_equal(const weft_shape *a, const weft_shape *b) {
    bool equal = a->rank == b->rank;
    for (int i = 0; equal && i < a->rank; ++i)
        equal = a->sizes[i] == b->sizes[i];
    return equal;
}

void weft_shape_print(const weft_shape *shape, weft_text *out) {
    weft_text_add(out, "real");
    for (int i = 0; i < shape->rank; ++i)
        weft_text_add(out, "%s%d%s", i ? "," : "[", shape->sizes[i],
                      i + 1 == shape->rank ? "]" : "");
}

/* The state of making a specialisation. */
typedef struct binder {
    weft_arena *arena;
    const weft_library *library;
    const weft_function *function;
    weft_specialisation *specialisation;
    weft_location place;
    weft_error *error;
    bool bound[WEFT_FUNCTION_NAMES_MAX];
    const char *origin[WEFT_FUNCTION_NAMES_MAX]; /* the formal that bound a size */
} binder;

typedef struct shape_text {
    char text[64];
} shape_text;

static shape_text shape_of(const weft_shape *shape) {
    shape_text out;
    size_t n = (size_t)snprintf(out.text, sizeof out.text, "real");
    for (int i = 0; i < shape->rank; ++i)
        n += (size_t)snprintf(out.text + n, sizeof out.text - n, "%s%d%s", i ? "," : "[",
                              shape->sizes[i], i + 1 == shape->rank ? "]" : "");
    return out;
}

static weft_status place_error(binder *b, weft_status status) {
    const weft_source *source = b->place.source;
    if (source)
        weft_error_location(b->error, source->name, source->text, b->place.line, b->place.column);
    return status;
}

static weft_status shape_error(binder *b, const char *format, ...) WEFT_PRINTF(2, 3);

static weft_status shape_error(binder *b, const char *format, ...) {
    char message[900];
    va_list arguments;
    va_start(arguments, format);
    weft_print_list(message, sizeof message, format, arguments);
    va_end(arguments);
    weft_status status = place_error(
        b, weft_error_set(b->error, WEFT_ERROR_SHAPE, "%s: %s", b->function->info.name, message));
    weft_function_hint(b->function, b->error);
    return status;
}

static weft_status take_parameters(binder *b, const char *const *keys, const int *key_values,
                                   int n_keys) {
    const weft_function *function = b->function;
    const char *names[WEFT_FUNCTION_NAMES_MAX];
    size_t n = 0;
    weft_status status;
    for (int i = 0; i < function->n_names; ++i) {
        const weft_name *name = &function->names[i];
        if (name->is_parameter) {
            names[n++] = name->name;
            b->specialisation->values[i] = name->value;
            b->bound[i] = name->has_value;
            b->origin[i] = "the parameter";
        }
    }
    for (int k = 0; k < n_keys; ++k) {
        int index = weft_function_name_index(function, keys[k]);
        if (index < 0 || !function->names[index].is_parameter) {
            const char *near = weft_nearest_name(keys[k], names, n);
            status =
                place_error(b, weft_error_set(b->error, WEFT_ERROR_TYPE, "%s has no parameter '%s'",
                                              function->info.name, keys[k]));
            if (near)
                weft_error_hint(b->error, "did you mean '%s'?", near);
            else
                weft_error_hint(b->error, n ? "its first parameter is '%s'" : "it has none",
                                n ? names[0] : "");
            return status;
        }
        b->specialisation->values[index] = key_values[k];
        b->bound[index] = true;
    }
    for (int i = 0; i < function->n_names; ++i)
        if (function->names[i].is_parameter && !b->bound[i]) {
            status = place_error(b, weft_error_set(b->error, WEFT_ERROR_TYPE,
                                                   "%s needs its parameter '%s'",
                                                   function->info.name, function->names[i].name));
            weft_error_hint(b->error, "write %s(..., %s = 2)", function->info.name,
                            function->names[i].name);
            return status;
        }
    return WEFT_OK;
}

/* Bind the sizes that occur as `name` or `name + integer` in a formal. */
static weft_status bind_shape(binder *b, const weft_formal *formal, const weft_shape *shape) {
    for (int i = 0; i < formal->rank; ++i) {
        int64_t added = 0;
        int index = weft_term_linear(formal->sizes[i], &added);
        if (index < 0 || b->bound[index])
            continue;
        int64_t value = shape->sizes[i] - added;
        if (value < 0 || value > INT32_MAX)
            return shape_error(b, "%s is %s, which makes %s = %lld", formal->name,
                               shape_of(shape).text, b->function->names[index].name,
                               (long long)value);
        b->specialisation->values[index] = (int)value;
        b->bound[index] = true;
        b->origin[index] = formal->name;
    }
    return WEFT_OK;
}

/* The first name in a term, for messages. */
static int term_name(const weft_term *term) {
    if (term->kind == TERM_SIZE)
        return term->index;
    int found = -1;
    for (int i = 0; i < term->n_children && found < 0; ++i)
        found = term_name(term->children[i]);
    return found;
}

static weft_status check_shape(binder *b, const weft_formal *formal, const weft_shape *shape) {
    for (int i = 0; i < formal->rank; ++i) {
        int64_t want = 0;
        const char *wrong =
            weft_term_evaluate(formal->sizes[i], b->specialisation->values, b->bound, &want);
        if (!wrong && want == shape->sizes[i])
            continue;
        if (wrong)
            return shape_error(b, "size %d of %s is %s", i + 1, formal->name, wrong);
        int name = term_name(formal->sizes[i]);
        if (name < 0)
            return shape_error(b, "%s is %s, and its size %d should be %lld", formal->name,
                               shape_of(shape).text, i + 1, (long long)want);
        return shape_error(
            b, "%s is %s, but %s has made %s = %d, so its size %d should be %lld", formal->name,
            shape_of(shape).text, b->origin[name] ? b->origin[name] : "another size",
            b->function->names[name].name, b->specialisation->values[name], i + 1, (long long)want);
    }
    return WEFT_OK;
}

static weft_status take_arguments(binder *b, const weft_shape *arguments, int n_arguments) {
    weft_status status = WEFT_OK;
    const weft_function *function = b->function;
    if (n_arguments != function->n_arguments)
        TRY(shape_error(b, "takes %d argument%s, %d %s given", function->n_arguments,
                        function->n_arguments == 1 ? "" : "s", n_arguments,
                        n_arguments == 1 ? "is" : "are"));
    for (int i = 0; i < n_arguments; ++i) {
        const weft_formal *formal = &function->arguments[i];
        if (arguments[i].rank != formal->rank)
            TRY(shape_error(
                b, "%s is %s, but %s is expected", formal->name, shape_of(&arguments[i]).text,
                formal->rank == 0   ? "a scalar (real)"
                : formal->rank == 1 ? "a vector (real[n])"
                : formal->rank == 2 ? "a matrix (real[m,n])"
                                    : "a tensor with as many sizes as in the signature"));
        TRY(bind_shape(b, formal, &arguments[i]));
        b->specialisation->arguments[i] = arguments[i];
    }
    b->specialisation->n_arguments = n_arguments;
    for (int i = 0; i < n_arguments; ++i)
        TRY(check_shape(b, &function->arguments[i], &arguments[i]));
done:
    return status;
}

/* Check the sizes of a table against those bound by arguments. They differ most often because the
 * number of points is that of another degree, so the message names the argument. */
static weft_status check_table(binder *b, const weft_formal_table *table, const weft_shape *shape,
                               const int *arguments) {
    for (int i = 0; i < table->formal.rank; ++i) {
        int64_t added = 0;
        int name = weft_term_linear(table->formal.sizes[i], &added);
        if (name < 0 || !b->bound[name] ||
            b->specialisation->values[name] + added == shape->sizes[i])
            continue;
        for (int k = 0; k < b->function->n_arguments; ++k)
            for (int j = 0; j < b->function->arguments[k].rank; ++j) {
                int64_t plus = 0;
                if (weft_term_linear(b->function->arguments[k].sizes[j], &plus) != name)
                    continue;
                char values[64] = "";
                for (int a = 0, at = 0; a < table->n_arguments; ++a)
                    at += snprintf(values + at, sizeof values - (size_t)at, "%s%d", a ? ", " : "",
                                   arguments[a]);
                int64_t want = shape->sizes[i] - added;
                return shape_error(
                    b, "%s is %s, but %s(%s) makes %s = %lld, so its size %d should be %lld",
                    b->function->arguments[k].name, shape_of(&b->specialisation->arguments[k]).text,
                    table->maker, values, b->function->names[name].name, (long long)want, j + 1,
                    (long long)(want + plus));
            }
    }
    return WEFT_OK;
}

static weft_status make_table(binder *b, const weft_formal_table *table, int i) {
    weft_status status = WEFT_OK;
    int arguments[WEFT_RANK_MAX] = {0};
    weft_shape shape = {0};
    const int known = WEFT_FIND_NAME(b->library->tables, b->library->n_tables, table->maker);
    const weft_library_table *maker = known >= 0 ? &b->library->tables[known] : NULL;
    if (!maker || maker->n_arguments != table->n_arguments) {
        if (maker)
            status = weft_error_at(b->error, WEFT_ERROR_TYPE, table->formal.place,
                                   "the table maker '%s' takes %d arguments, %d are given",
                                   table->maker, maker->n_arguments, table->n_arguments);
        else
            status = weft_error_at(b->error, WEFT_ERROR_USAGE, table->formal.place,
                                   "no table maker '%s' is registered", table->maker);
        weft_error_hint(
            b->error, "tables are offered with weft_library_add_table; those of elements come with "
                      "the fem layer");
        goto done;
    }
    for (int k = 0; k < table->n_arguments; ++k) {
        int64_t value = 0;
        const char *wrong =
            weft_term_evaluate(table->arguments[k], b->specialisation->values, b->bound, &value);
        if (wrong)
            TRY(shape_error(b, "argument %d of its table %s is %s", k + 1, table->formal.name,
                            wrong));
        arguments[k] = (int)value;
    }
    weft_table made = {0};
    status = maker->maker(maker->user, arguments, table->n_arguments, b->arena, &made, b->error);
    if (status != WEFT_OK)
        TRY(place_error(b, status));
    shape.rank = made.rank;
    memcpy(shape.sizes, made.sizes, sizeof made.sizes);
    if (shape.rank != table->formal.rank)
        TRY(shape_error(b, "its table %s is declared with %d sizes, and %s makes %d",
                        table->formal.name, table->formal.rank, table->maker, shape.rank));
    b->specialisation->table_names[i] = table->formal.name;
    b->specialisation->table_shapes[i] = shape;
    b->specialisation->tables[i] = made.values;
    TRY(check_table(b, table, &shape, arguments));
    TRY(bind_shape(b, &table->formal, &shape));
    TRY(check_shape(b, &table->formal, &shape));
done:
    return status;
}

static bool term_unbound(const weft_term *term, const bool *bound) {
    if (term->kind == TERM_SIZE)
        return !bound[term->index];
    bool found = false;
    for (int i = 0; i < term->n_children && !found; ++i)
        found = term_unbound(term->children[i], bound);
    return found;
}

/* Check the `where` lines that can be evaluated; before the tables are made, those that do not
 * depend on a table's size. */
static weft_status check_wheres(binder *b) {
    const weft_function *function = b->function;
    for (int i = 0; i < function->n_wheres; ++i) {
        int64_t holds = 0;
        const char *wrong =
            weft_term_evaluate(function->wheres[i], b->specialisation->values, b->bound, &holds);
        if ((!wrong && holds) || term_unbound(function->wheres[i], b->bound) ||
            weft_fault("constraint_ignored"))
            continue;
        char values[256] = "";
        size_t n = 0;
        for (int k = 0; k < function->n_names && n < sizeof values - 1; ++k)
            if (b->bound[k])
                n += (size_t)snprintf(values + n, sizeof values - n, "%s%s = %d", n ? ", " : "",
                                      function->names[k].name, b->specialisation->values[k]);
        return shape_error(b, "needs %s, but %s", function->where_texts[i], wrong ? wrong : values);
    }
    return WEFT_OK;
}

static weft_status infer_result(binder *b) {
    const weft_formal *formal = &b->function->result;
    weft_shape shape = {.rank = formal->rank};
    for (int i = 0; i < formal->rank; ++i) {
        int64_t size = 0;
        const char *wrong =
            weft_term_evaluate(formal->sizes[i], b->specialisation->values, b->bound, &size);
        if (wrong)
            return shape_error(b, "size %d of its result is %s", i + 1, wrong);
        if (size < 1 || size > WEFT_ELEMENTS_MAX)
            return shape_error(b, "size %d of its result would be %lld: sizes go from 1 to %d",
                               i + 1, (long long)size, WEFT_ELEMENTS_MAX);
        shape.sizes[i] = (int)size;
    }
    if (weft_shape_count(&shape) > WEFT_ELEMENTS_MAX)
        return shape_error(b, "its result %s would have more than %d components",
                           shape_of(&shape).text, WEFT_ELEMENTS_MAX);
    b->specialisation->result = shape;
    return WEFT_OK;
}

weft_status weft_specialisation_refuse(const weft_specialisation *s, weft_location place,
                                       const char *advice, weft_error *error, const char *format,
                                       ...) {
    char message[600], sizes[256] = "";
    const char *name = s->function->info.name;
    va_list arguments;
    va_start(arguments, format);
    weft_print_list(message, sizeof message, format, arguments);
    va_end(arguments);
    size_t n = 0;
    for (int k = 0; k < s->n_names && n < sizeof sizes - 1; ++k)
        n += (size_t)snprintf(sizes + n, sizeof sizes - n, "%s%s = %d", k ? ", " : " (",
                              s->names[k], s->values[k]);
    weft_error_at(error, WEFT_ERROR_TYPE, place, "%s: %s%s%s", name, message, sizes,
                  n > 0 ? ")" : "");
    if (s->n_names > 0)
        weft_error_hint(
            error,
            "%s%sif %s is not meant for %s = %d, say so above its bodies, as in //@ where %s == %d",
            advice ? advice : "", advice ? "; " : "", name, s->names[0], s->values[0], s->names[0],
            s->values[0] == 2 ? 3 : 2);
    else if (advice)
        weft_error_hint(error, "%s", advice);
    return WEFT_ERROR_TYPE;
}

/* The value of a declared number of a native body. */
static weft_status declared(binder *b, const weft_term *term, const char *what, int most,
                            int *out) {
    int64_t value = 0;
    const char *wrong =
        term ? weft_term_evaluate(term, b->specialisation->values, b->bound, &value) : NULL;
    if (wrong || value < 0 || value > most)
        return weft_specialisation_refuse(b->specialisation, term->place, NULL, b->error,
                                          "the %s of this body would be %s%lld, and goes to %d",
                                          what, wrong ? wrong : "", (long long)value, most);
    *out = (int)value;
    return WEFT_OK;
}

/* Warps and barriers need whole warps: threads of an element that divide a warp, or are several. */
static weft_status check_warps(binder *b, const weft_variant *variant, int threads) {
    const weft_native *native = variant->native;
    const bool whole = threads > 1 && (32 % threads == 0 || threads % 32 == 0);
    const weft_location place = {b->function->source, variant->line, 1};
    if (threads > WEFT_NATIVE_THREADS || (threads == 1 && native->waits))
        return weft_specialisation_refuse(
            b->specialisation, place, NULL, b->error,
            threads == 1 ? "%d thread waits for others by line %d"
                         : "%d threads of an element are more than a block has, which waits by "
                           "line %d",
            threads, native->waits);
    if (threads == 1 && native->shared)
        return weft_specialisation_refuse(b->specialisation, place, NULL, b->error,
                                          "shared memory is for bodies of several threads");
    if (threads > 1 && !whole)
        return weft_specialisation_refuse(
            b->specialisation, place, "a 'where' line, or another number of threads", b->error,
            "%d threads of a native body are neither a part of a warp of 32 nor several warps",
            threads);
    return WEFT_OK;
}

static weft_status take_footprint(binder *b, int i) {
    weft_status status = WEFT_OK;
    const weft_variant *variant = b->function->variants[i];
    const weft_native *native = variant->native;
    weft_footprint *out = &b->specialisation->footprints[i];
    int operations = -1;
    out->operations = -1;
    if (!native)
        goto done;
    TRY(declared(b, native->shared, "shared memory", WEFT_NATIVE_SHARED, &out->shared));
    TRY(declared(b, native->registers, "number of registers", 255, &out->registers));
    if (native->operations)
        TRY(declared(b, native->operations, "number of operations", INT32_MAX, &operations));
    out->operations = operations;
    out->shared_is_reals = native->shared_is_reals;
    if (native->language == LANGUAGE_C && b->specialisation->threads[i] != 1)
        TRY(weft_specialisation_refuse(
            b->specialisation, (weft_location){b->function->source, variant->line, 1}, NULL,
            b->error, "a body in C has one thread, this one %d", b->specialisation->threads[i]));
    if (native->language == LANGUAGE_CUDA)
        TRY(check_warps(b, variant, b->specialisation->threads[i]));
done:
    return status;
}

static weft_status count_work(binder *b) {
    weft_status status = WEFT_OK;
    const weft_function *function = b->function;
    weft_specialisation *specialisation = b->specialisation;
    specialisation->flops = fmax(weft_term_estimate(function->flops, specialisation->values), 0.0);
    for (int i = 0; i < function->n_variants; ++i) {
        int64_t threads = 0;
        const char *wrong = weft_term_evaluate(function->variants[i]->threads,
                                               specialisation->values, b->bound, &threads);
        if (wrong || threads < 1 || threads > WEFT_ELEMENTS_MAX)
            TRY(shape_error(b, "variant %d has %s threads, which is %s", i + 1,
                            function->variants[i]->threads_text,
                            wrong         ? wrong
                            : threads < 1 ? "none"
                                          : "too many"));
        specialisation->threads[i] = (int)threads;
        TRY(take_footprint(b, i));
    }
done:
    return status;
}

static weft_status allocate(binder *b) {
    weft_status status = WEFT_OK;
    const weft_function *function = b->function;
    const size_t n_names = (size_t)function->n_names + 1, n_tables = (size_t)function->n_tables + 1;
    weft_specialisation *made = NULL;
    TRY(WEFT_ALLOC(b->arena, made, 1, b->error));
    made->function = function;
    made->n_variants = function->n_variants;
    made->n_names = function->n_names;
    made->n_tables = function->n_tables;
    TRY(WEFT_ALLOC(b->arena, made->threads, (size_t)function->n_variants, b->error));
    TRY(WEFT_ALLOC(b->arena, made->writers, (size_t)function->n_variants, b->error));
    TRY(WEFT_ALLOC(b->arena, made->footprints, (size_t)function->n_variants, b->error));
    TRY(WEFT_ALLOC(b->arena, made->names, n_names, b->error));
    TRY(WEFT_ALLOC(b->arena, made->values, n_names, b->error));
    TRY(WEFT_ALLOC(b->arena, made->table_names, n_tables, b->error));
    TRY(WEFT_ALLOC(b->arena, made->table_shapes, n_tables, b->error));
    TRY(WEFT_ALLOC(b->arena, made->tables, n_tables, b->error));
    for (int i = 0; i < function->n_names; ++i)
        made->names[i] = function->names[i].name;
    b->specialisation = made;
done:
    return status;
}

weft_status weft_specialisation_make(weft_arena *arena, const weft_library *library,
                                     const weft_element_request *request, weft_specialisation **out,
                                     weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_function *function = request->function;
    binder b = {.arena = arena,
                .library = library,
                .function = function,
                .place = request->place,
                .error = error};
    TRY(allocate(&b));
    TRY(take_parameters(&b, request->keys, request->key_values, request->n_keys));
    TRY(take_arguments(&b, request->arguments, request->n_arguments));
    TRY(check_wheres(&b));
    for (int i = 0; i < function->n_tables; ++i)
        TRY(make_table(&b, &function->tables[i], i));
    TRY(check_wheres(&b));
    TRY(infer_result(&b));
    TRY(count_work(&b));
    for (int v = 0; v < function->n_variants && !request->is_proved; ++v)
        TRY(weft_thread_pattern_prove(arena, b.specialisation, v, error));
    *out = b.specialisation;
done:
    return status;
}
