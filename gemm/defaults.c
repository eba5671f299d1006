/* The points that are used where nothing was tuned: for each type and order of the operands a few
 * shapes, from large tiles to small ones. Rates are measured on an H200, relative to the first. */
#include "gemm/kernels.h"

#include <string.h>

#define MMA(...)                                                                                   \
    {                                                                                              \
        .stencil = WEFT_GEMM_MMA, .values = { __VA_ARGS__ }                                        \
    }
#define FMA(...)                                                                                   \
    {                                                                                              \
        .stencil = WEFT_GEMM_FMA, .values = { __VA_ARGS__ }                                        \
    }
#define TRANSPOSED(transposed, ...)                                                                \
    { WEFT_GEMM_FMA, {__VA_ARGS__}, transposed }
enum { MOST = 5 };

/* [along k of A + 2 along k of B], as in kernels/gemm */
typedef weft_gemm_default table[4][MOST];

static const table single = {{{FMA(128, 256, 8, 8, 16, 8, 1, 4, 1, 4, 0), 1},
                              {FMA(128, 128, 16, 8, 16, 8, 2, 3, 2, 8, 0), 0.95},
                              {FMA(128, 64, 16, 8, 8, 8, 2, 3, 3, 8, 0), 0.88},
                              {FMA(64, 64, 16, 8, 4, 4, 2, 3, 4, 8, 0), 0.73}},
                             {{TRANSPOSED(1, 128, 256, 8, 8, 16, 8, 1, 4, 1, 4, 0), 1},
                              {FMA(64, 128, 8, 8, 16, 4, 4, 3, 4, 16, 0), 0.95},
                              {FMA(128, 64, 16, 8, 8, 8, 2, 3, 3, 8, 0), 0.85},
                              {FMA(64, 64, 16, 8, 8, 8, 2, 3, 4, 8, 1), 0.84},
                              {FMA(64, 64, 16, 8, 4, 4, 2, 3, 4, 8, 0), 0.71}},
                             {{TRANSPOSED(2, 128, 256, 8, 8, 16, 8, 1, 4, 1, 4, 0), 1},
                              {FMA(256, 128, 8, 8, 16, 4, 1, 5, 1, 4, 0), 0.955},
                              {FMA(128, 128, 16, 8, 16, 8, 2, 3, 2, 8, 0), 0.91},
                              {FMA(128, 64, 16, 8, 8, 8, 2, 3, 3, 8, 0), 0.84},
                              {FMA(64, 64, 16, 8, 4, 4, 2, 3, 4, 8, 0), 0.7}},
                             /* both along k: no kernel is faster than 0.83 of that of NT */
                             {{TRANSPOSED(3, 128, 256, 8, 8, 16, 8, 1, 4, 1, 4, 0), 1},
                              {TRANSPOSED(1, 256, 128, 8, 8, 16, 4, 1, 5, 1, 4, 0), 0.96},
                              {FMA(64, 128, 8, 8, 16, 4, 4, 4, 4, 16, 1), 0.83},
                              {FMA(128, 64, 8, 8, 8, 8, 1, 4, 3, 8, 1), 0.81},
                              {FMA(64, 64, 16, 8, 8, 8, 2, 3, 4, 8, 1), 0.81}}};

static const table double_mma = {{{MMA(128, 128, 1, 32, 64, 5, 2, 4, 2, 1, 4, 1), 1},
                                  {MMA(64, 64, 1, 32, 32, 4, 2, 8, 2, 3, 8, 0), 0.93},
                                  {MMA(64, 32, 1, 32, 16, 4, 2, 8, 2, 4, 8, 0), 0.75}},
                                 {{MMA(128, 128, 1, 32, 64, 5, 2, 4, 2, 1, 4, 1), 1},
                                  {MMA(64, 64, 1, 32, 32, 4, 2, 8, 2, 3, 8, 1), 0.93},
                                  {MMA(64, 32, 1, 32, 16, 4, 2, 8, 2, 4, 8, 0), 0.75}},
                                 {{MMA(64, 256, 2, 64, 32, 2, 2, 4, 2, 1, 4, 0), 1},
                                  {MMA(128, 64, 1, 64, 32, 4, 2, 8, 2, 2, 4, 0), 0.91},
                                  {MMA(64, 64, 1, 32, 32, 4, 2, 8, 2, 3, 8, 0), 0.9},
                                  {MMA(64, 32, 1, 32, 16, 4, 2, 8, 2, 4, 8, 0), 0.75}},
                                 {{MMA(128, 128, 1, 32, 64, 5, 2, 4, 2, 1, 4, 1), 1},
                                  {MMA(128, 64, 1, 64, 32, 4, 2, 8, 2, 2, 8, 0), 0.91},
                                  {MMA(64, 64, 1, 32, 32, 4, 2, 8, 2, 3, 8, 0), 0.91},
                                  {MMA(64, 32, 1, 32, 16, 4, 2, 8, 2, 4, 8, 0), 0.79}}};

static const table single_complex = {{{FMA(128, 128, 8, 8, 8, 8, 1, 4, 1, 4, 1), 1},
                                      {FMA(128, 64, 8, 8, 8, 8, 2, 4, 2, 8, 1), 0.97},
                                      {FMA(64, 64, 8, 8, 8, 8, 2, 4, 4, 8, 1), 0.95},
                                      {FMA(64, 64, 8, 8, 4, 8, 2, 4, 3, 8, 1), 0.93},
                                      {FMA(64, 32, 8, 4, 8, 8, 2, 4, 4, 8, 1), 0.95}},
                                     {{FMA(128, 128, 8, 8, 8, 8, 2, 4, 1, 8, 1), 1},
                                      {FMA(128, 64, 8, 8, 8, 8, 2, 4, 2, 8, 1), 0.97},
                                      {FMA(64, 64, 8, 8, 8, 8, 2, 4, 4, 8, 1), 0.95},
                                      {FMA(64, 64, 8, 8, 4, 8, 2, 4, 3, 8, 1), 0.93},
                                      {FMA(64, 32, 8, 4, 8, 8, 2, 4, 4, 8, 1), 0.95}},
                                     {{FMA(128, 128, 8, 8, 8, 4, 1, 4, 1, 8, 1), 1},
                                      {FMA(128, 64, 8, 8, 8, 8, 2, 4, 2, 8, 1), 0.97},
                                      {FMA(64, 64, 8, 8, 8, 8, 2, 4, 4, 8, 1), 0.95},
                                      {FMA(64, 64, 8, 8, 4, 8, 2, 4, 3, 8, 1), 0.93},
                                      {FMA(64, 32, 8, 4, 8, 8, 2, 4, 4, 8, 1), 0.95}},
                                     {{FMA(128, 128, 8, 8, 8, 8, 2, 4, 1, 8, 1), 1},
                                      {FMA(128, 64, 8, 8, 8, 8, 2, 4, 2, 8, 1), 0.97},
                                      {FMA(64, 64, 8, 8, 8, 8, 2, 4, 4, 8, 1), 0.95},
                                      {FMA(64, 64, 8, 8, 4, 8, 2, 4, 3, 8, 1), 0.93},
                                      {FMA(64, 32, 8, 4, 8, 8, 2, 4, 4, 8, 1), 0.95}}};

static const table double_complex_mma = {{{MMA(64, 64, 1, 32, 32, 4, 1, 4, 1, 2, 8, 0), 1},
                                          {MMA(64, 32, 1, 32, 16, 4, 1, 4, 1, 3, 8, 0), 0.9}},
                                         {{MMA(64, 128, 1, 32, 32, 6, 1, 4, 2, 1, 8, 0), 1},
                                          {MMA(64, 64, 1, 32, 32, 4, 1, 4, 1, 2, 8, 0), 0.97},
                                          {MMA(64, 32, 1, 32, 16, 4, 1, 4, 1, 3, 8, 0), 0.9}},
                                         {{MMA(64, 64, 1, 32, 32, 4, 1, 4, 1, 2, 8, 0), 1},
                                          {MMA(64, 32, 1, 32, 16, 4, 1, 4, 1, 3, 8, 0), 0.9}},
                                         {{MMA(32, 128, 1, 32, 32, 5, 1, 4, 2, 2, 8, 1), 1},
                                          {MMA(64, 64, 1, 32, 32, 4, 1, 4, 1, 2, 8, 0), 0.93},
                                          {MMA(64, 32, 1, 32, 16, 4, 1, 4, 1, 3, 8, 0), 0.85}}};

/* FP64 tensor cores whose instructions have k = 4 only (compute capability 8.0). */
static const weft_gemm_default double_mma_4[MOST] = {
    {MMA(128, 64, 1, 64, 32, 3, 2, 0, 2, 2, 8, 0), 1},
    {MMA(64, 64, 1, 32, 32, 4, 2, 0, 2, 3, 8, 0), 0.92},
    {MMA(64, 32, 1, 32, 16, 4, 2, 0, 2, 4, 8, 0), 0.7}};
static const weft_gemm_default double_complex_mma_4[MOST] = {
    {MMA(64, 64, 1, 32, 32, 4, 1, 0, 1, 2, 8, 0), 1},
    {MMA(64, 32, 1, 32, 16, 4, 1, 0, 1, 3, 8, 0), 0.9}};

/* No FP64 tensor cores. */
static const weft_gemm_default double_fma[MOST] = {{FMA(64, 64, 8, 4, 8, 8, 2, 3, 3, 8, 0), 1},
                                                   {FMA(64, 32, 16, 8, 4, 8, 2, 3, 4, 8, 0), 0.8}};
static const weft_gemm_default double_complex_fma[MOST] = {
    {FMA(64, 32, 8, 4, 4, 8, 2, 3, 2, 8, 0), 1}, {FMA(32, 32, 8, 4, 4, 8, 2, 3, 4, 8, 0), 0.8}};

/* Z: factors in slabs, so that the few blocks which fit multiply while they copy; measured on an H200. */
static bool slab_default(const weft_gemm_shape *shape, const weft_gemm_limits *limits,
                         weft_gemm_point *out) {
    static const struct {
        int above, most, values[5];
    } list[] = {{36, 40, {1, 5, 96, 2, 1}},
                {40, 44, {3, 1, 192, 3, 3}},
                {44, 48, {1, 3, 192, 3, 2}},
                {48, 56, {1, 7, 128, 4, 2}}};
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i) {
        const int64_t above = list[i].above, most = list[i].most;
        weft_gemm_point point = {.stencil = WEFT_GEMM_DIRECT};
        memcpy(point.values, list[i].values, sizeof list[i].values);
        if (shape->m > above && shape->m <= most && shape->n > above && shape->n <= most &&
            weft_gemm_judge(shape, &point, limits, NULL, NULL) == WEFT_GEMM_SURVIVES) {
            *out = point;
            return true;
        }
    }
    return false;
}

/* Tiles of warps: straight from device memory up to 16 x 16 doubles, else from shared memory; so few blocks of 16 x 8
 * that many warps are resident. */
static bool direct_default(const weft_gemm_shape *shape, const weft_gemm_limits *limits,
                           weft_gemm_point *out) {
    enum { STRAIGHT = 16, MOST_WARPS = 8 };
    static const int leasts[WEFT_GEMM_TYPES] = {11, 8, 8, 8}, most[WEFT_GEMM_TYPES] = {15, 9, 8, 5};
    const int64_t least = shape->m < shape->n ? shape->m : shape->n,
                  largest = shape->m > shape->n ? shape->m : shape->n;
    const bool staged = shape->type != WEFT_GEMM_DOUBLE || largest > STRAIGHT;
    /* one warp is a block */
    const bool alone = shape->type == WEFT_GEMM_SINGLE_COMPLEX && least > 24;
    double least_work = 0;
    if (least < leasts[shape->type])
        return false;
    if (shape->type == WEFT_GEMM_DOUBLE_COMPLEX && slab_default(shape, limits, out))
        return true;
    for (int x = 1; x <= 4; ++x)
        for (int y = 1; y <= 8 && x * y <= most[shape->type]; ++y) {
            const int tiles =
                (int)((shape->m + 16 * x - 1) / (16 * x) * ((shape->n + 8 * y - 1) / (8 * y)));
            const double work = tiles * (x * y + 0.5 * (2 * x + y));
            const weft_gemm_point point = {
                .stencil = WEFT_GEMM_DIRECT,
                .values = {x, y, tiles == 1 && !alone ? 64 : 32 * tiles, staged, 1}};
            if (tiles > MOST_WARPS || (least_work > 0 && work >= least_work) ||
                weft_gemm_judge(shape, &point, limits, NULL, NULL) != WEFT_GEMM_SURVIVES)
                continue;
            least_work = work;
            *out = point;
        }
    return least_work > 0;
}

/* Tiles of threads for products whose m and n are at most `size` and larger than the size before it, for all orders of
 * the operands; measured on an H200. */
typedef struct batch_row {
    int size, tm, tn, products, slabs;
} batch_row;
enum { BATCH_ROWS = 20 };
static const batch_row single_batches[BATCH_ROWS] = {
    {8, 4, 4, 8, 1},   {10, 6, 5, 4, 1},  {12, 4, 6, 5, 1}, {16, 4, 8, 4, 1},  {18, 2, 9, 7, 1},
    {20, 4, 10, 3, 1}, {22, 4, 11, 8, 1}, {24, 6, 6, 4, 1}, {26, 4, 9, 3, 1},  {28, 8, 7, 8, 1},
    {30, 6, 10, 2, 1}, {32, 4, 8, 1, 1},  {36, 6, 9, 4, 1}, {40, 10, 5, 4, 1}, {44, 12, 6, 1, 1},
    {48, 6, 8, 2, 1},  {52, 8, 6, 1, 1},  {56, 7, 7, 1, 1}, {60, 5, 8, 1, 1},  {64, 4, 8, 1, 2}};
static const batch_row complex_batches[BATCH_ROWS] = {
    {8, 2, 4, 4, 1},  {10, 2, 5, 3, 1},  {12, 3, 6, 8, 1}, {16, 4, 4, 2, 1}, {18, 2, 9, 7, 1},
    {20, 4, 5, 8, 1}, {22, 2, 11, 7, 1}, {24, 4, 6, 4, 1}, {26, 2, 9, 4, 1}, {28, 4, 7, 2, 1},
    {30, 4, 5, 2, 1}, {32, 4, 4, 1, 2},  {36, 3, 9, 2, 1}, {40, 4, 5, 2, 1}, {44, 4, 4, 1, 1},
    {48, 4, 6, 1, 1}, {52, 4, 8, 1, 1},  {56, 4, 7, 2, 1}, {60, 4, 6, 1, 1}, {64, 8, 4, 1, 2}};

static bool batch_default(const weft_gemm_shape *shape, const weft_gemm_limits *limits,
                          weft_gemm_point *out) {
    enum { LEAST = 8 };
    const batch_row *row =
        shape->type == WEFT_GEMM_SINGLE_COMPLEX ? complex_batches : single_batches;
    const batch_row *end = row + BATCH_ROWS;
    const int64_t least = shape->m < shape->n ? shape->m : shape->n,
                  largest = shape->m > shape->n ? shape->m : shape->n;
    int before = LEAST - 1;
    if (shape->type != WEFT_GEMM_SINGLE && shape->type != WEFT_GEMM_SINGLE_COMPLEX)
        return false;
    for (; row < end && row->size < largest; ++row)
        before = row->size;
    if (row == end || least <= before)
        return false;
    const weft_gemm_point point = {.stencil = WEFT_GEMM_BATCH,
                                   .values = {row->tm, row->tn,
                                              (int)(shape->m + row->tm - 1) / row->tm,
                                              row->products, row->slabs, 1}};
    if (weft_gemm_judge(shape, &point, limits, NULL, NULL) != WEFT_GEMM_SURVIVES)
        return false;
    *out = point;
    return true;
}

/* A batch by the kernels of large matrices, a product per block, where their pipeline along k beats tiles of warps, whose
 * products lie whole in shared memory. */
static bool pipeline_default(const weft_gemm_shape *shape, const weft_gemm_limits *limits,
                             weft_gemm_point *out) {
    static const struct {
        weft_gemm_type type;
        int above, most;
        weft_gemm_point point;
    } list[] = {{WEFT_GEMM_DOUBLE_COMPLEX, 56, 64, MMA(64, 64, 1, 32, 32, 4, 1, 4, 1, 2, 8, 0)}};
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i) {
        const int64_t above = list[i].above, most = list[i].most;
        if (shape->type == list[i].type && shape->m > above && shape->m <= most &&
            shape->n > above && shape->n <= most && shape->k <= WEFT_GEMM_SMALL_MOST &&
            weft_gemm_judge(shape, &list[i].point, limits, NULL, NULL) == WEFT_GEMM_SURVIVES) {
            *out = list[i].point;
            return true;
        }
    }
    return false;
}

bool weft_gemm_small_default(const weft_gemm_shape *shape, const weft_gemm_limits *limits,
                             weft_gemm_point *out) {
    enum { FEW = 4, BLOCK = 128 };
    const int64_t largest = shape->m > shape->n ? shape->m : shape->n;
    /* one thread per product where a product fits into its registers */
    if (batch_default(shape, limits, out) || pipeline_default(shape, limits, out) ||
        direct_default(shape, limits, out))
        return true;
    const int tile = largest <= FEW ? (int)largest : FEW;
    *out = (weft_gemm_point){.stencil = WEFT_GEMM_SMALL,
                             .values = {[SMALL_TM] = tile < shape->m ? tile : (int)shape->m,
                                        [SMALL_TN] = tile < shape->n ? tile : (int)shape->n,
                                        [SMALL_BLOCK] = BLOCK}};
    return weft_gemm_judge(shape, out, limits, NULL, NULL) == WEFT_GEMM_SURVIVES;
}

int weft_gemm_defaults(weft_gemm_type type, weft_gemm_op op_a, weft_gemm_op op_b, int matrix_depth,
                       const weft_gemm_default **out) {
    const int order = (op_a != WEFT_GEMM_PLAIN) + 2 * (op_b == WEFT_GEMM_PLAIN);
    const bool deep = matrix_depth > 4, complex = weft_gemm_is_complex(type);
    int n = 0;
    if (type == WEFT_GEMM_SINGLE)
        *out = single[order];
    else if (type == WEFT_GEMM_SINGLE_COMPLEX)
        *out = single_complex[order];
    else if (matrix_depth == 0)
        *out = complex ? double_complex_fma : double_fma;
    else if (!deep)
        *out = complex ? double_complex_mma_4 : double_mma_4;
    else
        *out = complex ? double_complex_mma[order] : double_mma[order];
    while (n < MOST && (*out)[n].rate > 0)
        ++n;
    return n;
}
