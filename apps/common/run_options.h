/** The options shared by apps that solve on a mesh: values, keys and entries of the argp table. */
#pragma once

#include "apps/common/conditions.h"
#include "apps/common/mesh.h"

/** Values of the options. Texts are borrowed from argv. */
typedef struct app_run_options {
    app_mesh_options mesh;
    const char *device, *output, *json; /* output and json may be NULL */
    double tolerance;
    int max_iterations;    /* -1: by the size of the mesh (app_iterations_limit) */
    bool keep_unconverged; /* write the output even without convergence */
    int tune;              /* number of plans to measure per script; 0: none */
    bool assembly_auto;    /* choose the assembly */
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
/** The value of --max-iterations, or a default for the size of the mesh. */
int app_iterations_limit(const app_run_options *options, const weft_mesh *mesh);
/** Parse --assembly: a name or alias of an assembly, or the word `other`.
 *  other, is_other  may be NULL; *is_other is set to whether the text is `other`
 *  Errors           WEFT_ERROR_USAGE, which lists the names */
weft_status app_parse_assembly(const char *text, const char *other, bool *is_other,
                               weft_assembly *out, weft_error *error);
/** Read the value of an option.
 *  key     one of the keys above
 *  Errors  WEFT_ERROR_USAGE, also for other keys */
weft_status app_run_option_read(app_run_options *options, int key, const char *text,
                                weft_error *error);
void app_run_options_clear(app_run_options *options);
/** Print nothing but errors, or nothing but JSON? */
bool app_is_silent(const app_run_options *options);
/** Check that the text of an option is not blank, and borrow it. */
weft_status app_parse_text(const char *option, const char *text, const char **out,
                           weft_error *error);
