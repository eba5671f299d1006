/* Writes what a run that is continued must share with the original to give the same results. */
#include "fem/problem/stated.h"
#include "fem/problem/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void weft_stated_clear(weft_stated *stated) {
    weft_text_free(&stated->given);
    free(stated->initial);
    stated->initial = NULL;
}

/* ---- what is given by name ----------------------------------------------------------------- */

static int compare_names(const void *a, const void *b) {
    return strcmp(((const weft_stated_value *)a)->name, ((const weft_stated_value *)b)->name);
}

void weft_stated_add(weft_stated *stated, const char *option, weft_stated_value *values, int n) {
    if (n > 1)
        qsort(values, (size_t)n, sizeof *values, compare_names);
    for (int i = 0; i < n; ++i)
        weft_text_add(&stated->given, " --%s '%s=%s'", option, values[i].name, values[i].text);
}

void weft_stated_hash(const void *values, size_t bytes, char *out) {
    char hash[33];
    weft_hash(values, bytes, hash);
    (void)snprintf(out, 48, "values %s", hash);
}

weft_status weft_stated_start(weft_stated *stated, const char *text, const double *values,
                              int64_t n, weft_error *error) {
    char hash[48];
    if (!text) {
        weft_stated_hash(values, (size_t)n * sizeof *values, hash);
        text = hash;
    }
    free(stated->initial);
    stated->initial = strdup(text);
    return stated->initial ? WEFT_OK : weft_out_of_memory(error, NULL);
}

/* ---- conditions and constraints ------------------------------------------------------------ */

/* A value of a component, in a list of which those of lower components are written, or free. */
static void write_component(int component, const char *value, int *n_written, weft_text *out) {
    for (; *n_written < component; ++*n_written)
        weft_text_add(out, "%sfree", *n_written > 0 ? "," : "");
    weft_text_add(out, "%s%s", *n_written > 0 ? "," : "", value);
    *n_written = component + 1;
}

static bool is_equal(const char *a, const char *b) {
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

/* One option for the components of each condition. */
static void write_conditions(const weft_fields *fields, weft_text *out) {
    static const char *const names[] = {"dirichlet", "neumann", "robin"};
    int n_written = 0;
    for (int i = 0; i < fields->n_conditions; ++i) {
        const weft_condition *one = &fields->conditions[i], *before = i > 0 ? one - 1 : NULL;
        const bool continues = before && before->kind == one->kind && n_written <= one->component &&
                               is_equal(before->group, one->group) &&
                               is_equal(before->alpha, one->alpha);
        if (!continues) {
            weft_text_add(out, "%s --%s '%s=%s%s", i > 0 ? "'" : "", names[one->kind], one->group,
                          one->alpha ? one->alpha : "", one->alpha ? "," : "");
            n_written = 0;
        }
        write_component(one->component, one->value, &n_written, out);
    }
    weft_text_add(out, "%s", fields->n_conditions > 0 ? "'" : "");
}

static void write_place(const char *group, const double point[3], weft_text *out) {
    if (group)
        weft_text_add(out, "%s=", group);
    else
        weft_text_add(out, "%.17g,%.17g,%.17g=", point[0], point[1], point[2]);
}

static void write_constraint(const weft_constraint *one, weft_text *out) {
    static const char *const names[] = {"periodic", "tie", "symmetry", "point-value"};
    weft_text_add(out, " --%s '", names[one->kind]);
    if (one->kind == WEFT_CONSTRAINT_POINT)
        write_place(one->group, one->point, out);
    else
        weft_text_add(out, "%s%s%s", one->group ? one->group : "mesh", one->other ? "=" : "",
                      one->other ? one->other : "");
    if (one->component != WEFT_ALL_COMPONENTS)
        weft_text_add(out, "[%d]", one->component);
    weft_text_add(out, "%s'", one->value ? one->value : "");
}

static void write_constraints(const weft_declared *declared, weft_text *out) {
    for (int i = 0; i < declared->n; ++i)
        write_constraint(&declared->list[i], out);
    for (int i = 0; i < declared->n_loads; ++i) {
        const weft_point_load *one = &declared->loads[i];
        weft_text_add(out, " --point-load '");
        write_place(one->group, one->point, out);
        weft_text_add(out, "[%d]%s'", one->component, one->value);
    }
}

/* ---- the problem --------------------------------------------------------------------------- */

static void write_scheme(const weft_stated_parts *parts, weft_text *out) {
    const weft_transient_problem *time = parts->settings;
    char hash[33];
    weft_text texts = {0};
    for (int i = 0; i < parts->forms->n_parts; ++i)
        weft_text_add(&texts, "%s", parts->forms->parts[i].text);
    weft_hash(texts.data ? texts.data : "", texts.length, hash);
    out->failed |= texts.failed;
    weft_text_free(&texts);
    weft_text_add(out, "script %s --dt %.17g --scheme %s --theta %.17g", hash, time->dt,
                  weft_time_scheme_about(time->scheme)->name, time->theta);
    if (time->start != 0)
        weft_text_add(out, " --start %.17g", time->start);
    if (time->tolerance > 0) /* the errors of all steps add up to it */
        weft_text_add(out, " --end %.17g --time-tolerance %.17g", time->end, time->tolerance);
}

static void write_solver(const weft_stated_parts *parts, weft_text *out) {
    const weft_transient_problem *time = parts->settings;
    const weft_problem_choice *first = &parts->stated->first;
    weft_text_add(out, " --method %s --tolerance %.17g --assembly %s",
                  weft_method_about(first->method)->name, parts->tolerance,
                  weft_assembly_name(first->assembly));
    if (first->preconditioner >= 0)
        weft_text_add(out, " --preconditioner %s",
                      weft_preconditioner_about(first->preconditioner)->name);
    if (parts->forms->is_nonlinear)
        weft_text_add(out, " --nonlinear --newton-tolerance %.17g --newton-iterations %d",
                      time->newton_tolerance, time->newton_iterations);
}

static void write_name(const char *option, const char *text, weft_text *out) {
    if (text)
        weft_text_add(out, " --%s '%s'", option, text);
}

weft_status weft_stated_write(const weft_stated_parts *parts, weft_text *out, weft_error *error) {
    const struct weft_problem_forms *forms = parts->forms;
    write_scheme(parts, out);
    write_solver(parts, out);
    write_name("matrix", forms->matrix, out);
    write_name("vector", forms->vector, out);
    write_name("mass", forms->mass, out);
    write_name("previous", parts->previous, out);
    write_name("initial", parts->stated->initial, out);
    weft_text_add(out, "%s", parts->stated->given.data ? parts->stated->given.data : "");
    write_conditions(parts->fields, out);
    write_constraints(parts->declared, out);
    return out->failed || parts->stated->given.failed ? weft_out_of_memory(error, NULL) : WEFT_OK;
}
