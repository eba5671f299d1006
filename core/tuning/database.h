/** Internals of the tuning database:
 *
 *      database.c   opens the file, or a database in memory
 *      rows.c       reads and writes rows of any table
 *      entries.c    the public functions, in terms of rows
 *      list.c       lists, verifies and clears it for the tool */
#pragma once

#include "core/cache/cache.h"
#include "core/weft_tuning.h"

#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>

#define TUNING_FILE "tuning-1.sqlite" /* 1: WEFT_TUNING_FORMAT */
#define TUNING_APPLICATION 0x57454654 /* "WEFT" */

struct weft_tuning {
    sqlite3 *database;
    weft_cache cache; /* the checked directory */
    const weft_monitor *monitor;
    char path[PATH_MAX]; /* "": in memory */
    pthread_mutex_t mutex;
    bool reported_damaged; /* damaged rows have been logged */
};

/** Turn an SQLite result code into a status and an error.
 *  what  the operation, for the message: "read" */
weft_status weft_tuning_failed(weft_tuning *tuning, int code, const char *what, weft_error *error);
/** Run SQL statements that return no rows. */
weft_status weft_tuning_execute(weft_tuning *tuning, const char *sql, const char *what,
                                weft_error *error);

/** A table: its columns, followed by the column `sum`, a hash of the row. `types` has one letter
 *  per column: t text, i integer, d real. */
typedef struct tuning_table {
    const char *name, *columns, *types, *key;
} tuning_table;

enum {
    TUNING_DEVICES,
    TUNING_TIMES,
    TUNING_NUMBERS,
    TUNING_KERNELS,
    TUNING_BEST_PLANS,
    TUNING_TABLES
};
extern const tuning_table weft_tuning_tables[TUNING_TABLES];
enum { TUNING_COLUMNS_MAX = 9 };

typedef union tuning_value {
    const char *text;
    int64_t number;
    double real;
} tuning_value;

/** Rows of a table: values[row][column]. */
typedef struct tuning_rows {
    tuning_value *values;
    size_t n;
} tuning_rows;

/** Replace the database by a copy in memory, if its file may be read but not written. What cannot be
 *  read is left out, with a warning. */
weft_status weft_tuning_copy_to_memory(weft_tuning *tuning, weft_error *error);
/** Create the missing tables. */
weft_status weft_tuning_tables_make(weft_tuning *tuning, weft_error *error);
/** Write rows in one transaction, replacing rows with the same key; where the file cannot be written,
 *  with a warning, into a copy in memory.
 *  rows  [n][columns] */
weft_status weft_tuning_put(weft_tuning *tuning, int table, const tuning_value *rows, size_t n,
                            weft_error *error);
/** Find the rows whose first n_keys columns equal `keys`. Damaged rows are skipped, which is logged
 *  once.
 *  out  in the arena, as are its texts; sorted by the table's key */
weft_status weft_tuning_find(weft_tuning *tuning, int table, const tuning_value *keys, int n_keys,
                             weft_arena *arena, tuning_rows *out, weft_error *error);
/** Verify all rows of a table.
 *  remove                delete the damaged rows
 *  n_rows, n_damaged     their numbers */
weft_status weft_tuning_check(weft_tuning *tuning, int table, bool remove, int64_t *n_rows,
                              int64_t *n_damaged, weft_error *error);
