/* Lists, verifies and clears the tuning database for the tool. */
#include "core/tuning/database.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char list_sql[] =
    "WITH keys(device) AS (SELECT device FROM times UNION SELECT device FROM numbers UNION SELECT "
    "device FROM kernels UNION SELECT device FROM winners) SELECT k.device,coalesce((SELECT "
    "description FROM devices d WHERE d.device=k.device),'a device without name'),(SELECT "
    "count(DISTINCT routine) FROM times t WHERE t.device=k.device),(SELECT count(*) FROM times t "
    "WHERE t.device=k.device),(SELECT count(*) FROM kernels t WHERE t.device=k.device),(SELECT "
    "count(*) FROM winners t WHERE t.device=k.device),(SELECT count(*) FROM numbers t WHERE "
    "t.device=k.device),coalesce((SELECT max(made) FROM times t WHERE t.device=k.device),0) FROM "
    "keys k ORDER BY 2,1";

static weft_tuning_device read_device(sqlite3_stmt *statement) {
    weft_tuning_device device = {.n_product_kernels = sqlite3_column_int64(statement, 2),
                                 .n_times = sqlite3_column_int64(statement, 3),
                                 .n_kernels = sqlite3_column_int64(statement, 4),
                                 .n_best_plans = sqlite3_column_int64(statement, 5),
                                 .n_numbers = sqlite3_column_int64(statement, 6)};
    const char *key = (const char *)sqlite3_column_text(statement, 0);
    const char *description = (const char *)sqlite3_column_text(statement, 1);
    snprintf(device.device, sizeof device.device, "%s", key ? key : "");
    snprintf(device.description, sizeof device.description, "%s", description ? description : "");
    device.age_seconds = difftime(time(NULL), (time_t)sqlite3_column_int64(statement, 7));
    return device;
}

weft_status weft_tuning_list(weft_tuning *tuning, weft_tuning_device **out, size_t *n,
                             weft_error *error) {
    weft_status status = WEFT_OK;
    weft_tuning_device *list = NULL;
    size_t used = 0;
    sqlite3_stmt *statement = NULL;
    pthread_mutex_lock(&tuning->mutex);
    int code = sqlite3_prepare_v2(tuning->database, list_sql, -1, &statement, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        weft_tuning_device *larger = reallocarray(list, used + 1, sizeof *list);
        code = larger ? SQLITE_OK : SQLITE_NOMEM;
        if (!larger)
            break;
        list = larger;
        list[used++] = read_device(statement);
    }
    if (code != SQLITE_DONE)
        status = weft_tuning_failed(tuning, code, "read", error);
    sqlite3_finalize(statement);
    pthread_mutex_unlock(&tuning->mutex);
    if (status == WEFT_OK) {
        *out = list;
        *n = used;
        list = NULL;
    }
    free(list);
    return status;
}

weft_status weft_tuning_verify(weft_tuning *tuning, bool remove, int64_t *n_entries,
                               int64_t *n_damaged, weft_error *error) {
    weft_status status = WEFT_OK;
    *n_entries = *n_damaged = 0;
    for (int table = 0; table < TUNING_TABLES; ++table)
        TRY(weft_tuning_check(tuning, table, remove, n_entries, n_damaged, error));
done:
    return status;
}

weft_status weft_tuning_forget(weft_tuning *tuning, const char *device, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text sql = {0};
    weft_text_add(&sql, "BEGIN IMMEDIATE;");
    for (int table = 0; table < TUNING_TABLES; ++table)
        if (!device)
            weft_text_add(&sql, "DELETE FROM %s;", weft_tuning_tables[table].name);
        else /* %.32s is hexadecimal digits and needs no quoting */
            weft_text_add(&sql, "DELETE FROM %s WHERE device='%.*s';",
                          weft_tuning_tables[table].name, (int)strspn(device, "0123456789abcdef"),
                          device);
    weft_text_add(&sql, "COMMIT;");
    pthread_mutex_lock(&tuning->mutex);
    status = sql.failed ? weft_out_of_memory(error, "the tuning database")
                        : weft_tuning_execute(tuning, sql.data, "clear", error);
    if (status != WEFT_OK)
        (void)sqlite3_exec(tuning->database, "ROLLBACK", NULL, NULL, NULL);
    pthread_mutex_unlock(&tuning->mutex);
    weft_text_free(&sql);
    return status;
}
