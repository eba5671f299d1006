/** weft-gmsh: read or mesh a file with Gmsh and write the mesh to stdout as a stream.
 *
 *      file -> checked before Gmsh sees it (.msh: counts; .geo: commands) -> Gmsh, confined and
 *      under limits -> nodes, cells, facets of groups -> stream, or a .msh file
 *
 *  A program of its own, so that Gmsh's crashes, leaks and output stay in it. */
#pragma once

#include "core/base/reading_limits.h"

/* ---- msh_check.c, msh_check_sections.c, msh_check_counts.c, msh_names.c, msh_text.c
 * -------------------------------------- */

enum {
    MSH_TYPES = 160, /* above every element type of Gmsh */
    MSH_NAME_MOST = 255
};

/** What a file says that it holds, to be compared with what Gmsh takes from it. */
typedef struct msh_counts {
    double version;       /* of the format */
    bool binary, swapped; /* as in msh_file */
    int64_t nodes, elements[MSH_TYPES];
    int64_t parts; /* that $PartitionedEntities announces */
} msh_counts;

/** The physical names of a file. Gmsh reads at most 252 bytes of one, and stops at a quote in it.
 */
typedef struct msh_name {
    int dimension, tag;
    char *name;
} msh_name;
typedef struct msh_names {
    msh_name *list;
    int n;
    size_t start, end; /* bytes of the section, with both of its lines */
    size_t longest;    /* line */
} msh_names;
void msh_names_clear(msh_names *names);
/** Copy a file with other lines between $PhysicalNames and its end; 0 or errno. */
int msh_copy(const char *path, const msh_names *names, const char *lines, int out);
/** NULL where the file names no such group. Borrowed. */
const char *msh_names_find(const msh_names *names, int dimension, int tag);

/** A .msh file in memory, and where reading stands. */
typedef struct msh_file {
    const char *path, *text;
    size_t size, at;
    long line;            /* of the line read last, from 1; counts in ASCII files only */
    double version;       /* 1, 2.x, 4 or 4.1 */
    bool binary, swapped; /* swapped: written in the other byte order */
    bool cut;             /* reading went past the end */
    bool has_nodes, has_elements;
    msh_counts counts;
    msh_names names;
    weft_error *error;
} msh_file;

/** Check, since Gmsh does not, that every section is closed and holds what it announces, so that no
 *  count in it makes Gmsh take memory that the file does not fill, and that every element type is
 *  one of Gmsh's.
 *  names   NULL allowed; msh_names_clear
 *  Errors  WEFT_ERROR_INPUT, WEFT_ERROR_IO, WEFT_ERROR_UNSUPPORTED, WEFT_ERROR_MEMORY */
weft_status msh_check(const char *path, msh_names *names, msh_counts *out, weft_error *error);
/** The same of a file in memory: path, text, size and error are set; msh_names_clear. */
weft_status msh_check_mapped(msh_file *file);

bool path_ends_with(const char *path, const char *ending);
/** Map the file of file->path into memory. Errors  WEFT_ERROR_IO */
weft_status msh_map(msh_file *file);
void msh_unmap(msh_file *file);
/** The next line, without its end; false at the end of the file. */
bool msh_line(msh_file *file, const char **line, size_t *length);
/** The next word, over lines; false at the end. */
bool msh_word(msh_file *file, const char **word, size_t *length);
/** Is this a file that Weft reads itself, since Gmsh does not: Medit in 2D, VTK 5? (msh_foreign.c) */
bool msh_foreign_is(const msh_file *file);
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

/** A line inside a section; the section's end and another section are errors. */
weft_status msh_content_line(msh_file *file, const char *section, const char **line,
                             size_t *length);
/** The first n integers of such a line, of which the last is a count, and for n < 3 the first. */
weft_status msh_numbers_line(msh_file *file, const char *section, int64_t *out, int n);
/** The number of a node or element that is referred to: MSH 4 is read with it as an index. */
weft_status msh_check_number(msh_file *file, const char *section, int64_t number);
/** The number of an entity or of a group of MSH 4: Gmsh keeps it in 32 bits. */
weft_status msh_check_tag(msh_file *file, const char *section, int64_t tag);
/** Read the section up to and with its $End line. start_line is the line of its name. */
weft_status msh_check_ascii(msh_file *file, const char *section);
weft_status msh_check_binary(msh_file *file, const char *section);
/** Names are text in binary files too. */
bool msh_is_text(const msh_file *file, const char *section);
/** From inside a section to the start of its $End line; at the end of the file, and cut, where there is none. */
void msh_find_end(msh_file *file, const char *section);
/** $PhysicalNames, from behind its line (msh_names.c). */
weft_status msh_read_names(msh_file *file);
/** $Entities, $PartitionedEntities, $Periodic and $GhostElements of MSH 4, of either form
 * (msh_check_counts.c). */
bool msh_has_counts(const char *section);
weft_status msh_check_counts(msh_file *file, const char *section);
/** The error of a file that names n partitions, and has cells of n_found. */
weft_status msh_refuse_part(const char *path, int64_t n, int64_t n_found, weft_error *error);
/** Nodes of an element type, 0 where there is no such type. */
int msh_type_nodes(int64_t type);
int msh_type_dimension(int64_t type);
const char *msh_type_name(int64_t type);

/** Is a UNV, Nastran, VTK or Medit file whole? Nothing of others. (other_check.c)
 *  Errors  WEFT_ERROR_INPUT, WEFT_ERROR_IO */
weft_status other_check(const char *path, weft_error *error);
/** The same of a file in memory: path, which tells the format, text, size and error are set. */
weft_status other_check_mapped(msh_file *file);

/* ---- geo_check.c, geo_tokens.c ---------------------------------------------------------- */

/** Refuse a .geo file that runs programs, writes files, or could hide that it does: with the files
 *  that it includes or merges, and the option file that Gmsh reads beside each. Nothing is
 * executed. Errors  WEFT_ERROR_UNSUPPORTED with file and line; WEFT_ERROR_IO, WEFT_ERROR_MEMORY */
weft_status geo_check(const char *path, weft_error *error);
/** geo_check of a text that ends with a zero byte behind its length, and of the files that it includes. */
weft_status geo_check_text(const char *path, const char *text, size_t length, weft_error *error);
/** As geo_check, of the option file PATH.opt alone, where there is one. */
weft_status geo_check_options(const char *path, weft_error *error);

/* ---- limits.c, sandbox.c ---------------------------------------------------------------- */

typedef struct stream stream;
/** Find what Gmsh may use, as weft_reading_limits_find does, and watch: when a limit is passed, the error goes
 *  to the stream and to stderr, and the process ends.
 *  quiet   nothing to stderr
 *  Errors  WEFT_ERROR_USAGE (environment), WEFT_ERROR_MEMORY */
weft_status limits_start(weft_reading_limits wanted, const char *path, bool quiet, stream *out,
                         weft_error *error);
/** The work that is watched is done. */
void limits_stop(void);

/** From here on, this thread and those that it starts can neither run programs nor write, make,
 *  rename or delete files, nor open sockets. False where the system has no seccomp filters. */
bool sandbox_enter(void);

/* ---- load.c ----------------------------------------------------------------------------- */

/** What was read or meshed, still in Gmsh. */
typedef struct loaded {
    int dimension;                 /* highest with cells */
    bool is_geo, groups_by_entity; /* numbers of parts stand for groups */
    bool is_copy;                  /* Gmsh read a copy with groups, as MSH 4.1 */
    const char *path;
    msh_counts counts; /* of a .msh file */
    msh_names names;   /* likewise */
} loaded;

/** size <= 0: as the file says. Errors WEFT_ERROR_INPUT: what Gmsh says, with file and line where
 * it names them */
weft_status load(const char *path, double size, stream *out, loaded *mesh, weft_error *error);
/** Pass on warnings of Gmsh that came since *seen; an error among its messages, or a failed call,
 * is ours. */
weft_status load_check_log(const char *path, int failed, size_t *seen, stream *out,
                           weft_error *error);

/* ---- save.c ----------------------------------------------------------------------------- */

/** Write the loaded mesh as a .msh file, version 2.2 or 4.1: next to its place, then read again and
 *  renamed, so that it is whole or not there.  Errors  WEFT_ERROR_IO, WEFT_ERROR_INPUT */
weft_status save(const char *path, const loaded *mesh, double version, bool binary, stream *out,
                 weft_error *error);
/** A crash ends the process, with a message where no parent explains it. Call again where a library
 *  has installed handlers of its own. */
void crashes_handle(void);
/** Remove the file that save is writing; for handlers of signals. */
void save_abandon(void);

/* ---- extract.c -------------------------------------------------------------------------- */

/** Write header, nodes, cells, groups. Errors WEFT_ERROR_INPUT, WEFT_ERROR_UNSUPPORTED,
 * WEFT_ERROR_MEMORY, WEFT_ERROR_IO */
weft_status extract(const loaded *mesh, stream *out, weft_error *error);

/* ---- stream.c --------------------------------------------------------------------------- */

struct stream {
    int file;
    bool broken; /* a write failed; later ones do nothing */
    char phase[40];
    double done, total; /* as given last to stream_progress */
};
void stream_start(stream *out);
void stream_record(stream *out, uint32_t kind, const void *bytes, uint64_t length);
void stream_progress(stream *out, const char *phase, double done, double total);
/** Send the last progress again, with the seconds that have passed. */
void stream_tick(stream *out, double seconds);
void stream_log(stream *out, weft_log_level level, const char *message);
void stream_error(stream *out, const weft_error *error);
