#include "device_batch.h"
#include "core_internal.h"
#include "fusion_internal.h"
#include "source_internal.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A name of emulated CUDA text: what runs it (cuda_on_host.h). */
typedef struct emulated_named {
    const char *name;
    void (*call)(long long n, void **arguments);
} emulated_named;
typedef void emulate_call(void (*call)(long long n, void **arguments), long long n,
                          void **arguments, unsigned n_blocks, unsigned n_threads,
                          unsigned shared_bytes, int backwards);

typedef struct batch {
    weft_device_table table;       /* the device's: the host's with other modules */
    const weft_device_table *host; /* memory is the host's */
    bool emulated, optimised, backwards;
    weft_text text[2]; /* of double and of float; kernels are called mNUMBER_NAME */
    weft_text names;   /* emulated: the table of what can be launched */
    int n_modules, n_alive;
    void *object;
    emulate_call *emulate;
} batch;

enum { MOST_ARGUMENTS = 1024, GPU_THREADS = 128, LANES_GPU = 32 };

static batch *batch_of(const weft_device *device) {
    return (batch *)((char *)(uintptr_t)device->table - offsetof(batch, table));
}

static void prelude_of(const weft_device *device, bool single, weft_text *out) {
    const int lanes = single ? device->limits.lanes_float : device->limits.lanes_double;
    weft_source_backend(lanes, &device->limits)->prelude(out, lanes, single);
}

/* ---- collecting ---- */

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The name of the kernel that is defined here, or 0 characters. */
static size_t kernel_here(const batch *b, const char *at, const char **name) {
    static const char *const heads[] = {"KERNEL ",       "FINISH ",           "ROWS_KERNEL ",
                                        "WARPS_KERNEL ", "BLOCK_KERNEL(64) ", "BLOCK_KERNEL(256) "};
    size_t length = 0;
    *name = NULL;
    if (b->emulated) {
        for (size_t i = 0; i < sizeof heads / sizeof *heads; ++i)
            if (strncmp(at, heads[i], strlen(heads[i])) == 0)
                *name = at + strlen(heads[i]);
    } else if (strncmp(at, "void ", 5) == 0)
        *name = at + 5;
    while (*name != NULL && is_word((*name)[length]))
        ++length;
    return length;
}

/* Kernels get the module's number before their name. Modules, and segments of flows, are inline
 * namespaces, so that their helpers do not meet and their kernels are found. */
static void add_text(batch *b, int number, bool single, const char *text) {
    static const char segment[] = "namespace segment_";
    weft_text *out = &b->text[single];
    if (b->emulated)
        weft_text_add(out, "inline namespace module_%d {\n", number);
    while (*text != '\0') {
        const char *end = strchr(text, '\n'), *name = NULL;
        const size_t line = end != NULL ? (size_t)(end - text) + 1 : strlen(text);
        const size_t length = kernel_here(b, text, &name);
        if (strncmp(text, segment, sizeof segment - 1) == 0)
            weft_text_add(out, "inline ");
        if (length > 0) {
            weft_text_add_bytes(out, text, (size_t)(name - text));
            weft_text_add(out, "m%d_", number);
            weft_text_add_bytes(out, name, line - (size_t)(name - text));
        } else
            weft_text_add_bytes(out, text, line);
        if (length > 0 && b->emulated)
            weft_text_add(&b->names, "    {\"m%d_%.*s\", emulated_entry_of<&%s::m%d_%.*s>},\n",
                          number, (int)length, name, single ? "in_float" : "in_double", number,
                          (int)length, name);
        text += line;
    }
    if (b->emulated)
        weft_text_add(out, "}\n");
}

static weft_status batch_module_make(weft_module *module, const char *source, weft_error *error) {
    batch *b = batch_of(module->device);
    int *number = malloc(sizeof *number);
    weft_status status = WEFT_ERROR_INTERNAL;
    if (number == NULL || b->object != NULL) {
        free(number);
        return weft_error_set(error, WEFT_ERROR_INTERNAL, "a module of a batch that is compiled");
    }
    *number = b->n_modules++;
    for (int single = 0; single < 2 && status != WEFT_OK; ++single) {
        weft_text prelude = {0};
        prelude_of(module->device, single != 0, &prelude);
        if (strncmp(source, prelude.data, prelude.length) == 0) {
            add_text(b, *number, single != 0, source + prelude.length);
            status = WEFT_OK;
        }
        weft_text_free(&prelude);
    }
    if (status != WEFT_OK) {
        free(number);
        return weft_error_set(error, status, "a source does not start with the prelude");
    }
    ++b->n_alive;
    module->state = number;
    return status;
}

static void batch_module_free(weft_module *module) {
    batch *b = batch_of(module->device);
    free(module->state);
    if (--b->n_alive > 0)
        return;
    if (b->object != NULL)
        dlclose(b->object);
    b->object = NULL;
    b->n_modules = 0;
    weft_text_free(&b->text[0]);
    weft_text_free(&b->text[1]);
    weft_text_free(&b->names);
}

/* ---- compiling ---- */

/* CUDA text as C++: functions in a namespace, dynamic shared memory an array of ours. */
static void write_emulated(const char *text, FILE *file) {
    static const char *const patterns[][2] = {
        {"extern \"C\" ", ""},
        {"extern __shared__ __align__(128) unsigned char shared[];",
         "unsigned char *const shared = emulated_shared;"},
        {"extern __shared__ __align__(16) unsigned char shared[];",
         "unsigned char *const shared = emulated_shared;"}};
    while (*text != '\0') {
        const char *next = NULL;
        size_t which = 0;
        for (size_t i = 0; i < sizeof patterns / sizeof *patterns; ++i) {
            const char *found = strstr(text, patterns[i][0]);
            if (found != NULL && (next == NULL || found < next)) {
                next = found;
                which = i;
            }
        }
        const size_t n = next != NULL ? (size_t)(next - text) : strlen(text);
        fwrite(text, 1, n, file);
        text += n;
        if (next != NULL) {
            fputs(patterns[which][1], file);
            text += strlen(patterns[which][0]);
        }
    }
}

static weft_status write_file(const weft_device *device, const char *path, int single,
                              weft_error *error) {
    const batch *b = batch_of(device);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return weft_error_set(error, WEFT_ERROR_IO, "%s cannot be written", path);
    for (int i = 0; i < 2; ++i) {
        weft_text prelude = {0};
        if (b->text[i].length == 0 || (!b->emulated && i != single))
            continue;
        prelude_of(device, i != 0, &prelude);
        if (b->emulated) {
            fprintf(file, "namespace %s {\n", i != 0 ? "in_float" : "in_double");
            write_emulated(prelude.data, file);
            write_emulated(b->text[i].data, file);
            fputs("}\n", file);
        } else
            fprintf(file, "%s%s", prelude.data, b->text[i].data);
        weft_text_free(&prelude);
    }
    if (b->emulated)
        fprintf(file, "extern \"C\" const emulated_named emulated_names[] = {\n%s    {0, 0}};\n",
                b->names.data);
    return fclose(file) == 0 ? WEFT_OK
                             : weft_error_set(error, WEFT_ERROR_IO, "%s cannot be written", path);
}

/* What it says goes to stderr; not 0: it failed, 127: there is none. */
static int run_program(const char *const *arguments) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        execvp(arguments[0], (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

/* The fast way is without optimisation, and without the inlining that the text insists on: a third
 * of the time. */
static weft_status run_compiler(const batch *b, const char *const *paths, const char *object,
                                weft_error *error) {
    const char *cc = getenv("CC");
    const char *const c[] = {cc != NULL && cc[0] != '\0' ? cc : "cc",
                             "-std=gnu17",
                             b->optimised ? "-O3" : "-O0",
                             b->optimised ? "-fPIC" : "-Dalways_inline=unused",
                             "-march=native",
                             "-ffp-contract=fast",
                             "-fno-math-errno",
                             "-fno-trapping-math",
                             "-w",
                             "-shared",
                             "-fPIC",
                             "-o",
                             object,
                             paths[0],
                             paths[1],
                             "-lm",
                             NULL};
    const char *const cpp[] = {
        "g++",     "-std=c++17", "-O0",      "-w",
        "-shared", "-fPIC",      "-include", WEFT_SOURCE_DIR "/tests/unit/cuda_on_host.h",
        "-o",      object,       "-x",       "c++",
        paths[0],  NULL};
    const char *const *arguments = b->emulated ? cpp : c;
    if (run_program(arguments) != 0)
        return weft_error_set(error, WEFT_ERROR_COMPILER, "%s does not compile the batch",
                              arguments[0]);
    return WEFT_OK;
}

static weft_status compile(weft_device *device, weft_error *error) {
    weft_status status = WEFT_OK;
    batch *b = batch_of(device);
    char folder[] = "/tmp/weft-batch-XXXXXX", first[64], second[64], object[64];
    if (mkdtemp(folder) == NULL)
        return weft_error_set(error, WEFT_ERROR_IO, "no folder in /tmp can be made");
    snprintf(first, sizeof first, "%s/double.%s", folder, b->emulated ? "cu" : "c");
    snprintf(second, sizeof second, "%s/float.c", folder);
    snprintf(object, sizeof object, "%s/batch.so", folder);
    const char *const paths[] = {first, second};
    TRY(write_file(device, first, 0, error));
    if (!b->emulated)
        TRY(write_file(device, second, 1, error));
    TRY(run_compiler(b, paths, object, error));
    b->object = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    if (b->object == NULL) {
        status = weft_error_set(error, WEFT_ERROR_COMPILER, "%s", dlerror());
        goto done;
    }
    if (b->emulated) {
        void *found = dlsym(b->object, "emulate_call");
        memcpy(&b->emulate, &found, sizeof found);
    }
done:
    unlink(first);
    unlink(second);
    unlink(object);
    rmdir(folder);
    return status;
}

/* ---- launching ---- */

typedef void host_kernel(void *const *arguments, int64_t n_instances, int64_t first_block,
                         int64_t last_block);

static weft_status no_kernel(const char *name, weft_error *error) {
    return weft_error_set(error, WEFT_ERROR_DEVICE, "the batch has no kernel %s", name);
}

/* Ranges of one colour may run in any order. */
static weft_status launch_host(const batch *b, const weft_launch *launch, const char *name,
                               void **arguments, int64_t n_blocks, weft_error *error) {
    host_kernel *kernel = NULL;
    const weft_schedule *schedule = launch->schedule;
    void *found = dlsym(b->object, name);
    if (found == NULL)
        return no_kernel(name, error);
    memcpy(&kernel, &found, sizeof kernel);
    for (int colour = 0; schedule != NULL && colour < schedule->n_colours; ++colour) {
        const int64_t first = schedule->colour_start[colour];
        const int64_t last = schedule->colour_start[colour + 1];
        for (int64_t i = first; i < last; ++i) {
            const int64_t *range = schedule->ranges[b->backwards ? last - 1 - (i - first) : i];
            if (range[0] < range[1])
                kernel(arguments, launch->n_instances, range[0], range[1]);
        }
    }
    if (schedule == NULL && n_blocks > 0) {
        const int64_t half = b->backwards ? n_blocks / 2 : 0;
        kernel(arguments, launch->n_instances, half, n_blocks);
        if (half > 0)
            kernel(arguments, launch->n_instances, 0, half);
    }
    return WEFT_OK;
}

static weft_status launch_emulated(const batch *b, const weft_launch *launch, const char *name,
                                   void **arguments, weft_error *error) {
    const emulated_named *names = dlsym(b->object, "emulated_names");
    const int threads = launch->block_threads > 0 ? launch->block_threads : GPU_THREADS;
    const int64_t n_blocks =
        launch->n_blocks > 0 ? launch->n_blocks : (launch->n_instances + threads - 1) / threads;
    while (names->name != NULL && strcmp(names->name, name) != 0)
        ++names;
    if (names->name == NULL)
        return no_kernel(name, error);
    b->emulate(names->call, launch->n_instances, arguments, (unsigned)n_blocks, (unsigned)threads,
               (unsigned)launch->shared_bytes, b->backwards);
    return WEFT_OK;
}

static weft_status batch_launch(weft_device *device, const weft_launch *launch, int64_t n_blocks,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    const batch *b = batch_of(device);
    void *arguments[MOST_ARGUMENTS];
    char name[256];
    if (launch->n_arguments > MOST_ARGUMENTS)
        return weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "too many arguments");
    if (b->object == NULL)
        TRY(compile(device, error));
    for (int i = 0; i < launch->n_arguments; ++i)
        arguments[i] = launch->arguments[i]->host;
    snprintf(name, sizeof name, "m%d_%s", *(const int *)launch->module->state, launch->kernel);
    status = b->emulated ? launch_emulated(b, launch, name, arguments, error)
                         : launch_host(b, launch, name, arguments, n_blocks, error);
done:
    return status;
}

/* ---- opening ---- */

static void batch_close(weft_device *device) {
    batch *b = batch_of(device);
    b->host->close(device);
    free(b);
}

void device_batch_turn(weft_device *device, bool backwards) {
    if (device->table->launch == batch_launch)
        batch_of(device)->backwards = backwards;
}

bool device_batch_is(const char *name) {
    return strcmp(name, "batch") == 0 || strcmp(name, "optimised") == 0 ||
           strcmp(name, "emulated") == 0;
}

/* An H200's limits. */
static void set_gpu(weft_limits *limits) {
    limits->kind = WEFT_DEVICE_CUDA;
    snprintf(limits->name, sizeof limits->name, "emulated GPU");
    limits->lanes_double = limits->lanes_float = LANES_GPU;
    limits->multiprocessors = 132;
    limits->register_bytes = 65536 * 4;
    limits->onchip_bytes = 227 * 1024;
    limits->bandwidth = 4.3e12;
    limits->flops = 33.4e12;
    limits->launch_seconds = 3.1e-6;
}

weft_status device_batch_open(const char *name, weft_device **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const bool emulated = strcmp(name, "emulated") == 0;
    weft_device *device = NULL;
    static const char *const wanted[] = {"sh", "-c", "command -v g++ >/dev/null", NULL};
    if (emulated && run_program(wanted) != 0)
        return weft_error_set(error, WEFT_ERROR_COMPILER, "there is no g++ to emulate a GPU by");
    batch *b = calloc(1, sizeof *b);
    if (b == NULL)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
    TRY(weft_device_open("host:1", NULL, &device, error));
    b->host = device->table;
    b->table = *device->table;
    b->table.module_make = batch_module_make;
    b->table.module_free = batch_module_free;
    b->table.launch = batch_launch;
    b->table.close = batch_close;
    b->emulated = emulated;
    b->optimised = strcmp(name, "optimised") == 0;
    if (emulated)
        set_gpu(&device->limits);
    device->table = &b->table;
    *out = device;
    device = NULL;
    b = NULL;
done:
    free(b);
    weft_device_free(&device);
    return status;
}
