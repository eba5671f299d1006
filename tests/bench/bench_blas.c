/* The eleven sequences of BLAS calls of Filipovic et al. 2015, each by Weft and by calls of a BLAS
 * library in one run:  bench_blas --help */
#include "bench_blas.h"
#include "apps/common/support.h"

#include <stdio.h>
#include <stdlib.h>

enum { NO_GPU = 77 };

static weft_status run(int argc, char **argv, blas_options *options, blas_results *results,
                       bool *no_gpu, weft_error *error) {
    weft_status status = WEFT_OK;
    TRY(blas_options_parse(argc, argv, options, error));
    if (options->json)
        TRY(app_file_check(options->json, error));
    TRY(blas_run(options, results, no_gpu, error));
    blas_tables_print(results);
    if (options->json)
        TRY(blas_results_write(results, options->json, error));
done:
    return status;
}

int main(int argc, char **argv) {
    static blas_options options;
    static blas_results results;
    weft_error error = {0};
    bool no_gpu = false;
    app_ensure_standard_streams();
    const weft_status status = run(argc, argv, &options, &results, &no_gpu, &error);
    if (status != WEFT_OK) {
        char text[4096];
        weft_error_text(&error, text, sizeof text);
        fprintf(stderr, "%s\n", text);
        return no_gpu ? NO_GPU : weft_status_exit_code(status);
    }
    if (results.n_wrong > 0)
        printf("%d WRONG\n", results.n_wrong);
    return results.n_wrong > 0;
}
