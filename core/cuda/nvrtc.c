/* Loads NVRTC and compiles CUDA C++ to CUBIN. */
#include "core/base/process.h"
#include "core/cuda/cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
enum { N_NAMES = sizeof names / sizeof names[0] };

static void *open_below(const char *folder) {
    for (int i = 0; folder && folder[0] && i < N_NAMES; ++i) {
        char path[1024];
        int length = snprintf(path, sizeof path, "%s/lib64/%s", folder, names[i]);
        void *library = length > 0 && (size_t)length < sizeof path
                            ? dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)
                            : NULL;
        if (library)
            return library;
    }
    return NULL;
}

/* NVIDIA's Python packages beside that of Weft. */
static void *open_in_packages(void) {
    static const char *const places[] = {"nvidia/cu13/lib/libnvrtc.so.13",
                                         "nvidia/cuda_nvrtc/lib/libnvrtc.so.12"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places && !library; ++i) {
        char path[1024];
        if (weft_find_in_packages(places[i], path, sizeof path))
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    }
    return library;
}

static void *open_any(void) {
    void *library = open_in_packages();
    if (library)
        return library;
    for (int i = 0; i < N_NAMES; ++i) {
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (library)
            return library;
    }
    library = open_below(getenv("CUDA_HOME"));
    return library ? library : open_below("/usr/local/cuda");
}

weft_status weft_nvrtc_open(weft_nvrtc *out, weft_error *error) {
    weft_status status = WEFT_OK;
    bool complete = true;
    *out = (weft_nvrtc){.library = open_any()};
    if (!out->library)
        return weft_error_refuse(
            error, WEFT_ERROR_COMPILER,
            "NVRTC, the compiler of CUDA kernels, is not found (libnvrtc.so.13 or .12)",
            "install it (NVIDIA's package cuda-nvrtc-13-0; or with the Python package pip install "
            "'weft[cuda13]'), or set CUDA_HOME or LD_LIBRARY_PATH to where it is");
    void *symbol;
#define FIND(name, parameters)                                                                     \
    symbol = dlsym(out->library, #name);                                                           \
    complete = complete && symbol;                                                                 \
    memcpy(&out->name, &symbol, sizeof symbol);
    WEFT_NVRTC_FUNCTIONS(FIND)
    FIND(nvrtcGetErrorString, )
#undef FIND
    if (!complete || out->nvrtcVersion(&out->major, &out->minor) != 0)
        status = weft_error_set(error, WEFT_ERROR_COMPILER,
                                "this NVRTC is too old: it makes no CUBIN (11.2 or later does)");
    if (status != WEFT_OK)
        weft_nvrtc_close(out);
    return status;
}

void weft_nvrtc_close(weft_nvrtc *nvrtc) {
    if (nvrtc->library)
        dlclose(nvrtc->library);
    nvrtc->library = NULL;
}

/* The last option disables NVRTC's own cache, which returns a CUBIN without the assembler's log;
 * earlier versions have neither cache nor option. */
static const char *const options[] = {"--std=c++17", "--fmad=true", "--extra-device-vectorization",
                                      "--ptxas-options=-v", "--no-cache"};
enum { MOST_OPTIONS = sizeof options / sizeof options[0], FIRST_WITH_CACHE = 13 };

static int count_options(const weft_nvrtc *nvrtc) {
    return nvrtc->major >= FIRST_WITH_CACHE ? MOST_OPTIONS : MOST_OPTIONS - 1;
}

void weft_nvrtc_describe(const weft_nvrtc *nvrtc, int architecture, char *out, size_t size) {
    size_t used = 0;
    int length = snprintf(out, size, "NVRTC %d.%d|sm_%d", nvrtc->major, nvrtc->minor, architecture);
    for (int i = 0; length > 0; ++i) {
        used += (size_t)length;
        if (i == count_options(nvrtc) || used >= size)
            break;
        length = snprintf(out + used, size - used, "|%s", options[i]);
    }
}

/* Take the location from "NAME.cu(12): error: ...". */
static weft_status refused(const weft_nvrtc *nvrtc, const char *file, const char *source,
                           const char *log, int code, weft_error *error) {
    weft_error_set(error, WEFT_ERROR_COMPILER, "NVRTC %d.%d refused generated source (%s):\n%.800s",
                   nvrtc->major, nvrtc->minor, nvrtc->nvrtcGetErrorString(code),
                   log && log[0] ? log : "it says nothing");
    size_t length = strlen(file);
    int line = 0;
    for (const char *at = log; at && (at = strstr(at, file)); at += length) {
        int end = 0;
        if (sscanf(at + length, "(%d): error%n", &line, &end) == 1 && end > 0) {
            weft_error_location(error, file, source, line, 1);
            break;
        }
    }
    weft_error_hint(error, "set WEFT_KEEP to a folder to keep the source and see it");
    return WEFT_ERROR_COMPILER;
}

static weft_status compile_failed(const weft_nvrtc *nvrtc, const char *what, int code,
                                  weft_error *error) {
    return weft_error_set(error, WEFT_ERROR_COMPILER, "NVRTC %d.%d cannot %s: %s", nvrtc->major,
                          nvrtc->minor, what, nvrtc->nvrtcGetErrorString(code));
}

static weft_status take_result(const weft_nvrtc *nvrtc, void *program, const char *log,
                               weft_cubin *out, weft_error *error) {
    size_t size = 0, log_size = strlen(log) + 1;
    int code = nvrtc->nvrtcGetCUBINSize(program, &size);
    if (code != 0 || size == 0)
        return compile_failed(nvrtc, "make a CUBIN of the source", code, error);
    weft_cubin cubin = {.size = size, .whole = size + log_size + 8};
    cubin.bytes = calloc(cubin.whole, 1);
    if (!cubin.bytes)
        return weft_out_of_memory(error, "a module");
    code = nvrtc->nvrtcGetCUBIN(program, (char *)cubin.bytes);
    if (code != 0) {
        weft_cubin_free(&cubin);
        return compile_failed(nvrtc, "hand over a CUBIN", code, error);
    }
    memcpy(cubin.bytes + size, log, log_size);
    for (int i = 0; i < 8; ++i)
        cubin.bytes[size + log_size + (size_t)i] = (unsigned char)((uint64_t)size >> (8 * i));
    *out = cubin;
    return WEFT_OK;
}

weft_status weft_nvrtc_compile(const weft_nvrtc *nvrtc, int architecture, const char *name,
                               const char *source, weft_cubin *out, weft_error *error) {
    weft_status status = WEFT_OK;
    char file[96], target[48], *log = NULL;
    const char *arguments[MOST_OPTIONS + 1] = {target};
    void *program = NULL;
    size_t log_size = 0;
    memcpy(arguments + 1, options, sizeof options);
    snprintf(file, sizeof file, "%.80s.cu", name);
    snprintf(target, sizeof target, "--gpu-architecture=sm_%d", architecture);
    int code = nvrtc->nvrtcCreateProgram(&program, source, file, 0, NULL, NULL);
    if (code != 0)
        TRY(compile_failed(nvrtc, "take the source", code, error));
    code = nvrtc->nvrtcCompileProgram(program, count_options(nvrtc) + 1, arguments);
    if (nvrtc->nvrtcGetProgramLogSize(program, &log_size) != 0)
        log_size = 0;
    log = calloc(log_size + 1, 1);
    if (!log)
        TRY(weft_out_of_memory(error, "a compiler's words"));
    if (log_size > 0 && nvrtc->nvrtcGetProgramLog(program, log) != 0)
        log[0] = '\0';
    if (code != 0)
        status = refused(nvrtc, file, source, log, code, error);
    else
        status = take_result(nvrtc, program, log, out, error);
done:
    free(log);
    if (program)
        nvrtc->nvrtcDestroyProgram(&program);
    return status;
}

bool weft_cubin_read(unsigned char *bytes, size_t whole, weft_cubin *out) {
    uint64_t size = 0;
    if (whole < 9 || memcmp(bytes, "\177ELF", 4) != 0)
        return false;
    for (int i = 0; i < 8; ++i)
        size |= (uint64_t)bytes[whole - 8 + (size_t)i] << (8 * i);
    /* the log ends at the first zero after the CUBIN */
    if (size < 64 || size > whole - 9 ||
        memchr(bytes + size, '\0', whole - 8 - size) != bytes + whole - 9)
        return false;
    *out = (weft_cubin){bytes, (size_t)size, whole};
    return true;
}

void weft_cubin_free(weft_cubin *cubin) {
    free(cubin->bytes);
    *cubin = (weft_cubin){0};
}
