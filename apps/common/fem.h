/** What apps that solve on a mesh share: mesh, conditions, lists of numbers, forms, checks of what
 * the user has written, reports. */
#pragma once

#include "apps/common/support.h"
#include "fem/weft_fem.h"

/* ---- device (apps/common/device.c) ---------------------------------------------------------------- */

/** Open a device and the shipped functions, and fill the context of a run with them. Each is the
 * caller's, also on errors. */
weft_status app_device_open(const char *name, weft_plan_kind plan, const weft_monitor *monitor,
                            weft_device **device, weft_library **library, weft_context *context,
                            weft_error *error);

/* ---- mesh (apps/common/mesh.c) -------------------------------------------------------------------- */

typedef enum app_ordering {
    APP_ORDERING_AUTO, /* meshes of Gmsh everywhere, all on a GPU: by bisection */
    APP_ORDERING_BISECTION,
    APP_ORDERING_METIS,
    APP_ORDERING_NONE
} app_ordering;

typedef struct app_mesh_options {
    const char *name; /* borrowed from argv */
    weft_mesh_options reading;
    int refine;
    app_ordering ordering;
} app_mesh_options;

/** Take --mesh-memory, --mesh-time or --trust-geo. Errors  WEFT_ERROR_USAGE */
weft_status app_mesh_option_read(weft_mesh_options *options, int key, const char *text,
                                 weft_error *error);

/** How a mesh came about. */
typedef struct app_mesh_made {
    const char *ordered;           /* by what, or NULL */
    double seconds, order_seconds; /* order is in seconds too */
} app_mesh_made;

/** Read or make the mesh, refine it; order what Gmsh made, which is numbered at random. */
weft_status app_mesh_make(weft_device *device, const app_mesh_options *options,
                          const weft_monitor *monitor, weft_mesh **out, app_mesh_made *made,
                          weft_error *error);
/** The lines about the mesh, on stdout. */
void app_mesh_print(const weft_mesh *mesh, const app_mesh_made *made);

/* ---- conditions and probes (apps/common/conditions.c) --------------------------------------------- */

/** One --dirichlet, --neumann or --robin. */
typedef struct app_condition {
    weft_condition_kind kind;
    char *group, *value, *alpha; /* malloc'd; alpha of Robin only */
    char origin[300];            /* "--dirichlet left", for messages */
} app_condition;

typedef struct app_conditions {
    app_condition *list;
    int n;
} app_conditions;

/** Read GROUP=EXPR, or GROUP=ALPHA,EXPR for Robin, and append it. */
weft_status app_condition_read(app_conditions *conditions, weft_condition_kind kind,
                               const char *text, weft_error *error);
void app_conditions_clear(app_conditions *conditions);

typedef struct app_probe {
    const char *text; /* as given; borrowed from argv */
    double point[3];
    int n; /* coordinates given */
} app_probe;

typedef struct app_probes {
    app_probe *list;
    int n;
} app_probes;

weft_status app_probe_read(app_probes *probes, const char *text, weft_error *error);
void app_probes_clear(app_probes *probes);
/** Errors  WEFT_ERROR_USAGE: one has more or fewer coordinates than the mesh */
weft_status app_probes_check(const app_probes *probes, int dimension, weft_error *error);
/** Values [n][components] at the probes, of nodal values [nodes][components]; NaN outside; out is
 * the caller's. */
void app_probes_measure(const app_probes *probes, const weft_mesh *mesh, const double *values,
                        int components, double *out);

/** Find the group that a condition names; an error names the option. */
weft_status app_condition_group(const weft_mesh *mesh, const app_condition *condition,
                                weft_error *error);
/** Conditions component by component, for weft_bc_make. Start from {0}. */
typedef struct app_pieces {
    weft_condition *list;
    int n;
    char **texts; /* [n_texts], what the list borrows */
    int n_texts;
} app_pieces;
/** Errors  WEFT_ERROR_USAGE (a list of expressions of another length), WEFT_ERROR_INPUT (no such
 *          group), WEFT_ERROR_MEMORY; free in any case */
weft_status app_pieces_make(const app_conditions *conditions, const weft_mesh *mesh,
                            int components, app_pieces *out, weft_error *error);
void app_pieces_free(app_pieces *pieces);

/* ---- options (apps/common/run_options.c) ----------------------------------------------------------- */

/** What every app that solves on a mesh is told. Texts are borrowed from argv. */
typedef struct app_run_options {
    app_mesh_options mesh;
    const char *device, *output, *json; /* output and json may be NULL */
    double tolerance;
    int max_iterations;    /* -1: by the size of the problem (app_iterations_limit) */
    bool keep_unconverged; /* write output all the same */
    int tune;              /* plans of a script to be measured; 0: none */
    bool assembly_auto;    /* assembly is to be chosen */
    weft_assembly assembly;
    weft_plan_kind plan;
    bool jacobi;
    app_verbosity verbosity;
    app_conditions conditions;
    app_probes probes;
} app_run_options;

enum {
    APP_KEY_MESH = 'm',
    APP_KEY_OUTPUT = 'o',
    APP_KEY_QUIET = 'q',
    APP_KEY_VERBOSE = 'v',
    APP_KEY_SIZE = 0x200,
    APP_KEY_REFINE,
    APP_KEY_ORDERING,
    APP_KEY_DIRICHLET,
    APP_KEY_NEUMANN,
    APP_KEY_ROBIN,
    APP_KEY_ASSEMBLY,
    APP_KEY_PLAN,
    APP_KEY_DEVICE,
    APP_KEY_PRECONDITIONER,
    APP_KEY_TOLERANCE,
    APP_KEY_MAX_ITERATIONS,
    APP_KEY_PROBE,
    APP_KEY_JSON,
    APP_KEY_TUNE,
    APP_KEY_MESH_MEMORY,
    APP_KEY_MESH_TIME,
    APP_KEY_TRUST_GEO,
    APP_KEY_KEEP_UNCONVERGED
};

/** The entries of app_mesh_option_read in an argp table. */
#define APP_READING_OPTIONS                                                                        \
    {"mesh-memory",                                                                                \
     APP_KEY_MESH_MEMORY,                                                                          \
     "SIZE",                                                                                       \
     0,                                                                                            \
     "Memory that Gmsh may use, such as 16G (default: three quarters of the machine's memory; "    \
     "for files other than .geo at most 1 GB plus 64 times the size of the file)",                 \
     0},                                                                                           \
        {"mesh-time",                                                                              \
         APP_KEY_MESH_TIME,                                                                        \
         "SECONDS",                                                                                \
         0,                                                                                        \
         "Time that Gmsh may take (default: 3600 for FILE.geo, else 300 plus 10 per megabyte)",    \
         0},                                                                                       \
    {                                                                                              \
        "trust-geo", APP_KEY_TRUST_GEO, NULL, 0,                                                   \
            "Accept a FILE.geo that runs programs or writes files; by default it is refused", 0    \
    }

/** Their entries in an argp table, in groups of these numbers; the conditions' are the app's own.
 */
#define APP_MESH_OPTIONS(group)                                                                    \
    {NULL, 0, NULL, 0, "Mesh:", group},                                                            \
        {"mesh",                                                                                   \
         APP_KEY_MESH,                                                                             \
         "MESH",                                                                                   \
         0,                                                                                        \
         "FILE.geo, .msh, .unv, .bdf, .nas, .vtk or .mesh (read by Gmsh), FILE.vtkhdf, square:N "  \
         "(2 N^2 triangles) or cube:N (6 N^3 tetrahedra)",                                         \
         0},                                                                                       \
        {"size", APP_KEY_SIZE, "H", 0, "Mesh size for FILE.geo, in its unit", 0},                  \
        APP_READING_OPTIONS,                                                                       \
        {"refine",                                                                                 \
         APP_KEY_REFINE,                                                                           \
         "N",                                                                                      \
         0,                                                                                        \
         "Halve every edge N times, 0 (default) to 12; each time a triangle becomes 4 triangles, " \
         "a tetrahedron 8 tetrahedra",                                                             \
         0},                                                                                       \
    {                                                                                              \
        "ordering", APP_KEY_ORDERING, "NAME", 0,                                                   \
            "How nodes are renumbered: bisection (of coordinates), metis, none, or auto (default): "\
            "bisection for meshes read by Gmsh and for every mesh on a GPU, else none",            \
            0                                                                                      \
    }
#define APP_SOLVER_OPTIONS(group)                                                                  \
    {NULL, 0, NULL, 0, "Assembly and solution:", group},                                           \
        {"assembly",                                                                               \
         APP_KEY_ASSEMBLY,                                                                         \
         "NAME",                                                                                   \
         0,                                                                                        \
         "Storage of the matrix: auto (default: the fastest as predicted; --verbose prints the "   \
         "predictions), {assemblies}",                                                             \
         0},                                                                                       \
        {"plan", APP_KEY_PLAN, "NAME", 0, "fused (default) or unfused", 0},                        \
        {"device",                                                                                 \
         APP_KEY_DEVICE,                                                                           \
         "NAME",                                                                                   \
         0,                                                                                        \
         "auto (default), host, host:THREADS, host:THREADS:SET (sse2, avx2, avx512 or neon), "     \
         "cuda, or null (plans, but computes nothing)",                                            \
         0},                                                                                       \
        {"preconditioner", APP_KEY_PRECONDITIONER, "NAME", 0, "jacobi (default) or none", 0},      \
        {"tolerance",                                                                              \
         APP_KEY_TOLERANCE,                                                                        \
         "T",                                                                                      \
         0,                                                                                        \
         "Stop when the residual is T times the right-hand side (default 1e-8), or as small as "   \
         "rounding allows; 0: only then",                                                          \
         0},                                                                                       \
        {"tune",                                                                                   \
         APP_KEY_TUNE,                                                                             \
         "N",                                                                                      \
         0,                                                                                        \
         "Measure up to N of the best plans of each script, and store the fastest",                \
         0},                                                                                       \
    {                                                                                              \
        "max-iterations", APP_KEY_MAX_ITERATIONS, "N", 0,                                          \
            "Largest number of iterations (default: 10000, more for large meshes)", 0              \
    }
#define APP_RESULT_OPTIONS(group)                                                                  \
    {NULL, 0, NULL, 0, "Results:", group},                                                         \
        {"probe", APP_KEY_PROBE, "X,Y[,Z]", 0, "Print u at a point; repeatable", 0},               \
        {"output",                                                                                 \
         APP_KEY_OUTPUT,                                                                           \
         "FILE.vtkhdf",                                                                            \
         0,                                                                                        \
         "Write the mesh and u; ParaView and --mesh read this file",                               \
         0},                                                                                       \
        {"keep-unconverged",                                                                       \
         APP_KEY_KEEP_UNCONVERGED,                                                                 \
         NULL,                                                                                     \
         0,                                                                                        \
         "Write --output even if the solver has not converged",                                    \
         0},                                                                                       \
        {"json",                                                                                   \
         APP_KEY_JSON,                                                                             \
         "FILE|-",                                                                                 \
         0,                                                                                        \
         "Write the results as JSON; - is standard output, where then nothing else is printed",    \
         0},                                                                                       \
        {"quiet", APP_KEY_QUIET, NULL, 0, "Print only errors", 0}, {                               \
        "verbose", APP_KEY_VERBOSE, NULL, 0,                                                       \
            "Print the steps of the program, the kernels, and about twenty residuals", 0           \
    }

app_run_options app_run_options_default(void);
/** What --max-iterations says, or what suits such a mesh. */
int app_iterations_limit(const app_run_options *options, const weft_mesh *mesh);
/** Read --assembly: a name or alias of an assembly, or the word `other`, of which *is_other tells;
 *  both may be NULL.
 *  Errors  WEFT_ERROR_USAGE: lists the names */
weft_status app_parse_assembly(const char *text, const char *other, bool *is_other,
                               weft_assembly *out, weft_error *error);
/** Read the option of a key above.  Errors  WEFT_ERROR_USAGE, also for other keys */
weft_status app_run_option_read(app_run_options *options, int key, const char *text,
                                weft_error *error);
void app_run_options_clear(app_run_options *options);
/** Is nothing but errors, or JSON, to be printed? */
bool app_is_silent(const app_run_options *options);
/** A text that is not blank; borrowed. */
weft_status app_parse_text(const char *option, const char *text, const char **out,
                           weft_error *error);

/* ---- assembly and memory (apps/common/forecast.c) -------------------------------------------------- */

/** What a run will hold on its device. */
typedef struct app_forecast {
    weft_assembly_problem problem;
    int n_vectors;      /* over the dofs, solution and right-hand side among them */
    size_t input_bytes; /* of a script's inputs */
} app_forecast;

/** The assembly that the options name, or the cheapest; logged with the figures. */
weft_status app_assembly_choose(weft_device *device, const app_run_options *options,
                                const weft_assembly_problem *problem, const weft_monitor *monitor,
                                weft_assembly *out, weft_error *error);
/** Say what a run will hold on the device, at most; refused where that cannot fit.
 *  Errors  WEFT_ERROR_MEMORY, with an assembly that needs less */
weft_status app_forecast_check(weft_device *device, const app_forecast *what,
                               weft_assembly assembly, size_t *bytes, weft_error *error);
/** Log what was held at most beside what was foreseen. */
void app_forecast_compare(const weft_device *device, size_t foreseen, const weft_monitor *monitor);

/* ---- scripts of the user's (apps/common/script.c) --------------------------------------------------- */

/** The text of a file, of a shipped script, or of stdin (-); a file wins over a shipped script of
 *  the same name. *text is malloc'd.  Errors  WEFT_ERROR_IO (lists what is shipped), _INPUT */
weft_status app_script_read(const char *name, char **text, weft_error *error);
/** Is there such a file or shipped script?  is_wanted: which shipped scripts are listed where not;
 *  NULL: all.  Errors  WEFT_ERROR_IO */
weft_status app_script_check(const char *name, bool (*is_wanted)(const char *text),
                             weft_error *error);

/** Split at the commas outside parentheses, blanks round the pieces removed; *out [*n] is malloc'd,
 * and so is each. An empty piece is WEFT_ERROR_USAGE. */
weft_status app_split_list(const char *option, const char *text, char ***out, int *n,
                           weft_error *error);
void app_free_list(char ***list, int n);
/** The same with one piece for each component.  Errors  WEFT_ERROR_USAGE: more or fewer */
weft_status app_split_components(const char *option, const char *text, int components, char ***out,
                                 weft_error *error);

/* ---- checks (apps/common/check.c) ------------------------------------------------------------------ */

/** Compile formulas in x, y, z, and in t with_time, for nothing but their errors, so that a slip in
 * the last option is reported before an hour of meshing. expressions  names are set here Errors
 * WEFT_ERROR_SYNTAX, WEFT_ERROR_TYPE with a caret in the user's text */
weft_status app_expressions_check(const weft_library *library, const weft_limits *limits,
                                  bool with_time, weft_expression *expressions, int n,
                                  weft_error *error);
/** Are both names of one file? Not of "-", nor where one is NULL. */
bool app_is_same_file(const char *a, const char *b);
/** A result must not cost the user the geometry, mesh or script it came from, and its name ends in
 *  .vtkhdf. Any name may be NULL.
 *  Errors  WEFT_ERROR_USAGE */
weft_status app_outputs_check(const char *mesh, const char *output, const char *json,
                              weft_error *error);

/* ---- solutions (apps/common/solution.c) ------------------------------------------------------------ */

/** What to look at where the matrix is not positive definite, where r.z vanishes, and where a value
 *  is no number. */
typedef struct app_cg_advice {
    const char *indefinite, *breakdown, *nan;
} app_cg_advice;

/** The line about conjugate gradients, on stdout. */
void app_cg_print(const weft_cg_result *cg);
/** That a solve has not converged, the residual reached and what to try, on stderr. */
void app_cg_complain(const char *program, const app_run_options *options, const weft_cg_result *cg,
                     const app_cg_advice *advice);
/** Is --output to be written? Warns where it is not, and where it holds no solution. */
bool app_output_wanted(const app_run_options *options, bool converged, const weft_monitor *monitor);
/** Iterations, outcome and residuals; null where nothing was solved. */
bool app_json_set_solution(json_t *root, const weft_cg_result *cg, bool solved);

/* ---- reports (apps/common/report.c) ---------------------------------------------------------------- */

typedef struct app_seconds {
    double mesh, order, plan, compile, assembly, solve, output; /* order is in mesh too */
    double started; /* weft_clock() then; 0: not known */
} app_seconds;

void app_seconds_print(const app_seconds *seconds);
/** weft_clock less what the context has spent on planning and compiling, which count alone. */
double app_clock(const weft_context *context);
/** Some twenty of the iterations, the last among them: a page, however many there were. */
void app_history_print(const weft_cg_result *cg);
/** The same on one line, with some of the iterations. */
void app_history_line_print(const weft_cg_result *cg);
/** NaN without its sign, which says nothing. */
double app_plain(double value);
/** Was everything that stands on stdout written?  Errors  WEFT_ERROR_IO */
weft_status app_stdout_check(weft_error *error);
/** The lines about device and plan, on stdout; assembly and what follows it. */
void app_plan_print(const weft_context *context, weft_assembly assembly, const char *more);
/** name(X,Y) with its values [probes][components], NaN outside, a line each, on stdout. */
void app_probes_print(const app_probes *probes, const char *name, const double *values,
                      int components);
bool app_json_set_mesh(json_t *root, const weft_mesh *mesh);
bool app_json_set_plan(json_t *root, const weft_context *context, weft_assembly assembly);
/** A number for one component, else a list; NULL when memory is out. */
json_t *app_json_values(const double *values, int components);
/** values  as above; NULL: null for each */
bool app_json_set_probes(json_t *root, const app_probes *probes, const double *values,
                         int components);
bool app_json_set_history(json_t *root, const weft_cg_result *cg);
/** Peak of memory, and seconds; "total" is from the start until now. */
bool app_json_set_costs(json_t *root, const app_seconds *seconds);
