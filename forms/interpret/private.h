/** Shared by the files of this folder: values, scopes, the interpreter. */
#pragma once

#include "forms/interpret/interpret.h"
#include "forms/operators/operators.h"

typedef enum ufl_kind {
    UFL_K_UNBOUND, /* no value: an error, or an argument that was not given */
    UFL_K_NONE,
    UFL_K_BOOL,
    UFL_K_INT,
    UFL_K_FLOAT,
    UFL_K_STRING,
    UFL_K_TUPLE,
    UFL_K_LIST,
    UFL_K_DICT,
    UFL_K_SLICE, /* list: first, last, step */
    UFL_K_ELLIPSIS,
    UFL_K_FUNCTION, /* of the file */
    UFL_K_BUILTIN,  /* list, if any: the object whose method it is */
    UFL_K_MODULE,
    UFL_K_SCOPE,  /* vars() */
    UFL_K_ENUM,   /* basix.CellType.triangle: text "CellType", name "triangle"; NULL: the type */
    UFL_K_OPAQUE, /* something of Basix without a meaning here; text says what */
    UFL_K_NODE,
    UFL_K_INDEX, /* a free index: integer */
    UFL_K_FORM,
    UFL_K_EQUATION, /* list: left, right */
    UFL_K_CELL,     /* integer: the cell; gdim */
    UFL_K_ELEMENT,
    UFL_K_MESH,
    UFL_K_SPACE,
    UFL_K_MEASURE,
    UFL_N_KINDS
} ufl_kind;

typedef struct ufl_value {
    ufl_kind kind;
    bool property; /* calling it gives itself: cell.cellname and cell.cellname() are one */
    int gdim;      /* cells: geometric dimension */
    union {
        int64_t integer; /* int, bool, index, cell */
        double number;
        const char *text; /* zero-terminated */
        struct ufl_list *list;
        const struct ufl_closure *function;
        const struct ufl_builtin *builtin;
        const struct ufl_module_table *module;
        struct ufl_scope *scope;
        const ufl_node *node;
        const ufl_form *form;
        const ufl_element *element;
        const ufl_mesh *mesh;
        const ufl_space *space;
        const ufl_measure *measure;
    };
    union {
        const char *name;       /* enums */
        struct ufl_list *bound; /* builtins: bound->items[0] is the object */
    };
} ufl_value;

typedef struct ufl_list { /* dictionaries: key, value, key, value, ... */
    ufl_value *items;
    size_t n;
    struct ufl_keys *keys; /* of large dictionaries (dictionary.c) */
} ufl_list;

typedef struct ufl_scope {
    const char **names;
    ufl_value *values;
    size_t n;
    int bits;
    struct ufl_scope *parent;
} ufl_scope;

typedef struct ufl_closure {
    const ufl_syntax *syntax; /* UFL_DEF or UFL_LAMBDA */
    ufl_scope *scope;         /* in which it was made */
    const ufl_value *defaults;
} ufl_closure;

typedef struct ufl_interpreter {
    ufl_graph *graph;
    ufl_context *context;
    ufl_scope *globals, *locals;
    bool legacy;
    int statements, calls, frames;
    int64_t work;         /* elements of lists that were visited */
    ufl_value_of *values; /* [n_values] */
    int n_values;
    const ufl_problem_of *problem; /* what solve() states; NULL: nothing yet */
    enum { UFL_GO_ON, UFL_BROKEN, UFL_CONTINUED, UFL_RETURNED } flow;
    ufl_value result; /* of return */
} ufl_interpreter;

enum { UFL_ARGUMENTS_MAX = 16, UFL_FRAMES_MAX = 3000, UFL_WORK_MAX = 100000000 };

/** A function that is written in C.
 *  parameters  "a,b,c=" ('=': may be left out), or "a,*" for any number after a
 *  detail      tells functions apart that share their C function */
typedef struct ufl_call {
    ufl_interpreter *interpreter;
    ufl_graph *graph;
    const struct ufl_builtin *builtin;
    ufl_value self;                     /* of methods */
    ufl_value slots[UFL_ARGUMENTS_MAX]; /* by parameter; UFL_K_UNBOUND: not given */
    const ufl_value *rest;              /* of "*" */
    int n_rest;
} ufl_call;
typedef struct ufl_builtin {
    const char *name, *parameters;
    ufl_value (*run)(ufl_call *call);
    int detail;
} ufl_builtin;

/* ---- values.c ---- */
ufl_value ufl_nothing(void), ufl_none(void); /* UFL_K_UNBOUND; None */
ufl_value ufl_of_int(int64_t integer), ufl_of_float(double number), ufl_of_bool(bool is);
ufl_value ufl_of_text(const char *text);
ufl_value ufl_of_node(const ufl_node *node); /* NULL: UFL_K_UNBOUND */
ufl_value ufl_of_form(const ufl_form *form); /* and so on */
ufl_value ufl_of_element(const ufl_element *element);
ufl_value ufl_of_mesh(const ufl_mesh *mesh);
ufl_value ufl_of_space(const ufl_space *space);
ufl_value ufl_of_cell(ufl_cell_type cell, int gdim);
ufl_value ufl_of_items(ufl_interpreter *interpreter, ufl_kind kind, const ufl_value *items,
                       size_t n);
bool ufl_append(ufl_interpreter *interpreter, ufl_list *list, ufl_value value);
bool ufl_truth(ufl_interpreter *interpreter, ufl_value value, bool *out);
bool ufl_equal(ufl_value a, ufl_value b);
bool ufl_charge(ufl_interpreter *interpreter, int64_t elements); /* false: UFL_WORK_MAX */
/** Elements of a sequence: a list, tuple, dictionary (keys), string or vector-valued expression. */
bool ufl_iterate(ufl_interpreter *interpreter, ufl_value value, const ufl_value **items, size_t *n);
/** "a list", "a Form", for messages. */
const char *ufl_kind_words(ufl_value value);
/** As str() has it. NULL and an error on lack of memory. */
const char *ufl_value_text(ufl_interpreter *interpreter, ufl_value value);
/** Fail and return UFL_K_UNBOUND. */
ufl_value ufl_wrong(ufl_interpreter *interpreter, weft_status status, const char *format, ...)
    WEFT_PRINTF(3, 4);

/* ---- dictionary.c: each visit of an entry counts as that of an element of a list ---- */
/** out  the key's value, in the dictionary; NULL: it is missing
 *  Returns false after an error */
bool ufl_dict_find(ufl_interpreter *interpreter, ufl_list *dict, ufl_value key, ufl_value **out);
bool ufl_dict_set(ufl_interpreter *interpreter, ufl_list *dict, ufl_value key, ufl_value value);

/* ---- arguments.c: conversions fail with a message that names the parameter ---- */
ufl_value ufl_call_builtin(ufl_interpreter *interpreter, const ufl_builtin *builtin, ufl_value self,
                           const ufl_value *arguments, int n, const char *const *keywords);
bool ufl_given(const ufl_call *call, int slot); /* and not None */
const ufl_node *ufl_to_node(ufl_interpreter *interpreter, ufl_value value, const char *what);
const ufl_node *ufl_slot_node(ufl_call *call, int slot);
bool ufl_slot_int(ufl_call *call, int slot, int64_t *out);
const char *ufl_slot_text(ufl_call *call, int slot);
const ufl_form *ufl_slot_form(ufl_call *call, int slot);
/** A tuple of sizes, or one. Returns the rank or -1. */
int ufl_slot_shape(ufl_call *call, int slot, int *shape);
/** A mesh, or what has one: a space, function, legacy cell or element. */
const ufl_mesh *ufl_to_mesh(ufl_interpreter *interpreter, ufl_value value);
/** A space, or a legacy element on the mesh of its cell. */
const ufl_space *ufl_to_space(ufl_interpreter *interpreter, ufl_value value);
bool ufl_slot_cell(ufl_call *call, int slot, ufl_value *out);

/* ---- evaluate.c, execute.c, arithmetic.c, subscripts.c, attributes.c ---- */
ufl_value ufl_evaluate(ufl_interpreter *interpreter, const ufl_syntax *syntax);
ufl_value ufl_apply(ufl_interpreter *interpreter, ufl_value function, const ufl_value *arguments,
                    int n, const char *const *keywords);
ufl_value ufl_apply_closure(ufl_interpreter *interpreter, const ufl_closure *function,
                            const ufl_value *arguments, int n, const char *const *keywords);
bool ufl_assign(ufl_interpreter *interpreter, const ufl_syntax *target, ufl_value value);
ufl_value ufl_binary(ufl_interpreter *interpreter, const char *symbol, ufl_value a, ufl_value b);
ufl_value ufl_unary(ufl_interpreter *interpreter, const char *symbol, ufl_value a);
ufl_value ufl_relation(ufl_interpreter *interpreter, const char *symbol, ufl_value a, ufl_value b);
ufl_value ufl_subscript(ufl_interpreter *interpreter, ufl_value value, ufl_value index);
ufl_value ufl_attribute(ufl_interpreter *interpreter, ufl_value value, const char *name);
/** An index or a tuple of them as components; returns their number or -1. */
int ufl_components(ufl_interpreter *interpreter, ufl_value index, ufl_component *out);
/** Free indices; returns their number or -1. */
int ufl_free_indices(ufl_interpreter *interpreter, ufl_value value, int *out);

/** The methods of each kind; tables are ended by a row without a name. (containers.c, measures.c) */
extern const ufl_builtin ufl_list_methods[], ufl_dict_methods[], ufl_string_methods[],
    ufl_measure_methods[];
/** What the file leaves behind; NULL and an error. (exports.c) */
const ufl_module *ufl_collect(ufl_interpreter *interpreter);

/* ---- problem.c, formula.c ---- */
/** The names that every form file has besides UFL's: Function, solve. */
extern const ufl_builtin ufl_problem_builtins[];
/** x where no variable has this name: of the only mesh, or of the only cell. UFL_K_UNBOUND without an error: there is none. */
ufl_value ufl_spatial_coordinate(ufl_interpreter *interpreter);
/** Fail for a name of DOLFIN's that a form file does without. false: it is another name */
bool ufl_refuse_name(ufl_interpreter *interpreter, const char *name);
/** Refuse forms of the solution, which are not computed. */
bool ufl_check_solution(ufl_interpreter *interpreter, const ufl_module *module);
/** The components of an expanded expression as formulas in x, y and z, with commas between them; NULL and an error.
 *  space  Functions in it are replaced by their values: at its nodes both are equal */
const char *ufl_formula(ufl_interpreter *interpreter, const ufl_node *node, const ufl_space *space);

/* ---- scopes.c ---- */
ufl_scope *ufl_scope_make(ufl_interpreter *interpreter, ufl_scope *parent);
ufl_value *ufl_scope_find(const ufl_scope *scope, const char *name); /* NULL: not bound */
bool ufl_scope_bind(ufl_interpreter *interpreter, ufl_scope *scope, const char *name,
                    ufl_value value);

/* ---- modules.c ---- */
typedef struct ufl_module_table {
    const char *name;
    const ufl_builtin *const *tables; /* ended by NULL; each ended by a row without a name */
    ufl_value (*constant)(ufl_interpreter *interpreter, const char *name); /* or NULL */
    const char *const *constants; /* names that `constant` knows, ended by NULL */
} ufl_module_table;
const ufl_module_table *ufl_module_find(const char *name);
/** A name of a module; UFL_K_UNBOUND without an error where there is none. */
ufl_value ufl_module_get(ufl_interpreter *interpreter, const ufl_module_table *module,
                         const char *name);
bool ufl_module_import_all(ufl_interpreter *interpreter, const ufl_module_table *module);
/** Fail: a module has no such name; with the nearest. */
ufl_value ufl_module_miss(ufl_interpreter *interpreter, const ufl_module_table *module,
                          const char *name);
/** What a name of UFL is that Weft does not have, such as "multimesh measures"; else NULL. */
const char *ufl_refused_words(const char *name);
const char *const *ufl_module_names(void);
extern const ufl_builtin ufl_python_builtins[], ufl_math_builtins[], ufl_algebra_builtins[],
    ufl_calculus_builtins[], ufl_space_builtins[], ufl_legacy_builtins[], ufl_basix_builtins[],
    ufl_utils_builtins[], ufl_tp_builtins[], ufl_refused_builtins[], ufl_repr_builtins[];
extern const ufl_module_table ufl_repr_module; /* repr.c */
