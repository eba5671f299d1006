#include "fem/io/stream.h"
#include "apps/gmsh/weft_gmsh.h"
#include "core/base/file.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A record is written whole: the watcher of limits.c writes beside the main thread. */
static pthread_mutex_t whole = PTHREAD_MUTEX_INITIALIZER;

static void write_all(stream *out, const void *bytes, uint64_t length) {
    if (!out->broken)
        out->broken = weft_write_all(out->file, bytes, (size_t)length) != WEFT_OK;
}

void stream_start(stream *out) {
    weft_stream_start start = {.version = WEFT_STREAM_VERSION,
                               .byte_order = WEFT_STREAM_BYTE_ORDER};
    memcpy(start.magic, WEFT_STREAM_MAGIC, sizeof start.magic);
    write_all(out, &start, sizeof start);
}

void stream_record(stream *out, uint32_t kind, const void *bytes, uint64_t length) {
    weft_stream_record record = {kind, 0, length};
    pthread_mutex_lock(&whole);
    write_all(out, &record, sizeof record);
    write_all(out, bytes, length);
    pthread_mutex_unlock(&whole);
}

static void copy_cut(char *out, size_t size, const char *text) {
    size_t length = strlen(text);
    memcpy(out, text, length < size ? length : size - 1);
}

static void send_progress(stream *out, const char *phase, double done, double total) {
    weft_stream_progress record = {.done = done, .total = total};
    copy_cut(record.phase, sizeof record.phase, phase);
    stream_record(out, WEFT_STREAM_PROGRESS, &record, sizeof record);
}

void stream_progress(stream *out, const char *phase, double done, double total) {
    pthread_mutex_lock(&whole);
    snprintf(out->phase, sizeof out->phase, "%s", phase);
    out->done = done;
    out->total = total;
    pthread_mutex_unlock(&whole);
    send_progress(out, phase, done, total);
}

void stream_tick(stream *out, double seconds) {
    char phase[64];
    pthread_mutex_lock(&whole);
    double done = out->done, total = out->total;
    snprintf(phase, sizeof phase, "%s, %.0f s", out->phase, seconds);
    pthread_mutex_unlock(&whole);
    if (phase[0] != ',')
        send_progress(out, phase, done, total);
}

void stream_log(stream *out, weft_log_level level, const char *message) {
    weft_stream_log record = {.level = (int32_t)level};
    copy_cut(record.message, sizeof record.message, message);
    stream_record(out, WEFT_STREAM_LOG, &record, sizeof record);
}

void stream_error(stream *out, const weft_error *error) {
    weft_stream_error record = {.status = (int32_t)error->status, .line = error->line};
    copy_cut(record.message, sizeof record.message, error->message);
    copy_cut(record.file, sizeof record.file, error->file);
    copy_cut(record.source_line, sizeof record.source_line, error->source_line);
    copy_cut(record.hint, sizeof record.hint, error->hint);
    stream_record(out, WEFT_STREAM_ERROR, &record, sizeof record);
}
