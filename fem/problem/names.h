/** What the names in the texts of a problem stand for: values of inputs, bodies of expressions, parameters, or what the
 *  problem itself has.
 *
 *      In: the texts of the parts, and what is given by name. Out: compilations, inputs, bound forms. */
#pragma once

#include "fem/weft_problem.h"
#include "fem/weft_space.h"
#include "fusion/weft_compile.h"

struct weft_problem_part;

/** What is given. Lists are borrowed until the forms are bound, strings until the problem is freed. */
typedef struct weft_problem_given {
    const weft_problem_value *values; /* of inputs */
    int n_values;
    const weft_expression *expressions;
    int n_expressions;
    const weft_parameter *parameters;
    int n_parameters;
    bool names_options; /* hints name the options of programs by which they are given */
} weft_problem_given;

/** Which names are the problem's own. */
typedef struct weft_problem_names {
    weft_problem_given given;
    /* what messages call an input, and those who give its values; NULL: as the texts do */
    const char *(*shown)(const char *input);
    const char *
        previous; /* the input u at the start of a step, of a scheme of the texts; NULL: there is none */
    const char *action; /* Kv, which a script computes itself; NULL: it does not */
    const char *sum;    /* a value over cells that is to be summed; NULL: none */
    bool is_script;     /* the only part is a script, otherwise parts are those of a form file */
    bool has_dimension; /* the parameter d is the mesh's */
    bool has_time;      /* the problem is stationary, at a time that is set */
    bool has_factor;    /* the input `load` is the load factor: it has no other values */
} weft_problem_names;

/** Refuse more of what is given than forms can have, and a dimension that is the mesh's.
 *  Errors  WEFT_ERROR_USAGE */
weft_status weft_problem_check_given(const weft_problem *problem, weft_error *error);
/** Compile the text of a part, which returns what is used of it.
 *  dimension  of the mesh */
weft_status weft_problem_compile_part(const weft_problem *problem,
                                      const struct weft_problem_part *part, int dimension,
                                      weft_compilation **out, weft_error *error);
/** Compile all parts for the mesh. */
weft_status weft_problem_compile_parts(weft_problem *problem, weft_error *error);
/** The inputs of all parts, each once.
 *  out  [*n], to be freed */
weft_status weft_problem_list_inputs(const weft_problem *problem, weft_name_info **out, int *n,
                                     weft_error *error);
/** Has it a mass, or a scheme of its own? */
bool weft_problem_is_in_time(const weft_problem *problem);
/** Is this input the problem's own? */
bool weft_problem_owns(const weft_problem *problem, const char *input);
/** After weft_problem_vectors_make: make the inputs of the parts, u where Newton's method starts, and in time what steps set.
 *  Errors  WEFT_ERROR_USAGE: values that are missing, or of an unknown name; those of weft_inputs_add */
weft_status weft_problem_make_inputs(weft_problem *problem, weft_error *error);
/** The memory of an input of the forms: of coordinates, u and what steps set too; NULL: there is none. */
weft_memory *weft_problem_memory_of(const weft_problem *problem, const char *input);
/** Bind what a part reads to its form, which has been started. */
void weft_problem_bind_names(weft_problem *problem, struct weft_problem_part *part);
