/* cuDSS by its own header: a sparse factorization on the GPU, analysed once for a pattern. */
#include <cudss.h>

#include "cudss_plugin.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of enumerators and the parameters of functions differ between versions, which is why this is compiled against the
 * header of the library that is found. */
#define FUNCTIONS(FUNCTION)                                                                        \
    FUNCTION(cudssCreate)                                                                          \
    FUNCTION(cudssDestroy)                                                                         \
    FUNCTION(cudssSetStream)                                                                       \
    FUNCTION(cudssConfigCreate)                                                                    \
    FUNCTION(cudssConfigDestroy)                                                                   \
    FUNCTION(cudssConfigSet)                                                                       \
    FUNCTION(cudssDataCreate)                                                                      \
    FUNCTION(cudssDataDestroy)                                                                     \
    FUNCTION(cudssDataGet)                                                                         \
    FUNCTION(cudssMatrixCreateCsr)                                                                 \
    FUNCTION(cudssMatrixCreateDn)                                                                  \
    FUNCTION(cudssMatrixDestroy)                                                                   \
    FUNCTION(cudssExecute)

enum { UNKNOWN = -1 }; /* a function is missing */

struct weft_cudss_solver {
#define MEMBER(name) __typeof__(&name) name;
    FUNCTIONS(MEMBER)
    cudssHandle_t handle;
    cudssConfig_t config;
    cudssData_t data;
    cudssMatrix_t a, b, x;
    int code, is_factorised;
};

static int find_all(weft_cudss_solver *s, void *library, void *(*find)(void *, const char *)) {
    void *symbol = NULL;
#define FIND(name)                                                                                 \
    symbol = find(library, #name);                                                                 \
    if (!symbol)                                                                                   \
        return 0;                                                                                  \
    memcpy(&s->name, &symbol, sizeof symbol);
    FUNCTIONS(FIND)
    return 1;
}

static weft_cudss_outcome outcome(weft_cudss_solver *s, int code) {
    s->code = code;
    return code == CUDSS_STATUS_SUCCESS        ? WEFT_CUDSS_OK
           : code == CUDSS_STATUS_ALLOC_FAILED ? WEFT_CUDSS_MEMORY
                                               : WEFT_CUDSS_FAILED;
}

/* Versions before 0.8 have one type for row starts and columns. */
#if CUDSS_VERSION < 800
#define INDEX_TYPES CUDA_R_32I
#else
#define INDEX_TYPES CUDA_R_32I, CUDA_R_32I
#endif

static weft_cudss_outcome make(void *library, void *(*find)(void *, const char *),
                               const weft_cudss_system *system, weft_cudss_solver **out) {
    weft_cudss_solver *s = calloc(1, sizeof *s);
    int code = UNKNOWN;
    *out = s;
    if (!s)
        return WEFT_CUDSS_MEMORY;
    if (find_all(s, library, find))
        code = s->cudssCreate(&s->handle);
    if (code == CUDSS_STATUS_SUCCESS)
        code = s->cudssSetStream(s->handle, (cudaStream_t)system->stream);
    if (code == CUDSS_STATUS_SUCCESS)
        code = s->cudssConfigCreate(&s->config);
    if (code == CUDSS_STATUS_SUCCESS)
        code = s->cudssDataCreate(s->handle, &s->data);
    if (code == CUDSS_STATUS_SUCCESS)
        code = s->cudssMatrixCreateCsr(
            &s->a, system->n, system->n, system->n_entries, (void *)system->row_start, NULL,
            (void *)system->columns, (void *)system->values, INDEX_TYPES, CUDA_R_64F,
            system->is_symmetric ? CUDSS_MTYPE_SYMMETRIC : CUDSS_MTYPE_GENERAL,
            system->is_symmetric ? CUDSS_MVIEW_UPPER : CUDSS_MVIEW_FULL, CUDSS_BASE_ZERO);
    if (code == CUDSS_STATUS_SUCCESS)
        code = s->cudssMatrixCreateDn(&s->b, system->n, 1, system->n, system->b, CUDA_R_64F,
                                      CUDSS_LAYOUT_COL_MAJOR);
    if (code == CUDSS_STATUS_SUCCESS)
        code = s->cudssMatrixCreateDn(&s->x, system->n, 1, system->n, system->x, CUDA_R_64F,
                                      CUDSS_LAYOUT_COL_MAJOR);
    return outcome(s, code);
}

static int execute(weft_cudss_solver *s, int phase) {
    return s->cudssExecute(s->handle, phase, s->config, s->data, s->a, s->x, s->b);
}

static int set_matching(weft_cudss_solver *s, int matches) {
#if CUDSS_VERSION < 800
    const cudssConfigParam_t parameter = CUDSS_CONFIG_USE_MATCHING;
    int value = matches;
#else
    const cudssConfigParam_t parameter = CUDSS_CONFIG_MATCHING_ALG;
    cudssMatchingAlg_t value = matches ? CUDSS_MATCHING_ALG_AUTO : CUDSS_MATCHING_ALG_NONE;
#endif
    return s->cudssConfigSet(s->config, parameter, &value, sizeof value);
}

/* A count, which is an int or an int64_t. */
static int64_t count(const weft_cudss_solver *s, cudssDataParam_t parameter) {
    int64_t wide = 0;
    int narrow = 0;
    size_t written = 0;
    if (s->cudssDataGet(s->handle, s->data, parameter, &wide, sizeof wide, &written) !=
        CUDSS_STATUS_SUCCESS) {
        wide = 0;
        if (s->cudssDataGet(s->handle, s->data, parameter, &wide, sizeof narrow, &written) !=
            CUDSS_STATUS_SUCCESS)
            return 0;
        written = sizeof narrow;
    }
    memcpy(&narrow, &wide, sizeof narrow);
    return written == sizeof narrow ? narrow : wide;
}

static weft_cudss_outcome factorise(weft_cudss_solver *s, int analyses, int matches) {
    int code = CUDSS_STATUS_SUCCESS;
    if (analyses) {
        s->is_factorised = 0;
        code = set_matching(s, matches);
        if (code == CUDSS_STATUS_SUCCESS)
            code = execute(s, CUDSS_PHASE_ANALYSIS);
    }
    if (code == CUDSS_STATUS_SUCCESS)
        code = execute(s, s->is_factorised ? CUDSS_PHASE_REFACTORIZATION
                                           : CUDSS_PHASE_FACTORIZATION);
    const int is_singular = code == CUDSS_STATUS_SUCCESS && count(s, CUDSS_DATA_INFO) != 0;
    s->is_factorised = code == CUDSS_STATUS_SUCCESS && !is_singular;
    return is_singular ? WEFT_CUDSS_SINGULAR : outcome(s, code);
}

static weft_cudss_outcome solve(weft_cudss_solver *s) {
    return outcome(s, execute(s, CUDSS_PHASE_SOLVE));
}

static void report(const weft_cudss_solver *s, weft_cudss_report *out) {
    enum { ESTIMATES = 16, PEAK = 1 };
    int64_t estimates[ESTIMATES] = {0};
    size_t written = 0;
    *out = (weft_cudss_report){.code = s->code,
                               .n_perturbed = count(s, CUDSS_DATA_NPIVOTS),
                               .n_factors = count(s, CUDSS_DATA_LU_NNZ)};
    if (s->cudssDataGet(s->handle, s->data, CUDSS_DATA_MEMORY_ESTIMATES, estimates,
                        sizeof estimates, &written) == CUDSS_STATUS_SUCCESS)
        out->device_bytes = estimates[PEAK];
}

static void solver_free(weft_cudss_solver *s) {
    cudssMatrix_t *const matrices[] = {&s->a, &s->b, &s->x};
    for (int i = 0; i < 3; ++i)
        if (*matrices[i])
            (void)s->cudssMatrixDestroy(*matrices[i]);
    if (s->data)
        (void)s->cudssDataDestroy(s->handle, s->data);
    if (s->config)
        (void)s->cudssConfigDestroy(s->config);
    if (s->handle)
        (void)s->cudssDestroy(s->handle);
    free(s);
}

static int version(void *library, void *(*find)(void *, const char *), int *out) {
    __typeof__(&cudssGetProperty) get = NULL;
    void *symbol = find(library, "cudssGetProperty");
    memcpy(&get, &symbol, sizeof symbol);
    out[0] = out[1] = out[2] = 0;
    return get && get(MAJOR_VERSION, &out[0]) == CUDSS_STATUS_SUCCESS &&
           get(MINOR_VERSION, &out[1]) == CUDSS_STATUS_SUCCESS &&
           get(PATCH_LEVEL, &out[2]) == CUDSS_STATUS_SUCCESS && out[0] == CUDSS_VERSION_MAJOR &&
           out[1] == CUDSS_VERSION_MINOR;
}

/** The entry: arguments[0] is a weft_cudss_plugin to be filled. */
void weft_plugin_open(void *const *arguments, int64_t n, int64_t first, int64_t last);
void weft_plugin_open(void *const *arguments, int64_t n, int64_t first, int64_t last) {
    weft_cudss_plugin *out = arguments[0];
    (void)n, (void)first, (void)last;
    *out = (weft_cudss_plugin){make, factorise, solve, report, solver_free, version};
}
