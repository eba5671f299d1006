/* Writes what fem/io/stream.c reads, in a process that reads a mesh for this one. */
#include "fem/base/text.h"
#include "fem/io/child_process.h"
#include "fem/io/read.h"
#include "fem/io/stream.h"
#include "fem/mesh/mesh.h"

#include <string.h>

static weft_status write_record(int out, weft_stream_kind kind, const void *bytes, uint64_t n,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_stream_record record = {.kind = (uint32_t)kind, .bytes = n};
    TRY(weft_child_write(out, &record, sizeof record, error));
    TRY(weft_child_write(out, bytes, n, error));
done:
    return status;
}

weft_status weft_mesh_stream_start(int out, weft_error *error) {
    weft_stream_start start = {.version = WEFT_STREAM_VERSION,
                               .byte_order = WEFT_STREAM_BYTE_ORDER};
    memcpy(start.magic, WEFT_STREAM_MAGIC, sizeof start.magic);
    return weft_child_write(out, &start, sizeof start, error);
}

void weft_mesh_stream_log(int out, weft_log_level level, const char *message) {
    weft_stream_log record = {.level = (int32_t)level};
    weft_copy_cut(record.message, sizeof record.message, message);
    (void)write_record(out, WEFT_STREAM_LOG, &record, sizeof record, NULL);
}

static weft_status write_group(int out, const weft_group *group, weft_error *error) {
    weft_stream_group record = {.dimension = group->dimension,
                                .number = group->number,
                                .first_facet = group->first_facet,
                                .n_facets = group->n_facets,
                                .first_cell = group->first_cell,
                                .n_cells = group->n_cells,
                                .first_point = group->first_point,
                                .n_points = group->n_points};
    memcpy(record.name, group->name, sizeof record.name);
    return write_record(out, WEFT_STREAM_GROUP, &record, sizeof record, error);
}

weft_status weft_mesh_stream_write(int out, const weft_mesh_data *data, weft_error *error) {
    weft_status status = WEFT_OK;
    const weft_cell *cell = weft_mesh_data_cell(data);
    const uint64_t d = (uint64_t)data->dimension, id = sizeof(int32_t);
    const uint64_t v = (uint64_t)weft_mesh_data_width(data);
    const uint64_t w = (uint64_t)weft_cell_of(cell->facet)->n_entities[0];
    const weft_stream_header header = {.dimension = data->dimension,
                                       .cell = (int32_t)data->cell,
                                       .degree = data->degree,
                                       .n_groups = data->n_groups,
                                       .n_nodes = data->n_nodes,
                                       .n_cells = data->n_cells,
                                       .n_group_facets = data->n_group_facets,
                                       .n_group_cells = data->n_group_cells,
                                       .n_group_points = data->points.n_nodes,
                                       .n_pairs = data->points.n_pairs};
    TRY(write_record(out, WEFT_STREAM_HEADER, &header, sizeof header, error));
    TRY(write_record(out, WEFT_STREAM_COORDINATES, data->x,
                     (uint64_t)data->n_nodes * d * sizeof *data->x, error));
    TRY(write_record(out, WEFT_STREAM_CELLS, data->cells, (uint64_t)data->n_cells * v * id, error));
    TRY(write_record(out, WEFT_STREAM_GROUP_FACETS, data->group_facet_nodes,
                     (uint64_t)data->n_group_facets * w * id, error));
    TRY(write_record(out, WEFT_STREAM_GROUP_CELLS, data->group_cells,
                     (uint64_t)data->n_group_cells * id, error));
    TRY(write_record(out, WEFT_STREAM_GROUP_POINTS, data->points.nodes,
                     (uint64_t)data->points.n_nodes * id, error));
    TRY(write_record(out, WEFT_STREAM_PAIRS, data->points.pairs,
                     (uint64_t)data->points.n_pairs * 3 * id, error));
    for (int g = 0; g < data->n_groups; ++g)
        TRY(write_group(out, &data->groups[g], error));
    TRY(write_record(out, WEFT_STREAM_END, NULL, 0, error));
done:
    return status;
}
