/* Reads a form file: text to syntax tree to forms, each prepared for compilation. */
#include "forms/file/file.h"
#include "core/base/file.h"
#include "core/base/options.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *variable_of(const ufl_names *names, const ufl_node *node) {
    const weft_ufl *ufl = names->user;
    return ufl->module ? ufl_module_name(ufl->module, node) : NULL;
}

/* Estimates above this are warned of, if a rule of at least DEGREE_FEW could do with fewer points. */
enum { DEGREE_HIGH = 10, DEGREE_FEW = 4 };

/* The least degree that a file should ask for: that of the product of two functions, for less makes matrices singular. They are the
 * arguments. One that is missing counts as the function of the highest degree: the unknown of a tangent, or what a load is in the
 * space of the test function. -1: an error */
static int least_degree(weft_ufl *ufl, const ufl_integral *integral) {
    const ufl_node **arguments = NULL, **coefficients = NULL;
    const int n = ufl_terminals(&ufl->graph, &integral->integrand, 1, UFL_ARGUMENT, &arguments);
    const int n_coefficients =
        ufl_terminals(&ufl->graph, &integral->integrand, 1, UFL_COEFFICIENT, &coefficients);
    int sum = ufl_scaling_degree(integral->type, integral->mesh), most = 0;
    if (n < 0 || n_coefficients < 0)
        return -1;
    for (int i = 0; i < n; ++i) {
        sum += arguments[i]->space->element->superdegree;
        most = arguments[i]->space->element->superdegree;
    }
    for (int i = 0; i < n_coefficients; ++i)
        if (coefficients[i]->space->element->superdegree > most)
            most = coefficients[i]->space->element->superdegree;
    for (int i = n; i < 2; ++i)
        sum += most;
    return sum > DEGREE_FEW ? sum : DEGREE_FEW;
}

/* Warn of rules with many points that nobody asked for, where fewer do. */
static void warn_of_degrees(weft_ufl *ufl, const weft_monitor *monitor) {
    for (int f = 0; f < ufl->module->n_forms; ++f) {
        const ufl_prepared *prepared = ufl->prepared[f];
        for (int i = 0; i < prepared->form.n_integrals; ++i) {
            const ufl_integral *integral = &prepared->form.integrals[i];
            const char *measure = ufl_measure_name(integral->type);
            if (!monitor || prepared->degrees[i] <= DEGREE_HIGH ||
                prepared->degrees[i] != integral->estimated_degree ||
                integral->metadata.has_degree || !ufl_cell_is_simplex(integral->mesh->cell))
                continue;
            const int least = least_degree(ufl, integral);
            if (least < 0 || least >= prepared->degrees[i])
                continue;
            const ufl_rule rule = integral->metadata.rule;
            weft_log(monitor, WEFT_LOG_WARNING,
                     "%s:%d: form %s: degree %d was estimated for %s, %d points for each %s; "
                     "%s(degree=%d) would take %d",
                     ufl->file, integral->place.line, ufl->module->forms[f].name,
                     prepared->degrees[i], measure,
                     ufl_rule_points(integral->type, integral->mesh, rule, prepared->degrees[i]),
                     integral->type == UFL_CELL ? "cell" : "facet", measure, least,
                     ufl_rule_points(integral->type, integral->mesh, rule, least));
        }
    }
}

/* Can the matrix of a cell's integral have as many ranks as functions? Each point adds a value and a gradient. */
static bool has_enough_points(const ufl_prepared *form, int i) {
    const ufl_integral *integral = &form->form.integrals[i];
    const ufl_element *element = form->arguments[0]->space->element;
    const int n = form->points[i] ? INT_MAX
                                  : ufl_rule_points(integral->type, integral->mesh,
                                                    integral->metadata.rule, form->degrees[i]);
    return n < 0 ||
           (int64_t)n * (1 + integral->mesh->tdim) * element->value_size >= element->n_dofs;
}

/* The last integral over cells of a bilinear form, if all of these have too few points; else NULL. */
static const ufl_integral *integral_of_few_points(const ufl_prepared *form) {
    const ufl_integral *found = NULL;
    if (form->n_arguments != 2)
        return NULL;
    for (int i = 0; i < form->form.n_integrals; ++i) {
        if (form->form.integrals[i].type != UFL_CELL)
            continue;
        if (has_enough_points(form, i))
            return NULL;
        found = &form->form.integrals[i];
    }
    return found;
}

/* Warn of bilinear forms whose integrals over cells all have too few points, as the file asked for. */
static void warn_of_few_points(weft_ufl *ufl, const weft_monitor *monitor) {
    for (int f = 0; monitor && f < ufl->module->n_forms; ++f) {
        const ufl_prepared *form = ufl->prepared[f];
        const ufl_integral *found = integral_of_few_points(form);
        if (!found || !found->metadata.has_degree)
            continue;
        weft_log(monitor, WEFT_LOG_WARNING,
                 "%s:%d: form %s: dx(degree=%d) has too few points for %s: the matrix can be "
                 "singular; the product of the arguments has degree %d",
                 ufl->file, found->place.line, ufl->module->forms[f].name, found->metadata.degree,
                 form->arguments[0]->space->element->name, least_degree(ufl, found));
    }
}

static weft_status check_options(const weft_ufl_options *options, weft_error *error) {
    if (!options)
        return WEFT_OK;
    return weft_options_check("weft_ufl_options", options->size, sizeof *options, error);
}

static weft_status prepare_forms(weft_ufl *ufl, const weft_ufl_options *options) {
    int n = ufl->module->n_forms;
    ufl->graph.part_degrees = options && options->degrees == WEFT_UFL_DEGREES_2026_2;
    ufl->prepared = ufl_alloc(&ufl->context, (size_t)n, sizeof *ufl->prepared);
    for (int i = 0; ufl->prepared && i < n; ++i) {
        ufl->context.place = ufl->module->forms[i].form->place;
        ufl->prepared[i] = ufl_prepare(&ufl->graph, ufl->module->forms[i].form, &ufl->names);
        if (!ufl->prepared[i])
            break;
    }
    if (ufl->context.status == WEFT_OK)
        warn_of_degrees(ufl, options ? options->monitor : NULL);
    if (ufl->context.status == WEFT_OK)
        warn_of_few_points(ufl, options ? options->monitor : NULL);
    return ufl->context.status;
}

weft_status weft_ufl_degrees_find(const char *name, weft_ufl_degrees *out, weft_error *error) {
    static const struct {
        const char *name;
        weft_ufl_degrees degrees;
    } known[] = {{"2026.1", WEFT_UFL_DEGREES_2026_1},
                 {"2026.2", WEFT_UFL_DEGREES_2026_2},
                 {"main", WEFT_UFL_DEGREES_2026_2}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
        if (strcmp(known[i].name, name) == 0) {
            *out = known[i].degrees;
            return WEFT_OK;
        }
    weft_error_set(error, WEFT_ERROR_USAGE, "UFL has no degrees '%.100s'", name);
    weft_error_hint(error, "they are those of 2026.1 (default), 2026.2 or main");
    return WEFT_ERROR_USAGE;
}

static weft_status make(const char *name, const char *text, size_t length, weft_ufl **out,
                        weft_error *error) {
    weft_status status = WEFT_OK;
    weft_ufl *ufl = calloc(1, sizeof *ufl);
    if (!ufl)
        TRY(weft_out_of_memory(error, "a form file"));
    TRY(weft_arena_make(&ufl->context.arena, error));
    ufl->context.error = error;
    ufl->names = (ufl_names){variable_of, ufl};
    ufl->file = ufl_copy(&ufl->context, name, strlen(name));
    ufl->text = length <= UFL_TEXT_MAX ? ufl_copy(&ufl->context, text, length) : NULL;
    ufl->context.file = ufl->file;
    ufl->context.text = ufl->text;
    ufl_graph_init(&ufl->graph, &ufl->context, &ufl->elements);
    TRY(ufl->context.status);
    *out = ufl;
    ufl = NULL;
done:
    weft_ufl_free(&ufl);
    return status;
}

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

weft_status weft_ufl_read_text(const char *name, const char *text, size_t length,
                               const weft_ufl_options *options, weft_ufl **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_ufl *ufl = NULL;
    weft_error ignored;
    TRY(check_options(options, error));
    TRY(make(name, text, length, &ufl, error ? error : &ignored));
    const ufl_syntax *program = ufl_read(&ufl->context, ufl->text ? ufl->text : text, length);
    ufl->module = ufl_execute(&ufl->graph, program, ends_with(name, ".ufl"));
    TRY(ufl->context.status);
    TRY(prepare_forms(ufl, options));
    *out = ufl;
    ufl = NULL;
done:
    weft_ufl_free(&ufl);
    return status;
}

weft_status weft_ufl_read_repr(const char *text, size_t length, const weft_ufl_options *options,
                               weft_ufl **out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_ufl *ufl = NULL;
    weft_error ignored;
    if (length > UFL_TEXT_MAX)
        TRY(weft_error_set(error, WEFT_ERROR_INPUT, "the form has %zu bytes: at most %d", length,
                           UFL_TEXT_MAX));
    TRY(check_options(options, error));
    TRY(make("form", text, length, &ufl, error ? error : &ignored));
    const char *python = ufl_repr_text(&ufl->context, text, length);
    TRY(ufl->context.status);
    const ufl_syntax *expression =
        ufl_read_expression(&ufl->context, python, length, (ufl_place){1, 1});
    ufl->module = ufl_execute_repr(&ufl->graph, expression);
    TRY(ufl->context.status);
    TRY(prepare_forms(ufl, options));
    ufl->is_repr = true;
    *out = ufl;
    ufl = NULL;
done:
    weft_ufl_free(&ufl);
    return status;
}

weft_status ufl_read_again(const weft_ufl *ufl, weft_ufl **out, weft_error *error) {
    weft_ufl_options options = weft_ufl_options_default();
    const size_t length = strlen(ufl->text);
    options.degrees = ufl->graph.part_degrees ? WEFT_UFL_DEGREES_2026_2 : WEFT_UFL_DEGREES_2026_1;
    return ufl->is_repr ? weft_ufl_read_repr(ufl->text, length, &options, out, error)
                        : weft_ufl_read_text(ufl->file, ufl->text, length, &options, out, error);
}

weft_status weft_ufl_read(const char *path, const weft_ufl_options *options, weft_ufl **out,
                          weft_error *error) {
    weft_status status = WEFT_OK;
    char *text = NULL;
    size_t length = 0;
    TRY(weft_file_read_as(path, WEFT_FILE_FORMS, &text, &length, error));
    TRY(weft_ufl_read_text(path, text, length, options, out, error));
done:
    free(text);
    return status;
}

void weft_ufl_free(weft_ufl **ufl) {
    if (!ufl || !*ufl)
        return;
    weft_arena_free(&(*ufl)->context.arena);
    free(*ufl);
    *ufl = NULL;
}

/* ---- the file's contents ---- */

int weft_ufl_n_forms(const weft_ufl *ufl) {
    return ufl->module->n_forms;
}

void weft_ufl_form(const weft_ufl *ufl, int form, weft_ufl_form_info *out) {
    const ufl_prepared *prepared = ufl->prepared[form];
    *out = (weft_ufl_form_info){.name = ufl->module->forms[form].name,
                                .rank = prepared->n_arguments,
                                .n_integrals = prepared->form.n_integrals,
                                .n_coefficients = prepared->n_coefficients,
                                .n_constants = prepared->n_constants};
}

void weft_ufl_integral(const weft_ufl *ufl, int form, int integral, weft_ufl_integral_info *out) {
    const ufl_prepared *prepared = ufl->prepared[form];
    const ufl_integral *made = &prepared->form.integrals[integral];
    *out = (weft_ufl_integral_info){
        .type = ufl_integral_type_name(made->type),
        .id = made->id,
        .degree = prepared->degrees[integral],
        .estimated = made->estimated_degree,
        .rule = prepared->points[integral] ? "custom" : ufl_rule_name(made->metadata.rule),
        .cell = ufl_cell_name(made->mesh->cell)};
}

static int position(const ufl_node *const *nodes, int n, const ufl_node *node) {
    for (int i = 0; i < n; ++i)
        if (nodes[i] == node)
            return i;
    return node->detail;
}

const char *ufl_terminal_name(const weft_ufl *ufl, const ufl_prepared *form, const ufl_node *node) {
    static const char *const names[3][8] = {
        {"v_0", "v_1", "v_2", "v_3", "v_4", "v_5", "v_6", "v_7"},
        {"w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7"},
        {"c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"}};
    const char *name = ufl_module_name(ufl->module, node);
    int kind = (int)node->type - (int)UFL_ARGUMENT;
    if (name || kind < 0 || kind > 2)
        return name;
    int k = kind == 0   ? node->detail
            : kind == 1 ? position(form->coefficients, form->n_coefficients, node)
                        : position(form->constants, form->n_constants, node);
    return k < 8 ? names[kind][k] : kind == 0 ? "v" : kind == 1 ? "w" : "c";
}

void weft_ufl_terminal_info(const weft_ufl *ufl, int form, weft_ufl_terminal kind, int k,
                            const char **name, const char **element, int *rank, int *shape) {
    const ufl_prepared *prepared = ufl->prepared[form];
    const ufl_node *node = kind == WEFT_UFL_ARGUMENT      ? prepared->arguments[k]
                           : kind == WEFT_UFL_COEFFICIENT ? prepared->coefficients[k]
                                                          : prepared->constants[k];
    *name = ufl_terminal_name(ufl, prepared, node);
    *element = node->space ? node->space->element->name : NULL;
    *rank = node->rank;
    for (int i = 0; i < node->rank; ++i)
        shape[i] = node->shape[i];
}
