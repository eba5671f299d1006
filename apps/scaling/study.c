/* Reads and extends the file that holds the runs of a study. */
#include "apps/scaling/scaling.h"
#include "core/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FORMAT = 1 };

static weft_status fail_file(const scaling_study *study, const char *what, weft_error *error) {
    const int cause = errno;
    weft_error_set(error, WEFT_ERROR_IO, "cannot %s this file: %s", what, strerror(cause));
    weft_error_location(error, study->path, NULL, 0, 0);
    return WEFT_ERROR_IO;
}

/* Make the directory if it is missing; refuse one with other files and no study. */
static weft_status enter_folder(const char *folder, weft_error *error) {
    weft_status status = scaling_folder_make(folder, error);
    if (status != WEFT_OK)
        return status;
    DIR *entries = opendir(folder);
    if (!entries) {
        weft_error_set(error, WEFT_ERROR_IO, "cannot open this folder: %s", strerror(errno));
        weft_error_location(error, folder, NULL, 0, 0);
        return WEFT_ERROR_IO;
    }
    bool other = false, study = false;
    for (const struct dirent *entry; (entry = readdir(entries));) {
        study = study || strcmp(entry->d_name, "study.jsonl") == 0;
        other = other || entry->d_name[0] != '.';
    }
    closedir(entries);
    if (study || !other)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_USAGE, "this folder is not empty and holds no study");
    weft_error_location(error, folder, NULL, 0, 0);
    weft_error_hint(error, "name a new folder by --out");
    return WEFT_ERROR_USAGE;
}

static weft_status open_locked(scaling_study *study, weft_error *error) {
    study->file = open(study->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (study->file < 0)
        return fail_file(study, "open", error);
    if (flock(study->file, LOCK_EX | LOCK_NB) == 0)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_USAGE, "another process is working on this study");
    weft_error_location(error, study->path, NULL, 0, 0);
    weft_error_hint(error, "wait until it is done, or give another folder by --out");
    return WEFT_ERROR_USAGE;
}

/* Append one line in a single write and flush it to disk. */
static weft_status write_line(const scaling_study *study, const json_t *value, weft_error *error) {
    weft_status status = WEFT_OK;
    char *text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(17));
    char *line = NULL;
    if (!text || asprintf(&line, "%s\n", text) < 0) {
        line = NULL;
        TRY(weft_out_of_memory(error, NULL));
    }
    if (weft_write_all(study->file, line, strlen(line)) != WEFT_OK)
        TRY(fail_file(study, "write", error));
    if (fsync(study->file) != 0 && errno != EINVAL && errno != EROFS)
        TRY(fail_file(study, "write", error));
done:
    free(line);
    free(text);
    return status;
}

static weft_status refuse_line(const scaling_study *study, int line, const char *why,
                               weft_error *error) {
    weft_error_set(error, WEFT_ERROR_INPUT, "%s", why);
    weft_error_location(error, study->path, NULL, line, 1);
    if (line > 1)
        weft_error_hint(error, "remove this line: its run is then repeated");
    else
        weft_error_hint(error, "this is not the file of a study; give another folder by --out");
    return WEFT_ERROR_INPUT;
}

static weft_status read_configuration(scaling_study *study, const json_t *line, weft_error *error) {
    const json_t *before = json_object_get(line, "question");
    if (!before || !json_is_integer(json_object_get(line, "weft_scaling")))
        return refuse_line(study, 1, "this is not a study of Weft", error);
    if (json_integer_value(json_object_get(line, "weft_scaling")) != FORMAT)
        return refuse_line(study, 1, "this study has the format of another version", error);
    return scaling_configuration_compare(study->path, before, study->configuration, error);
}

static void place_record(scaling_study *study, int index, int round, json_t *record) {
    json_t **place = &study->records[index * study->rounds + round];
    if (json_object_get(record, "error"))
        return;
    json_decref(*place);
    *place = json_incref(record);
}

static weft_status read_record(scaling_study *study, const scaling_cases *cases, json_t *line,
                               int number, weft_error *error) {
    const char *name = json_string_value(json_object_get(line, "case"));
    const json_t *round = json_object_get(line, "round");
    if (!name || !json_is_integer(round) || json_integer_value(round) < 0 ||
        json_integer_value(round) >= study->rounds ||
        (!json_is_object(json_object_get(line, "result")) && !json_object_get(line, "error")))
        return refuse_line(study, number, "this line is not the record of a run", error);
    for (int i = 0; i < study->n_cases; ++i)
        if (strcmp(cases->cases[i].name, name) == 0) {
            place_record(study, i, (int)json_integer_value(round), line);
            return WEFT_OK;
        }
    return refuse_line(study, number, "this line is of a case that the study does not have", error);
}

/* Use everything up to the last newline; the rest was being written when the study ended. */
static weft_status read_lines(scaling_study *study, const scaling_cases *cases, weft_error *error) {
    weft_status status = WEFT_OK;
    char *text = NULL;
    size_t length = 0, at = 0;
    json_t *line = NULL;
    int number = 0;
    TRY(weft_file_read_as(study->path, WEFT_FILE_STUDY, &text, &length, error));
    while (at < length) {
        const char *end = memchr(text + at, '\n', length - at);
        if (!end)
            break;
        line = json_loadb(text + at, (size_t)(end - text) - at, 0, NULL);
        if (!line)
            TRY(refuse_line(study, number + 1, "this line is not JSON", error));
        if (++number == 1)
            TRY(read_configuration(study, line, error));
        else
            TRY(read_record(study, cases, line, number, error));
        json_decref(line);
        line = NULL;
        at = (size_t)(end - text) + 1;
    }
    if (at < length && ftruncate(study->file, (off_t)at) != 0)
        TRY(fail_file(study, "shorten", error));
    if (number == 0) {
        line = json_pack("{s:i,s:O}", "weft_scaling", FORMAT, "question", study->configuration);
        if (!line)
            TRY(weft_out_of_memory(error, NULL));
        TRY(write_line(study, line, error));
    }
done:
    json_decref(line);
    free(text);
    return status;
}

weft_status scaling_study_open(const char *folder, json_t *configuration,
                               const scaling_cases *cases, int rounds, scaling_study *out,
                               weft_error *error) {
    weft_status status = WEFT_OK;
    *out = (scaling_study){
        .file = -1, .configuration = configuration, .n_cases = cases->n_cases, .rounds = rounds};
    out->records = calloc((size_t)cases->n_cases * (size_t)rounds, sizeof(json_t *));
    if (asprintf(&out->path, "%s/study.jsonl", folder) < 0)
        out->path = NULL;
    if (!configuration || !out->records || !out->path)
        TRY(weft_out_of_memory(error, NULL));
    TRY(enter_folder(folder, error));
    TRY(open_locked(out, error));
    TRY(read_lines(out, cases, error));
done:
    if (status != WEFT_OK)
        scaling_study_close(out);
    return status;
}

weft_status scaling_study_add(scaling_study *study, int index, int round, json_t *record,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    if (!record)
        TRY(weft_out_of_memory(error, NULL));
    TRY(write_line(study, record, error));
    place_record(study, index, round, record);
done:
    json_decref(record);
    return status;
}

json_t *scaling_study_at(const scaling_study *study, int index, int round) {
    return study->records[index * study->rounds + round];
}

void scaling_study_close(scaling_study *study) {
    for (int i = 0; study->records && i < study->n_cases * study->rounds; ++i)
        json_decref(study->records[i]);
    free(study->records);
    json_decref(study->configuration);
    if (study->file >= 0)
        close(study->file);
    free(study->path);
    *study = (scaling_study){.file = -1};
}
