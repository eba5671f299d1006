/* Opens the host device, determines its limits and runs launches on its threads. */
#include "core/device/device.h"
#include "core/base/file.h"
#include "core/base/number.h"
#include "core/host/module.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Minimum number of blocks per work item, and per launch (or colour) for using other threads:
 * below, waking them costs more than it saves. */
enum { BLOCKS_AN_ITEM = 128, BLOCKS_TO_CHUNK = 512, ITEMS_A_THREAD = 8, FEW_ARGUMENTS = 64 };

typedef struct host_state {
    weft_host_compile *compile;
} host_state;

static weft_status host_memory_make(weft_memory *memory, weft_error *error) {
    size_t most = memory->device->limits.memory_bytes;
    if (memory->bytes < most)
        memory->host = memory->unset ? weft_array_make_unset(memory->bytes)
                                     : weft_array_make(memory->bytes, 1);
    if (memory->host)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_MEMORY,
                   "out of memory: %.3g MB wanted, this machine has %.3g MB",
                   (double)memory->bytes * 1e-6, (double)most * 1e-6);
    weft_error_hint(error, "take a smaller mesh, or an assembly that stores less (matrix-free)");
    return WEFT_ERROR_MEMORY;
}

static weft_status host_memory_wrap(weft_memory *memory, void *array, weft_error *error) {
    (void)error;
    memory->host = array;
    return WEFT_OK;
}

static void host_memory_free(weft_memory *memory) {
    if (!memory->wrapped)
        free(memory->host);
}

static weft_status host_memory_write(weft_memory *memory, size_t offset, const void *bytes,
                                     size_t n, weft_error *error) {
    (void)error;
    memcpy((char *)memory->host + offset, bytes, n);
    return WEFT_OK;
}

static weft_status host_memory_read(const weft_memory *memory, size_t offset, void *bytes, size_t n,
                                    weft_error *error) {
    (void)error;
    memcpy(bytes, (const char *)memory->host + offset, n);
    return WEFT_OK;
}

static weft_status host_memory_zero(weft_memory *memory, weft_error *error) {
    (void)error;
    memset(memory->host, 0, memory->bytes);
    return WEFT_OK;
}

static weft_status host_memory_copy(weft_memory *to, size_t to_offset, const weft_memory *from,
                                    size_t from_offset, size_t n, weft_error *error) {
    (void)error;
    memmove((char *)to->host + to_offset, (const char *)from->host + from_offset, n);
    return WEFT_OK;
}

static weft_status host_module_make(weft_module *module, const char *source, weft_error *error) {
    const host_state *state = module->device->state;
    return weft_host_module_make(state->compile, module, source, error);
}

static weft_status host_module_store(weft_device *device, const char *name, const char *source,
                                     weft_error *error) {
    return weft_host_module_store(((const host_state *)device->state)->compile, name, source,
                                  error);
}

static bool host_module_stored(weft_device *device, const char *source) {
    return weft_host_module_stored(((const host_state *)device->state)->compile, source);
}

typedef struct host_run {
    weft_host_kernel kernel;
    void *const *arguments;
    int64_t n_elements;
    int64_t (*ranges)[2]; /* of one colour; NULL: blocks are split evenly */
    int64_t n_blocks, n_items;
} host_run;

static void run_range(void *user, int64_t i) {
    const host_run *run = user;
    if (run->ranges[i][0] < run->ranges[i][1])
        run->kernel(run->arguments, run->n_elements, run->ranges[i][0], run->ranges[i][1]);
}

static void run_item(void *user, int64_t i) {
    const host_run *run = user;
    int64_t chunk = run->n_blocks / run->n_items, rest = run->n_blocks % run->n_items;
    int64_t first = i * chunk + (i < rest ? i : rest);
    run->kernel(run->arguments, run->n_elements, first, first + chunk + (i < rest));
}

static void run_blocks(weft_threads *threads, host_run *run) {
    int64_t most = (int64_t)weft_threads_count(threads) * ITEMS_A_THREAD;
    run->n_items = run->n_blocks / BLOCKS_AN_ITEM;
    if (run->n_items > most)
        run->n_items = most;
    if (run->n_blocks < BLOCKS_TO_CHUNK || weft_threads_count(threads) == 1)
        run->n_items = 1;
    if (run->n_blocks > 0)
        weft_threads_run(threads, run->n_items, run_item, run);
}

static void run_colours(weft_threads *threads, host_run *run, const weft_schedule *schedule) {
    for (int colour = 0; colour < schedule->n_colours; ++colour) {
        int64_t first = schedule->colour_start[colour], last = schedule->colour_start[colour + 1];
        int64_t n_blocks = 0;
        run->ranges = schedule->ranges + first;
        for (int64_t i = 0; i < last - first; ++i)
            n_blocks += run->ranges[i][1] - run->ranges[i][0];
        weft_threads_run(n_blocks < BLOCKS_TO_CHUNK ? NULL : threads, last - first, run_range, run);
    }
}

static weft_status host_launch(weft_device *device, const weft_launch *launch, int64_t n_blocks,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    void *few[FEW_ARGUMENTS + 1];
    void **arguments = few;
    host_run run = {.n_elements = launch->n_elements, .n_blocks = n_blocks};
    if (launch->cooperative)
        TRY(weft_error_set(error, WEFT_ERROR_UNSUPPORTED,
                           "launch of %s: blocks on the host do not run all at once",
                           launch->kernel));
    run.kernel = weft_host_module_kernel(launch->module, launch->kernel);
    if (!run.kernel)
        TRY(weft_error_set(error, WEFT_ERROR_DEVICE, "module %s has no kernel %s",
                           launch->module->name, launch->kernel));
    if (launch->n_arguments > FEW_ARGUMENTS)
        arguments = malloc(((size_t)launch->n_arguments + 1) * sizeof *arguments);
    if (!arguments)
        TRY(weft_out_of_memory(error, "a launch"));
    for (int i = 0; i < launch->n_arguments; ++i)
        arguments[i] = launch->arguments[i]->host;
    arguments[launch->n_arguments] = (void *)(uintptr_t)launch->values;
    run.arguments = arguments;
    if (launch->schedule)
        run_colours(device->threads, &run, launch->schedule);
    else
        run_blocks(device->threads, &run);
done:
    if (arguments != few)
        free(arguments);
    return status;
}

static void host_close(weft_device *device) {
    host_state *state = device->state;
    if (state)
        weft_host_compile_free(&state->compile);
    free(state);
    device->state = NULL;
}

static void host_identify(const weft_device *device, weft_text *out) {
    weft_host_compile_identify(((const host_state *)device->state)->compile, out);
}

static const weft_device_table table = {
    .memory_make = host_memory_make,
    .memory_wrap = host_memory_wrap,
    .memory_borrow = host_memory_wrap,
    .memory_free = host_memory_free,
    .memory_write = host_memory_write,
    .memory_read = host_memory_read,
    .memory_zero = host_memory_zero,
    .memory_copy = host_memory_copy,
    .module_make = host_module_make,
    .module_store = host_module_store,
    .module_stored = host_module_stored,
    .module_free = weft_host_module_free,
    .launch = host_launch,
    .identify = host_identify,
    .close = host_close,
};

/* Clock rate in hertz as reported by the system; a nominal value if it does not. */
static double clock_rate(void) {
    double kilohertz = 0;
    char text[64] = "";
    if (weft_system_file_read("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", text,
                              sizeof text))
        kilohertz = weft_number_read(text, NULL);
    return kilohertz > 0 ? kilohertz * 1e3 : 2.5e9;
}

/* Bytes of the last cache level that the system reports; a small core's if it reports none. */
static size_t last_cache(void) {
    static const int levels[] = {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE,
                                 _SC_LEVEL2_CACHE_SIZE};
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; ++i) {
        long bytes = sysconf(levels[i]);
        if (bytes > 0)
            return (size_t)bytes;
    }
    return (size_t)1 << 20;
}

/* About 12 GB/s per core and at most about 200 per socket. */
static double bandwidth_of(int threads) {
    return 12e9 * threads < 200e9 ? 12e9 * threads : 200e9;
}

static double launch_seconds_of(int threads) {
    return threads > 1 ? 3e-6 : 1e-7;
}

weft_limits weft_limits_with_threads(const weft_limits *limits, int threads) {
    weft_limits out = *limits;
    if (limits->kind != WEFT_DEVICE_HOST)
        return out;
    out.threads = out.multiprocessors = threads;
    out.bandwidth = bandwidth_of(threads);
    out.flops = limits->flops / limits->threads * threads;
    out.launch_seconds = launch_seconds_of(threads);
    return out;
}

static void fill_limits(const weft_processor *processor, int threads, weft_limits *limits) {
    long level_one = sysconf(_SC_LEVEL1_DCACHE_SIZE);
    int lanes = processor->vector_bytes / (int)sizeof(double);
    *limits = (weft_limits){
        .kind = WEFT_DEVICE_HOST,
        .execution = WEFT_EXECUTION_SIMD,
        .language = "host",
        .lanes_double = lanes,
        .lanes_float = 2 * lanes,
        .threads = threads,
        .multiprocessors = threads,
        .register_bytes = (size_t)processor->vector_bytes * (size_t)processor->n_registers,
        .onchip_bytes = level_one > 0 ? (size_t)level_one : 32768,
        .l2_bytes = last_cache(),
        .memory_bytes = weft_memory_available(),
        .bandwidth = bandwidth_of(threads),
        .flops = 4.0 * lanes * clock_rate() * threads, /* two fused multiply-adds, one per port */
        .launch_seconds = launch_seconds_of(threads),
    };
    snprintf(limits->name, sizeof limits->name, "host: %s, %s, %d thread%s", processor->name,
             processor->vectors, threads, threads == 1 ? "" : "s");
}

static weft_status count_threads(const char *argument, size_t length, int *threads,
                                 weft_error *error) {
    char *end = NULL;
    errno = 0;
    long value = argument[0] >= '0' && argument[0] <= '9' ? strtol(argument, &end, 10) : 0;
    if (value < 1 || value > 1024 || errno != 0 || end != argument + length)
        return weft_error_set(error, WEFT_ERROR_USAGE,
                              "host:%s: the number of threads is a whole number from 1 to 1024",
                              argument);
    *threads = (int)value;
    return WEFT_OK;
}

/* Choose the instruction set: from the device's name, else the options, else the environment. */
static weft_status choose_processor(const char *named, const weft_device_options *options,
                                    weft_processor *processor, weft_error *error) {
    const char *environment = getenv("WEFT_INSTRUCTIONS"), *wanted = named;
    if (!wanted)
        wanted = options->instructions;
    if (!wanted && environment && environment[0])
        wanted = environment;
    weft_status status = weft_processor_read(wanted, processor, error);
    if (status == WEFT_ERROR_USAGE && wanted == environment)
        weft_error_hint(error, "the name is in the environment: change or unset WEFT_INSTRUCTIONS");
    return status;
}

/* Parse the part after "host:" (or NULL): THREADS, SET or THREADS:SET. Sets begin with a letter. */
static weft_status read_argument(const char *argument, const weft_device_options *options,
                                 int *threads, weft_processor *processor, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *colon = argument ? strchr(argument, ':') : NULL;
    const char *named = colon ? colon + 1 : NULL;
    *threads = weft_threads_available();
    if (argument && isalpha((unsigned char)argument[0]))
        named = argument;
    else if (argument)
        TRY(count_threads(argument, colon ? (size_t)(colon - argument) : strlen(argument), threads,
                          error));
    TRY(choose_processor(named, options, processor, error));
done:
    return status;
}

weft_status weft_device_host_open(weft_device *device, const char *argument,
                                  const weft_device_options *options, weft_error *error) {
    weft_status status = WEFT_OK;
    int threads = 1;
    host_state *state = NULL;
    weft_processor processor;
    TRY(read_argument(argument, options, &threads, &processor, error));
    state = calloc(1, sizeof *state);
    if (!state)
        TRY(weft_out_of_memory(error, "a device"));
    TRY(weft_host_compile_make(options, &processor, &state->compile, error));
    if (threads > 1)
        TRY(weft_threads_make(threads, &device->threads, error));
    fill_limits(&processor, threads, &device->limits);
    device->table = &table;
    device->state = state;
    state = NULL;
done:
    if (state)
        weft_host_compile_free(&state->compile);
    free(state);
    return status;
}
