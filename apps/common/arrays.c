#include "apps/common/fem.h"

#include <math.h>
#include <stdlib.h>

bool app_constant(const char *text, double *value) {
    return app_parse_number("", text, -HUGE_VAL, HUGE_VAL, value, NULL) == WEFT_OK;
}

weft_status app_array_make(weft_device *device, int64_t n, double **values, weft_memory **memory,
                           weft_error *error) {
    weft_status status = WEFT_OK;
    double *array = weft_array_make((size_t)n, sizeof *array);
    if (!array)
        TRY(weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory"));
    TRY(weft_memory_wrap(device, array, (size_t)n * sizeof *array, memory, error));
    *values = array;
    array = NULL;
done:
    free(array);
    return status;
}

weft_status app_array_pull(const weft_memory *memory, double *values, int64_t n,
                           weft_error *error) {
    if (weft_memory_host(memory) == values)
        return WEFT_OK;
    return weft_memory_read(memory, 0, values, (size_t)n * sizeof *values, error);
}

weft_status app_array_push(weft_memory *memory, const double *values, int64_t n,
                           weft_error *error) {
    if (weft_memory_host(memory) == values)
        return WEFT_OK;
    return weft_memory_write(memory, 0, values, (size_t)n * sizeof *values, error);
}

weft_status app_marks_collect(const char *marks, int64_t n, int32_t **out, int64_t *n_out,
                              weft_error *error) {
    int64_t n_marked = 0;
    for (int64_t i = 0; i < n; ++i)
        n_marked += marks[i];
    int32_t *list = weft_array_make((size_t)n_marked, sizeof *list);
    if (!list)
        return weft_error_set(error, WEFT_ERROR_MEMORY, "out of memory");
    for (int64_t i = 0, k = 0; i < n; ++i)
        if (marks[i])
            list[k++] = (int32_t)i;
    *out = list;
    *n_out = n_marked;
    return WEFT_OK;
}

weft_status app_refuse_value(const weft_mesh *mesh, const char *origin, const char *text,
                             int64_t node, weft_error *error) {
    const int d = mesh->dimension;
    char point[64];
    weft_error_set(error, WEFT_ERROR_INPUT, "this expression is not finite at or near %s",
                   app_print_point(&mesh->x[node * d], d, point));
    weft_error_place(error, origin, text, 1, 1);
    weft_error_hint(
        error,
        "change it so that it has a value there: 1/x has none at x = 0, log(x) none for x <= 0");
    return WEFT_ERROR_INPUT;
}
