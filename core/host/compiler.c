/* Finds the system C compiler and runs it under limits. */
#include "core/host/compiler.h"
#include "core/base/file.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const size_t LARGEST_OBJECT = 256000000; /* bytes; kernels have about ten thousand */

static weft_status missing(const char *command, const char *why, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_COMPILER, "no C compiler: \"%s\" %s", command, why);
    weft_error_hint(error, "install gcc (apt install gcc; or with the Python package "
                           "pip install 'weft[compiler]') or set CC to a compiler that exists");
    return WEFT_ERROR_COMPILER;
}

/* Find the program's absolute path, since compilation runs in another directory. Links are not
 * resolved: compiler drivers may depend on the name they are called by. */
static bool find_program(const char *word, char *out, size_t size) {
    if (strchr(word, '/')) {
        char here[PATH_MAX] = "";
        bool relative = word[0] != '/';
        if (relative && !getcwd(here, sizeof here))
            return false;
        int length = snprintf(out, size, "%s%s%s", here, relative ? "/" : "", word);
        return length > 0 && (size_t)length < size && access(out, X_OK) == 0;
    }
    return weft_find_in_path(word, out, size);
}

/* The compiler of the Python package ziglang beside that of Weft. */
static bool find_zig(weft_compiler *out) {
    static char cc[] = "cc";
    if (!weft_find_in_packages("ziglang/zig", out->program, sizeof out->program) ||
        !weft_is_program(out->program))
        return false;
    out->words[0] = out->program;
    out->words[1] = cc;
    return true;
}

/* The libm that zig brings names no library of vector functions, as glibc's own does: the machine's, by its path. */
static void find_vector_library(char *out, size_t size) {
    struct link_map *map = NULL;
    void *library = dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0)
        snprintf(out, size, "%s", map->l_name);
    if (library)
        dlclose(library);
}

/* Split the command at blanks, without quoting, as make and configure do, unless the whole command
 * is the path of a program. */
static weft_status cut_words(const char *command, weft_compiler *out, weft_error *error) {
    if (strlen(command) >= sizeof out->command)
        return missing("CC", "is too long a command", error);
    memcpy(out->command, command, strlen(command) + 1);
    if (strchr(command, '/') && weft_is_program(command)) {
        out->words[0] = out->command;
        return WEFT_OK;
    }
    int n = 0;
    char *rest = out->command;
    for (char *word; (word = strsep(&rest, " \t\n"));) {
        if (!*word)
            continue;
        if (n == WEFT_COMPILER_WORDS)
            return missing(command, "has too many options", error);
        out->words[n++] = word;
    }
    if (n == 0)
        return missing(command, "names no program", error);
    return WEFT_OK;
}

/* The limits are generous (kernels compile in 40 to 300 ms): they stop compilers that hang. */
static weft_status read_limits(weft_process_limits *out, weft_error *error) {
    weft_status status = WEFT_OK;
    double seconds = 300, megabytes = 8000;
    TRY(weft_process_limit_read("WEFT_COMPILER_SECONDS", &seconds, error));
    TRY(weft_process_limit_read("WEFT_COMPILER_MEGABYTES", &megabytes, error));
    *out = (weft_process_limits){.seconds = seconds,
                                 .cpu_seconds = seconds,
                                 .memory_bytes = (size_t)fmin(1e6 * megabytes, 9e18),
                                 .file_bytes = LARGEST_OBJECT};
done:
    return status;
}

/* Run the compiler; `start` has phase, arguments and folder, the rest is the same for all runs. */
static weft_status run(const weft_compiler *compiler, weft_process_start start, char *output,
                       size_t size, weft_process_result *result, weft_error *error) {
    start.program = compiler->program;
    start.english = start.errors_too = true;
    start.limits = compiler->limits;
    start.monitor = compiler->monitor;
    weft_status status = weft_process_run(&start, output, size, result, error);
    if (status == WEFT_ERROR_IO && error) /* it cannot be started */
        status = error->status = WEFT_ERROR_COMPILER;
    return status == WEFT_ERROR_IO ? WEFT_ERROR_COMPILER : status;
}

static void hint_at_limits(weft_error *error) {
    weft_error_hint(error, "the environment variables WEFT_COMPILER_SECONDS and "
                           "WEFT_COMPILER_MEGABYTES raise its limits; CC names another compiler");
}

static weft_status ask_version(weft_compiler *compiler, char *line, size_t size,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    static char question[] = "--version";
    char *arguments[WEFT_COMPILER_WORDS + 2] = {0};
    weft_process_result result;
    int n = 0;
    for (; compiler->words[n]; ++n)
        arguments[n] = compiler->words[n];
    arguments[n] = question;
    const weft_process_start start = {.arguments = arguments, .folder = -1};
    TRY(run(compiler, start, line, size, &result, error));
    line[strcspn(line, "\r\n")] = '\0';
    if (result.exit_code != 0 || !line[0]) {
        char why[400], limit[100];
        weft_process_why(&result, &compiler->limits, limit, sizeof limit);
        snprintf(why, sizeof why, "does not answer --version (%s, exit code %d): %.200s",
                 limit[0] ? limit : "it ended", result.exit_code, line);
        status = missing(compiler->program, why, error);
        if (limit[0])
            hint_at_limits(error);
    }
done:
    return status;
}

/* Get the version line. As this starts a process, the line is cached under the program's path, size
 * and times. */
static weft_status version_line(weft_compiler *compiler, weft_cache *cache, char *line, size_t size,
                                weft_error *error) {
    weft_entry entry = {.kind = WEFT_ENTRY_COMPILER};
    size_t known_size = 0;
    weft_hash(compiler->identity, strlen(compiler->identity), entry.key);
    memcpy(entry.source_key, entry.key, sizeof entry.key);
    unsigned char *known = weft_cache_load(cache, &entry, false, &known_size);
    if (known && known_size > 0 && known_size < size) {
        memcpy(line, known, known_size);
        line[known_size] = '\0';
        free(known);
        return WEFT_OK;
    }
    free(known);
    weft_status status = ask_version(compiler, line, size, error);
    if (status == WEFT_OK) {
        snprintf(entry.description, sizeof entry.description, "compiler: %.200s", line);
        weft_cache_lock lock = weft_cache_lock_take(cache, entry.key);
        weft_cache_store(cache, &entry, line, strlen(line));
        weft_cache_lock_give(&lock);
    }
    return status;
}

weft_status weft_compiler_find(const char *command, const weft_processor *processor,
                               weft_cache *cache, weft_compiler *out, weft_error *error) {
    weft_status status = WEFT_OK;
    char real[PATH_MAX], line[512] = "";
    struct stat info;
    *out = (weft_compiler){.monitor = cache->monitor};
    TRY(read_limits(&out->limits, error));
    TRY(cut_words(command, out, error));
    if ((!find_program(out->words[0], out->program, sizeof out->program) &&
         (strcmp(command, WEFT_COMPILER_USUAL) != 0 || !find_zig(out))) ||
        !realpath(out->program, real) || stat(real, &info) != 0)
        TRY(missing(out->words[0], "is not found", error));
    int length =
        snprintf(out->identity, sizeof out->identity, "%s|%s|%lld|%lld.%09ld|%lld.%09ld",
                 out->program, real, (long long)info.st_size, (long long)info.st_mtim.tv_sec,
                 info.st_mtim.tv_nsec, (long long)info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
    if (length < 0 || (size_t)length >= sizeof out->identity)
        TRY(missing(out->words[0], "has too long a path", error));
    TRY(version_line(out, cache, line, sizeof line, error));
    TRY(weft_compiler_options(line, processor, out->label, sizeof out->label, out->options, error));
    if (strcmp(strrchr(out->program, '/'), "/zig") == 0) {
        weft_compiler_name_for_zig(out->options);
        find_vector_library(out->vector_library, sizeof out->vector_library);
    }
    snprintf(out->identity + length, sizeof out->identity - (size_t)length, "|%s", line);
done:
    return status;
}

void weft_compiler_key(const weft_compiler *compiler, char out[33]) {
    char text[5120];
    size_t used = 0;
    const char *parts[1 + WEFT_COMPILER_WORDS + WEFT_COMPILER_OPTIONS];
    int n = 0;
    parts[n++] = compiler->identity;
    for (int i = 1; compiler->words[i]; ++i)
        parts[n++] = compiler->words[i];
    for (int i = 0; compiler->options[i]; ++i)
        parts[n++] = compiler->options[i];
    for (int i = 0; i < n; ++i) { /* terminators keep different lists different */
        size_t length = strlen(parts[i]) + 1;
        if (length > sizeof text - used)
            break; /* unreachable: the parts have bounded sizes */
        memcpy(text + used, parts[i], length);
        used += length;
    }
    weft_hash(text, used, out);
}

/* Report the compiler's first lines; the location is taken from "NAME.c:12:5: error: ...". */
static weft_status refused(const weft_compiler *compiler, const char *file_name, const char *source,
                           const char *output, const weft_process_result *result,
                           weft_error *error) {
    const char *first = output[0] ? output : "it says nothing";
    const int exit_code = result->exit_code;
    char limit[100];
    if (*weft_process_why(result, &compiler->limits, limit, sizeof limit)) {
        weft_error_set(error, WEFT_ERROR_COMPILER, "%s %s on the generated source %s",
                       compiler->label, limit, file_name);
        hint_at_limits(error);
        return WEFT_ERROR_COMPILER;
    }
    weft_error_set(error, WEFT_ERROR_COMPILER,
                   "%s refused generated source (exit code %d):\n%.900s", compiler->label,
                   exit_code, first);
    int line = 0, column = 0;
    size_t length = strlen(file_name);
    for (const char *at = output; (at = strstr(at, file_name)); at += length)
        if (sscanf(at + length, ":%d:%d: error", &line, &column) == 2 && line > 0) {
            weft_error_location(error, file_name, source, line, column);
            break;
        }
    weft_error_hint(error,
                    exit_code > 128
                        ? "the compiler was killed by signal %d: is there enough memory?"
                        : "set WEFT_KEEP to a folder to keep the source and see it",
                    exit_code - 128);
    return WEFT_ERROR_COMPILER;
}

static weft_status write_source(const weft_work_folder *work, const char *file_name,
                                const char *source, weft_error *error) {
    int file =
        openat(work->folder, file_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool good = file >= 0 && weft_write_all(file, source, strlen(source)) == WEFT_OK;
    int number = errno;
    if (file >= 0 && close(file) != 0 && good) {
        good = false;
        number = errno;
    }
    if (good)
        return WEFT_OK;
    return weft_error_set(error, WEFT_ERROR_IO, "cannot write the generated source: %s",
                          strerror(number));
}

/* Any program may have made nothing of a source, with exit code 0: a compiler lists its macros. */
static bool is_compiler(const weft_compiler *compiler) {
    static const char *const question[] = {"-dM", "-E", "-x", "c", "/dev/null"};
    enum { N = sizeof question / sizeof *question };
    const char *arguments[WEFT_COMPILER_WORDS + N + 1] = {0};
    char output[64] = "";
    weft_process_result result;
    weft_error ignored;
    int n = 0;
    for (; compiler->words[n]; ++n)
        arguments[n] = compiler->words[n];
    for (int i = 0; i < N; ++i)
        arguments[n++] = question[i];
    const weft_process_start start = {.arguments = (char *const *)(uintptr_t)arguments,
                                      .folder = -1};
    return run(compiler, start, output, sizeof output, &result, &ignored) == WEFT_OK &&
           result.exit_code == 0 && strncmp(output, "#define ", 8) == 0;
}

/* After an error, whose message begins with the label: it is that of a compiler, whatever the program is. One that was
 * stopped has said nothing. */
static weft_status doubt(const weft_compiler *compiler, weft_status status, weft_error *error) {
    if (status != WEFT_ERROR_COMPILER || !error || is_compiler(compiler))
        return status;
    weft_error_set(error, status, "%s is not a C compiler (it is `%.80s`):\nit%s",
                   compiler->program, strrchr(compiler->identity, '|') + 1,
                   error->message + strlen(compiler->label));
    weft_error_hint(error,
                    "install gcc (apt install gcc) and unset CC; CC names the one that is used");
    return status;
}

weft_status weft_compiler_run(const weft_compiler *compiler, const weft_work_folder *work,
                              const char *name, const char *source, unsigned char **object,
                              size_t *size, weft_error *error) {
    weft_status status = WEFT_OK;
    char file_name[96], output[4096], limit[100];
    const char *arguments[WEFT_COMPILER_WORDS + WEFT_COMPILER_OPTIONS + 8];
    const char *wrong;
    weft_process_result result;
    int n = 0;
    bool absent = false, has_ended = false;
    snprintf(file_name, sizeof file_name, "%.80s.c", name);
    TRY(write_source(work, file_name, source, error));
    for (; compiler->words[n]; ++n)
        arguments[n] = compiler->words[n];
    for (int i = 0; compiler->options[i]; ++i)
        arguments[n++] = compiler->options[i];
    arguments[n++] = "-o";
    arguments[n++] = "module.so";
    arguments[n++] = file_name;
    arguments[n++] = "-lm";
    if (compiler->vector_library[0])
        arguments[n++] = compiler->vector_library;
    arguments[n] = NULL;
    const weft_process_start start = {.phase = "compiling",
                                      .arguments = (char *const *)(uintptr_t)arguments,
                                      .folder = work->folder};
    TRY(run(compiler, start, output, sizeof output, &result, error));
    has_ended = !*weft_process_why(&result, &compiler->limits, limit, sizeof limit);
    if (result.exit_code != 0)
        TRY(refused(compiler, file_name, source, output, &result, error));
    wrong = weft_entry_read(work->folder, "module.so", object, size, &absent);
    if (wrong) {
        status = weft_error_set(
            error, wrong == weft_entry_no_memory ? WEFT_ERROR_MEMORY : WEFT_ERROR_COMPILER,
            "%s made no shared object: %s", compiler->label, wrong);
        weft_error_hint(error, "is %s a C compiler? CC names the one that is used",
                        compiler->program);
    }
done:
    return has_ended ? doubt(compiler, status, error) : status;
}
