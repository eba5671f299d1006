/** Internals of dense products:
 *
 *      gemm.c      checks, chooses a point, compiles and launches
 *      host.c      the same on the host
 *      three.c     complex products by three real ones
 *      transpose.c factors that are transposed before a product
 *      source.c    the text of a kernel
 *      defaults.c  the points that are used where nothing was tuned
 *      roof.c      what a GPU can do at most
 *      energy.c    joules of a product
 *
 *  Decision  docs/decisions/0025-dense-products-are-generated.md */
#pragma once

#include "gemm/space.h"

#include <pthread.h>

/** What a kernel is compiled for, besides its point. */
typedef struct weft_gemm_variant {
    weft_gemm_shape shape;
    weft_gemm_op op_a, op_b;
    bool edges;        /* sizes need not be multiples of the tile */
    bool aligned;      /* every column begins at a multiple of 16 bytes */
    bool whole_chunks; /* k is a multiple of the entries in 16 bytes; set with edges alone */
    bool shifted;      /* edges where the last tiles begin earlier, so that they are whole */
    bool persistent;   /* blocks compute several tiles (mma) */
    bool packed;       /* columns follow one another without gaps */
    int matrix_depth;  /* as in weft_limits */
    int vector_bytes;  /* of the host's registers; 0: a GPU */
} weft_gemm_variant;

/** Append the source of a kernel called "product".
 *  Errors  WEFT_ERROR_INTERNAL: the library lacks the stencil's file; WEFT_ERROR_MEMORY */
weft_status weft_gemm_source(const weft_gemm_variant *variant, const weft_gemm_point *point,
                             weft_text *out, weft_error *error);

/** Arguments of a kernel, as in kernels/gemm/device.cu. Units: entries. */
typedef struct weft_gemm_values {
    int m, n, k, unused;
    int64_t lda, ldb, ldc, first_a, first_b, first_c, stride_a, stride_b, stride_c;
    double alpha[2], beta[2];
} weft_gemm_values;

/** Append a file of kernels/gemm.
 *  Errors  WEFT_ERROR_INTERNAL: the library has no such file */
weft_status weft_gemm_source_file(const char *name, weft_text *out, weft_error *error);

int weft_gemm_element_bytes(weft_gemm_type type);
bool weft_gemm_is_complex(weft_gemm_type type);

/** A point, and how fast a GPU full of its blocks was at it, relative to the other defaults. */
typedef struct weft_gemm_default {
    weft_gemm_point point;
    double rate;
} weft_gemm_default;
/** The points to choose from.
 *  Returns their number; *out is static */
int weft_gemm_defaults(weft_gemm_type type, weft_gemm_op op_a, weft_gemm_op op_b, int matrix_depth,
                       const weft_gemm_default **out);

struct weft_gemm_kernels {
    weft_device *device;
    weft_gemm_limits limits;
    struct weft_gemm_compiled *compiled; /* a list */
    pthread_mutex_t mutex;               /* protects it */
    weft_memory **packed;                /* of the host, [n_packed]: buffers of the threads */
    int n_packed;
    weft_memory *triangles
        [2]; /* blocks on a diagonal, and solved rows (gemm/triangular.c); NULL: none yet */
    weft_memory *parts[3];      /* of A, B and C for products by three real ones; NULL: none yet */
    weft_memory *transposed[2]; /* transposed A and B; NULL: none yet */
};

/** The type and the sizes of a product. */
weft_gemm_shape weft_gemm_shape_of(const weft_gemm_product *product);
/** A point for a batch of small products of a shape; false: they are too large. */
bool weft_gemm_small_default(const weft_gemm_shape *shape, const weft_gemm_limits *limits,
                             weft_gemm_point *out);
/** A point for a host: from the number and size of its registers; for a few rows and columns tiles that
 *  they fill. */
weft_gemm_point weft_gemm_host_default(const weft_gemm_shape *shape,
                                       const weft_gemm_limits *limits);
/** Choose a point for a product: the least predicted time among the defaults. */
weft_gemm_point weft_gemm_choose(const weft_gemm_kernels *kernels, const weft_gemm_product *product,
                                 int64_t n_products);
/** Compute n products with a given point.
 *  Errors  as weft_gemm_batched; WEFT_ERROR_UNSUPPORTED: the device cannot run the point */
weft_status weft_gemm_run(weft_gemm_kernels *kernels, const weft_gemm_product *product, int64_t n,
                          const weft_gemm_point *point, weft_error *error);
enum { WEFT_GEMM_TASKS = 256 }; /* most threads of a host that share a product */
/** The same on the host. The product is checked. */
weft_status weft_gemm_host_run(weft_gemm_kernels *kernels, const weft_gemm_product *product,
                               int64_t n, const weft_gemm_point *point, weft_error *error);
/** Arguments of a kernel that computes n products.
 *  swap  A and B exchange their places, as do m and n */
weft_gemm_values weft_gemm_values_of(const weft_gemm_product *product, int64_t n, bool swap);
/** Check sizes and matrices.
 *  Errors  WEFT_ERROR_SHAPE */
weft_status weft_gemm_check(const weft_gemm_product *product, int64_t n, weft_error *error);
/** weft_gemm_3m with a given point for the real products, and one of these products, of which only type,
 *  operands, sizes and layout are set. */
weft_status weft_gemm_3m_run(weft_gemm_kernels *kernels, const weft_gemm_product *product,
                             int64_t n, const weft_gemm_point *point, weft_error *error);
weft_gemm_product weft_gemm_3m_real(const weft_gemm_product *product, int64_t n);
/** A product with factors transposed in memory, and so of the opposite operations: their layout, without that
 *  memory; and the same with copies that are made now, by launches.
 *  transposed  as in weft_gemm_point
 *  out     borrows memory of the kernels until the next call
 *  Errors  WEFT_ERROR_MEMORY; those of compilation and launches */
weft_gemm_product weft_gemm_transposed(const weft_gemm_product *product, int64_t n, int transposed);
weft_status weft_gemm_transpose(weft_gemm_kernels *kernels, const weft_gemm_product *product,
                                int64_t n, int transposed, weft_gemm_product *out,
                                weft_error *error);
/** Compile a source, or find the kernel of the same text. Several threads may call it at once.
 *  module  the kernels' */
weft_status weft_gemm_compile(weft_gemm_kernels *kernels, const weft_text *source,
                              weft_module **module, weft_error *error);
/** Compile the kernel that weft_gemm_run needs, or find it. Several threads may call it at once.
 *  module  the kernels' */
weft_status weft_gemm_module(weft_gemm_kernels *kernels, const weft_gemm_product *product,
                             int64_t n, const weft_gemm_point *point, weft_module **module,
                             weft_error *error);
