/** The table that a kind of device fills, and the objects of devices. */
#pragma once

#include "core/base/threads.h"

#include <stdatomic.h>

/* What a device that captures graphs does; core/device/graph.c has looked whether one is being
 * made. */
typedef struct weft_device_graph_table {
    bool (*available)(weft_device *device); /* logs once why not */
    weft_status (*begin)(weft_device *device, weft_error *error);
    weft_status (*loop)(weft_device *device, weft_memory *flag, weft_error *error);
    weft_status (*end_loop)(weft_device *device, weft_error *error);
    /* ends it in any case; state is the device graph's, untouched where it answers an error */
    weft_status (*end)(weft_device *device, void **state, weft_error *error);
    weft_status (*run)(weft_device *device, void *state, weft_error *error);
    void (*free)(weft_device *device, void *state);
} weft_device_graph_table;

/* Marks in the stream of work. */
typedef struct weft_timer_table {
    weft_status (*make)(weft_device *device, void **state, weft_error *error);
    void (*free)(weft_device *device, void *state);
    weft_status (*mark)(weft_device *device, void *state, int which, weft_error *error); /* 0, 1 */
    weft_status (*seconds)(weft_device *device, void *state, double *out, weft_error *error);
} weft_timer_table;

/* What a kind of device does. core/device/device.c checks arguments and counts; these do the work.
 * NULL members of write, read and zero: the memory holds nothing; of those marked: there is nothing
 * to do or to tell. */
typedef struct weft_device_table {
    weft_status (*memory_make)(weft_memory *memory, weft_error *error);
    weft_status (*memory_wrap)(weft_memory *memory, void *array, weft_error *error);
    void (*memory_free)(weft_memory *memory);
    weft_status (*memory_write)(weft_memory *memory, size_t offset, const void *bytes, size_t n,
                                weft_error *error);
    weft_status (*memory_read)(const weft_memory *memory, size_t offset, void *bytes, size_t n,
                               weft_error *error);
    weft_status (*memory_zero)(weft_memory *memory, weft_error *error);
    weft_status (*memory_copy)(weft_memory *to, const weft_memory *from, size_t bytes,
                               weft_error *error);
    /* what can still be made; NULL: all but what was made */
    size_t (*memory_left)(const weft_device *device);
    /* say that there is no room for so many bytes, and for what there was; may be NULL */
    weft_status (*memory_full)(weft_device *device, size_t bytes, weft_error *error);
    weft_status (*module_make)(weft_module *module, const char *source, weft_error *error);
    void (*module_free)(weft_module *module);
    bool (*module_resources)(const weft_module *module, const char *kernel,
                             weft_kernel_resources *out); /* may be NULL */
    /* make them known where that takes work; NULL: there is none */
    weft_status (*module_measure)(weft_module *module, weft_error *error);
    weft_status (*launch)(weft_device *device, const weft_launch *launch, int64_t n_blocks,
                          weft_error *error);
    int (*resident_blocks)(const weft_device *device, const weft_module *module, const char *kernel,
                           int block_threads, int shared_bytes); /* may be NULL */
    weft_status (*wait)(weft_device *device, weft_error *error); /* may be NULL */
    /* add what times depend on beside the device's name; may be NULL */
    void (*identify)(const weft_device *device, weft_text *out);
    const weft_device_graph_table *graph; /* NULL: it does not record */
    const weft_timer_table *timer;        /* NULL: the host's clock */
    void (*close)(weft_device *device);
} weft_device_table;

struct weft_device {
    const weft_device_table *table;
    weft_limits limits;
    const weft_monitor *monitor;
    weft_threads *threads; /* NULL: none but the caller's */
    void *state;           /* the kind's own */
    atomic_bool graph;     /* from weft_device_graph_begin to its end */
    atomic_llong launches;
    atomic_size_t bytes, bytes_peak;
};

struct weft_memory {
    weft_device *device;
    size_t bytes;
    void *host;   /* NULL where the host cannot use it */
    bool wrapped; /* the caller's */
    bool unset;   /* its bytes need not be zero */
    void *state;
};

struct weft_module {
    weft_device *device;
    char *name;
    bool cached;
    double seconds;
    void *state;
};

/** Refuse what cannot be captured while a device graph is made: "reading an array". */
weft_status weft_device_graph_refuses(const weft_device *device, const char *what,
                                      weft_error *error);
