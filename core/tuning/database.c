/* Opens the tuning database: checks path, owner and integrity of its file, and falls back to
 * memory. Links are refused on the whole path. */
#include "core/tuning/database.h"
#include "core/base/options.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUSY_MILLISECONDS = 20000 };

/* A process that creates or replaces the database holds the cache's lock for this key. */
static const char lock_key[33] = "77656674747567696e67646174616261";

/* ---- in memory ---- */

static weft_status open_memory(weft_tuning *tuning, weft_error *error) {
    weft_status status = WEFT_OK;
    tuning->path[0] = '\0';
    int code = sqlite3_open_v2(":memory:", &tuning->database,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX, NULL);
    if (code != SQLITE_OK) {
        status = weft_tuning_failed(tuning, code, "make", error);
        sqlite3_close(tuning->database);
        tuning->database = NULL;
        return status;
    }
    return weft_tuning_tables_make(tuning, error);
}

weft_status weft_tuning_copy_to_memory(weft_tuning *tuning, weft_error *error) {
    weft_status status = WEFT_OK;
    sqlite3 *file = tuning->database;
    tuning->database = NULL;
    TRY(open_memory(tuning, error));
    sqlite3_backup *backup = sqlite3_backup_init(tuning->database, "main", file, "main");
    int code = SQLITE_NOMEM;
    if (backup) {
        (void)sqlite3_backup_step(backup, -1);
        code = sqlite3_backup_finish(backup);
    }
    if ((code & 0xff) == SQLITE_NOMEM)
        status = weft_tuning_failed(tuning, code, "copy", error);
    else if (code != SQLITE_OK)
        weft_cache_warn(&tuning->cache, "%s", sqlite3_errstr(code));
done:
    sqlite3_close(file);
    return status;
}

/* ---- ownership and integrity ---- */

/* Resolve the directory's path to one without links, since SQLite opens the file by path. */
static bool find_path(weft_tuning *tuning, char *reason, size_t size) {
    char link[64], folder[PATH_MAX];
    struct stat opened, named;
    snprintf(link, sizeof link, "/proc/self/fd/%d", tuning->cache.folder);
    ssize_t length = readlink(link, folder, sizeof folder - 1);
    if (length > 0)
        folder[length] = '\0';
    else if (!realpath(tuning->cache.path, folder)) {
        snprintf(reason, size, "cannot find %s: %s", tuning->cache.path, strerror(errno));
        return false;
    }
    if (fstat(tuning->cache.folder, &opened) != 0 || stat(folder, &named) != 0 ||
        opened.st_dev != named.st_dev || opened.st_ino != named.st_ino ||
        (size_t)snprintf(tuning->path, sizeof tuning->path, "%s/" TUNING_FILE, folder) >=
            sizeof tuning->path) {
        snprintf(reason, size, "%s is not where it was", tuning->cache.path);
        return false;
    }
    return true;
}

/* Check the file without opening it: closing it would release SQLite's locks in this process. */
static bool check_file(weft_tuning *tuning, bool *missing, char *reason, size_t size) {
    struct stat info;
    *missing = false;
    if (fstatat(tuning->cache.folder, TUNING_FILE, &info, AT_SYMLINK_NOFOLLOW) != 0) {
        *missing = errno == ENOENT;
        snprintf(reason, size, "cannot look at %s: %s", tuning->path, strerror(errno));
        return false;
    }
    const char *wrong = S_ISLNK(info.st_mode)                ? "is a symbolic link"
                        : !S_ISREG(info.st_mode)             ? "is not a plain file"
                        : info.st_uid != geteuid()           ? "belongs to another user"
                        : info.st_mode & (S_IWGRP | S_IWOTH) ? "may be written by others"
                                                             : NULL;
    if (wrong)
        snprintf(reason, size, "%s %s", tuning->path, wrong);
    return !wrong;
}

/* Query a pragma: a number (-1: no answer), or a text. */
static int ask(weft_tuning *tuning, const char *sql, int64_t *number, char text[200]) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(tuning->database, sql, -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        const char *answer = (const char *)sqlite3_column_text(statement, 0);
        *number = sqlite3_column_int64(statement, 0);
        if (text)
            snprintf(text, 200, "%s", answer ? answer : "");
        code = SQLITE_OK;
    }
    sqlite3_finalize(statement);
    return code;
}

typedef enum verdict { SOUND, EMPTY, UNSOUND, UNUSABLE, NO_MEMORY } verdict;

static verdict judge_code(weft_tuning *tuning, int code, char *reason, size_t size) {
    snprintf(reason, size, "%s", sqlite3_errmsg(tuning->database));
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return NO_MEMORY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR: /* the SQL needs another file format */
        return UNSOUND;
    default:
        return UNUSABLE;
    }
}

/* Detect a truncated file: SQLite would read zeros for the missing end of the last page. */
static verdict judge_length(weft_tuning *tuning, char *reason, size_t size, int *code) {
    struct stat info;
    int64_t pages = 0, page = 0;
    *code = ask(tuning, "PRAGMA page_size", &page, NULL);
    if (*code == SQLITE_OK)
        *code = ask(tuning, "PRAGMA page_count", &pages, NULL);
    if (*code != SQLITE_OK)
        return UNUSABLE;
    if (fstatat(tuning->cache.folder, TUNING_FILE, &info, AT_SYMLINK_NOFOLLOW) != 0)
        info.st_size = 0;
    if (pages == 0 && info.st_size == 0)
        return EMPTY;
    if (pages > 0 && info.st_size >= pages * page)
        return SOUND;
    snprintf(reason, size, "it is cut off");
    return UNSOUND;
}

static verdict judge(weft_tuning *tuning, char *reason, size_t size) {
    int64_t application = 0, version = 0, ignored = 0;
    char answer[200] = "";
    int code = SQLITE_OK;
    verdict length = judge_length(tuning, reason, size, &code);
    if (code == SQLITE_OK && length != SOUND)
        return length;
    if (code == SQLITE_OK)
        code = ask(tuning, "PRAGMA application_id", &application, NULL);
    if (code == SQLITE_OK)
        code = ask(tuning, "PRAGMA user_version", &version, NULL);
    if (code == SQLITE_OK)
        code = ask(tuning, "PRAGMA quick_check(1)", &ignored, answer);
    if (code != SQLITE_OK)
        return judge_code(tuning, code, reason, size);
    if (application != TUNING_APPLICATION)
        snprintf(reason, size, "it is another program's database");
    else if (version != WEFT_TUNING_FORMAT)
        snprintf(reason, size, "it has format %lld, not %d", (long long)version,
                 WEFT_TUNING_FORMAT);
    else if (strcmp(answer, "ok") != 0)
        snprintf(reason, size, "%s", answer);
    else
        return SOUND;
    return UNSOUND;
}

/* ---- opening the file ---- */

/* Empty the database in place, under SQLite's locks: if the file were replaced, another process's
 * journal could be applied to the wrong file. */
static int empty(sqlite3 *database) {
    int ignored = 0;
    int code = sqlite3_db_config(database, SQLITE_DBCONFIG_RESET_DATABASE, 1, &ignored);
    if (code == SQLITE_OK)
        code = sqlite3_exec(database, "VACUUM", NULL, NULL, NULL);
    (void)sqlite3_db_config(database, SQLITE_DBCONFIG_RESET_DATABASE, 0, &ignored);
    return code;
}

static int open_path(weft_tuning *tuning, bool writable) {
    sqlite3_close(tuning->database);
    tuning->database = NULL;
    int code = sqlite3_open_v2(tuning->path, &tuning->database,
                               (writable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) |
                                   SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_FULLMUTEX,
                               NULL);
    if (code == SQLITE_OK)
        (void)sqlite3_busy_timeout(tuning->database, BUSY_MILLISECONDS);
    return code;
}

/* Create or replace the database in one process; others wait and then find it valid. */
static weft_status make_sound(weft_tuning *tuning, verdict *found, char *reason, size_t size,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cache_lock lock = weft_cache_lock_take(&tuning->cache, lock_key);
    *found = judge(tuning, reason, size);
    if (*found == UNSOUND) {
        weft_log(tuning->monitor, WEFT_LOG_WARNING,
                 "the tuning database %s is not used: %s; it is made again", tuning->path, reason);
        int code = empty(tuning->database);
        if (code == SQLITE_OK)
            code = open_path(tuning, true);
        *found = code == SQLITE_OK ? EMPTY : UNUSABLE;
        if (code != SQLITE_OK)
            snprintf(reason, size, "%s cannot be made again: %s", tuning->path,
                     sqlite3_errstr(code));
    }
    if (*found == EMPTY) {
        weft_error why;
        status = weft_tuning_tables_make(tuning, &why);
        *found = status == WEFT_OK ? SOUND : UNUSABLE;
        if (status == WEFT_ERROR_IO) {
            snprintf(reason, size, "%s", why.message);
            status = WEFT_OK;
        } else if (status != WEFT_OK && error) {
            *error = why;
        }
    }
    weft_cache_lock_give(&lock);
    return status;
}

/* Open the file, or a copy of it in memory. If neither is possible, *used is false and `reason`
 * says why. */
static weft_status open_file(weft_tuning *tuning, bool *used, char *reason, size_t size,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_cache *cache = &tuning->cache;
    bool missing = false;
    *used = false;
    if (!find_path(tuning, reason, size))
        goto done;
    bool writable = cache->writable && faccessat(cache->folder, ".", W_OK, AT_EACCESS) == 0;
    if (!check_file(tuning, &missing, reason, size)) {
        if (!missing)
            goto done;
        int number = 0;
        if (writable && mknodat(cache->folder, TUNING_FILE, S_IFREG | 0600, 0) != 0)
            number = errno == EEXIST ? 0 : errno;
        if (!writable || number != 0) {
            snprintf(reason, size, "cannot write in %s%s%s", cache->path, number ? ": " : "",
                     number ? strerror(number) : "");
            goto done;
        }
    }
    writable = writable && faccessat(cache->folder, TUNING_FILE, W_OK, AT_EACCESS) == 0;
    int code = open_path(tuning, writable);
    verdict found =
        code == SQLITE_OK ? judge(tuning, reason, size) : judge_code(tuning, code, reason, size);
    if (writable && (found == EMPTY || found == UNSOUND))
        TRY(make_sound(tuning, &found, reason, size, error));
    if (found == NO_MEMORY)
        TRY(weft_tuning_failed(tuning, SQLITE_NOMEM, "open", error));
    *used = found == SOUND;
    if (*used && !writable) {
        if (cache->writable)
            weft_cache_warn(cache, "cannot write in %s", cache->path);
        TRY(weft_tuning_copy_to_memory(tuning, error));
    }
done:
    return status;
}

weft_status weft_tuning_open(const weft_device_options *options, weft_tuning **out,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_device_options usual;
    char reason[PATH_MAX + 200] = "";
    bool used = false;
    weft_tuning *tuning = NULL;
    if (!options) {
        usual = weft_device_options_default(NULL);
        options = &usual;
    }
    TRY(weft_options_check("weft_device_options", options->size, sizeof *options, error));
    tuning = calloc(1, sizeof *tuning);
    if (!tuning)
        TRY(weft_out_of_memory(error, "the tuning database"));
    pthread_mutex_init(&tuning->mutex, NULL);
    tuning->monitor = options->monitor;
    weft_cache_open_for(&tuning->cache, "tuning database",
                        "measurements are forgotten after this run", options->cache,
                        options->cache_directory,
                        options->cache == WEFT_CACHE_ON ? options->monitor : NULL);
    if (tuning->cache.folder >= 0)
        TRY(open_file(tuning, &used, reason, sizeof reason, error));
    if (!used) {
        if (tuning->cache.folder >= 0 && (reason[0] && options->cache == WEFT_CACHE_ON))
            weft_cache_warn(&tuning->cache, "%s", reason);
        sqlite3_close(tuning->database);
        tuning->database = NULL;
        TRY(open_memory(tuning, error));
    }
    *out = tuning;
    tuning = NULL;
done:
    weft_tuning_close(&tuning);
    return status;
}

void weft_tuning_close(weft_tuning **tuning) {
    if (!tuning || !*tuning)
        return;
    sqlite3_close((*tuning)->database);
    weft_cache_close(&(*tuning)->cache);
    pthread_mutex_destroy(&(*tuning)->mutex);
    free(*tuning);
    *tuning = NULL;
}

const char *weft_tuning_path(const weft_tuning *tuning) {
    return tuning->path;
}
