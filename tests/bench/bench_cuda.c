/* The GPU's figures, each against its rival and the copy bandwidth in one run: ratios count.
 *      bench_cuda [--targets] [--cells 1e6,1e7] [--tiles DIR] ...          see --help */
#include "bench_cuda.h"
#include "apps/common/support.h"
#include "bench_cuda_rival.h"
#include "core/weft_core.h"
#include "fem/weft_fem.h"
#include "fusion/weft_library.h"

#include <stdio.h>
#include <string.h>

enum { NO_GPU = 77 };

typedef struct bench_size {
    int dimension;
    double cells;
} bench_size;

/* What the table of targets asks for: nodes 10^4, 166,000, 10^6, 10^7 of triangles, two cells a
 * node; 10^7 cells and 10^7 nodes of tetrahedra, 5.6 cells a node. */
static const bench_size target_sizes[] = {{2, 2e4}, {2, 3.32e5}, {2, 2e6},
                                          {2, 2e7}, {3, 1e7},    {3, 6.13e7}};

static weft_status run_sizes(bench_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    const bench_options *options = run->options;
    for (int d = 2; d <= 3; ++d) {
        if (!options->shapes[d])
            continue;
        for (int i = 0; i < options->n_cells; ++i)
            TRY(bench_case_run(run, d, options->cells[i], error));
        for (size_t i = 0; options->targets && i < sizeof target_sizes / sizeof *target_sizes; ++i)
            if (target_sizes[i].dimension == d)
                TRY(bench_case_run(run, d, target_sizes[i].cells, error));
    }
done:
    return status;
}

static weft_status open_rival(bench_run *run, weft_error *error) {
    weft_status status = WEFT_OK;
    if (strncmp(run->options->device, "cuda", 4) != 0)
        return WEFT_OK;
    TRY(bench_rival_open(&run->rival, error));
    if (bench_rival_missing(run->rival))
        fprintf(stderr, "no rivals: %s\n", bench_rival_missing(run->rival));
    TRY(bench_rival_copy(run->rival, run->options->repeats, &run->copy_bandwidth, error));
done:
    return status;
}

static weft_status open_devices(bench_run *run, char *name, size_t size, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_device_options options = weft_device_options_default(NULL);
    weft_device *device = NULL;
    TRY(weft_device_open(run->options->device, &options, &device, error));
    snprintf(name, size, "%s", weft_device_limits(device)->name);
    run->counts = !weft_device_limits(device)->records_only;
    TRY(weft_device_open("host", &options, &run->host, error));
    TRY(weft_fem_library_make(&run->library, error));
    TRY(open_rival(run, error));
done:
    weft_device_free(&device);
    return status;
}

static weft_status run_all(bench_run *run, bool *no_gpu, weft_error *error) {
    weft_status status = WEFT_OK;
    char name[128] = "";
    const bench_options *options = run->options;
    run->tiles.folder = options->tiles;
    if (options->write_tiles) {
        TRY(bench_tiles_write(&run->tiles, options->write_tiles, error));
        goto done;
    }
    if (options->json)
        TRY(app_file_check(options->json, error));
    status = open_devices(run, name, sizeof name, error);
    *no_gpu = status == WEFT_ERROR_DEVICE && strncmp(options->device, "cuda", 4) == 0;
    TRY(status);
    if (options->solve_large) {
        printf("%s\n", name);
        TRY(bench_solve_large(run, options->asked_cells ? options->cells[0] : 1e8, error));
        goto done;
    }
    bench_rows_head(run->copy_bandwidth, name);
    TRY(run_sizes(run, error));
    bench_targets_print(&run->rows, name);
    if (options->json)
        TRY(bench_rows_json(&run->rows, options->json, name, run->copy_bandwidth, error));
done:
    bench_tiles_free(&run->tiles);
    bench_rival_free(&run->rival);
    weft_library_free(&run->library);
    weft_device_free(&run->host);
    return status;
}

int main(int argc, char **argv) {
    weft_error error = {0};
    bench_options options;
    bool no_gpu = false;
    app_ensure_standard_streams();
    weft_status status = bench_options_parse(argc, argv, &options, &error);
    bench_run run = {.options = &options};
    if (status == WEFT_OK)
        status = run_all(&run, &no_gpu, &error);
    const int n_wrong = run.rows.n_wrong;
    bench_rows_free(&run.rows);
    if (status != WEFT_OK) {
        char text[4096];
        weft_error_text(&error, text, sizeof text);
        fprintf(stderr, "%s\n", text);
        return no_gpu ? NO_GPU : weft_status_exit_code(status);
    }
    if (n_wrong > 0)
        printf("%d WRONG\n", n_wrong);
    return n_wrong > 0;
}
