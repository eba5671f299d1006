/** Shared by the parts of bench_cuda. */
#ifndef BENCH_CUDA_H
#define BENCH_CUDA_H

#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"

/* ---- options (bench_cuda_options.c) ----------------------------------------------------------
 */

typedef enum bench_work {
    BENCH_LOCAL = 1,   /* local assembly */
    BENCH_ADDTO = 2,   /* assembly into the matrix */
    BENCH_APPLY = 4,   /* products */
    BENCH_CG = 8,      /* conjugate gradients */
    BENCH_SHUFFLE = 16 /* the same mesh shuffled and ordered again */
} bench_work;

enum { BENCH_SIZES_MAX = 24, BENCH_ASSEMBLIES_MAX = 16 };

typedef struct bench_options {
    const char *device;
    const char *tiles;       /* folder with the tiles; NULL: Gmsh makes them */
    const char *write_tiles; /* write them there and end */
    const char *json;
    double cells[BENCH_SIZES_MAX]; /* n_cells 0: the sizes of the table of targets, and decades */
    int n_cells;
    bool shapes[4];     /* [2], [3] */
    bool precisions[2]; /* double, float */
    unsigned works;     /* of bench_work */
    weft_assembly assemblies[BENCH_ASSEMBLIES_MAX];
    int n_assemblies;
    int repeats;
    bool quick, targets, solve_large, asked_cells, asked_assemblies;
} bench_options;

/** Errors WEFT_ERROR_USAGE. --help is printed here and ends the program. */
weft_status bench_options_parse(int argc, char **argv, bench_options *out, weft_error *error);
/** The assemblies that this build of the library knows; how many. */
int bench_assemblies(weft_assembly *out);

/* ---- time (bench_cuda_time.c) ------------------------------------------------------------ */

typedef weft_status (*bench_task)(void *user, weft_error *error);

/** Measures what is asked of a device between start and stop. */
typedef struct bench_timing_loop {
    weft_status (*start)(void *user, weft_error *error);
    weft_status (*stop)(void *user, double *seconds, weft_error *error);
    void *user;
} bench_timing_loop;

/** Seconds of one run of the task: the median of `repeats` measurements, each of as many runs one
 *  after another as take some tenths of a millisecond. */
weft_status bench_measure(bench_timing_loop watch, bench_task task, void *user, int repeats,
                          double *seconds, weft_error *error);
double bench_median(double *values, int n);
bench_timing_loop bench_timer_timing_loop(weft_timer *timer);

/* ---- meshes (bench_cuda_mesh.c) ---------------------------------------------------------- */

typedef struct bench_tiles {
    const char *folder;      /* NULL: Gmsh */
    weft_mesh *meshes[4][2]; /* [dimension][large]; NULL before it is first asked for */
} bench_tiles;

/** The mesh with about this many cells, ordered; seconds of tiling and of ordering. Errors as of
 *  weft_mesh_read, weft_mesh_tile */
weft_status bench_mesh_make(bench_tiles *tiles, weft_device *host, int dimension, double n_cells,
                            bool shuffled, weft_mesh **out, double seconds[2], weft_error *error);
/** Write the four tiles as VTKHDF into a folder that is there. */
weft_status bench_tiles_write(bench_tiles *tiles, const char *folder, weft_error *error);
void bench_tiles_free(bench_tiles *tiles);

/* ---- rows (bench_cuda_rows.c, bench_cuda_targets.c) -------------------------------------- */

typedef struct bench_row {
    const char *shape, *precision, *work;
    char subject[32], note[96], rival[24];
    int64_t n_cells, n_nodes;
    double seconds, bytes; /* seconds 0: not measured, and note says why */
    double rate;           /* G cells/s or GDoF/s */
    double copy_bandwidth, rival_seconds;
    double difference; /* from the host's product; < 0: not compared */
    bool wrong;
} bench_row;

typedef struct bench_rows {
    bench_row *rows;
    int n_rows, capacity, n_wrong;
    bool failed; /* out of memory */
} bench_rows;

void bench_rows_head(double copy_bandwidth, const char *device);
/** Keep the row and print it. */
void bench_rows_add(bench_rows *rows, const bench_row *row);
void bench_rows_free(bench_rows *rows);
/** The table of what was asked, from the rows; how many were measured and not reached. */
int bench_targets_print(const bench_rows *rows, const char *device);
weft_status bench_rows_json(const bench_rows *rows, const char *path, const char *device,
                            double copy_bandwidth, weft_error *error);

/* ---- bytes that must move (bench_cuda_bytes.c) ------------------------------------------- */

typedef struct bench_sizes {
    int dimension;
    double cells, nodes, entries; /* of the matrix */
    double real;                  /* bytes of one */
} bench_sizes;

typedef enum bench_kind {
    BENCH_KIND_CSR,
    BENCH_KIND_EDGE,
    BENCH_KIND_LMA,
    BENCH_KIND_FREE
} bench_kind;
bench_kind bench_assembly_kind(const char *name);
double bench_bytes_local(const bench_sizes *sizes);
double bench_bytes_addto(const bench_sizes *sizes);
double bench_bytes_apply(const bench_sizes *sizes, bench_kind kind);
double bench_bytes_cg(const bench_sizes *sizes, bench_kind kind);
/** What an assembly takes of the device, roughly; for skipping what cannot fit. */
double bench_bytes_device(const bench_sizes *sizes, bench_kind kind);
/** The counts in words, for --help. */
extern const char bench_bytes_text[];

/* ---- one mesh (bench_cuda_case.c, bench_cuda_ours.c, bench_cuda_single.c) ----------------- */

struct bench_rival;
struct bench_rival_matrix;

typedef struct bench_run {
    const bench_options *options;
    weft_device *host;
    weft_library *library;
    struct bench_rival *rival; /* NULL: no GPU, nothing to compare with */
    double copy_bandwidth;     /* 0: not measured */
    bench_tiles tiles;
    bench_rows rows;
    bool counts; /* the device computes: times mean something */
} bench_run;

/** Everything a measurement needs on one mesh. The matrix and v, y are the host's. */
typedef struct bench_case {
    bench_run *run;
    weft_mesh *mesh;
    const char *shape;
    bench_sizes sizes;
    double *v, *y, *b; /* random; A v; right-hand side, 0 on the boundary */
    int32_t *boundary;
    int64_t n_boundary;
    weft_context host;
    weft_connectivity *host_dofs;
    weft_memory *host_x;
    weft_operator *matrix;                    /* csr on the host */
    double product_seconds[2], cg_seconds[3]; /* the rivals'; 0: none */
    double residual;      /* after ten iterations, by rival A or by the host; 0: not yet */
    double order_seconds; /* of the ordering of this mesh */
    double apply_seconds[BENCH_ASSEMBLIES_MAX]; /* ours on the ordered mesh, by place in options */

    weft_device *device;
    weft_context context;
    weft_connectivity *dofs;
    weft_memory *x, *device_v, *device_y, *device_b;
    weft_form_input inputs[1];
    weft_parameter parameters[1];
    weft_form form;
} bench_case;

weft_status bench_case_run(bench_run *run, int dimension, double n_cells, weft_error *error);
/** The form of -div grad u with this x and these dofs. */
weft_form bench_form(bench_case *c, weft_connectivity *dofs, weft_memory *x);
bench_row bench_row_make(const bench_case *c, const char *work, const char *subject, bool single);
/** Set-up, Addto, products and conjugate gradients of each assembly, in double; shuffled: products
 *  alone, compared with apply_seconds. */
weft_status bench_operators(bench_case *c, bool shuffled, weft_error *error);
/** Local assembly in both precisions; Addto and products in float: as programs. */
weft_status bench_programs(bench_case *c, weft_error *error);
weft_status bench_rivals(bench_case *c, weft_error *error);
/** Poisson's equation on a box of so many cells, phase by phase, against the exact solution. What
 * is not converged or not near it counts among run->rows.n_wrong. */
weft_status bench_solve_large(bench_run *run, double n_cells, weft_error *error);
/** |y - A v| / |A v|, both from the host's product of the same v. */
double bench_difference(const double *y, const double *wanted, int64_t n);

#endif
