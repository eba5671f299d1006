#include "../../fem/mesh_stream.h"
#include "weft_gmsh.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void write_all(stream *out, const void *bytes, uint64_t length) {
    const char *from = bytes;
    while (length > 0 && !out->broken) {
        ssize_t n = write(out->file, from, length < (1u << 30) ? (size_t)length : (1u << 30));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            out->broken = true;
            return;
        }
        from += n;
        length -= (uint64_t)n;
    }
}

void stream_start(stream *out) {
    weft_stream_start start = {.version = WEFT_STREAM_VERSION,
                               .byte_order = WEFT_STREAM_BYTE_ORDER};
    memcpy(start.magic, WEFT_STREAM_MAGIC, sizeof start.magic);
    write_all(out, &start, sizeof start);
}

void stream_record(stream *out, uint32_t kind, const void *bytes, uint64_t length) {
    weft_stream_record record = {kind, 0, length};
    write_all(out, &record, sizeof record);
    write_all(out, bytes, length);
}

static void copy_cut(char *out, size_t size, const char *text) {
    size_t length = strlen(text);
    memcpy(out, text, length < size ? length : size - 1);
}

void stream_progress(stream *out, const char *phase, double done, double total) {
    weft_stream_progress record = {.done = done, .total = total};
    copy_cut(record.phase, sizeof record.phase, phase);
    stream_record(out, WEFT_STREAM_PROGRESS, &record, sizeof record);
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
