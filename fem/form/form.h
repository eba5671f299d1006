/** Scripts of forms that run. In: a context and fragments or forms. Out: compiled programs. */
#pragma once

#include "fem/weft_fem.h"

/** A compilation and its program, which live and die together. Start from {0}. */
typedef struct weft_compiled {
    weft_compilation *compilation;
    weft_program *program;
} weft_compiled;

#define WEFT_FRAGMENTS_MAX 4

/** Costs and cover of a script for options, as weft_context_tune said (fem/form/tuned.c). What they point to
 *  is in the arena, or the context's. */
weft_status weft_context_tuned(const weft_context *context, const weft_fragment *fragments,
                               int n_fragments, weft_compile_options *options, weft_arena *arena,
                               weft_error *error);
/** Compile fragments for the context's device. options->plan is the context's. Seconds and kernels
 * are added to the context's. On error *out is empty. */
weft_status weft_compiled_make(weft_context *context, const weft_fragment *fragments,
                               int n_fragments, const weft_compile_options *options,
                               weft_compiled *out, weft_error *error);
void weft_compiled_free(weft_compiled *compiled);
/** What a form asks of the compiler: its expressions and parameters, borrowed. */
weft_compile_options weft_form_options(const weft_form *form);
/** A form's Addto into the matrix A, from zero for the first form, bound but for A itself.
 *  rows  weft_vector_dofs_make of the form */
weft_status weft_compiled_make_addto(weft_context *context, const weft_form *form,
                                     weft_connectivity *rows, bool is_first, weft_scatter scatter,
                                     weft_compiled *out, weft_error *error);
/** Bind a form's connectivity (if it has one) and inputs. */
weft_status weft_compiled_bind_form(weft_compiled *compiled, const weft_form *form,
                                    weft_error *error);

/* ---- components of nodes */

/** The rows of a matrix that each cell of a form has: the form's own connectivity where a node has
 * one component, else one with width * components places a cell. Start from {0}. */
typedef struct weft_vector_dofs {
    weft_connectivity *connectivity;
    int32_t *indices;
    bool is_own;
} weft_vector_dofs;
/** Errors  WEFT_ERROR_UNSUPPORTED (2^31 dofs), _MEMORY; free in any case */
weft_status weft_vector_dofs_make(weft_device *device, const weft_form *form, weft_vector_dofs *out,
                                  weft_error *error);
void weft_vector_dofs_free(weft_vector_dofs *vector_dofs);
int weft_form_components(const weft_form *form);
/** Nodes times components. */
int64_t weft_form_vector_dofs(const weft_form *form);

enum { WEFT_PARAMETERS_MAX = 40 };
/** Give a form's options more parameters; room [WEFT_PARAMETERS_MAX] must live as long. */
weft_status weft_options_add(weft_compile_options *options, weft_parameter room[],
                             const weft_parameter *more, int n, weft_error *error);
