/** The stream in which the program weft-gmsh returns a mesh, in the byte order of the machine.
 *
 *      stream   weft_stream_start, record, record, ...
 *      record   weft_stream_record, `bytes` bytes of content
 *
 *  Progress and log records may occur anywhere. An error record ends the stream. Otherwise there is
 *  one header; then coordinates, cells, group facets, group cells, group points and pairs, each in any number
 *  of records, and groups, in any order; then an end record, when everything that the header announced
 *  has been sent. */
#pragma once

#include "fem/weft_element.h"

#include <stdint.h>

typedef struct weft_stream_start {
    char magic[8];                /* WEFT_STREAM_MAGIC without terminator */
    uint32_t version, byte_order; /* WEFT_STREAM_VERSION, 0x01020304 */
} weft_stream_start;
#define WEFT_STREAM_MAGIC "WEFTMESH"
enum { WEFT_STREAM_VERSION = 4, WEFT_STREAM_BYTE_ORDER = 0x01020304 };

typedef enum weft_stream_kind {
    WEFT_STREAM_PROGRESS = 1, /* weft_stream_progress */
    WEFT_STREAM_LOG,          /* weft_stream_log */
    WEFT_STREAM_ERROR,        /* weft_stream_error */
    WEFT_STREAM_HEADER,       /* weft_stream_header */
    WEFT_STREAM_COORDINATES,  /* double [..][d] */
    WEFT_STREAM_CELLS,        /* int32 [..][nodes of a cell], from 0 */
    WEFT_STREAM_GROUP_FACETS, /* int32 [..][w], from 0 */
    WEFT_STREAM_GROUP_CELLS,  /* int32 [..], from 0 */
    WEFT_STREAM_GROUP_POINTS, /* int32 [..], from 0 */
    WEFT_STREAM_PAIRS,        /* int32 [..][3], as weft_point_lists.pairs */
    WEFT_STREAM_GROUP,        /* weft_stream_group */
    WEFT_STREAM_END           /* no content */
} weft_stream_kind;

typedef struct weft_stream_record {
    uint32_t kind, zero;
    uint64_t bytes;
} weft_stream_record;

typedef struct weft_stream_progress {
    char phase[64];
    double done, total;
} weft_stream_progress;

typedef struct weft_stream_log {
    int32_t level, zero; /* weft_log_level */
    char message[1016];
} weft_stream_log;

typedef struct weft_stream_error {
    int32_t status, line; /* weft_status; 0: no line */
    char message[1024], file[512], source_line[256], hint[512];
} weft_stream_error;

typedef struct weft_stream_header {
    int32_t dimension, n_groups;
    int32_t cell, degree; /* as in weft_mesh_data */
    int64_t n_nodes, n_cells, n_group_facets, n_group_cells, n_group_points, n_pairs;
    int64_t n_left_nodes; /* unused nodes of the file, which are not sent */
} weft_stream_header;

typedef struct weft_stream_group {
    char name[256];
    int32_t dimension, number;
    int64_t first_facet, n_facets, first_cell, n_cells, first_point, n_points;
} weft_stream_group;
