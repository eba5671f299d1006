/** Shared by the parts of bench_factor: small systems by Weft (bench_factor.c), and by cuSOLVER and cuBLAS
 *  (bench_factor_rival.c). */
#ifndef BENCH_FACTOR_H
#define BENCH_FACTOR_H

#include "core/weft_core.h"
#include "fusion/weft_compile.h"
#include "fusion/weft_library.h"
#include "fusion/weft_program.h"

typedef struct factor_bench {
    weft_device *device;
    weft_library *library;
    weft_timer *timer;
    const char *wanted;
    bool is_gpu;
    struct factor_rival *rival; /* NULL: there is none */
} factor_bench;

/** Systems on the host, one after another. */
typedef struct factor_systems {
    bool lu, single;
    int n;
    int64_t count;
    const void *matrices; /* [count][n][n], symmetric */
    void *rights;         /* [count][n]; the solutions afterwards */
} factor_systems;

/** Open the libraries, or print why there are none. */
weft_status factor_rival_open(factor_bench *b, weft_error *error);
void factor_rival_close(factor_bench *b);
/** The median of the seconds that the library takes for all systems; solutions in place of the right-hand sides. */
weft_status factor_rival_run(const factor_bench *b, const factor_systems *systems, double *seconds,
                             weft_error *error);

#endif
