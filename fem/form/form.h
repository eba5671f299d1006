/** Compilation of the scripts of forms.
 *
 *      In: a context, script fragments or forms.  Out: compiled programs with bound inputs.
 *
 *  Decision  docs/decisions/0002-forms-are-scripts-without-return.md */
#pragma once

#include "fem/weft_fem.h"

/** A compilation and its program. Initialise with {0}; free with weft_compiled_free. */
typedef struct weft_compiled {
    weft_compilation *compilation;
    weft_program *program;
    weft_data *data; /* of the context; borrowed */
} weft_compiled;

#define WEFT_FRAGMENTS_MAX 4

/** Set the costs and the cover in options for a script, as requested by weft_context_tune
 *  (fem/form/tuned.c). They point into the arena or the context. */
weft_status weft_context_tuned(const weft_context *context, const weft_fragment *fragments,
                               int n_fragments, weft_compile_options *options, weft_arena *arena,
                               weft_error *error);
/** Set the costs and the number of elements in options, without a cover. They point into the
 *  context. */
void weft_context_costs(const weft_context *context, weft_compile_options *options);
/** Does compiling a script measure its covers, unless the database has one? */
bool weft_context_searches(const weft_context *context);
/** Let other threads compile the kernels of a later weft_compiled_make with the same arguments
 *  (weft_module_store_later), if kernels are compiled at all: nothing happens as long as all modules were
 *  in the cache. Failures come again there. */
void weft_compile_in_background(const weft_context *context, const weft_fragment *fragments,
                                int n_fragments, const weft_compile_options *options);
/** weft_compile for the context's device, with what the device keeps of earlier plans: for scripts whose names are looked up, or
 *  that are run without weft_compiled_make.
 *  options  borrowed for the call; plan is ignored, the context's is used
 *  Errors   those of weft_compile */
weft_status weft_context_compile(const weft_context *context, const weft_fragment *fragments,
                                 int n_fragments, const weft_compile_options *options,
                                 weft_compilation **out, weft_error *error);
/** Compile fragments for the context's device, and add seconds and kernels to the context's.
 *  options  borrowed for the call; plan is ignored, the context's is used
 *  out      caller's; weft_compiled_free
 *  Errors   those of weft_compile and weft_program_make; *out untouched */
weft_status weft_compiled_make(weft_context *context, const weft_fragment *fragments,
                               int n_fragments, const weft_compile_options *options,
                               weft_compiled *out, weft_error *error);
/** The arguments of a weft_compiled_make. */
typedef struct weft_compile_request {
    const weft_fragment *fragments;
    int n_fragments;
    const weft_compile_options *options;
    weft_compiled *out;
} weft_compile_request;
/** The same for several scripts at once, on all threads of the device.
 *  Errors  that of the first request that fails; no `out` is touched */
weft_status weft_compiled_make_all(weft_context *context, const weft_compile_request *requests,
                                   int n, weft_error *error);
void weft_compiled_free(weft_compiled *compiled);
/** Run the program of a script that is compiled `predicated` where the device captures: there without effect if *active is 0.
 *  active  as weft_program_predicate; NULL: always active */
weft_status weft_compiled_run(weft_context *context, const weft_compiled *compiled,
                              weft_memory *active, weft_error *error);
/** Compile options with a form's expressions and parameters, which are borrowed. */
weft_compile_options weft_form_options(const weft_form *form);
/** The same for what adds to lists: on a GPU a gather costs little, and its sums have the same bits in each run. */
weft_compile_options weft_form_vector_options(const weft_context *context, const weft_form *form);
/** Compile the program that adds a form to the matrix A, and bind everything but A.
 *  rows      weft_vector_dofs.connectivity of the form
 *  is_first  A is zeroed before
 *  out       caller's; weft_compiled_free, also after an error */
weft_status weft_compiled_make_addto(weft_context *context, const weft_form *form,
                                     weft_connectivity *rows, bool is_first, weft_scatter scatter,
                                     weft_compiled *out, weft_error *error);
/** Bind a form's connectivity (if it has one), its inputs and those of its formulas by group. */
weft_status weft_compiled_bind_form(weft_compiled *compiled, const weft_form *form,
                                    weft_error *error);

/* ---- runs over ranges of the cells */

/** Called behind the run over elements first .. first + n - 1.
 *  memories  of the outputs; those over elements hold n */
typedef weft_status weft_range_done(void *user, weft_memory *const *memories, int64_t first,
                                    int64_t n, weft_error *error);
enum { WEFT_RANGE_UNIT = 8192 }; /* ranges begin at its multiples */
/** weft_form_run of a form over cells, over one range of a large connectivity after another
 *  (weft_connectivity_ranges): values of cells and the transposed connectivity take the memory of
 *  one range. Once over all cells if the form reads lists over cells, or several connectivities.
 *  outputs  memories that are NULL are the program's. What is accumulated is an input of the script:
 *           otherwise each range would begin with zeros
 *  done     NULL: nothing is done; else called with user
 *  Errors   those of weft_form_run and of done; WEFT_ERROR_INPUT: with done, an output that is not a real over elements */
weft_status weft_form_run_ranges(weft_context *context, const weft_form *form,
                                 const weft_form_outputs *outputs, weft_range_done *done,
                                 void *user, weft_error *error);

/* ---- components of nodes */

/** The connectivity cells -> matrix rows of a form: the form's own if nodes have one component,
 *  otherwise one of width * components. Initialise with {0}. */
typedef struct weft_vector_dofs {
    weft_connectivity *connectivity;
    int32_t *indices;
    bool is_own;
} weft_vector_dofs;
/** out     weft_vector_dofs_free, also after an error
 *  Errors  WEFT_ERROR_UNSUPPORTED (2^31 dofs), _MEMORY */
weft_status weft_vector_dofs_make(weft_device *device, const weft_form *form, weft_vector_dofs *out,
                                  weft_error *error);
void weft_vector_dofs_free(weft_vector_dofs *vector_dofs);
int weft_form_components(const weft_form *form);
/** Number of dofs, nodes * components. */
int64_t weft_form_vector_dofs(const weft_form *form);

enum { WEFT_PARAMETERS_MAX = 40 };
/** Add n parameters to options.
 *  storage  [WEFT_PARAMETERS_MAX], for all parameters; must outlive options
 *  Errors  WEFT_ERROR_UNSUPPORTED (too many parameters) */
weft_status weft_options_add(weft_compile_options *options, weft_parameter storage[],
                             const weft_parameter *more, int n, weft_error *error);
