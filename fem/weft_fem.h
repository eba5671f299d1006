/** Weft fem: meshes, orderings, sparse patterns, operators, boundary conditions, CG, result files.
 *
 *      mesh file -> mesh -> ordering -> dof map -> interleaved cell data -> local matrices ->
 * operator
 *      -> CG -> result file */
#ifndef WEFT_FEM_H
#define WEFT_FEM_H

#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- mesh ---------------------------------------------------------------------------------------
 */

/** A physical group of facets (dimension d-1) or cells (dimension d). Of groups of points, and of
 *  curves in space, the name alone is kept. */
typedef struct weft_group {
    char name[256]; /* physical name, or its number as text when it has none */
    int dimension;
    int64_t first_facet, n_facets; /* into weft_mesh.group_facets */
    int64_t first_cell, n_cells;   /* into weft_mesh.group_cells */
} weft_group;

/** A simplicial mesh. Free with weft_mesh_free. Arrays come from weft_array_make (padded). */
typedef struct weft_mesh {
    int dimension;            /* d: 2 triangles, 3 tetrahedra */
    int64_t n_nodes, n_cells; /* n_nodes < 2^31 */
    double *x;                /* [n_nodes][d], in the file's unit */
    int32_t *cells;           /* [n_cells][d+1], positively oriented */
    int64_t n_facets;         /* first the whole boundary, then facets inside that are in a group */
    int64_t n_boundary_facets; /* facets of exactly one cell */
    int32_t *facets; /* [n_facets][d]; seen from outside its (first) cell, counterclockwise; 2D:
                        from node to node with the cell on the left */
    int n_groups;
    weft_group *groups;
    int32_t *group_facets;    /* facet numbers, group after group; a facet may be in several */
    int32_t *group_cells;     /* cell numbers likewise, ascending in each group */
    int64_t n_flipped_cells;  /* mended: orientation */
    int64_t n_dropped_nodes;  /* mended: nodes of a file or of the user's that no cell uses */
    int64_t n_ignored_facets; /* group facets that are no facet of any cell */
    char source[512];         /* file or "square:32" */
} weft_mesh;

/** What a reader or a user has before checking: any numbering, orientation, tags. Arrays from
 *  weft_array_make. */
typedef struct weft_mesh_data {
    int dimension;
    int64_t n_nodes, n_cells;
    double *x;      /* [n_nodes][d] */
    int32_t *cells; /* [n_cells][d+1] */
    int n_groups;
    weft_group *groups; /* facets of group g: group_facet_nodes[first_facet .. + n_facets) */
    int64_t n_group_facets;
    int32_t *group_facet_nodes; /* [n_group_facets][d] */
    int64_t n_group_cells;
    int32_t *group_cells; /* [n_group_cells]: of group g, [first_cell .. + n_cells) */
} weft_mesh_data;

/** Make a checked mesh: flips inverted cells, drops unused nodes (both counted), finds the
 *  boundary, matches group facets (one that no cell has is ignored and counted; one that a group
 *  names twice stands once, as does a cell). Takes over data's arrays: they are freed or moved, and
 *  NULLed, also on error. source is for messages, which count nodes and cells from 1, in data's
 *  order.
 *
 *  Memory  while it runs, 8 bytes a cell and 4 to 8 a node beyond data's arrays
 *  Errors  WEFT_ERROR_INPUT with counts and the first culprit, each with what to do: coordinate
 *          that is NaN or infinite; node number out of range; cell without volume, which is
 *          |volume| <= 1e-14 h^d, h its longest edge; doubled cell; facet of three cells; no
 *          cells. WEFT_ERROR_UNSUPPORTED (2^31 nodes or cells), WEFT_ERROR_MEMORY */
weft_status weft_mesh_make(weft_mesh_data *data, const char *source, const weft_monitor *monitor,
                           weft_mesh **out, weft_error *error);
/** How files are read through Gmsh; zeros are the defaults, which weft-gmsh --help tells. */
typedef struct weft_mesh_options {
    double size;    /* mesh size for .geo, in its unit: the value of its constant h, lc, cl, size or
                       meshsize where DefineConstant[] has one, else the size of every cell; <= 0: as
                       the file says */
    double memory;  /* bytes that Gmsh may take */
    double seconds; /* that it may take */
    bool trust_geo; /* a .geo file may run programs and write files */
} weft_mesh_options;
/** Read a mesh file, or make "square:N" or "cube:N".
 *
 *  Formats "FILE.vtkhdf"; through the program weft-gmsh "FILE.geo", "FILE.msh" (MSH 1, 2, 4.0, 4.1),
 *          "FILE.unv", "FILE.bdf", "FILE.nas", "FILE.vtk" (legacy) and "FILE.mesh" (Medit)
 *  options borrowed; NULL: the defaults
 *  Cells   the highest dimension that has any, 2D in the plane z = 0; of a .geo file those in
 *          physical groups, where there are any of this dimension
 *  Errors  WEFT_ERROR_USAGE, _IO, _INPUT, _UNSUPPORTED (each names the file and what to do),
 *          _MEMORY (Gmsh's limit too); *out untouched */
weft_status weft_mesh_read_with(const char *name, const weft_mesh_options *options,
                                const weft_monitor *monitor, weft_mesh **out, weft_error *error);
/** weft_mesh_read_with, with nothing but a size. */
weft_status weft_mesh_read(const char *name, double size, const weft_monitor *monitor,
                           weft_mesh **out, weft_error *error);
/** Does this name a file that is read through Gmsh? By its ending. */
bool weft_mesh_is_gmsh(const char *name);
/** Unit square, 2 n^2 right triangles; groups left, right, bottom, top. */
weft_status weft_mesh_make_square(int64_t n, weft_mesh **out, weft_error *error);
/** Unit cube, 6 n^3 Kuhn tetrahedra; groups left, right (x), front, back (y), bottom, top (z). */
weft_status weft_mesh_make_cube(int64_t n, weft_mesh **out, weft_error *error);
/** Repeat a mesh counts[a] times along axis a (counts[2] is not looked at in 2D), beside itself by
 *  the size of its bounding box, and merge the nodes where copies meet. For meshes whose opposite
 *  sides are meshed alike, as meshes/tile_square.geo and meshes/tile_cube.geo.
 *
 *  device  borrowed, for its threads; NULL: on one thread
 *  Nodes   copy after copy, x fastest, each in the tile's order; cells likewise
 *  Facets  those where copies meet are gone, also from groups; every other of each copy is kept
 *  Errors  WEFT_ERROR_INPUT: the first node or facet on a side that has no partner within 1e-8 of
 *          the box on the opposite one; WEFT_ERROR_USAGE (a count below 1), WEFT_ERROR_UNSUPPORTED
 *          (2^31 nodes or cells), WEFT_ERROR_MEMORY; *out untouched */
weft_status weft_mesh_tile(weft_device *device, const weft_mesh *tile, const int64_t counts[3],
                           weft_mesh **out, weft_error *error);
/** Refine uniformly: `times` steps (1 to 12) in each of which every edge is halved and a triangle
 *  becomes 4, a tetrahedron 8.
 *
 *  device  borrowed, for its threads (NULL: one); the result is the same for any number
 *  Nodes   each is followed by the midpoints of its edges to higher nodes, those ascending
 *  Cells   the children of a cell one after another, positive; facets likewise, so that the
 * boundary stays first; a group has all children of its facets. Curved boundaries stay as they are:
 *          midpoints lie on straight edges
 *  Shapes  triangles keep theirs. Of a tetrahedron's inner octahedron four are made round the
 *          diagonal for which the worst is best, in each step: the first makes the worst that ever
 *          come, also over several calls. cube:N refined is cube:2N, numbered otherwise
 *  Memory  the new mesh, 1/8 (3D) or 1/4 of it, and while a step runs 24 bytes a tetrahedron (12 a
 *          triangle) and 8 a node of the mesh before it
 *  Errors  WEFT_ERROR_USAGE (times), WEFT_ERROR_UNSUPPORTED (2^31 cells, facets or nodes in the
 *          end, seen before any finer mesh is allocated), WEFT_ERROR_MEMORY; *out untouched
 *  Source  Bey 1995, Tetrahedral grid refinement, Computing 55 */
weft_status weft_mesh_refine(weft_device *device, const weft_mesh *mesh, int times,
                             const weft_monitor *monitor, weft_mesh **out, weft_error *error);
void weft_mesh_free(weft_mesh **mesh);
/** The group of facets with this name. WEFT_ERROR_INPUT lists those that exist, with the nearest.
 * "boundary" is the whole boundary unless a group has that name: then *group = -1 and facets 0 ..
 * n_boundary_facets. */
weft_status weft_mesh_group(const weft_mesh *mesh, const char *name, int *group, weft_error *error);
/** Facet numbers of a group (-1: the whole boundary) as node lists: *out [*n][d], from
 * weft_array_make, the caller's. */
weft_status weft_mesh_group_facets(const weft_mesh *mesh, int group, int32_t **out, int64_t *n,
                                   weft_error *error);
/** The distinct nodes of a group, ascending; *out from weft_array_make, the caller's. */
weft_status weft_mesh_group_nodes(const weft_mesh *mesh, int group, int32_t **out, int64_t *n,
                                  weft_error *error);

typedef enum weft_ordering {
    WEFT_ORDERING_BISECTION, /* recursive coordinate bisection: parallel, parts of equal size */
    WEFT_ORDERING_METIS      /* METIS parts of the node graph, breadth first inside: one thread */
} weft_ordering;
/** Renumber nodes and cells for locality: nodes in compact parts, the parts too in an order that
 *  keeps neighbours near; cells by their lowest node.
 *  device      its worker threads are used; NULL: one thread. The result does not depend on them
 *  part_nodes  nodes of a part: every part_nodes consecutive ones (the last part may have fewer)
 *              with WEFT_ORDERING_BISECTION, about so many with METIS; 0: 512, 4096 with METIS
 *  permutation NULL allowed; gets new -> old node numbers, caller's
 *  Memory      while it runs, 20 bytes a tetrahedron and 36 a node; and what METIS takes
 *  Errors      WEFT_ERROR_MEMORY */
weft_status weft_mesh_order(weft_device *device, weft_mesh *mesh, weft_ordering method,
                            int64_t part_nodes, const weft_monitor *monitor, int32_t **permutation,
                            weft_error *error);
/** Mean distance of node numbers within a cell, over n_nodes: what an ordering should lower.
 *  device  as for weft_mesh_order */
double weft_mesh_bandwidth(weft_device *device, const weft_mesh *mesh);
/** The cell that holds a point and its barycentric coordinates [d+1]; *cell = -1 when outside, by
 *  more than 1e-10 in a coordinate. A scan over all cells: for probes, not for clouds of points. */
void weft_mesh_locate(const weft_mesh *mesh, const double *point, int64_t *cell,
                      double *barycentric);

/* ---- result files (VTKHDF, VTU, PVD) ----------------------------------------------------
 *
 *  HDF5 runs in child processes (fork) that end with each call: where it crashes, because memory or
 *  the disk is exhausted, the call returns an error and no temporary is left. */

typedef struct weft_field {
    const char *name;
    bool on_cells; /* else on nodes */
    int n_components;
    const double *values; /* [n][n_components] */
} weft_field;

/** Write mesh and fields: as VTU (XML, raw) where path ends in .vtu, else as VTKHDF 1.0; VTK 9.1
 *  (ParaView 5.11) and later read both. A group of cells is an array of the cell data of its name,
 *  1 in the cells of the group and 0 elsewhere ('/' becomes '_'; a number follows where a field or
 *  another group has the name). A .vtkhdf file has all groups under /Weft too, and can be read as a
 *  mesh. Written to a temporary beside it and renamed: no partial file is left.
 *  Errors  WEFT_ERROR_IO (names the path and the reason), WEFT_ERROR_MEMORY */
weft_status weft_result_write(const char *path, const weft_mesh *mesh, const weft_field *fields,
                              int n_fields, weft_error *error);
/** Can this path be written? Checked before a long computation; leaves nothing, and removes the
 *  temporaries that killed runs left for this path: NAME.PID-STAMP.tmp, of this user, of a process
 *  that is gone, locked by nobody. */
weft_status weft_result_check(const char *path, weft_error *error);

/** A time series of one nodal field, which ParaView plays. Its name says how it is written:
 *
 *      NAME.pvd      an index, and NAME_steps/000000.vtu ... with the mesh and the field at a step;
 *                    VTK 9.1 (ParaView 5.11) and later
 *      NAME.vtkhdf   one file, VTKHDF 2.0 with the group Steps and the mesh once; VTK 9.3
 *                    (ParaView 5.12) and later. The disk for all steps is taken at the start
 *
 *  A program that is killed at any moment leaves the steps up to then, and others can read a series
 *  that is being written. */
typedef struct weft_series weft_series;
typedef struct weft_series_options {
    const char *name;    /* of the field */
    const char *problem; /* text that must be the same for a series to be gone on with */
    bool at_start;       /* will a step at `start` be added? It may be there already */
    int64_t n_steps;     /* most that will be added behind it; with at_start, at least one */
    double start, end;   /* times of the first and the last */
    bool resume;         /* go on with the file: its steps with times up to `start` stay */
    bool overwrite;      /* what would be refused as existing is replaced */
} weft_series_options;
/** Can a series be written there? Checked before a long computation: the name's ending, the folder,
 *  and, without resume and overwrite, that there is no such file. Errors as below */
weft_status weft_series_check(const char *path, const weft_series_options *options,
                              weft_error *error);
/** Make a series, or go on with one of the same mesh, name and problem. What exists is kept:
 *
 *      without resume           an existing file is refused
 *      with it, another's file  refused: no series, or of another mesh or problem
 *      with it, later steps     those after `start` are dropped, for they are computed again;
 *                               refused where `end` is before the last of them
 *      with it, no file         made
 *
 *  and with overwrite none of this is refused.
 *  mesh    borrowed until the series is closed
 *  Errors  WEFT_ERROR_USAGE (ending, n_steps, exists), WEFT_ERROR_INPUT (refused with resume),
 *          WEFT_ERROR_IO (path and reason; locked by another process), WEFT_ERROR_MEMORY */
weft_status weft_series_make(const char *path, const weft_mesh *mesh,
                             const weft_series_options *options, const weft_monitor *monitor,
                             weft_series **out, weft_error *error);
/** One step more, [n_nodes] values; a time not above the last that is there changes nothing.
 *  Errors  WEFT_ERROR_IO, WEFT_ERROR_MEMORY: the series is as it was; WEFT_ERROR_USAGE: no room */
weft_status weft_series_add(weft_series *series, double t, const double *values, weft_error *error);
/** Close it; disk that was not used is given up. Errors WEFT_ERROR_IO; it is freed. */
weft_status weft_series_close(weft_series **series, weft_error *error);

/** State from which a computation goes on: nodal lists, and what they belong to. */
typedef struct weft_checkpoint {
    const char *problem; /* text that must be the same: options, formulas */
    int64_t step;
    int n_lists;
    const char *const *names;
    double *const *lists; /* [n_lists][n_nodes]; weft_checkpoint_read fills them */
} weft_checkpoint;
/** Write a VTKHDF file with the mesh and the lists, whole or not at all. Errors WEFT_ERROR_IO */
weft_status weft_checkpoint_write(const char *path, const weft_mesh *mesh,
                                  const weft_checkpoint *checkpoint, weft_error *error);
/** Read one back, given the mesh, problem, names and room for the lists; sets step.
 *  Errors  WEFT_ERROR_INPUT: no checkpoint; of another version, mesh (also another ordering) or
 *          problem (both are told); damaged or cut short, which a hash over all finds.
 *          WEFT_ERROR_IO (locked by another process), WEFT_ERROR_MEMORY */
weft_status weft_checkpoint_read(const char *path, const weft_mesh *mesh,
                                 weft_checkpoint *checkpoint, weft_error *error);

/* ---- sparse matrices -------------------------------------------------------------------- */

/** Pattern of the matrix of a connectivity: columns ascending in a row. */
typedef struct weft_pattern {
    int64_t n_rows, n_entries;
    int64_t *row_start; /* [n_rows + 1] */
    int32_t *columns;   /* [n_entries] */
} weft_pattern;
/** Also makes, for `lanes`, the positions of each cell's local matrix: interleaved [block][i *
 * width + j][lane] uint32_t, spare lanes repeat the last cell. *positions NULL allowed. Errors
 * WEFT_ERROR_UNSUPPORTED (more than 2^32 - 1 entries), WEFT_ERROR_MEMORY */
weft_status weft_pattern_make(weft_device *device, const weft_connectivity *dofs, int lanes,
                              weft_pattern **out, weft_memory **positions, weft_error *error);
/** Positions in an existing pattern for another connectivity whose couplings it contains (facets of
 * its cells). */
weft_status weft_pattern_positions(weft_device *device, const weft_pattern *pattern,
                                   const weft_connectivity *dofs, int lanes,
                                   weft_memory **positions, weft_error *error);
void weft_pattern_free(weft_pattern **pattern);
/** y = A v on the device's threads; deterministic. v, y [n_rows]. */
weft_status weft_csr_product(weft_device *device, const weft_pattern *pattern, const double *values,
                             const double *v, double *y, weft_error *error);

/* ---- operators -------------------------------------------------------------------------- */

/** What every compilation of a run shares. Borrowed by what is made with it. */
typedef struct weft_context {
    weft_device *device;
    const weft_library *library; /* weft_fem_library_make */
    weft_plan_kind plan;
    const weft_monitor *monitor;
    double compile_seconds, plan_seconds; /* summed by weft_context_program */
    int n_kernels;
    weft_saving saving;     /* summed over the scripts, where there is a monitor; the kernel is of
                               the first script that has one */
    char saving_script[96]; /* its parts, "poisson.weft + matrix.weft" */
    struct weft_context_tuning *tuning; /* NULL: plans by nominal figures (weft_context_tune) */
} weft_context;

/** From now on choose plans by what the tuning database has of the device: measured costs, and covers
 *  that a search found best for the same script, device and size. On null it does nothing.
 *  most > 0   where none is remembered, measure up to so many covers of each script without loops
 *             when it is compiled, and remember the fastest
 *  n_cells    that plans are made for
 *  Free with weft_context_tune_free, before the device. Errors WEFT_ERROR_MEMORY, WEFT_ERROR_IO */
weft_status weft_context_tune(weft_context *context, int most, int64_t n_cells, weft_error *error);
void weft_context_tune_free(weft_context *context);

/** The shipped functions with the tables of fem (quadrature, shape functions). */
weft_status weft_fem_library_make(weft_library **out, weft_error *error);
/** The text of a shipped script (fem/scripts), or NULL. */
const char *weft_fem_script(const char *name);

/** An input of a form: bound by name to memory that outlives the operator. */
typedef struct weft_form_input {
    const char *name;
    weft_memory *memory;
} weft_form_input;

/** A form over one index set: a script that computes local matrices K from inputs, through a
 * connectivity `dofs`. Scripts declare `index cells, nodes; connectivity dofs : cells -> nodes[..]`
 * under these names. */
typedef struct weft_form {
    const char *name, *text; /* text: fragment without `return` */
    weft_connectivity *dofs;
    const weft_form_input *inputs;
    int n_inputs;
    const weft_expression *expressions;
    int n_expressions;
    const weft_parameter *parameters;
    int n_parameters;
    const char *product; /* shipped script that follows it in place of product.weft where the
                            product is recomputed by stars, with fewer operations; NULL: none */
    const char
        *action;    /* a value of the text that is K v, [n] or [n,components], for the text's own
                           input v over nodes: products that store nothing add it up in place of
                           mvmul(K, v), with fewer operations; NULL: none */
    int components; /* values a node, 0 is 1: K has row i*components + k for component k of the
                       cell's node i, and so have vectors, [nodes][components] */
} weft_form;

/** Looks at a form's local matrices again and again, as its inputs change. The form and what it
 *  names are borrowed, and must outlive it. */
typedef struct weft_symmetry weft_symmetry;
weft_status weft_symmetry_make(weft_context *context, const weft_form *form, weft_symmetry **out,
                               weft_error *error);
/** The largest |K - K^T| of a cell, against the largest |K|, in Frobenius' norm: 0 where local
 *  matrices are symmetric, rounding apart (some 1e-16). Runs the form once. NaN where K is. */
weft_status weft_symmetry_measure(weft_symmetry *symmetry, double *out, weft_error *error);
void weft_symmetry_free(weft_symmetry **symmetry);
/** The three in one, for a form that is looked at once. */
weft_status weft_form_asymmetry(weft_context *context, const weft_form *form, double *out,
                                weft_error *error);
/** The largest |action - K v| of a cell, against the largest |action|, for some v: 0 where the
 * form's action is K v, rounding apart. NaN where one is. form->action is not NULL. */
weft_status weft_form_action_apart(weft_context *context, const weft_form *form, double *out,
                                   weft_error *error);

typedef enum weft_assembly {
    WEFT_ASSEMBLY_LMA,         /* local matrices stored; coloured scatter */
    WEFT_ASSEMBLY_LMA_GATHER,  /* local matrices stored; transposed gather */
    WEFT_ASSEMBLY_CSR,         /* Addto into precomputed positions */
    WEFT_ASSEMBLY_MATRIX_FREE, /* recomputed in every product */
    WEFT_ASSEMBLY_EDGE /* symmetric matrices: a coupling inside a patch of 512 rows stored once */
} weft_assembly;
/** What a caller may want to know of an operator format. */
typedef struct weft_assembly_info {
    const char *name;
    const char *alias;    /* another name for it; NULL: none */
    const char *help;     /* a few words; NULL: the name says it */
    bool symmetric_only;  /* refuses forms that are not symmetric */
    bool stores_matrix;   /* weft_operator_matrix has it */
    bool stores_local;    /* weft_operator_local has it */
    weft_scatter scatter; /* of products with stored local matrices */
    const char *script;   /* shipped script that follows a form's text: for what is stored, or,
                             where nothing is, for the product */
} weft_assembly_info;
/** Assemblies are numbered from 0 to their number - 1. */
int weft_assembly_count(void);
const weft_assembly_info *weft_assembly_about(weft_assembly assembly);
const char *weft_assembly_name(weft_assembly assembly);
/** By name or alias. Errors WEFT_ERROR_USAGE: the hint lists the names */
weft_status weft_assembly_find(const char *name, weft_assembly *out, weft_error *error);
/** Add the names to a text, with what there is to say of each in brackets where `helps`: "lma, ... or
 *  edge". */
void weft_assembly_list(weft_text *out, bool helps);

/** What the choice of an assembly depends on. */
typedef struct weft_assembly_problem {
    int dimension, width; /* nodes of a cell */
    int64_t n_nodes, n_cells;
    bool symmetric;      /* local matrices are: some assemblies are for those alone */
    double applications; /* products expected, as of CG: weft_cg_iterations_expected */
    int components;      /* of a node; 0: 1 */
} weft_assembly_problem;

#define WEFT_ASSEMBLIES_MOST 8
/** What one assembly is predicted to cost, in all: set_up + assembly + applications * product. */
typedef struct weft_assembly_cost {
    const char *name;
    weft_assembly assembly; /* valid where possible */
    bool possible;          /* this device has it, for such a form */
    const char *why_not;    /* NULL: it is possible and fits into memory */
    double set_up_seconds, assembly_seconds, product_seconds, seconds;
    double assembly_bytes, product_bytes; /* moved */
    double memory_bytes;                  /* held, beside the mesh and vectors */
} weft_assembly_cost;
/** Every assembly, the one to take first; returns how many. limits are data: any device's. */
int weft_assembly_costs(const weft_limits *limits, const weft_assembly_problem *problem,
                        weft_assembly_cost out[WEFT_ASSEMBLIES_MOST]);
/** The assembly with the least predicted time of those that are possible and fit into memory (where
 *  none fits, the smallest). reason (NULL allowed) gets a table of the figures, without a newline
 *  at its end.
 *  Errors  WEFT_ERROR_USAGE: sizes that no problem has */
weft_status weft_assembly_choose(const weft_limits *limits, const weft_assembly_problem *problem,
                                 weft_assembly *out, weft_text *reason, weft_error *error);
/** Bytes that conjugate gradients hold beside the operator and x and b: vectors, and on a GPU where
 * the system stays on the chip the matrix once more, laid out by multiprocessors. */
size_t weft_cg_forecast(const weft_limits *limits, weft_assembly assembly,
                        const weft_assembly_problem *problem);
/** Add what an operator of this assembly will hold on a device with these limits, its connectivity
 *  too, to a forecast: of simplices of degree 1, within some per cent.
 *  late    bytes of it that are made with the first product, not before */
void weft_operator_forecast(const weft_limits *limits, weft_assembly assembly,
                            const weft_assembly_problem *problem, weft_forecast *forecast,
                            size_t *late);
/** Products that Jacobi-CG is expected to take for a second-order elliptic problem on a mesh of
 *  about equal cells: they grow with the nodes a side. 0 as tolerance: down to rounding. */
double weft_cg_iterations_expected(int dimension, int64_t n_nodes, double tolerance);
/** A limit for them: 50 times as many, for other conditions, coefficients and shapes, and at least
 *  10,000. */
int weft_cg_iterations_limit(int dimension, int64_t n_nodes, double tolerance);

typedef struct weft_operator weft_operator;
/** The sum of forms that share their nodes. Compiles and allocates; nothing is computed. forms and
 * what they point to are borrowed. */
weft_status weft_operator_make(weft_context *context, weft_assembly assembly,
                               const weft_form *forms, int n_forms, weft_operator **out,
                               weft_error *error);
void weft_operator_free(weft_operator **op);
/** Compute what is stored: local matrices or matrix values. Errors also WEFT_ERROR_UNSUPPORTED: a
 * form that is not symmetric, by the assembly edge (looked at in the first call). */
weft_status weft_operator_assemble(weft_operator *op, weft_error *error);
/** y = A v; v and y are memories of n_dofs doubles. */
weft_status weft_operator_apply(weft_operator *op, weft_memory *v, weft_memory *y,
                                weft_error *error);
/** d = diag(A). */
weft_status weft_operator_diagonal(weft_operator *op, weft_memory *d, weft_error *error);
int64_t weft_operator_dofs(const weft_operator *op);
/** CSR only: borrowed pattern and, where the operator keeps them in its order (not on a GPU), its
 * values, else NULL. */
const weft_pattern *weft_operator_pattern(const weft_operator *op);
weft_memory *weft_operator_values(const weft_operator *op);
/** CSR only: the values in the order of the pattern as they are now, on the operator's device;
 * where it keeps another order they are copied into it by each call. Borrowed.
 *  Errors WEFT_ERROR_USAGE (another assembly), _MEMORY, _DEVICE */
weft_status weft_operator_matrix(weft_operator *op, weft_memory **values, weft_error *error);
/** Local matrices of form i (lma only), interleaved; borrowed, else NULL. */
weft_memory *weft_operator_local(const weft_operator *op, int form);

/** Make, bind and run one script that is no operator: right-hand sides, nodal values, errors.
 * Accumulates into or returns into `outputs`, bound by name. sizes of index sets without
 * connectivity are given by n_instances for index set `cells`... see form. */
weft_status weft_form_run(weft_context *context, const weft_form *form,
                          const char *const *output_names, weft_memory *const *outputs,
                          int n_outputs, const char *index_set, int64_t n_instances,
                          weft_error *error);

/* ---- conjugate gradients ---------------------------------------------------------------- */

typedef enum weft_cg_outcome {
    WEFT_CG_CONVERGED,
    WEFT_CG_MAX_ITERATIONS,
    WEFT_CG_INDEFINITE, /* p.Ap <= 0 */
    WEFT_CG_BREAKDOWN,  /* r.z = 0 while the residual is not small */
    WEFT_CG_NAN,
    WEFT_CG_STAGNATION /* no progress, and rounding is not the reason */
} weft_cg_outcome;
const char *weft_cg_outcome_name(weft_cg_outcome outcome);

typedef struct weft_cg_options {
    bool jacobi;
    double tolerance;           /* on |r| / |b - A x_constrained|; 0: down to rounding */
    int max_iterations;         /* see weft_cg_iterations_limit */
    const int32_t *constrained; /* ascending dofs whose value in x is kept; borrowed */
    int64_t n_constrained;
    bool project_mean; /* singular operator whose null space is the constants */
    const weft_monitor *monitor;
} weft_cg_options;

typedef struct weft_cg_result {
    weft_cg_outcome outcome;
    int iterations;
    double residual;       /* relative, recomputed from b - A x at the end */
    double *history;       /* [iterations + 1] relative residuals; free() */
    bool to_rounding;      /* converged: not to the tolerance, but as far as rounding allows */
    double backward_error; /* see weft_solver_solve; NaN where the tolerance was met */
} weft_cg_result;

/** Conjugate gradients for an operator: made once, to solve often. Keeps its vectors (four of n_dofs
 *  doubles), its programs, and on a GPU the kernel that a small system stays in, so that further
 *  solves compile and allocate nothing.
 *  context, op  borrowed; they must outlive it. The operator may be assembled again in between
 *  Errors       WEFT_ERROR_MEMORY */
typedef struct weft_solver weft_solver;
weft_status weft_solver_make(weft_context *context, weft_operator *op, weft_solver **out,
                             weft_error *error);
void weft_solver_free(weft_solver **solver);
/** Solve A x = b. x holds the start (its constrained dofs the boundary values); memories of n_dofs
 *  doubles. An outcome other than converged is no error. Deterministic for any number of threads.
 *
 *  Converged  |r| <= tolerance |b - A x_constrained| for r = b - A x itself, and sqrt(r.D^-1 r) <=
 *             100 tolerance sqrt(x.A x), D the diagonal of A, so that Dirichlet values on a stiff
 *             part do not hide soft ones; or, where rounding does not allow that, a backward error
 *             |r| / (|A| |x| + |b|) of at most (10 + sqrt(iterations)) 2^-52, in norms scaled by D,
 *             with |r| no more than 1e-4 |b| in the same norm.
 *  Errors     WEFT_ERROR_USAGE, WEFT_ERROR_SHAPE, WEFT_ERROR_UNSUPPORTED (a null device),
 *             WEFT_ERROR_MEMORY, WEFT_ERROR_COMPILER, WEFT_ERROR_DEVICE
 *  Source     Hestenes and Stiefel 1952; Saad 2003, algorithm 9.1; Higham 2002, 7.1 and 17.5 */
weft_status weft_solver_solve(weft_solver *solver, weft_memory *b, weft_memory *x,
                              const weft_cg_options *options, weft_cg_result *result,
                              weft_error *error);
/** Make a solver, solve once, free it. */
weft_status weft_cg_solve(weft_context *context, weft_operator *op, weft_memory *b, weft_memory *x,
                          const weft_cg_options *options, weft_cg_result *result,
                          weft_error *error);

/* ---- measures of a field ------------------------------------------------------------------ */

typedef struct weft_field_measures {
    double mass;        /* its integral */
    double centroid[3]; /* int x u / int u; NaN where the mass is 0, and beyond the dimension */
    double minimum, maximum, l2_norm;
    double l2_error; /* against `exact`, by a rule of degree 5; NaN without */
} weft_field_measures;
typedef struct weft_field_measure weft_field_measure;
/** Measures of a P1 field u over a mesh's nodes, by one program. x and u are borrowed. exact: a
 * formula in x, y, z and t, or NULL.  Errors WEFT_ERROR_SYNTAX, _TYPE with a caret in the formula;
 * _MEMORY */
weft_status weft_field_measure_make(weft_context *context, const weft_mesh *mesh,
                                    weft_connectivity *cells, weft_memory *x, weft_memory *u,
                                    const weft_expression *exact, weft_field_measure **out,
                                    weft_error *error);
void weft_field_measure_free(weft_field_measure **measure);
weft_status weft_field_measure_run(weft_field_measure *measure, double t, weft_field_measures *out,
                                   weft_error *error);

/* ---- advection and diffusion in time ----------------------------------------------------- */

typedef enum weft_splitting {
    WEFT_SPLITTING_LIE,   /* advection, then diffusion: first order */
    WEFT_SPLITTING_STRANG /* half a diffusion, advection, half a diffusion: second order */
} weft_splitting;

/** Nodes at which T is given, as a formula in x, y, z and t. */
typedef struct weft_kept_nodes {
    const char *text, *origin; /* of the formula */
    const int32_t *nodes;
    int64_t n_nodes;
} weft_kept_nodes;

/** dT/dt + u.grad T = div(mu grad T) with continuous linear T on simplices. Formulas are in x, y, z
 *  and t, each with an origin for messages. All is borrowed and must outlive the stepper.
 *
 *  velocity     [mesh->dimension] components of u; NULL: nothing is advected
 *  diffusivity  mu: one formula, or those of a symmetric tensor, row by row; NULL: no diffusion
 *  kept         where nodes are in several, the last holds; elsewhere mu dT/dn = 0
 *  initial      [n_nodes] T at the time 0, the kept values among them
 *
 *  Each step of length dt splits: advection by classical Runge and Kutta (four solves with the mass
 *  matrix, or, lumped, divisions), diffusion by the theta scheme (a solve). Coefficients that
 * depend on t are those of t + dt/2, where they are renewed, else those of t = 0. */
typedef struct weft_advection_diffusion_problem {
    const weft_mesh *mesh;
    weft_connectivity *cells;                      /* of the mesh: cells -> nodes */
    weft_memory *x;                                /* the mesh's coordinates */
    const weft_expression *velocity, *diffusivity; /* names are not looked at */
    int n_diffusivity;                             /* 0, 1, or dimension squared */
    const weft_kept_nodes *kept;
    int n_kept;
    const double *initial;
    double dt, theta; /* dt > 0, theta in [0, 1] */
    weft_splitting splitting;
    bool lumped;            /* mass, in both parts of a step */
    bool renew;             /* assemble all operators in every step */
    weft_assembly assembly; /* edge: the advection, which is not symmetric, as csr */
    double tolerance;       /* of each solve: |r| <= tolerance |b| over free nodes, r the
                               recurrence's; 0 stands for 2^-52 */
    int max_iterations;
} weft_advection_diffusion_problem;

/** What ended a run. */
typedef enum weft_step_outcome {
    WEFT_STEP_DONE,
    WEFT_STEP_NAN,       /* T holds a number that is not finite */
    WEFT_STEP_BLOW_UP,   /* T has grown to a million times what was given */
    WEFT_STEP_ADVECTION, /* a slope has not converged */
    WEFT_STEP_DIFFUSION  /* a diffusion has not */
} weft_step_outcome;
const char *weft_step_outcome_name(weft_step_outcome outcome);

/** Where a run stands. */
typedef struct weft_step_state {
    int64_t step; /* steps done since the time 0 */
    double t;
    weft_step_outcome outcome;
    int advection[4];   /* iterations of the last step's solves */
    int diffusion;      /* the same (Strang: of both) */
    int64_t iterations; /* of all solves since the stepper was made */
} weft_step_state;

typedef struct weft_advection_diffusion weft_advection_diffusion;
/** Compile the script of a step (fem/scripts/step_*.weft), make and assemble the operators, set T.
 *  Errors  WEFT_ERROR_SYNTAX, _TYPE with a caret in the user's formula; WEFT_ERROR_INPUT: a value
 *          where T is kept is not finite; WEFT_ERROR_UNSUPPORTED, _COMPILER, _DEVICE, _MEMORY */
weft_status weft_advection_diffusion_make(weft_context *context,
                                          const weft_advection_diffusion_problem *problem,
                                          weft_advection_diffusion **out, weft_error *error);
void weft_advection_diffusion_free(weft_advection_diffusion **ad);
/** At most n steps more. A state other than WEFT_STEP_DONE is no error, and ends the run. On a GPU
 *  that records, all n are one graph. The result does not depend on how steps are grouped. */
weft_status weft_advection_diffusion_run(weft_advection_diffusion *ad, int64_t n,
                                         weft_step_state *state, weft_error *error);
/** The step's script and plan, as weft_compilation_print. */
weft_status weft_advection_diffusion_print(const weft_advection_diffusion *ad, const char *stage,
                                           weft_text *out, weft_error *error);
/** T, [n_nodes] doubles. Borrowed. */
weft_memory *weft_advection_diffusion_field(const weft_advection_diffusion *ad);
/** All that one step hands to the next: lists of n_nodes doubles. A run that is given them, and the
 *  number of steps, goes on bit by bit as it would have. Borrowed; returns how many. */
enum { WEFT_ADVECTION_DIFFUSION_LISTS = 8 };
int weft_advection_diffusion_lists(const weft_advection_diffusion *ad,
                                   const char *names[WEFT_ADVECTION_DIFFUSION_LISTS],
                                   weft_memory *lists[WEFT_ADVECTION_DIFFUSION_LISTS]);
/** After lists were written: so many steps are done. */
weft_status weft_advection_diffusion_resume(weft_advection_diffusion *ad, int64_t step,
                                            weft_error *error);

/** Sum of n doubles by a fixed tree that depends on n alone. */
double weft_sum(const double *values, int64_t n);

#ifdef __cplusplus
}
#endif
#include "fem/weft_bc.h"
#include "fem/weft_space.h"
#endif
