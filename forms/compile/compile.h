/** The problem of a form file as scripts over a mesh with their elementary functions.
 *  In: a form file that was read. Out: what weft_ufl_problem describes, and functions for a library.
 *
 *      problem.c   finds the forms of the problem; lists spaces and domains; lowers the integrals
 *      script.c    writes the script of each domain, or of all
 *      gradient.c  the problems that the gradient of a functional is made of
 *      coarse.c    the same matrix for functions of a lower degree
 *      values.c    values that the file gives to coefficients
 *      symmetric.c  which matrices are symmetric by their text
 *      kernels.c   kernels of whole cells, by which products are made without matrices
 *      compile.c   functions for libraries and for printing */
#pragma once

#include "fem/precondition/coarse.h"
#include "forms/file/file.h"
#include "forms/lower/lower.h"

enum { UFL_SETS_MAX = 32, UFL_PARTS_OF_PROBLEM_MAX = 64 };

/** The functions of one form over one domain. */
typedef struct ufl_calls {
    const ufl_prepared *form;
    const ufl_lowered *list[16];
    int n;
} ufl_calls;

typedef struct ufl_part_calls {
    ufl_calls matrix, vector;
    ufl_calls action;   /* K v of the matrix; none where products are not faster by it */
    ufl_calls diagonal; /* of the matrix; none where it is read from that */
    ufl_calls mass;
} ufl_part_calls;

typedef struct ufl_problem {
    weft_ufl_problem shown;
    const ufl_prepared *matrix, *vector, *mass; /* vector and mass may be NULL */
    const ufl_form *matrix_form;                /* as written or derived */
    const ufl_prepared *action;
    const ufl_node *unknown;   /* called u; NULL: none */
    const ufl_node *direction; /* called v; NULL: there are no actions */
    weft_ufl_set sets[UFL_SETS_MAX];
    /* of the sets; scalar where components are interleaved */
    const ufl_element *elements[UFL_SETS_MAX];
    weft_ufl_part parts[UFL_PARTS_OF_PROBLEM_MAX];
    ufl_part_calls calls[UFL_PARTS_OF_PROBLEM_MAX]; /* of the parts */
    weft_ufl_value *values;                         /* of coefficients */
    /* the problem whose form this is for functions of a lower degree, with the names of its inputs; NULL: none */
    const struct ufl_problem *of;
} ufl_problem;

/** Arena memory, or NULL and an error.
 *  in_time  with a mass, if the file has one
 *  mass     the name of its form; NULL: m or M, if the file has one */
const ufl_problem *ufl_problem_make(weft_ufl *ufl, bool in_time, const char *mass);
/** From the forms of a problem: lower the integrals, list the spaces, and write the scripts. */
bool ufl_problem_lower(weft_ufl *ufl, ufl_problem *problem);
/** Set the values that the file gives to coefficients of the problem, and to the unknown. false: an error was set */
bool ufl_problem_values(weft_ufl *ufl, ufl_problem *problem);
/** The matrix of a problem for functions of a lower degree, without a vector, or a standard one of scalars.
 *  field   of a mixed space: the subspace that alone is not zero; otherwise 0
 *  degree  at least 1
 *  Returns arena memory, or NULL and an error: WEFT_ERROR_UNSUPPORTED (other elements than Lagrange's) */
const ufl_problem *ufl_problem_coarse(weft_ufl *ufl, const ufl_problem *of, weft_coarse_form form,
                                      int field, int degree);
/** u v dx (WEFT_COARSE_MASS) or grad u . grad v dx (WEFT_COARSE_LAPLACIAN) of a space, also of vectors; NULL and an error. */
const ufl_form *ufl_standard_form(weft_ufl *ufl, weft_coarse_form form, const ufl_space *space);
/** Is it among the coefficients of a form? NULL: there is none. */
bool ufl_has_coefficient(const ufl_prepared *form, const ufl_node *coefficient);
/** weft_coarser.is_saddle of the file's problem. */
bool weft_ufl_is_saddle(weft_ufl *ufl);
/** weft_coarser.is_uncoupled of it. */
bool weft_ufl_is_uncoupled(weft_ufl *ufl, int field);
/** The same, with its functions added to a library.
 *  sets    gets for each set of the coarse problem that of the file's problem with the same entries; -1: none
 *  Errors  WEFT_ERROR_UNSUPPORTED, _MEMORY */
weft_status weft_ufl_problem_coarse(weft_ufl *ufl, weft_coarse_form form, int field, int degree,
                                    weft_library *library, const weft_ufl_problem **out,
                                    int sets[UFL_SETS_MAX], weft_error *error);
/** The problems that a functional J of the solution leads to (forms/weft_gradient.h). */
typedef enum ufl_role {
    UFL_VALUE, /* of functions that are constant in each cell: the entries of its load add up to J */
    UFL_ADJOINT, /* of functions like u, for the input `state`, which is u: its solution is the adjoint state */
    UFL_GRADIENT /* of functions like the control, for the inputs `state` and `adjoint`: its load is the derivative
                         with respect to the control's dofs, its solution the gradient in L2 */
} ufl_role;
typedef struct ufl_sensitivity {
    ufl_role role;
    const char *functional; /* the name of a form without arguments; NULL: J = 0 */
    const char *
        control; /* of a gradient: a coefficient or constant; NULL or "u": u, for its prescribed values */
    /* Of a step M du/dt + F(u) = 0: the matrix of the adjoint problem is shift M + F_u, and loads are derivatives of
     * weight J(u) - F(u; adjoint) - M(u; adjoint_mass) */
    bool in_time;
    const char *mass; /* the name of M; NULL: m or M */
    /* results, borrowed: names of inputs; is the control one number (or tensor) for the whole mesh? Then functions are constant
     * in each cell, and the derivative is the sum of the load's entries */
    const char *state, *adjoint, *adjoint_mass, *shift, *weight;
    bool is_number, is_state;
} ufl_sensitivity;
/** Read a file again, as one of these problems in place of its own.
 *  out     weft_ufl_free; weft_ufl_problem_of is the problem
 *  Errors  WEFT_ERROR_USAGE: no such functional, coefficient or constant, with those that there are;
 *          WEFT_ERROR_INPUT: which coefficient is the solution is not clear; those of weft_ufl_problem_of */
weft_status ufl_read_sensitivity(const weft_ufl *file, ufl_sensitivity *what, weft_ufl **out,
                                 weft_error *error);
/** Do the scripts of the problem that is there have this input, by its name in the file? */
bool ufl_problem_reads(const weft_ufl *ufl, const char *input);
/** Is it over cells there, whose lists are in blocks? */
bool ufl_problem_reads_cells(const weft_ufl *ufl, const char *input);
/** Does a functional of the file have this coefficient or constant? */
bool ufl_functionals_read(weft_ufl *ufl, const char *input);
/** The function of one integral. "ufl_a_0", with a name for the facets where there are several */
const char *ufl_kernel_name(weft_ufl *ufl, const char *form, int integral);
/** The name of a coefficient or constant in the scripts: that of the file, unless the script has it. */
const char *ufl_input_name(weft_ufl *ufl, const ufl_problem *problem, const ufl_prepared *form,
                           const ufl_node *node);
/** Set the kernels of the matrix of a part over cells that may have some. false: out of memory */
bool ufl_part_kernels(weft_ufl *ufl, ufl_problem *problem, int part);
/** For weft_form.is_symmetric: all integrals are proved so, of nothing but the cell's shape (ufl_prove_symmetry). */
bool ufl_is_symmetric(weft_ufl *ufl, const ufl_calls *matrix);
/** The element that numbers the nodes of a function: that of a component where components are interleaved. */
const ufl_element *ufl_nodal_element(const ufl_element *element);
/** The set of a coefficient; -1: it is uniform, or over cells. */
int ufl_problem_set(const ufl_problem *problem, const ufl_node *coefficient);
/** Whether a coefficient has one value for each cell in the order of the cells. */
bool ufl_is_over_cells(const ufl_problem *problem, const ufl_node *coefficient);
/** Append the script of a part.
 *  suffix    of its names
 *  declared  inputs that are in the text already, [UFL_INPUTS_MAX]; they are left out, new ones are added */
enum { UFL_INPUTS_MAX = 120 };
typedef struct ufl_inputs {
    const ufl_node *list[UFL_INPUTS_MAX];
    int n;
} ufl_inputs;
bool ufl_write_part(weft_ufl *ufl, const ufl_problem *problem, int part, const char *suffix,
                    ufl_inputs *declared, weft_text *out);
