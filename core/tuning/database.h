/** The tuning database inside. core/tuning/database.c opens it, core/tuning/rows.c reads and writes rows of any table,
 *  core/tuning/entries.c is the public part over that, core/tuning/list.c is for the tool. */
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
    weft_cache cache; /* its folder, checked */
    const weft_monitor *monitor;
    char path[PATH_MAX]; /* "" in memory */
    pthread_mutex_t mutex;
    bool reported_damaged; /* that rows are damaged: said once */
};

/** What an SQLite answer means, with its message. what: "read". */
weft_status weft_tuning_failed(weft_tuning *tuning, int code, const char *what, weft_error *error);
/** Run statements that answer nothing. */
weft_status weft_tuning_execute(weft_tuning *tuning, const char *sql, const char *what,
                                weft_error *error);

/** A table: its columns, then the column `sum`, a hash of the row. Columns of text or of whole or
 *  real numbers, told by a letter each: t, i, d. */
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

/** Rows of a table, values one row after the other. */
typedef struct tuning_rows {
    tuning_value *values;
    size_t n;
} tuning_rows;

/** Make the tables that are missing. */
weft_status weft_tuning_tables_make(weft_tuning *tuning, weft_error *error);
/** Write rows, values one row after the other, in one transaction. */
weft_status weft_tuning_put(weft_tuning *tuning, int table, const tuning_value *rows, size_t n,
                            weft_error *error);
/** Find rows whose first n_keys columns are these, in the order of the key; texts are in the arena,
 *  out->values too. Damaged rows are left out, which is logged once. */
weft_status weft_tuning_find(weft_tuning *tuning, int table, const tuning_value *keys, int n_keys,
                             weft_arena *arena, tuning_rows *out, weft_error *error);
/** Go through a whole table. */
weft_status weft_tuning_check(weft_tuning *tuning, int table, bool remove, int64_t *n_rows,
                              int64_t *n_damaged, weft_error *error);
