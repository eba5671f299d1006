/* Runs the eleven sequences of BLAS calls of Filipovic et al. 2015 over sizes, each by Weft and by calls of a BLAS
 * library. */
#include "apps/common/support.h"
#include "bench_blas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench {
    blas_options options;
    blas_results *results;
    weft_device *device, *host;
    weft_library *library;
    blas_rival rival;
    bool counts; /* the device computes */
} bench;

/* ---- a BLAS library's calls ------------------------------------------------------------------ */

typedef struct rival_run {
    blas_rival *rival;
    const blas_sequence *sequence;
    blas_lists lists;
} rival_run;

static weft_status run_rival(void *user, weft_error *error) {
    rival_run *r = user;
    r->sequence->call(r->rival, &r->lists);
    return r->rival->code == 0
               ? WEFT_OK
               : weft_error_set(error, WEFT_ERROR_DEVICE, "%s of %s failed with code %d",
                                r->rival->failed, r->rival->name, r->rival->code);
}

static rival_run rival_run_of(bench *b, const blas_case *c) {
    rival_run r = {.rival = &b->rival, .sequence = c->sequence, .lists = {.n = c->data->n}};
    for (int i = 0; i < c->sequence->n_inputs; ++i)
        r.lists.in[c->sequence->inputs[i]] =
            b->rival.address(c->data->memories[c->sequence->inputs[i]]);
    for (int k = 0; k < BLAS_OUTPUTS && c->outputs[k]; ++k)
        r.lists.out[k] = b->rival.address(c->outputs[k]);
    r.lists.scratch = b->rival.address(c->scratch);
    return r;
}

void blas_rival_close(blas_rival *rival) {
    if (rival->close)
        rival->close(rival);
    *rival = (blas_rival){0};
}

/* ---- one sequence at one size ---------------------------------------------------------------- */

/* The lists of a sequence, twice those of least traffic for the bandwidths, and the inputs that
 * other sequences of this size keep. */
static bool fits(const bench *b, const blas_sequence *s, int64_t n) {
    const double real = b->options.single ? 4 : 8, lists = s->matrix ? 7 : 12;
    const double bytes = blas_elements(s, n) * real * lists;
    return bytes < (double)weft_device_bytes_free(b->device) &&
           bytes < (double)weft_device_bytes_free(b->host);
}

static weft_status measure(bench *b, const blas_case *c, blas_row *row, weft_error *error) {
    weft_status status = WEFT_OK;
    const bool against = b->rival.name && !b->rival.missing[0];
    const double real = b->options.single ? 4 : 8;
    blas_program *program = NULL;
    double seconds[2] = {0, 0};
    rival_run rival = {0};
    TRY(blas_program_make(c, &program, error));
    TRY(blas_case_check(c, blas_program_run, program, &row->weft_error, error));
    if (against) {
        rival = rival_run_of(b, c);
        TRY(blas_case_check(c, run_rival, &rival, &row->blas_error, error));
    }
    const blas_task tasks[2] = {blas_program_run, against ? run_rival : NULL};
    void *const users[2] = {program, &rival};
    TRY(blas_case_time(c, tasks, users, seconds, error));
    row->weft = seconds[0];
    row->blas = seconds[1];
    TRY(blas_bandwidth(c, c->sequence->lists * blas_elements(c->sequence, c->data->n) * real,
                       &row->read, &row->copy, error));
done:
    blas_program_free(&program);
    return status;
}

static weft_status run_case(bench *b, const blas_sequence *s, blas_data *data, weft_error *error) {
    weft_status status = WEFT_OK;
    blas_results *results = b->results;
    blas_row *row = &results->rows[results->n_rows];
    blas_case c = {.options = &b->options, .sequence = s, .data = data, .library = b->library};
    *row = (blas_row){.sequence = s, .n = data->n, .weft_error = -1, .blas_error = -1};
    TRY(blas_predict(&c, &row->predicted, error));
    if (b->counts && fits(b, s, data->n)) {
        TRY(blas_case_make(&c, error));
        TRY(measure(b, &c, row, error));
    } else
        row->note = b->counts ? "skipped: does not fit into memory" : "planned only";
    results->n_wrong += row->weft_error > 1;
    ++results->n_rows;
    blas_row_print(results, row);
    if (blas_table_size(&b->options, s->matrix) == data->n && (!b->counts || !row->note)) {
        blas_plans *plans = &results->plans[results->n_plans++];
        TRY(blas_plans_make(&c, plans, error));
        results->n_wrong += plans->n_wrong;
    }
done:
    blas_case_clear(&c);
    return status;
}

static weft_status run_sizes(bench *b, bool matrix, weft_error *error) {
    weft_status status = WEFT_OK;
    const blas_options *o = &b->options;
    blas_data data = {0};
    for (int k = 0; k < (matrix ? o->n_sizes : o->n_lengths); ++k) {
        data = (blas_data){.device = b->device,
                           .host = b->host,
                           .single = o->single,
                           .n = matrix ? o->sizes[k] : o->lengths[k],
                           .seed = (uint64_t)o->seed};
        TRY(blas_data_make(&data, error));
        for (int i = 0; i < BLAS_SEQUENCES; ++i)
            if (o->sequences[i] && blas_sequences[i].matrix == matrix)
                TRY(run_case(b, &blas_sequences[i], &data, error));
        blas_data_clear(&data);
    }
done:
    blas_data_clear(&data);
    return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

static weft_status open_all(bench *b, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_device_options options = weft_device_options_default(NULL);
    TRY(weft_device_open(b->options.device, &options, &b->device, error));
    TRY(weft_device_open("host", &options, &b->host, error));
    TRY(weft_library_make(&b->library, error));
    b->counts = !weft_device_limits(b->device)->records_only;
    if (b->counts)
        TRY((strncmp(b->options.device, "cuda", 4) == 0 ? blas_cublas_open : blas_cblas_open)(
            b->device, &b->options, &b->rival, error));
    snprintf(b->results->device, sizeof b->results->device, "%s",
             weft_device_limits(b->device)->name);
    snprintf(b->results->rival, sizeof b->results->rival, "%s",
             b->rival.missing[0] ? b->rival.missing
             : b->rival.name     ? b->rival.name
                                 : "");
    if (b->rival.missing[0])
        printf("%s: skipped, %s\n", b->rival.name, b->rival.missing);
done:
    return status;
}

weft_status blas_run(const blas_options *options, blas_results *results, bool *no_gpu,
                     weft_error *error) {
    weft_status status = WEFT_OK;
    bench b = {.options = *options, .results = results};
    *results = (blas_results){.options = options};
    status = open_all(&b, error);
    *no_gpu = status == WEFT_ERROR_DEVICE && strncmp(options->device, "cuda", 4) == 0;
    TRY(status);
    blas_row_head(results);
    TRY(run_sizes(&b, true, error));
    TRY(run_sizes(&b, false, error));
done:
    blas_rival_close(&b.rival);
    weft_library_free(&b.library);
    weft_device_free(&b.host);
    weft_device_free(&b.device);
    return status;
}
