/* What a .geo file could do beyond making a mesh. Commands and their forms: Parser/Gmsh.y of
 * Gmsh's sources, rules Printf and Command; how files are opened: Common/OpenFile.cpp, MergeFile.
 */
#include "apps/gmsh/geo_tokens.h"
#include "core/base/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MOST = 32, FILES_MOST = 1000 };

typedef struct command {
    const char *name;
    bool anywhere; /* refused wherever the word stands; else where a text follows it */
    const char *effect;
} command;

static const command commands[] = {
    {"SystemCall", true, "runs a program"},
    {"NonBlockingSystemCall", true, "runs a program"},
    {"OnelabRun", true, "runs a program"},
    {"System", false, "runs a program"},
    {"StringToName", true, "makes a name, which may be that of a command, from a text"},
    {"S2N", true, "makes a name, which may be that of a command, from a text"},
    {"CreateDir", false, "makes a folder"},
    {"Save", false, "writes a file"},
    {"Print", false, "writes a file"},
    {"SendToServer", false, "sends data"},
};

/* Formats that Gmsh tells by these endings, and that hold no commands. */
static const char *const data_endings[] = {
    ".stl",  ".STL",  ".brep", ".brp", ".BRP", ".iges", ".IGES", ".igs", ".IGS",
    ".step", ".STEP", ".stp",  ".STP", ".unv", ".UNV",  ".vtk",  ".VTK", ".mesh",
    ".MESH", ".med",  ".MED",  ".bdf", ".BDF", ".nas",  ".NAS",  ".ply", ".PLY"};

typedef struct geo_file {
    const char *path, *text;
    geo_reader reader;
    int depth, *n_files; /* how deep it is included; files read in all */
    weft_error *error;
} geo_file;

static weft_status check_file(const char *path, int depth, int *n_files, weft_error *error);

static bool is_command(const char *word, size_t length, bool before_quote) {
    for (size_t i = 0; i < sizeof commands / sizeof *commands; ++i)
        if (strlen(commands[i].name) == length && memcmp(commands[i].name, word, length) == 0)
            return commands[i].anywhere || before_quote;
    return before_quote && ((length == 5 && memcmp(word, "Merge", 5) == 0) ||
                            (length == 7 && memcmp(word, "Include", 7) == 0));
}

static weft_status refuse(const geo_file *file, const geo_token *token, const char *format,
                          const char *detail) {
    char name[80], message[300];
    int length = token->length < sizeof name ? (int)token->length : (int)sizeof name - 1;
    snprintf(name, sizeof name, "%.*s", length, token->text);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(message, sizeof message, format, name, detail);
#pragma GCC diagnostic pop
    weft_error_set(file->error, WEFT_ERROR_UNSUPPORTED, "%s, and Weft does not run such a file",
                   message);
    weft_error_location(file->error, file->path, file->text, token->line, token->column);
    weft_error_hint(file->error, "read the file; if you trust whoever wrote it, give --trust-geo "
                                 "(or set WEFT_TRUST_GEO=1), else take this command out");
    return WEFT_ERROR_UNSUPPORTED;
}

/* The path as Gmsh makes it: beside the file that names it, where it is not absolute. */
static char *path_beside(const char *from, const geo_token *name) {
    const char *slash = strrchr(from, '/');
    size_t folder = slash && name->text[0] != '/' ? (size_t)(slash - from) + 1 : 0;
    char *out = malloc(folder + name->length + 1);
    if (!out)
        return NULL;
    memcpy(out, from, folder);
    memcpy(out + folder, name->text, name->length);
    out[folder + name->length] = '\0';
    return out;
}

/* Does Gmsh read this file as commands? */
static bool is_script(const char *path) {
    static const char *const marks[] = {"$MeshFormat", "$Comments", "$NO",         "$PTS",
                                        "$ELM",        "$PARA",     "$PostFormat", "$View"};
    char start[16] = "";
    for (size_t i = 0; i < sizeof data_endings / sizeof *data_endings; ++i)
        if (path_ends_with(path, data_endings[i]))
            return false;
    int file = -1;
    if (weft_file_open(path, O_RDONLY, &file, NULL, NULL) != WEFT_OK)
        return false;
    const ssize_t n = read(file, start, sizeof start - 1);
    close(file);
    for (size_t i = 0; n > 0 && i < sizeof marks / sizeof *marks; ++i)
        if (strncmp(start, marks[i], strlen(marks[i])) == 0)
            return false;
    return n > 0;
}

/* Include "part.geo"; Merge "part.step"; */
static weft_status check_other_file(const geo_file *file, const geo_token *word,
                                    const geo_token *name, bool include) {
    weft_status status = WEFT_OK;
    char *path = NULL, *options = NULL;
    struct stat info;
    if (name->kind != GEO_STRING)
        TRY(refuse(file, word, "%s takes a name here that is computed%s", ""));
    path = path_beside(file->path, name);
    size_t length = path ? strlen(path) + 5 : 0;
    options = path ? malloc(length) : NULL;
    if (!options)
        TRY(weft_out_of_memory(file->error, NULL));
    snprintf(options, length, "%s.opt", path);
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        TRY(refuse(file, word, "%s names something that is not a regular file%s", ""));
    if (path_ends_with(path, ".gz"))
        TRY(refuse(file, word, "%s runs gunzip for a compressed file%s", ""));
    /* a file that is missing is Gmsh's to report */
    if (access(path, R_OK) == 0 && (include || is_script(path)))
        TRY(check_file(path, file->depth + 1, file->n_files, file->error));
    if (access(options, R_OK) == 0)
        TRY(check_file(options, file->depth + 1, file->n_files, file->error));
done:
    free(path);
    free(options);
    return status;
}

/* Printf("..."[, ...]) >  or  >>  file; the token behind the bracket comes back. */
static geo_token pass_brackets(geo_file *file) {
    int depth = 0;
    for (;;) {
        geo_token token = geo_next(&file->reader);
        bool opens = geo_is(&token, "(") && token.kind == GEO_SYMBOL;
        bool closes = geo_is(&token, ")") && token.kind == GEO_SYMBOL;
        depth += opens - closes;
        if (token.kind == GEO_END || depth < 0 || (depth == 0 && !closes && !opens))
            return token;
        if (depth == 0 && closes)
            return geo_next(&file->reader);
    }
}

/* One word; *next is the token behind it, or behind what was read with it. */
static weft_status check_word(geo_file *file, const geo_token *word, geo_token *next) {
    bool is_printf = geo_is(word, "Printf");
    bool include = geo_is(word, "Include");
    bool merge = geo_is(word, "Merge") || geo_is(word, "MergeWithBoundingBox");
    *next = is_printf ? pass_brackets(file) : geo_next(&file->reader);
    bool text_follows = next->kind == GEO_STRING || next->kind == GEO_NAME;
    if (is_printf && next->kind == GEO_SYMBOL && geo_is(next, ">"))
        return refuse(file, word, "%s writes a file here%s", "");
    if ((include || merge) && text_follows)
        return check_other_file(file, word, next, include);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; ++i)
        if (geo_is(word, commands[i].name) && (commands[i].anywhere || text_follows))
            return refuse(file, word, "%s %s", commands[i].effect);
    return WEFT_OK;
}

static weft_status check_commands(geo_file *file) {
    weft_status status = WEFT_OK;
    geo_token token = geo_next(&file->reader), next;
    while (token.kind != GEO_END) {
        if (token.kind == GEO_NAME)
            TRY(check_word(file, &token, &next));
        else
            next = geo_next(&file->reader);
        token = next;
    }
    if (file->reader.broken) {
        weft_error_set(file->error, WEFT_ERROR_INPUT, "%s", file->reader.broken);
        weft_error_location(file->error, file->path, file->text, file->reader.hidden.line, 0);
        weft_error_hint(file->error, "repair the file: Gmsh cannot read it either");
        status = WEFT_ERROR_INPUT;
    } else if (file->reader.ambiguous && file->reader.hidden.kind == GEO_NAME) {
        file->reader.hidden.column = 0;
        status = refuse(file, &file->reader.hidden,
                        "%s is in a string or comment that Gmsh can take for commands, because "
                        "of quotes, comments or line ends in it or elsewhere in this file%s",
                        "");
    }
done:
    return status;
}

static weft_status check_file(const char *path, int depth, int *n_files, weft_error *error) {
    weft_status status = WEFT_OK;
    char *text = NULL;
    size_t length = 0;
    if (depth > DEPTH_MOST || ++*n_files > FILES_MOST) {
        weft_error_set(error, WEFT_ERROR_INPUT,
                       "files include one another without end, or more than %d of them",
                       FILES_MOST);
        weft_error_location(error, path, NULL, 0, 0);
        weft_error_hint(error, "remove the Include or Merge of the file itself");
        TRY(WEFT_ERROR_INPUT);
    }
    TRY(weft_file_read_as(path, WEFT_FILE_GEOMETRY, &text, &length, error));
    geo_file file = {path, text, geo_reader_make(text, length, is_command), depth, n_files, error};
    TRY(check_commands(&file));
done:
    free(text);
    return status;
}

weft_status geo_check_options(const char *path, weft_error *error) {
    weft_status status = WEFT_OK;
    int n_files = 0;
    size_t length = strlen(path) + 5;
    char *options = malloc(length);
    if (!options)
        return weft_out_of_memory(error, NULL);
    snprintf(options, length, "%s.opt", path);
    if (access(options, R_OK) == 0)
        status = check_file(options, 0, &n_files, error);
    free(options);
    return status;
}

weft_status geo_check_text(const char *path, const char *text, size_t length, weft_error *error) {
    int n_files = 0;
    geo_file file = {path, text, geo_reader_make(text, length, is_command), 0, &n_files, error};
    return check_commands(&file);
}

weft_status geo_check(const char *path, weft_error *error) {
    weft_status status = WEFT_OK;
    int n_files = 0;
    TRY(check_file(path, 0, &n_files, error));
    TRY(geo_check_options(path, error));
done:
    return status;
}
