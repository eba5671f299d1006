/* weft-gmsh FILE [--size H]: a mesh of FILE (.geo or .msh), as a stream, to stdout; or saved as a
 * .msh file. */
#include "../../fem/mesh_stream.h"
#include "weft_gmsh.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static const char usage[] =
    "usage: weft-gmsh [--size H] FILE > STREAM\n"
    "       weft-gmsh [--size H] --save NEW.msh [--msh 2.2|4.1] [--binary] FILE\n"
    "Reads FILE.msh (MSH 2.2 or 4.1), or meshes FILE.geo, with Gmsh, and writes the mesh for\n"
    "other programs of Weft, which start this one by themselves; or saves it as a .msh file.\n"
    "  --save, --msh, --binary: save the mesh, as MSH 4.1 and text where not told otherwise\n"
    "  --size H   mesh size of a .geo file: its constant h, lc or size where DefineConstant[]\n"
    "             has one, else the size of every cell\n";

typedef struct arguments {
    const char *path;
    double size;
    const char *save;
    double version; /* of the file saved */
    bool binary;
    long parent; /* process that started us, and with which we end; 0: none */
} arguments;

static weft_status parse_arguments(int n, char **texts, arguments *out, weft_error *error) {
    static const struct option options[] = {{"size", required_argument, NULL, 's'},
                                            {"parent", required_argument, NULL, 'p'},
                                            {"save", required_argument, NULL, 'o'},
                                            {"msh", required_argument, NULL, 'm'},
                                            {"binary", no_argument, NULL, 'b'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    int option;
    char *end = NULL;
    opterr = 0;
    while ((option = getopt_long(n, texts, "", options, NULL)) != -1) {
        if (option == 's') {
            out->size = strtod(optarg, &end);
            if (end == optarg || *end || !isfinite(out->size))
                return weft_error_set(error, WEFT_ERROR_USAGE, "--size %s is no number", optarg);
        } else if (option == 'p') {
            out->parent = strtol(optarg, NULL, 10);
        } else if (option == 'o') {
            out->save = optarg;
        } else if (option == 'm') {
            out->version = strtod(optarg, NULL);
            if (out->version != 2.2 && out->version != 4.1)
                return weft_error_set(error, WEFT_ERROR_USAGE, "--msh is 2.2 or 4.1");
        } else if (option == 'b') {
            out->binary = true;
        } else if (option == 'h') {
            fputs(usage, stdout);
            exit(0);
        } else {
            return weft_error_set(error, WEFT_ERROR_USAGE, "%s: see weft-gmsh --help",
                                  texts[optind - 1]);
        }
    }
    if (optind + 1 != n)
        return weft_error_set(error, WEFT_ERROR_USAGE, "one file is needed: see weft-gmsh --help");
    out->path = texts[optind];
    return WEFT_OK;
}

/* What Gmsh and its libraries print must get neither into the stream nor between the lines of the
 * parent. */
static weft_status keep_stdout(bool quiet, stream *out, weft_error *error) {
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    out->file = fcntl(1, F_DUPFD_CLOEXEC, 3);
    if (nowhere < 0 || out->file < 0 || dup2(nowhere, 1) < 0 || (quiet && dup2(nowhere, 2) < 0))
        return weft_error_set(error, WEFT_ERROR_IO, "cannot write to stdout: %s", strerror(errno));
    close(nowhere);
    return WEFT_OK;
}

static bool is_debugged(void) {
    const char *level = getenv("WEFT_LOG");
    return level && strcmp(level, "debug") == 0;
}

static weft_status run(const arguments *from, stream *out, weft_error *error) {
    weft_status status = WEFT_OK;
    loaded mesh = {0};
    size_t length = strlen(from->path);
    bool is_msh = length > 4 && strcmp(from->path + length - 4, ".msh") == 0;
    if (is_msh)
        TRY(msh_check(from->path, &mesh.counts, error));
    TRY(load(from->path, from->size, out, &mesh, error));
    if (from->save)
        TRY(save(from->save, from->version, from->binary, out, error));
    else
        TRY(extract(&mesh, out, error));
done:
    return status;
}

int main(int n, char **texts) {
    weft_status status = WEFT_OK;
    weft_error error = {0};
    arguments from = {.version = 4.1};
    stream out = {.file = -1};
    TRY(parse_arguments(n, texts, &from, &error));
    if (from.parent > 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != (pid_t)from.parent)
            return 3;
    }
    if (isatty(1) && !from.save) {
        status = weft_error_set(&error, WEFT_ERROR_USAGE, "stdout is a terminal: see --help");
        goto done;
    }
    bool quiet = from.parent > 0 && !is_debugged();
    if (quiet)
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    TRY(keep_stdout(quiet, &out, &error));
    out.broken = from.save != NULL; /* then nothing is sent */
    stream_start(&out);
    status = run(&from, &out, &error);
    if (status == WEFT_OK)
        stream_record(&out, WEFT_STREAM_END, NULL, 0);
    else
        stream_error(&out, &error);
done:
    if (status != WEFT_OK) {
        char text[4096];
        weft_error_text(&error, text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    /* without Gmsh's own end, which takes long and may crash when all is done */
    fflush(NULL);
    bool lost = status == WEFT_OK && out.broken && !from.save;
    _exit(lost ? 3 : weft_status_exit_code(status));
}
