/* The table of operator formats, with queries by number and name. */
#include "fem/operator/private.h"
#include "fem/sparse/sell.h"

#include <stdio.h>
#include <string.h>

extern const weft_operator_format weft_format_lma, weft_format_lma_gather, weft_format_csr,
    weft_format_matrix_free, weft_format_symmetric;

static const weft_operator_format *const formats[] = {
    [WEFT_ASSEMBLY_LMA] = &weft_format_lma,
    [WEFT_ASSEMBLY_LMA_GATHER] = &weft_format_lma_gather,
    [WEFT_ASSEMBLY_CSR] = &weft_format_csr,
    [WEFT_ASSEMBLY_MATRIX_FREE] = &weft_format_matrix_free,
    [WEFT_ASSEMBLY_SYMMETRIC] = &weft_format_symmetric,
};
enum { N_FORMATS = sizeof formats / sizeof *formats };
_Static_assert(N_FORMATS <= WEFT_ASSEMBLIES_MOST, "room for every format");

const weft_operator_format *weft_operator_format_of(weft_assembly assembly) {
    return formats[assembly];
}

int weft_assembly_count(void) {
    return N_FORMATS;
}

const weft_assembly_info *weft_assembly_about(weft_assembly assembly) {
    return &formats[assembly]->info;
}

const char *weft_assembly_name(weft_assembly assembly) {
    return formats[assembly]->info.name;
}

void weft_assembly_list(weft_text *out, bool helps) {
    for (int i = 0; i < N_FORMATS; ++i) {
        const weft_assembly_info *info = &formats[i]->info;
        weft_text_add(out, "%s%s", i == 0 ? "" : i + 1 < N_FORMATS ? ", " : " or ", info->name);
        if (helps && info->help)
            weft_text_add(out, " (%s)", info->help);
    }
}

weft_status weft_assembly_find(const char *name, weft_assembly *out, weft_error *error) {
    const char *names[N_FORMATS];
    weft_text list = {0};
    for (int i = 0; i < N_FORMATS; ++i) {
        const weft_assembly_info *info = &formats[i]->info;
        names[i] = info->name;
        if (strcmp(name, info->name) == 0 || (info->alias && strcmp(name, info->alias) == 0)) {
            *out = (weft_assembly)i;
            return WEFT_OK;
        }
    }
    const char *near = weft_nearest_name(name, names, N_FORMATS);
    weft_error_set(error, WEFT_ERROR_USAGE, "there is no assembly '%s'", name);
    weft_assembly_list(&list, false);
    weft_error_hint(error, "%s%s%sassemblies are %s", near ? "did you mean '" : "",
                    near ? near : "", near ? "'? " : "",
                    list.failed ? "those of the documentation" : list.data);
    weft_text_free(&list);
    return WEFT_ERROR_USAGE;
}

weft_status weft_assembly_speeds_read(weft_tuning *tuning, const char *device,
                                      const weft_limits *limits, weft_assembly_speeds *out,
                                      weft_error *error) {
    weft_status status = WEFT_OK;
    weft_assembly_speeds made = {0};
    for (int i = 0; i < N_FORMATS; ++i) {
        weft_assembly_speed *speed = &made.of[i];
        *speed = limits->execution == WEFT_EXECUTION_SIMT ? formats[i]->gpu : formats[i]->host;
        const struct {
            const char *name;
            double *value;
        } figures[] = {{"product 2D", &speed->product[0]},
                       {"product 3D", &speed->product[1]},
                       {"assembly", &speed->assembly},
                       {"set-up", &speed->set_up}};
        for (size_t k = 0; tuning && k < sizeof figures / sizeof *figures; ++k) {
            char name[80];
            bool found = false;
            (void)snprintf(name, sizeof name, "assembly %s %s", formats[i]->info.name,
                           figures[k].name);
            TRY(weft_tuning_get(tuning, device, name, figures[k].value, &found, error));
            made.n_measured += found;
        }
    }
    *out = made;
done:
    return status;
}

/* Every edge counts twice, every node once. By Euler's formula for a region without holes, in 2D
 * edges = nodes + cells - 1; in 3D half the number of boundary facets is added, which is small. */
double weft_assembly_entries(const weft_assembly_problem *p) {
    const double nodes = (double)p->n_nodes, cells = (double)p->n_cells;
    if (p->width == p->dimension + 1)
        return 3 * nodes + 2 * cells;
    return nodes + 0.75 * cells * p->width * (p->width - 1);
}

weft_operator_sizes weft_operator_sizes_of(const weft_limits *limits,
                                           const weft_assembly_problem *p) {
    const size_t c = p->components > 1 ? (size_t)p->components : 1;
    const size_t lanes = (size_t)limits->lanes_double;
    return (weft_operator_sizes){.limits = limits,
                                 .on_gpu = limits->execution == WEFT_EXECUTION_SIMT,
                                 .n_nodes = (size_t)p->n_nodes,
                                 .n_cells = (size_t)p->n_cells,
                                 .width = (size_t)p->width,
                                 .n_components = c,
                                 .n_padded = ((size_t)p->n_cells + lanes - 1) / lanes * lanes,
                                 .n_rows = c * (size_t)p->n_nodes,
                                 .n_local = c * (size_t)p->width,
                                 .n_entries = c * c * (size_t)weft_assembly_entries(p),
                                 .cell_bytes = 4.0 * p->width * (double)p->n_cells +
                                               8.0 * p->dimension * (double)p->n_nodes};
}

void weft_operator_memory_estimate(const weft_limits *limits, weft_assembly assembly,
                                   const weft_assembly_problem *problem,
                                   weft_memory_estimate *estimate, size_t *late, size_t *early) {
    const weft_operator_format *format = formats[assembly];
    const weft_operator_sizes sizes = weft_operator_sizes_of(limits, problem);
    weft_memory_estimate_add(estimate, "connectivity", sizes.n_padded * sizes.width,
                             sizeof(int32_t));
    if (format->info.scatter == WEFT_SCATTER_GATHERED) {
        weft_memory_estimate_add(estimate, "connectivity, transposed", sizes.n_cells * sizes.width,
                                 sizeof(uint32_t));
        weft_memory_estimate_add(estimate, "connectivity, transposed", sizes.n_nodes + 1,
                                 sizeof(int64_t));
    }
    *late = format->estimate_memory(&sizes, problem->applications, estimate);
    *early = 0;
    for (int i = 0; i < estimate->n_arrays; ++i)
        if (strcmp(estimate->arrays[i].name, weft_assembly_positions) == 0 ||
            strcmp(estimate->arrays[i].name, weft_assembly_rows) == 0 ||
            strcmp(estimate->arrays[i].name, weft_assembly_cells) == 0 ||
            strcmp(estimate->arrays[i].name, weft_assembly_halos) == 0)
            *early += estimate->arrays[i].bytes;
}
