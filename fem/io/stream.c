/* Reads the stream of weft-gmsh. Nothing in it is trusted: every count is checked against the
 * header, and the header against the bytes that can still come. */
#include "fem/io/stream.h"
#include "fem/base/text.h"
#include "fem/io/read.h"
#include "fem/mesh/mesh.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GROUP_LIMIT = 100000, N_ARRAYS = 6 };

typedef struct reader {
    weft_stream_source *source;
    weft_mesh_data *data;
    const weft_monitor *monitor;
    weft_error *error;
    bool has_header, ended;
    int n_groups; /* received so far */
    struct {
        void *array;
        uint64_t bytes, received;
    } arrays[N_ARRAYS]; /* of the kinds from WEFT_STREAM_COORDINATES on */
} reader;

static weft_status broken(reader *r, const char *what) {
    weft_error_set(r->error, WEFT_ERROR_IO, "%s: what weft-gmsh sent is damaged: %s",
                   r->source->name, what);
    weft_error_hint(r->error, "weft-gmsh must be the one that came with this Weft");
    return WEFT_ERROR_IO;
}

/* Exactly `bytes`, over however many partial reads. */
static weft_status read_bytes(reader *r, void *out, uint64_t bytes) {
    weft_stream_source *source = r->source;
    char *to = out;
    while (bytes > 0) {
        size_t piece = bytes < (1u << 30) ? (size_t)bytes : (1u << 30);
        ssize_t n = source->read(source->user, to, piece);
        if (n <= 0) {
            source->cut_short = true;
            return broken(r, "it ends too early");
        }
        to += n;
        bytes -= (uint64_t)n;
        if (source->remaining >= 0)
            source->remaining -= n;
    }
    return WEFT_OK;
}

static bool can_come(const reader *r, uint64_t bytes) {
    return r->source->remaining < 0 || bytes <= (uint64_t)r->source->remaining;
}

static weft_status read_header(reader *r) {
    weft_status status = WEFT_OK;
    weft_stream_header header;
    weft_mesh_data *data = r->data;
    if (r->has_header)
        TRY(broken(r, "a second header"));
    TRY(read_bytes(r, &header, sizeof header));
    const bool known = header.cell >= 0 && header.cell < WEFT_CELL_TYPES;
    if (!known || header.dimension < 1 || header.dimension > 3 || header.n_groups < 0 ||
        header.n_groups > GROUP_LIMIT || header.n_nodes < 0 || header.n_nodes > INT32_MAX ||
        header.n_cells < 0 || header.n_cells > INT32_MAX || header.n_group_facets < 0 ||
        header.n_group_facets > INT32_MAX || header.n_group_cells < 0 ||
        header.n_group_cells > INT64_MAX / 64 || header.n_group_points < 0 ||
        header.n_group_points > INT64_MAX / 64 || header.n_pairs < 0 ||
        header.n_pairs > INT64_MAX / 64 || header.n_left_nodes < 0)
        TRY(broken(r, "absurd counts"));
    data->dimension = header.dimension;
    data->cell = (weft_cell_type)header.cell;
    data->degree = header.degree;
    const weft_cell *cell = weft_mesh_data_cell(data);
    const uint64_t d = (uint64_t)header.dimension, id = sizeof(int32_t);
    const uint64_t v = (uint64_t)weft_mesh_data_width(data);
    const uint64_t w = (uint64_t)weft_cell_of(cell->facet)->n_entities[0];
    const uint64_t bytes[N_ARRAYS] = {
        (uint64_t)header.n_nodes * d * sizeof(double), (uint64_t)header.n_cells * v * id,
        (uint64_t)header.n_group_facets * w * id,      (uint64_t)header.n_group_cells * id,
        (uint64_t)header.n_group_points * id,          (uint64_t)header.n_pairs * 3 * id};
    uint64_t announced = (uint64_t)header.n_groups * sizeof(weft_stream_group);
    for (int i = 0; i < N_ARRAYS; ++i)
        announced += bytes[i];
    if (!can_come(r, announced))
        TRY(broken(r, "it announces more than it holds"));
    r->source->n_left_nodes = header.n_left_nodes;
    data->n_nodes = header.n_nodes;
    data->n_cells = header.n_cells;
    data->n_groups = header.n_groups;
    data->n_group_facets = header.n_group_facets;
    data->n_group_cells = header.n_group_cells;
    data->points.n_nodes = header.n_group_points;
    data->points.n_pairs = header.n_pairs;
    bool good = true;
    for (int i = 0; i < N_ARRAYS; ++i) {
        r->arrays[i].bytes = bytes[i];
        r->arrays[i].array = weft_array_make_unset(bytes[i]);
        good &= r->arrays[i].array != NULL;
    }
    data->x = r->arrays[0].array;
    data->cells = r->arrays[1].array;
    data->group_facet_nodes = r->arrays[2].array;
    data->group_cells = r->arrays[3].array;
    data->points.nodes = r->arrays[4].array;
    data->points.pairs = r->arrays[5].array;
    data->groups = weft_array_make((size_t)header.n_groups, sizeof *data->groups);
    if (!good || !data->groups)
        status =
            weft_error_set(r->error, WEFT_ERROR_MEMORY,
                           "%s: out of memory for a mesh of %lld nodes and %lld cells",
                           r->source->name, (long long)header.n_nodes, (long long)header.n_cells);
    r->has_header = true;
done:
    return status;
}

static weft_status read_array(reader *r, int i, uint64_t bytes) {
    if (!r->has_header)
        return broken(r, "an array before the header");
    if (bytes > r->arrays[i].bytes - r->arrays[i].received || !can_come(r, bytes))
        return broken(r, "an array longer than announced");
    weft_status status = read_bytes(r, (char *)r->arrays[i].array + r->arrays[i].received, bytes);
    r->arrays[i].received += bytes;
    return status;
}

static weft_status read_group(reader *r) {
    weft_status status = WEFT_OK;
    weft_stream_group from;
    if (!r->has_header || r->n_groups == r->data->n_groups)
        TRY(broken(r, "more groups than announced"));
    TRY(read_bytes(r, &from, sizeof from));
    if (from.dimension < 0 || from.dimension > r->data->dimension || from.first_facet < 0 ||
        from.n_facets < 0 || from.first_facet > r->data->n_group_facets - from.n_facets)
        TRY(broken(r, "a group of facets that are not there"));
    if (from.first_cell < 0 || from.n_cells < 0 ||
        from.first_cell > r->data->n_group_cells - from.n_cells)
        TRY(broken(r, "a group of cells that are not there"));
    if (from.first_point < 0 || from.n_points < 0 ||
        from.first_point > r->data->points.n_nodes - from.n_points)
        TRY(broken(r, "a group of points that are not there"));
    weft_group *group = &r->data->groups[r->n_groups++];
    from.name[sizeof from.name - 1] = '\0';
    weft_copy_cut(group->name, sizeof group->name, from.name);
    group->dimension = from.dimension;
    group->number = from.number;
    group->first_facet = from.first_facet;
    group->n_facets = from.n_facets;
    group->first_cell = from.first_cell;
    group->n_cells = from.n_cells;
    group->first_point = from.first_point;
    group->n_points = from.n_points;
done:
    return status;
}

static weft_status read_message(reader *r) {
    weft_status status = WEFT_OK;
    weft_stream_error from;
    TRY(read_bytes(r, &from, sizeof from));
    from.message[sizeof from.message - 1] = '\0';
    from.file[sizeof from.file - 1] = '\0';
    from.source_line[sizeof from.source_line - 1] = '\0';
    from.hint[sizeof from.hint - 1] = '\0';
    bool known = from.status > WEFT_OK && from.status <= WEFT_ERROR_INTERNAL;
    status = weft_error_set(r->error, known ? (weft_status)from.status : WEFT_ERROR_INPUT, "%s",
                            from.message);
    weft_error_location(r->error, from.file, NULL, from.line > 0 ? from.line : 0, 0);
    if (r->error)
        memcpy(r->error->source_line, from.source_line, sizeof from.source_line);
    if (from.hint[0])
        weft_error_hint(r->error, "%s", from.hint);
    r->source->reported_error = true;
done:
    return status;
}

static weft_status read_log(reader *r) {
    weft_stream_log from;
    weft_status status = read_bytes(r, &from, sizeof from);
    if (status != WEFT_OK)
        return status;
    from.message[sizeof from.message - 1] = '\0';
    if (from.level >= WEFT_LOG_ERROR && from.level <= WEFT_LOG_DEBUG)
        weft_log(r->monitor, (weft_log_level)from.level, "%s", from.message);
    return WEFT_OK;
}

static weft_status read_progress(reader *r) {
    weft_stream_progress from;
    weft_status status = read_bytes(r, &from, sizeof from);
    if (status != WEFT_OK)
        return status;
    from.phase[sizeof from.phase - 1] = '\0';
    weft_progress(r->monitor, from.phase, from.done, from.total);
    return WEFT_OK;
}

static weft_status read_end(reader *r) {
    bool whole = r->has_header && r->n_groups == r->data->n_groups;
    for (int i = 0; i < N_ARRAYS; ++i)
        whole &= r->arrays[i].received == r->arrays[i].bytes;
    if (!whole)
        return broken(r, "less than announced");
    r->ended = true;
    return WEFT_OK;
}

/* The size that a record of this kind has; UINT64_MAX: any. */
static uint64_t record_bytes(uint32_t kind) {
    switch (kind) {
    case WEFT_STREAM_PROGRESS:
        return sizeof(weft_stream_progress);
    case WEFT_STREAM_LOG:
        return sizeof(weft_stream_log);
    case WEFT_STREAM_ERROR:
        return sizeof(weft_stream_error);
    case WEFT_STREAM_HEADER:
        return sizeof(weft_stream_header);
    case WEFT_STREAM_GROUP:
        return sizeof(weft_stream_group);
    case WEFT_STREAM_END:
        return 0;
    default:
        return UINT64_MAX;
    }
}

static weft_status read_record(reader *r) {
    weft_status status = WEFT_OK;
    weft_stream_record record;
    TRY(read_bytes(r, &record, sizeof record));
    uint64_t bytes = record_bytes(record.kind);
    if (bytes != UINT64_MAX && bytes != record.bytes)
        TRY(broken(r, "a record of the wrong length"));
    switch (record.kind) {
    case WEFT_STREAM_PROGRESS:
        status = read_progress(r);
        break;
    case WEFT_STREAM_LOG:
        status = read_log(r);
        break;
    case WEFT_STREAM_ERROR:
        status = read_message(r);
        break;
    case WEFT_STREAM_HEADER:
        status = read_header(r);
        break;
    case WEFT_STREAM_COORDINATES:
    case WEFT_STREAM_CELLS:
    case WEFT_STREAM_GROUP_FACETS:
    case WEFT_STREAM_GROUP_CELLS:
    case WEFT_STREAM_GROUP_POINTS:
    case WEFT_STREAM_PAIRS:
        status = read_array(r, (int)(record.kind - WEFT_STREAM_COORDINATES), record.bytes);
        break;
    case WEFT_STREAM_GROUP:
        status = read_group(r);
        break;
    case WEFT_STREAM_END:
        status = read_end(r);
        break;
    default:
        status = broken(r, "a record of unknown kind");
    }
done:
    return status;
}

weft_status weft_mesh_stream_read(weft_stream_source *source, const weft_monitor *monitor,
                                  weft_mesh_data *out, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_mesh_data data = {0};
    weft_stream_start start;
    reader r = {.source = source, .data = &data, .monitor = monitor, .error = error};
    TRY(read_bytes(&r, &start, sizeof start));
    if (memcmp(start.magic, WEFT_STREAM_MAGIC, sizeof start.magic) != 0 ||
        start.byte_order != WEFT_STREAM_BYTE_ORDER)
        TRY(broken(&r, "it does not start as it should"));
    if (start.version != WEFT_STREAM_VERSION)
        TRY(broken(&r, "it has another version"));
    while (!r.ended)
        TRY(read_record(&r));
    *out = data;
    data = (weft_mesh_data){0};
done:
    weft_mesh_data_free(&data);
    return status;
}
