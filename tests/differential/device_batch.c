#include "device_batch.h"
#include "batch.h"
#include "core/device/device.h"
#include "core/weft_core.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARGUMENTS = 1024, GPU_THREADS = 128, LANES_GPU = 32 };

/* ---- collecting ---- */

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The name of the kernel that is defined here, or 0 characters. */
static size_t kernel_here(const batch *b, const char *at, const char **name) {
    static const char *const heads[] = {"KERNEL ", "FINISH ", "ROWS_KERNEL ",
                                        "MULTI_THREAD_KERNEL "};
    static const char block[] = "BLOCK_KERNEL(";
    size_t length = 0;
    *name = NULL;
    if (b->emulated) {
        for (size_t i = 0; i < sizeof heads / sizeof *heads; ++i)
            if (strncmp(at, heads[i], strlen(heads[i])) == 0)
                *name = at + strlen(heads[i]);
        if (strncmp(at, block, sizeof block - 1) == 0) /* and its threads: "128) " */
            *name = at + strcspn(at, ")") + 2;
    } else if (strncmp(at, "void ", 5) == 0)
        *name = at + 5;
    while (*name != NULL && is_word((*name)[length]))
        ++length;
    return length;
}

/* A line of a module, where the functions of native bodies get the module's number: the types of their arguments are common to
 * all modules, so that namespaces do not keep them apart. */
static void add_line(weft_text *out, int number, const char *line, size_t length) {
    static const char native[] = "native_";
    const char *end = line + length;
    while (line < end) {
        const char *found = strstr(line, native);
        const char *next = found != NULL && found < end ? found : end;
        weft_text_add_bytes(out, line, (size_t)(next - line));
        if (next < end)
            weft_text_add(out, "m%d_native_", number);
        line = next < end ? next + sizeof native - 1 : end;
    }
}

/* Kernels get the module's number before their name. Modules, and segments of flows, are inline
 * namespaces, so that their helpers do not meet and their kernels are found. */
static void add_text(batch *b, int number, bool single, const char *text, const weft_text *nested) {
    static const char segment[] = "namespace segment_";
    weft_text *out = &b->text[single];
    if (b->emulated)
        weft_text_add(out, "inline namespace module_%d {\n", number);
    while (*text != '\0') {
        if (nested->length > 0 && strncmp(text, nested->data, nested->length) == 0) {
            b->nested[single] = true;
            text += nested->length;
            continue;
        }
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
            add_line(out, number, text, line);
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
    weft_status status = WEFT_ERROR_INTERNAL;
    batch_module *made = malloc(sizeof *made);
    if (made == NULL)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "no memory for a module");
    *made = (batch_module){.number = b->object == NULL ? b->n_modules++ : -1};
    for (int single = 0; b->object == NULL && status != WEFT_OK && single < 2; ++single) {
        weft_text prelude = {0}, nested = {0};
        batch_prelude(module->device, single != 0, &prelude);
        batch_prelude_nested(module->device, &nested);
        if (strncmp(source, prelude.data, prelude.length) == 0) {
            add_text(b, made->number, single != 0, source + prelude.length, &nested);
            status = WEFT_OK;
        }
        weft_text_free(&prelude);
        weft_text_free(&nested);
    }
    if (status == WEFT_OK)
        ++b->n_alive;
    else if (b->emulated) {
        made->number = -1;
        status = batch_compile_own(b, source, &made->own, error);
    } else
        status = weft_error_set(error, status, "a source does not start with the prelude");
    if (status != WEFT_OK)
        free(made);
    else
        module->state = made;
    return status;
}

static void batch_module_free(weft_module *module) {
    batch *b = batch_of(module->device);
    batch_module *own = module->state;
    const bool alone = own->number < 0;
    free(own);
    if (alone || --b->n_alive > 0)
        return;
    if (b->object != NULL)
        dlclose(b->object);
    b->object = NULL;
    b->n_modules = 0;
    b->nested[0] = b->nested[1] = b->broken = false;
    weft_text_free(&b->text[0]);
    weft_text_free(&b->text[1]);
    weft_text_free(&b->names);
}

/* ---- launching ---- */

typedef void host_kernel(void *const *arguments, int64_t n_elements, int64_t first_block,
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
                kernel(arguments, launch->n_elements, range[0], range[1]);
        }
    }
    if (schedule == NULL && n_blocks > 0) {
        const int64_t half = b->backwards ? n_blocks / 2 : 0;
        kernel(arguments, launch->n_elements, half, n_blocks);
        if (half > 0)
            kernel(arguments, launch->n_elements, 0, half);
    }
    return WEFT_OK;
}

static weft_status launch_emulated(const batch *b, const weft_launch *launch, const char *name,
                                   void **arguments, weft_error *error) {
    const emulated_named *names = dlsym(b->object, "emulated_names");
    const int threads = launch->block_threads > 0 ? launch->block_threads : GPU_THREADS;
    const int64_t n_blocks =
        launch->n_blocks > 0 ? launch->n_blocks : (launch->n_elements + threads - 1) / threads;
    while (names->name != NULL && strcmp(names->name, name) != 0)
        ++names;
    if (names->name == NULL)
        return no_kernel(name, error);
    b->emulate(names->call, launch->n_elements, arguments, (unsigned)n_blocks, (unsigned)threads,
               (unsigned)launch->shared_bytes, b->backwards);
    return WEFT_OK;
}

static weft_status launch_own(const batch *b, const batch_own *own, const weft_launch *launch,
                              void **arguments, weft_error *error) {
    const int threads = launch->block_threads > 0 ? launch->block_threads : GPU_THREADS;
    const int64_t n_blocks =
        launch->n_blocks > 0 ? launch->n_blocks : (launch->n_elements + threads - 1) / threads;
    void *kernel = dlsym(own->object, launch->kernel);
    if (kernel == NULL)
        return no_kernel(launch->kernel, error);
    own->emulate(kernel, launch->n_elements, arguments, (unsigned)n_blocks, (unsigned)threads,
                 (unsigned)launch->shared_bytes, b->backwards);
    return WEFT_OK;
}

static weft_status batch_launch(weft_device *device, const weft_launch *launch, int64_t n_blocks,
                                weft_error *error) {
    weft_status status = WEFT_OK;
    batch *b = batch_of(device);
    void *arguments[MOST_ARGUMENTS];
    char name[256];
    if (launch->n_arguments > MOST_ARGUMENTS)
        return weft_error_set(error, WEFT_ERROR_UNSUPPORTED, "too many arguments");
    const batch_module *module = launch->module->state;
    for (int i = 0; i < launch->n_arguments; ++i)
        arguments[i] = launch->arguments[i]->host;
    if (module->own != NULL)
        return launch_own(b, module->own, launch, arguments, error);
    if (b->broken)
        TRY(weft_error_set(error, WEFT_ERROR_COMPILER, "the batch does not compile"));
    if (b->object == NULL) {
        b->broken = true;
        TRY(batch_compile(device, error));
        b->broken = false;
    }
    snprintf(name, sizeof name, "m%d_%s", module->number, launch->kernel);
    status = b->emulated ? launch_emulated(b, launch, name, arguments, error)
                         : launch_host(b, launch, name, arguments, n_blocks, error);
done:
    return status;
}

/* ---- opening ---- */

static void batch_close(weft_device *device) {
    batch *b = batch_of(device);
    for (int i = 0; i < b->n_own; ++i)
        dlclose(b->own[i].object);
    b->host->close(device);
    free(b);
}

void device_batch_iteration(weft_device *device, bool backwards) {
    if (device->table->launch == batch_launch)
        batch_of(device)->backwards = backwards;
}

bool device_batch_is(const char *name) {
    return strcmp(name, "batch") == 0 || strncmp(name, "optimised", 9) == 0 ||
           strcmp(name, "emulated") == 0;
}

/* An H200's limits. */
static void set_gpu(weft_limits *limits) {
    limits->kind = WEFT_DEVICE_CUDA;
    limits->execution = WEFT_EXECUTION_SIMT;
    limits->language = "cuda";
    snprintf(limits->name, sizeof limits->name, "emulated GPU");
    limits->lanes_double = limits->lanes_float = LANES_GPU;
    limits->multiprocessors = 132;
    limits->register_bytes = 65536 * 4;
    limits->onchip_bytes = 227 * 1024;
    limits->bandwidth = 4.3e12;
    limits->flops = 33.4e12;
    limits->launch_seconds = 3.1e-6;
    limits->target = (weft_target)WEFT_TARGET_WARPS_OF_32;
}

weft_status device_batch_open(const char *name, weft_device **out, weft_error *error) {
    weft_status status = WEFT_OK;
    const bool emulated = strcmp(name, "emulated") == 0;
    weft_device *device = NULL;
    static const char *const wanted[] = {"sh", "-c", "command -v g++ >/dev/null", NULL};
    if (emulated && batch_run_program(wanted) != 0)
        return weft_error_set(error, WEFT_ERROR_COMPILER, "there is no g++ to emulate a GPU by");
    batch *b = calloc(1, sizeof *b);
    if (b == NULL)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
    char host[32];
    b->set = strncmp(name, "optimised:", 10) == 0 ? name + 10 : getenv("WEFT_INSTRUCTIONS");
    snprintf(host, sizeof host, "host:1%s%s", b->set ? ":" : "", b->set ? b->set : "");
    TRY(weft_device_open(host, NULL, &device, error));
    b->host = device->table;
    b->table = *device->table;
    b->table.module_make = batch_module_make;
    b->table.module_free = batch_module_free;
    b->table.launch = batch_launch;
    b->table.close = batch_close;
    b->emulated = emulated;
    b->optimised = strncmp(name, "optimised", 9) == 0;
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
