/* Reads and writes rows of the tuning database. Each row holds a hash of itself, because SQLite
 * detects a damaged file structure but not a changed number. */
#include "core/tuning/database.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

const tuning_table weft_tuning_tables[TUNING_TABLES] = {
    {"devices", "device,description", "tt", "device"},
    {"times", "device,routine,instances,threads,iterations,extra,seconds,made", "ttiiiidi",
     "device,routine,instances,threads,iterations,extra"},
    {"numbers", "device,name,value,made", "ttdi", "device,name"},
    {"kernels", "device,kernel,instances,name,predicted,measured,made", "ttitddi",
     "device,kernel,instances"},
    {"winners", "device,script,size_class,cover,predicted,seconds,made", "ttitddi",
     "device,script,size_class"},
};

weft_status weft_tuning_failed(weft_tuning *tuning, int code, const char *what, weft_error *error) {
    if ((code & 0xff) == SQLITE_NOMEM)
        return weft_out_of_memory(error, "the tuning database");
    weft_error_set(error, WEFT_ERROR_IO, "cannot %s the tuning database%s%s: %s", what,
                   tuning->path[0] ? " " : "", tuning->path,
                   tuning->database ? sqlite3_errmsg(tuning->database) : sqlite3_errstr(code));
    if ((code & 0xff) == SQLITE_FULL)
        weft_error_hint(error,
                        "make room on its disk, or set XDG_CACHE_HOME to a folder with room; "
                        "with WEFT_CACHE=read nothing is kept");
    else
        weft_error_hint(error, "weft tuning verify looks at it, weft tuning clear makes it again");
    return WEFT_ERROR_IO;
}

weft_status weft_tuning_execute(weft_tuning *tuning, const char *sql, const char *what,
                                weft_error *error) {
    int code = sqlite3_exec(tuning->database, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? WEFT_OK : weft_tuning_failed(tuning, code, what, error);
}

/* Run "CREATE TABLE IF NOT EXISTS ..." for every table, in one transaction. */
weft_status weft_tuning_tables_make(weft_tuning *tuning, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text sql = {0};
    weft_text_add(&sql, "BEGIN IMMEDIATE;");
    for (int t = 0; t < TUNING_TABLES; ++t) {
        const tuning_table *table = &weft_tuning_tables[t];
        weft_text_add(&sql, "CREATE TABLE IF NOT EXISTS %s(%s,sum,PRIMARY KEY(%s))WITHOUT ROWID;",
                      table->name, table->columns, table->key);
    }
    weft_text_add(&sql, "PRAGMA application_id=%d;PRAGMA user_version=%d;COMMIT;",
                  TUNING_APPLICATION, WEFT_TUNING_FORMAT);
    status = sql.failed ? weft_out_of_memory(error, "the tuning database")
                        : weft_tuning_execute(tuning, sql.data, "make", error);
    if (status != WEFT_OK)
        (void)sqlite3_exec(tuning->database, "ROLLBACK", NULL, NULL, NULL);
    weft_text_free(&sql);
    return status;
}

static void sum_of(const char *types, const tuning_value *row, char out[33]) {
    char each[TUNING_COLUMNS_MAX][33];
    for (int i = 0; types[i]; ++i)
        if (types[i] == 't')
            weft_hash(row[i].text, strlen(row[i].text), each[i]);
        else
            weft_hash(&row[i], 8, each[i]);
    weft_hash(each, strlen(types) * sizeof each[0], out);
    out[16] = '\0';
}

static int bind(sqlite3_stmt *statement, int at, char type, const tuning_value *value) {
    return type == 't'   ? sqlite3_bind_text(statement, at, value->text, -1, SQLITE_STATIC)
           : type == 'i' ? sqlite3_bind_int64(statement, at, value->number)
                         : sqlite3_bind_double(statement, at, value->real);
}

static int put_row(sqlite3_stmt *statement, const char *types, const tuning_value *row) {
    char sum[33];
    int code = SQLITE_OK, n = (int)strlen(types);
    sum_of(types, row, sum);
    for (int i = 0; i < n && code == SQLITE_OK; ++i)
        code = bind(statement, i + 1, types[i], &row[i]);
    if (code == SQLITE_OK)
        code = sqlite3_bind_text(statement, n + 1, sum, -1, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code != SQLITE_DONE)
        return code;
    return sqlite3_reset(statement);
}

/* With the mutex held. */
static weft_status put_rows(weft_tuning *tuning, int table, const tuning_value *rows, size_t n,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    const tuning_table *t = &weft_tuning_tables[table];
    const size_t width = strlen(t->types);
    sqlite3_stmt *statement = NULL;
    char sql[200];
    snprintf(sql, sizeof sql, "INSERT OR REPLACE INTO %s VALUES(%.*s)", t->name,
             (int)(2 * width + 1), "?,?,?,?,?,?,?,?,?");
    TRY(weft_tuning_execute(tuning, "BEGIN IMMEDIATE", "write", error));
    int code = sqlite3_prepare_v2(tuning->database, sql, -1, &statement, NULL);
    for (size_t i = 0; i < n && code == SQLITE_OK; ++i)
        code = put_row(statement, t->types, rows + i * width);
    status = code != SQLITE_OK ? weft_tuning_failed(tuning, code, "write", error)
                               : weft_tuning_execute(tuning, "COMMIT", "write", error);
    sqlite3_finalize(statement);
    if (status != WEFT_OK)
        (void)sqlite3_exec(tuning->database, "ROLLBACK", NULL, NULL, NULL);
done:
    return status;
}

/* A file that cannot be written, such as on a full disk, is left for a copy in memory. */
weft_status weft_tuning_put(weft_tuning *tuning, int table, const tuning_value *rows, size_t n,
                            weft_error *error) {
    weft_error why = {0};
    pthread_mutex_lock(&tuning->mutex);
    weft_status status = put_rows(tuning, table, rows, n, &why);
    if (status == WEFT_ERROR_IO && tuning->path[0]) {
        weft_cache_warn(&tuning->cache, "%s", why.message);
        status = weft_tuning_copy_to_memory(tuning, &why);
        if (status == WEFT_OK)
            status = put_rows(tuning, table, rows, n, &why);
    }
    if (status != WEFT_OK && error)
        *error = why;
    pthread_mutex_unlock(&tuning->mutex);
    return status;
}

/* Read the current row of a statement, borrowing its texts; false if the row is damaged. */
static bool read_row(sqlite3_stmt *statement, const char *types, tuning_value *row) {
    char sum[33];
    int n = (int)strlen(types);
    for (int i = 0; i < n; ++i) {
        const int kind = sqlite3_column_type(statement, i);
        if (kind != (types[i] == 't'   ? SQLITE_TEXT
                     : types[i] == 'i' ? SQLITE_INTEGER
                                       : SQLITE_FLOAT))
            return false;
        if (types[i] == 't')
            row[i].text = (const char *)sqlite3_column_text(statement, i);
        else if (types[i] == 'i')
            row[i].number = sqlite3_column_int64(statement, i);
        else
            row[i].real = sqlite3_column_double(statement, i);
        if (types[i] == 't' && !row[i].text)
            return false;
    }
    const char *kept = (const char *)sqlite3_column_text(statement, n);
    sum_of(types, row, sum);
    return kept && strcmp(kept, sum) == 0;
}

/* Append a copy of a row to a growing list. */
typedef struct row_list {
    weft_arena *arena;
    tuning_value *rows;
    size_t n, capacity;
} row_list;

static bool keep_row(row_list *list, const char *types, const tuning_value *row) {
    const size_t width = strlen(types);
    if (list->n == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 32;
        tuning_value *larger = weft_arena_alloc(list->arena, capacity * width, sizeof *larger);
        if (!larger)
            return false;
        if (list->n > 0)
            memcpy(larger, list->rows, list->n * width * sizeof *larger);
        list->rows = larger;
        list->capacity = capacity;
    }
    tuning_value *to = list->rows + list->n * width;
    for (size_t i = 0; i < width; ++i) {
        to[i] = row[i];
        if (types[i] == 't')
            to[i].text = weft_arena_copy(list->arena, row[i].text, strlen(row[i].text));
        if (types[i] == 't' && !to[i].text)
            return false;
    }
    ++list->n;
    return true;
}

/* Prepare "SELECT ... WHERE device=? AND routine=? ORDER BY ...", binding the first n_keys
 * columns. */
static int select_rows(weft_tuning *tuning, const tuning_table *t, const tuning_value *keys,
                       int n_keys, sqlite3_stmt **out) {
    char sql[400], name[40];
    int used = snprintf(sql, sizeof sql, "SELECT %s,sum FROM %s", t->columns, t->name);
    const char *column = t->columns;
    for (int i = 0; i < n_keys; ++i) {
        size_t length = strcspn(column, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, column);
        used +=
            snprintf(sql + used, sizeof sql - (size_t)used, " %s %s=?", i ? "AND" : "WHERE", name);
        column += length + 1;
    }
    snprintf(sql + used, sizeof sql - (size_t)used, " ORDER BY %s", t->key);
    int code = sqlite3_prepare_v2(tuning->database, sql, -1, out, NULL);
    for (int i = 0; i < n_keys && code == SQLITE_OK; ++i)
        code = bind(*out, i + 1, t->types[i], &keys[i]);
    return code;
}

static void report_damaged(weft_tuning *tuning) {
    if (!tuning->reported_damaged)
        weft_log(tuning->monitor, WEFT_LOG_WARNING,
                 "entries of the tuning database %s are damaged and not used; weft tuning clear "
                 "--invalid removes them",
                 tuning->path);
    tuning->reported_damaged = true;
}

weft_status weft_tuning_find(weft_tuning *tuning, int table, const tuning_value *keys, int n_keys,
                             weft_arena *arena, tuning_rows *out, weft_error *error) {
    weft_status status = WEFT_OK;
    const tuning_table *t = &weft_tuning_tables[table];
    sqlite3_stmt *statement = NULL;
    tuning_value row[TUNING_COLUMNS_MAX];
    row_list list = {.arena = arena};
    pthread_mutex_lock(&tuning->mutex);
    int code = select_rows(tuning, t, keys, n_keys, &statement);
    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        code = SQLITE_OK;
        if (!read_row(statement, t->types, row))
            report_damaged(tuning);
        else if (!keep_row(&list, t->types, row))
            code = SQLITE_NOMEM;
    }
    if (code != SQLITE_DONE)
        status = weft_tuning_failed(tuning, code, "read", error);
    sqlite3_finalize(statement);
    pthread_mutex_unlock(&tuning->mutex);
    *out = (tuning_rows){list.rows, status == WEFT_OK ? list.n : 0};
    return status;
}

/* Delete a row by its stored key, whose types may be damaged too. */
static weft_status remove_row(weft_tuning *tuning, const tuning_table *t, sqlite3_stmt *at,
                              weft_error *error) {
    sqlite3_stmt *statement = NULL;
    char sql[400];
    int used = snprintf(sql, sizeof sql, "DELETE FROM %s WHERE ", t->name), n = 0;
    for (const char *column = t->key; *column; ++n) {
        size_t length = strcspn(column, ",");
        used += snprintf(sql + used, sizeof sql - (size_t)used, "%s%.*s IS ?", n ? " AND " : "",
                         (int)length, column);
        column += length + (column[length] == ',');
    }
    int code = sqlite3_prepare_v2(tuning->database, sql, -1, &statement, NULL);
    for (int i = 0; i < n && code == SQLITE_OK; ++i) /* the key consists of the first columns */
        code = sqlite3_bind_value(statement, i + 1, sqlite3_column_value(at, i));
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    sqlite3_finalize(statement);
    return code == SQLITE_DONE ? WEFT_OK : weft_tuning_failed(tuning, code, "write", error);
}

weft_status weft_tuning_check(weft_tuning *tuning, int table, bool remove, int64_t *n_rows,
                              int64_t *n_damaged, weft_error *error) {
    weft_status status = WEFT_OK;
    const tuning_table *t = &weft_tuning_tables[table];
    sqlite3_stmt *statement = NULL;
    tuning_value row[TUNING_COLUMNS_MAX];
    pthread_mutex_lock(&tuning->mutex);
    int code = select_rows(tuning, t, NULL, 0, &statement);
    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        code = SQLITE_OK;
        ++*n_rows;
        if (read_row(statement, t->types, row))
            continue;
        ++*n_damaged;
        if (remove)
            TRY(remove_row(tuning, t, statement, error));
    }
    if (code != SQLITE_DONE)
        status = weft_tuning_failed(tuning, code, "read", error);
done:
    sqlite3_finalize(statement);
    pthread_mutex_unlock(&tuning->mutex);
    return status;
}
