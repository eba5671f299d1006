/** weft-gmsh: read or mesh a file with Gmsh and write the mesh to stdout as a stream.
 *
 *      file -> structure checked (.msh) -> Gmsh -> nodes, cells, facets of groups -> stream
 *
 *  A program of its own, so that Gmsh's crashes, leaks and output stay in it. */
#ifndef WEFT_GMSH_H
#define WEFT_GMSH_H

#include "weft_core.h"

/* ---- msh_check.c, msh_check_sections.c, msh_text.c -------------------------------------- */

enum { MSH_TYPES = 160 }; /* above every element type of Gmsh */

/** What a file says that it holds, to be compared with what Gmsh takes from it. */
typedef struct msh_counts {
    int64_t nodes, elements[MSH_TYPES];
} msh_counts;

/** A .msh file in memory, and where reading stands. */
typedef struct msh_file {
    const char *path, *text;
    size_t size, at;
    long line;            /* of the line read last, from 1; counts in ASCII files only */
    double version;       /* 2.x or 4.1 */
    bool binary, swapped; /* swapped: written in the other byte order */
    bool cut;             /* reading went past the end */
    msh_counts counts;
    weft_error *error;
} msh_file;

/** Check what Gmsh does not: that every section is closed and holds what it announces, and that
 *  every element type is one of Gmsh's. Errors WEFT_ERROR_INPUT, WEFT_ERROR_IO,
 * WEFT_ERROR_UNSUPPORTED */
weft_status msh_check(const char *path, msh_counts *out, weft_error *error);

/** The next line, without its end; false at the end of the file. */
bool msh_line(msh_file *file, const char **line, size_t *length);
/** Integers at the start of a line, at most `most`; returns how many. */
int msh_integers(const char *line, size_t length, int64_t *out, int most);
/** How many numbers, nan and inf among them, a line starts with. */
int msh_reals(const char *line, size_t length);
/** Binary: in the file's byte order; 0 and cut past the end. */
int64_t msh_int(msh_file *file);
int64_t msh_size(msh_file *file);
/** Binary: pass n items of `bytes` bytes. */
void msh_skip(msh_file *file, int64_t n, size_t bytes);
/** An error at the line read last. line, length: shown (NULL allowed). */
weft_status msh_error(msh_file *file, const char *line, size_t length, const char *format, ...)
    WEFT_PRINTF(4, 5);
/** The file ends inside a section. */
weft_status msh_cut(msh_file *file, const char *section);

/** Read the section up to and with its $End line. start_line is the line of its name. */
weft_status msh_check_ascii(msh_file *file, const char *section);
weft_status msh_check_binary(msh_file *file, const char *section);
/** Nodes of an element type, 0 where there is no such type. */
int msh_type_nodes(int64_t type);
const char *msh_type_name(int64_t type);

/* ---- load.c ----------------------------------------------------------------------------- */

/** What was read or meshed, still in Gmsh. */
typedef struct loaded {
    int dimension; /* highest with cells */
    bool is_geo;
    const char *path;
    msh_counts counts; /* of a .msh file */
} loaded;

/** Where progress and log go (stream.c). */
typedef struct stream stream;
/** size <= 0: as the file says. Errors WEFT_ERROR_INPUT: what Gmsh says, with file and line where
 * it names them */
weft_status load(const char *path, double size, stream *out, loaded *mesh, weft_error *error);
/** Write what was loaded as a .msh file, version 2.2 or 4.1. */
weft_status save(const char *path, double version, bool binary, stream *out, weft_error *error);

/* ---- extract.c -------------------------------------------------------------------------- */

/** Write header, nodes, cells, groups. Errors WEFT_ERROR_INPUT, WEFT_ERROR_UNSUPPORTED,
 * WEFT_ERROR_MEMORY, WEFT_ERROR_IO */
weft_status extract(const loaded *mesh, stream *out, weft_error *error);

/* ---- stream.c --------------------------------------------------------------------------- */

struct stream {
    int file;
    bool broken; /* a write failed; later ones do nothing */
};
void stream_start(stream *out);
void stream_record(stream *out, uint32_t kind, const void *bytes, uint64_t length);
void stream_progress(stream *out, const char *phase, double done, double total);
void stream_log(stream *out, weft_log_level level, const char *message);
void stream_error(stream *out, const weft_error *error);

#endif
