/* The modules that form files import, and the names that each has. */
#include "forms/interpret/private.h"

#include <string.h>

/* ---- constants ---- */

static const char *const ufl_constants[] = {
    "dx",          "ds",         "dS",     "dP", "dr", "i", "j",        "k",        "l",
    "p",           "q",          "r",      "s",  "pi", "e", "interval", "triangle", "quadrilateral",
    "tetrahedron", "hexahedron", "vertex", NULL};

static ufl_value ufl_constant_value(ufl_interpreter *interpreter, const char *name) {
    static const char letters[] = "ijklpqrs";
    static const char *const measures[] = {"dx", "ds", "dS", "dP", "dr"};
    ufl_cell_type cell = UFL_VERTEX;
    if (name[0] && !name[1] && strchr(letters, name[0]))
        return (ufl_value){.kind = UFL_K_INDEX, .integer = strchr(letters, name[0]) - letters};
    if (strcmp(name, "pi") == 0)
        return ufl_of_float(3.14159265358979323846);
    if (strcmp(name, "e") == 0)
        return ufl_of_float(2.71828182845904523536);
    if (ufl_cell_find(name, &cell))
        return ufl_of_cell(cell, ufl_cell_dimension(cell));
    for (int i = 0; i < 5; ++i)
        if (strcmp(measures[i], name) == 0) {
            ufl_measure *made = ufl_alloc(interpreter->context, 1, sizeof *made);
            if (!made)
                return ufl_nothing();
            *made = (ufl_measure){.type = (ufl_integral_type)i,
                                  .metadata = {.degree = -1, .others = ""}};
            return (ufl_value){.kind = UFL_K_MEASURE, .measure = made};
        }
    return ufl_nothing();
}

static const char *const level_constants[] = {"DEBUG", "INFO",     "WARNING",
                                              "ERROR", "CRITICAL", NULL};

static ufl_value legacy_constant(ufl_interpreter *interpreter, const char *name) {
    for (int i = 0; level_constants[i]; ++i)
        if (strcmp(level_constants[i], name) == 0)
            return ufl_of_int(10 * (i + 1));
    return ufl_constant_value(interpreter, name);
}

static const char *const math_constants[] = {"pi", "e", "tau", "inf", NULL};

static ufl_value math_constant(ufl_interpreter *interpreter, const char *name) {
    (void)interpreter;
    return strcmp(name, "pi") == 0    ? ufl_of_float(3.14159265358979323846)
           : strcmp(name, "tau") == 0 ? ufl_of_float(2 * 3.14159265358979323846)
           : strcmp(name, "inf") == 0 ? ufl_of_float(1e308 * 10)
                                      : ufl_of_float(2.71828182845904523536);
}

static const char *const basix_constants[] = {"CellType",   "ElementFamily",  "LagrangeVariant",
                                              "DPCVariant", "QuadratureType", "SobolevSpace",
                                              "MapType",    "PolysetType",    NULL};

static ufl_value basix_constant(ufl_interpreter *interpreter, const char *name) {
    (void)interpreter;
    for (int i = 0; basix_constants[i]; ++i)
        if (strcmp(basix_constants[i], name) == 0)
            return (ufl_value){.kind = UFL_K_ENUM, .text = basix_constants[i]};
    return ufl_nothing();
}

/* Names of pullbacks and Sobolev spaces in the arguments of elements; Weft knows both from the family. */
static const char *const space_constants[] = {"identity_pullback",
                                              "contravariant_piola",
                                              "covariant_piola",
                                              "l2_piola",
                                              "double_contravariant_piola",
                                              "double_covariant_piola",
                                              "MixedPullback",
                                              "SymmetricPullback",
                                              "H1",
                                              "H2",
                                              "L2",
                                              "HDiv",
                                              "HCurl",
                                              "HInf",
                                              "HDivDiv",
                                              "HEin",
                                              NULL};

static ufl_value space_constant(ufl_interpreter *interpreter, const char *name) {
    (void)interpreter;
    return (ufl_value){.kind = UFL_K_OPAQUE, .text = name};
}

/* ---- tables ---- */

static const ufl_builtin *const today[] = {ufl_algebra_builtins, ufl_calculus_builtins,
                                           ufl_space_builtins, ufl_refused_builtins, NULL};
static const ufl_builtin *const legacy[] = {ufl_algebra_builtins, ufl_calculus_builtins,
                                            ufl_space_builtins,   ufl_legacy_builtins,
                                            ufl_refused_builtins, NULL};
static const ufl_builtin *const math_table[] = {ufl_math_builtins, NULL};
static const ufl_builtin *const basix_table[] = {ufl_tp_builtins, NULL};
static const ufl_builtin *const basix_ufl[] = {ufl_basix_builtins, NULL};
static const ufl_builtin *const none[] = {NULL};
static const ufl_builtin *const utils[] = {ufl_utils_builtins, NULL};

static const ufl_module_table modules[] = {
    {"ufl", today, ufl_constant_value, ufl_constants},
    {"ufl_legacy", legacy, legacy_constant, ufl_constants},
    {"ufl.geometry", today, ufl_constant_value, ufl_constants},
    {"ufl.operators", today, ufl_constant_value, ufl_constants},
    {"ufl.algorithms", today, NULL, NULL},
    {"ufl.classes", today, NULL, NULL},
    {"ufl.log", legacy, legacy_constant, level_constants},
    {"ufl.pullback", none, space_constant, space_constants},
    {"ufl.sobolevspace", none, space_constant, space_constants},
    {"basix", basix_table, basix_constant, basix_constants},
    {"basix.ufl", basix_ufl, NULL, NULL},
    {"basix.quadrature", basix_table, basix_constant, basix_constants},
    {"basix.finite_element", basix_table, basix_constant, basix_constants},
    {"utils", utils, NULL, NULL},
    {"math", math_table, math_constant, math_constants},
};
enum { N_MODULES = sizeof modules / sizeof modules[0] };

/* Modules that may be imported without any effect. */
static const ufl_module_table silent[] = {{"__future__", none, NULL, NULL},
                                          {"typing", none, NULL, NULL}};

const ufl_module_table *ufl_module_find(const char *name) {
    for (int i = 0; i < N_MODULES; ++i)
        if (strcmp(modules[i].name, name) == 0)
            return &modules[i];
    for (int i = 0; i < 2; ++i)
        if (strcmp(silent[i].name, name) == 0)
            return &silent[i];
    return NULL;
}

const char *const *ufl_module_names(void) {
    static const char *const names[] = {
        "ufl",   "ufl_legacy", "ufl.geometry",     "ufl.operators", "ufl.algorithms", "ufl.classes",
        "basix", "basix.ufl",  "basix.quadrature", "utils",         "math",           NULL};
    return names;
}

static bool is_constant(const ufl_module_table *module, const char *name) {
    for (int i = 0; module->constants && module->constants[i]; ++i)
        if (strcmp(module->constants[i], name) == 0)
            return true;
    return module->constant == legacy_constant && strcmp(name, "INFO") == 0;
}

ufl_value ufl_module_get(ufl_interpreter *interpreter, const ufl_module_table *module,
                         const char *name) {
    for (int t = 0; module->tables[t]; ++t)
        for (const ufl_builtin *row = module->tables[t]; row->name; ++row)
            if (strcmp(row->name, name) == 0)
                return (ufl_value){.kind = UFL_K_BUILTIN, .builtin = row};
    if (is_constant(module, name))
        return module->constant(interpreter, name);
    if (module == &silent[0] || module == &silent[1])
        return ufl_none();
    return ufl_nothing();
}

bool ufl_module_import_all(ufl_interpreter *interpreter, const ufl_module_table *module) {
    ufl_scope *scope = interpreter->locals;
    for (int t = 0; module->tables[t]; ++t)
        for (const ufl_builtin *row = module->tables[t]; row->name; ++row) {
            const ufl_value value = {.kind = UFL_K_BUILTIN, .builtin = row};
            if (!ufl_scope_bind(interpreter, scope, row->name, value))
                return false;
        }
    for (int i = 0; module->constants && module->constants[i]; ++i) {
        ufl_value value = module->constant(interpreter, module->constants[i]);
        if (!value.kind || !ufl_scope_bind(interpreter, scope, module->constants[i], value))
            return false;
    }
    return module->constant != legacy_constant ||
           ufl_scope_bind(interpreter, scope, "INFO", ufl_of_int(20));
}

const char *ufl_refused_words(const char *name) {
    static const struct {
        const char *name, *words;
    } gone[] = {{"dI", "multimesh measures"},
                {"dO", "multimesh measures"},
                {"dX", "multimesh measures"},
                {"dC", "multimesh measures"},
                {"dc", "custom measures"}};
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; ++i)
        if (strcmp(gone[i].name, name) == 0)
            return gone[i].words;
    return NULL;
}

ufl_value ufl_module_miss(ufl_interpreter *interpreter, const ufl_module_table *module,
                          const char *name) {
    if (ufl_refused_words(name))
        return ufl_wrong(interpreter, WEFT_ERROR_UNSUPPORTED, "%s (%s) are not supported",
                         ufl_refused_words(name), name);
    const char *names[400];
    size_t n = 0;
    for (int t = 0; module->tables[t]; ++t)
        for (const ufl_builtin *row = module->tables[t]; row->name && n < 400; ++row)
            names[n++] = row->name;
    for (int i = 0; module->constants && module->constants[i] && n < 400; ++i)
        names[n++] = module->constants[i];
    const char *nearest = weft_nearest_name(name, names, n);
    ufl_wrong(interpreter, WEFT_ERROR_TYPE, "the module %s has no '%s'", module->name, name);
    if (module->tables == today && ufl_module_get(interpreter, &modules[1], name).kind)
        ufl_hint(interpreter->context,
                 "%s is of legacy UFL: name the file *.ufl, or write basix.ufl.element", name);
    else if (nearest)
        ufl_hint(interpreter->context, "did you mean '%s'?", nearest);
    return ufl_nothing();
}
