/* Writes and reads the text of a plan that a device keeps on disk, and compares a compilation with it.
 *
 * The text is a list of fields, each a length in bytes, a line break, the bytes, a line break:
 *
 *      format, choices of loops, saving, graph of segment 0, its plan, graph of segment 1, ..., "", body of the source */
#include "fusion/control/kept_plan.h"
#include "fusion/base/array.h"
#include "fusion/base/json.h"

#include <stdlib.h>
#include <string.h>

static const char format[] = "weft-kept-plan-1";

/* ---- writing ---- */

static void add_field(weft_text *out, const char *bytes, size_t length) {
    weft_text_add(out, "%zu\n", length);
    weft_text_add_bytes(out, bytes, length);
    weft_text_add_bytes(out, "\n", 1);
}

/* Without the blanks of weft_json_write: it is read by every start. */
static void add_json(weft_text *out, json_t *value) {
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    if (text)
        add_field(out, text, strlen(text));
    else
        out->failed = true;
    free(text);
    json_decref(value);
}

static json_t *saving_json(const weft_saving *saving) {
    return json_pack("{s:[iii], s:[ff], s:o, s:o}", "calls_kernels_unfused", saving->n_calls,
                     saving->n_kernels, saving->n_unfused, "bytes", saving->bytes,
                     saving->bytes_unfused, "calls", weft_json_string(saving->calls), "index_set",
                     weft_json_string(saving->index_set));
}

/* Of each loop: the names that it could recompute, iterations, both times, what was chosen. */
static json_t *choices_json(const weft_control *control) {
    json_t *list = json_array();
    for (int i = 0; control->choices_of_loops && i < control->script->n_loops; ++i) {
        const weft_control_choice *one = &control->choices_of_loops[i];
        weft_json_append(&list, json_pack("[ifffb]", one->n, one->iterations, one->stored,
                                          one->recomputed, one->chosen));
    }
    return list;
}

static json_t *plan_json(const weft_segment *segment) {
    return weft_plan_json(segment->graph, segment->plan, segment->number);
}

weft_status weft_kept_plan_write(const weft_compilation *compilation, const weft_saving *saving,
                                 weft_text *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_control *control = compilation->control;
    char hash[33];
    add_field(out, format, sizeof format - 1);
    add_json(out, choices_json(control));
    if (saving)
        add_json(out, saving_json(saving));
    else
        add_field(out, "", 0);
    for (int i = 0; i < control->n_segments; ++i) {
        TRY(weft_segment_hash_graph(control->segments[i], hash, error));
        add_field(out, hash, strlen(hash));
        add_json(out, plan_json(control->segments[i]));
    }
    add_field(out, "", 0);
    add_field(out, compilation->body, strlen(compilation->body));
    if (out->failed)
        status = weft_no_memory(error);
done:
    return status;
}

/* ---- reading ---- */

typedef struct field {
    const char *text; /* NULL: there is none */
    size_t length;
} field;

/* The next field, ended by a zero in place of its line break. *at: what is left, of *size bytes. */
static field next_field(char **at, size_t *size) {
    size_t length = 0, digits = 0;
    while (digits < *size && digits < 10 && (*at)[digits] >= '0' && (*at)[digits] <= '9')
        length = 10 * length + (size_t)((*at)[digits++] - '0');
    if (digits == 0 || digits == *size || (*at)[digits] != '\n' || *size - digits - 1 <= length ||
        (*at)[digits + 1 + length] != '\n')
        return (field){NULL, 0};
    char *text = *at + digits + 1;
    text[length] = '\0';
    *at = text + length + 1;
    *size -= digits + length + 2;
    return (field){text, length};
}

static bool read_saving(const char *text, weft_saving *out) {
    json_t *root = json_loads(text, 0, NULL);
    const char *calls = NULL, *index_set = NULL;
    const bool read =
        root && json_unpack(root, "{s:[iii], s:[FF], s:s, s:s}", "calls_kernels_unfused",
                            &out->n_calls, &out->n_kernels, &out->n_unfused, "bytes", &out->bytes,
                            &out->bytes_unfused, "calls", &calls, "index_set", &index_set) == 0;
    if (read) {
        snprintf(out->calls, sizeof out->calls, "%s", calls);
        snprintf(out->index_set, sizeof out->index_set, "%s", index_set);
    }
    json_decref(root);
    return read;
}

/* *good: the text is a list of choices. */
static weft_status read_choices(weft_arena *arena, const char *text, weft_kept_plan *out,
                                bool *good, weft_error *error) {
    weft_status status = WEFT_OK;
    json_t *root = json_loads(text, 0, NULL);
    *good = json_is_array(root);
    for (size_t i = 0; *good && i < json_array_size(root); ++i) {
        weft_control_choice one = {0};
        int chosen = 0;
        *good = json_unpack(json_array_get(root, i), "[iFFFb]", &one.n, &one.iterations,
                            &one.stored, &one.recomputed, &chosen) == 0;
        one.chosen = chosen != 0;
        TRY(WEFT_APPEND(arena, out->choices, out->n_loops, one, error));
    }
done:
    json_decref(root);
    return status;
}

weft_status weft_kept_plan_read(weft_arena *arena, const char *text, size_t size,
                                weft_kept_plan **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_kept_plan *made = NULL;
    bool good = false;
    char *at = weft_arena_copy(arena, text, size);
    *out = NULL;
    if (!at)
        TRY(weft_no_memory(error));
    TRY(WEFT_ALLOC(arena, made, 1, error));
    const field head = next_field(&at, &size), choices = next_field(&at, &size),
                saving = next_field(&at, &size);
    if (!head.text || strcmp(head.text, format) != 0 || !choices.text || !saving.text)
        goto done;
    TRY(read_choices(arena, choices.text, made, &good, error));
    if (!good)
        goto done;
    made->has_saving = saving.length > 0;
    if (made->has_saving && !read_saving(saving.text, &made->saving))
        goto done;
    field graph = next_field(&at, &size);
    for (; graph.text && graph.length > 0; graph = next_field(&at, &size)) {
        const field plan = next_field(&at, &size);
        const weft_kept_segment one = {graph.text, plan.text, plan.length};
        if (!plan.text)
            goto done;
        TRY(WEFT_APPEND(arena, made->segments, made->n_segments, one, error));
    }
    const field body = next_field(&at, &size);
    made->body = body.text;
    if (graph.text && body.text && size == 0)
        *out = made;
done:
    return status;
}

/* ---- comparing ---- */

static weft_status segment_fits(const weft_segment *segment, const weft_kept_segment *kept,
                                bool *fits, weft_error *error) {
    weft_status status = WEFT_OK;
    char hash[33];
    TRY(weft_segment_hash_graph(segment, hash, error));
    json_t *json = plan_json(segment);
    char *plan = json ? json_dumps(json, JSON_COMPACT) : NULL;
    *fits = plan && strcmp(hash, kept->graph) == 0 && strlen(plan) == kept->length &&
            memcmp(plan, kept->plan, kept->length) == 0;
    if (!plan)
        status = weft_no_memory(error);
    free(plan);
    json_decref(json);
done:
    return status;
}

weft_status weft_kept_plan_fits(const weft_compilation *compilation, const weft_kept_plan *kept,
                                bool *fits, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_control *control = compilation->control;
    *fits = control->n_segments == kept->n_segments;
    for (int i = 0; i < control->n_segments && *fits; ++i)
        TRY(segment_fits(control->segments[i], &kept->segments[i], fits, error));
done:
    return status;
}
