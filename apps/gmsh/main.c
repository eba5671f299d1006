/* weft-gmsh FILE [--size H]: a mesh of FILE, as a stream, to stdout; or saved as a .msh file. */
#include "apps/gmsh/weft_gmsh.h"
#include "fem/io/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <gmshc.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static const char usage[] =
    "usage: weft-gmsh [OPTION...] FILE > STREAM\n"
    "       weft-gmsh [OPTION...] --save NEW.msh [--msh 2.2|4.1] [--binary] FILE\n"
    "Read a mesh FILE, or mesh FILE.geo, with Gmsh, and write the mesh to standard output in the\n"
    "format that the other programs of Weft read when they start this one; or save it as a .msh\n"
    "file.\n"
    "\n"
    "Formats: .geo; .msh (MSH 1, 2 and 4.1, and 4.0 as text); .vtk (legacy VTK, up to 4.2 and\n"
    "from 5 on); .mesh (Medit, in text); and, as Gmsh reads them, .unv (I-deas), .bdf and .nas\n"
    "(Nastran).\n"
    "\n"
    "  --save NEW.msh      save the mesh; a file is replaced only when the new one is complete\n"
    "  --msh VERSION       version of the saved file: 2.2 or 4.1 (default)\n"
    "  --binary            save in binary instead of text\n"
    "  --size H            mesh size of a .geo file: its constant h, lc or size where\n"
    "                      DefineConstant[] has one, else the size of every cell\n"
    "  --mesh-memory SIZE  memory that Gmsh may use, such as 16G. Default: three quarters of the\n"
    "                      machine's memory; for files other than .geo at most 1 GB plus 64\n"
    "                      times the size of the file. Or set WEFT_MESH_MEMORY\n"
    "  --mesh-time S       seconds that Gmsh may take. Default: 3600 for a .geo file, else 300\n"
    "                      plus 10 per megabyte. Or set WEFT_MESH_TIME\n"
    "  --trust-geo         run a .geo file that starts programs or writes files, without the\n"
    "                      filter of system calls. Or set WEFT_TRUST_GEO=1\n"
    "  --help, --version   print this text, or the version\n"
    "\n"
    "Exit status: 0 done, 2 wrong usage or input, or the time limit was reached, 3 out of "
    "memory.\n";

typedef struct arguments {
    const char *path;
    double size;
    weft_reading_limits limit;
    bool trust;
    const char *save;
    double version; /* of the file saved */
    bool binary;
    long parent; /* process that started us, and with which we end; 0: none */
} arguments;

static const struct option options[] = {{"size", required_argument, NULL, 's'},
                                        {"parent", required_argument, NULL, 'p'},
                                        {"save", required_argument, NULL, 'o'},
                                        {"msh", required_argument, NULL, 'm'},
                                        {"binary", no_argument, NULL, 'b'},
                                        {"mesh-memory", required_argument, NULL, 'M'},
                                        {"mesh-time", required_argument, NULL, 'T'},
                                        {"trust-geo", no_argument, NULL, 't'},
                                        {"version", no_argument, NULL, 'v'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};

static weft_status take_argument(int option, const char *last, arguments *out, weft_error *error) {
    char *end = NULL;
    switch (option) {
    case 's':
        out->size = strtod(optarg, &end);
        if (end == optarg || *end || !isfinite(out->size))
            return weft_error_set(error, WEFT_ERROR_USAGE, "--size %s is not a number", optarg);
        return WEFT_OK;
    case 'p':
        out->parent = strtol(optarg, NULL, 10);
        return WEFT_OK;
    case 'o':
        out->save = optarg;
        return WEFT_OK;
    case 'm':
        out->version = strtod(optarg, NULL);
        if (out->version != 2.2 && out->version != 4.1)
            return weft_error_set(error, WEFT_ERROR_USAGE, "--msh is 2.2 or 4.1");
        return WEFT_OK;
    case 'b':
        out->binary = true;
        return WEFT_OK;
    case 'M':
        return weft_parse_bytes("--mesh-memory", optarg, &out->limit.memory, error);
    case 'T':
        return weft_parse_seconds("--mesh-time", optarg, &out->limit.seconds, error);
    case 't':
        out->trust = true;
        return WEFT_OK;
    case 'v':
        printf("weft-gmsh (Weft) %s, with Gmsh %s\n", WEFT_VERSION, GMSH_API_VERSION);
        exit(0);
    case 'h':
        fputs(usage, stdout);
        exit(0);
    default:
        return weft_error_set(error, WEFT_ERROR_USAGE, "%s: see weft-gmsh --help", last);
    }
}

static weft_status parse_arguments(int n, char **texts, arguments *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *trust = getenv("WEFT_TRUST_GEO");
    int option;
    opterr = 0;
    out->trust = trust && *trust && strcmp(trust, "0") != 0;
    while ((option = getopt_long(n, texts, "", options, NULL)) != -1)
        TRY(take_argument(option, texts[optind - 1], out, error));
    if (optind + 1 != n)
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "one file is needed: see weft-gmsh --help"));
    out->path = texts[optind];
    if (out->save && !path_ends_with(out->save, ".msh"))
        TRY(weft_error_set(error, WEFT_ERROR_USAGE,
                           "--save writes MSH files, and %s does not end with .msh", out->save));
    if (!out->save && (out->binary || out->version > 0))
        TRY(weft_error_set(error, WEFT_ERROR_USAGE, "--msh and --binary belong to --save"));
done:
    return status;
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

/* Arguments and results of the thread that runs Gmsh. */
typedef struct loading {
    const arguments *from;
    stream *out;
    loaded *mesh;
    weft_error *error;
    weft_status status;
} loading;

static void *load_confined(void *user) {
    loading *work = user;
    if (!work->from->trust && !sandbox_enter())
        stream_log(work->out, WEFT_LOG_INFO,
                   "this system has no filter of system calls (seccomp), so that Gmsh is not "
                   "kept from running programs and writing files");
    work->status = load(work->from->path, work->from->size, work->out, work->mesh, work->error);
    return NULL;
}

/* In a thread of its own, since the filter holds for a thread, and what was loaded may have to be
 * saved. Its stack is as large as a main thread's can get. */
static weft_status load_in_thread(loading *work) {
    enum { STACK = 64 << 20 };
    pthread_attr_t attributes;
    pthread_t thread;
    int number = pthread_attr_init(&attributes);
    if (number == 0) {
        pthread_attr_setstacksize(&attributes, STACK);
        number = pthread_create(&thread, &attributes, load_confined, work);
        pthread_attr_destroy(&attributes);
    }
    if (number != 0)
        return weft_error_set(work->error, WEFT_ERROR_MEMORY, "cannot start a thread: %s",
                              strerror(number));
    pthread_join(thread, NULL);
    return work->status;
}

static weft_status run(const arguments *from, stream *out, weft_error *error) {
    weft_status status = WEFT_OK;
    loaded mesh = {0};
    loading work = {from, out, &mesh, error, WEFT_OK};
    if (path_ends_with(from->path, ".msh"))
        TRY(msh_check(from->path, &mesh.names, &mesh.counts, error));
    TRY(other_check(from->path, error));
    if (!from->trust)
        TRY(path_ends_with(from->path, ".geo") ? geo_check(from->path, error)
                                               : geo_check_options(from->path, error));
    TRY(load_in_thread(&work));
    limits_stop();
    if (from->save)
        TRY(save(from->save, &mesh, from->version > 0 ? from->version : 4.1, from->binary, out,
                 error));
    else
        TRY(extract(&mesh, out, error));
done:
    msh_names_clear(&mesh.names);
    return status;
}

/* ---- crashes --------------------------------------------------------------------------------- */

static char crash_text[4096];

static void report_crash(int number) {
    (void)number;
    (void)!write(2, crash_text, strlen(crash_text));
    save_abandon();
    _exit(3);
}

void crashes_handle(void) {
    static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; ++i)
        signal(signals[i], crash_text[0] ? report_crash : SIG_DFL);
}

/* Gmsh aborts or crashes where it gets no memory. A parent reports that; without one, say so here. */
static void announce_crashes(const char *path) {
    weft_error error = {0};
    weft_error_set(&error, WEFT_ERROR_MEMORY, "Gmsh crashed on this file");
    weft_error_location(&error, path, NULL, 0, 0);
    weft_error_hint(&error, "memory may have run out, or the file is damaged: try a larger --size, "
                            "or open the file in Gmsh");
    const size_t length = weft_error_text(&error, crash_text, sizeof crash_text - 1);
    crash_text[length < sizeof crash_text - 2 ? length : sizeof crash_text - 2] = '\n';
    crashes_handle();
}

int main(int n, char **texts) {
    weft_status status = WEFT_OK;
    weft_error error = {0};
    arguments from = {.version = 0};
    stream out = {.file = -1};
    TRY(parse_arguments(n, texts, &from, &error));
    if (from.parent > 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != (pid_t)from.parent)
            _exit(3);
    }
    if (isatty(1) && !from.save) {
        status = weft_error_set(&error, WEFT_ERROR_USAGE,
                                "stdout is a terminal, and a mesh is binary data");
        weft_error_hint(&error,
                        "save it: weft-gmsh --save NEW.msh %s; or send it to a file or a "
                        "program: weft-gmsh %s > mesh.stream",
                        from.path, from.path);
        goto done;
    }
    if (from.parent == 0 && !is_debugged())
        announce_crashes(from.path);
    bool quiet = from.parent > 0 && !is_debugged();
    if (quiet)
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    TRY(keep_stdout(quiet, &out, &error));
    out.broken = from.save != NULL; /* then nothing is sent */
    stream_start(&out);
    /* where nothing is saved, all threads can do without files to write */
    if (!from.save && !from.trust)
        sandbox_enter();
    status = limits_start(from.limit, from.path, quiet, &out, &error);
    if (status == WEFT_OK)
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
