/* Writes result files in the format given by the suffix, so that no partial file is visible. */
#include "fem/io/result.h"
#include "fem/io/child_process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool weft_ends_with(const char *path, const char *ending) {
    const size_t length = strlen(path), n = strlen(ending);
    return length > n && path[length - n - 1] != '/' && strcmp(path + length - n, ending) == 0;
}

weft_status weft_result_check(const char *path, weft_error *error) {
    weft_temporary temporary = WEFT_TEMPORARY_NONE;
    weft_temporary_clean(path);
    const weft_status status = weft_temporary_make(path, &temporary, error);
    weft_temporary_free(&temporary);
    return status;
}

static weft_status check_fields(const weft_field *fields, int n_fields, weft_error *error) {
    for (int i = 0; i < n_fields; ++i) {
        const char *name = fields[i].name;
        if (!name || !*name || strchr(name, '/') || strcmp(name, ".") == 0 ||
            fields[i].n_components < 1 || !fields[i].values)
            return weft_error_set(error, WEFT_ERROR_USAGE,
                                  "field %d (`%s`) needs a name without /, components and values",
                                  i, name ? name : "");
        for (int k = 0; k < i; ++k)
            if (fields[k].on_cells == fields[i].on_cells && strcmp(fields[k].name, name) == 0)
                return weft_error_set(error, WEFT_ERROR_USAGE, "two fields are called `%s`", name);
    }
    return WEFT_OK;
}

weft_status weft_result_place(const char *path, bool durable, weft_result_fill fill, void *user,
                              weft_error *error) {
    weft_status status = WEFT_OK;
    weft_temporary temporary = WEFT_TEMPORARY_NONE;
    TRY(weft_temporary_make(path, &temporary, error));
    TRY(fill(user, &temporary, error));
    TRY(weft_temporary_place(&temporary, path, durable, error));
done:
    weft_temporary_free(&temporary);
    return status;
}

/* ---- formats --------------------------------------------------------------------------------- */

typedef struct placed_content {
    const weft_result_content *content;
    const char *temporary;
} placed_content;

static weft_status write_in_child(void *user, int out, weft_error *error) {
    const placed_content *c = user;
    (void)out;
    return weft_vtkhdf_write(c->temporary, c->content, error);
}

static weft_status fill_vtkhdf(void *user, const weft_temporary *temporary, weft_error *error) {
    placed_content c = {user, temporary->name};
    return weft_child_run(write_in_child, &c, c.content->path, error);
}

static weft_status fill_vtu(void *user, const weft_temporary *temporary, weft_error *error) {
    return weft_vtu_write(temporary->file, user, error);
}

weft_status weft_result_write(const char *path, const weft_mesh *mesh, const weft_field *fields,
                              int n_fields, weft_error *error) {
    return weft_result_write_nodes(path, mesh, NULL, fields, n_fields, error);
}

weft_status weft_result_write_nodes(const char *path, const weft_mesh *mesh,
                                    const weft_result_nodes *nodes, const weft_field *fields,
                                    int n_fields, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_result_content content = {
        .path = path, .mesh = mesh, .nodes = nodes, .fields = fields, .n_fields = n_fields};
    if (n_fields > 0 && fields[n_fields - 1].text)
        content.statement = fields[--content.n_fields].text;
    TRY(check_fields(fields, content.n_fields, error));
    TRY(weft_result_place(path, true, weft_ends_with(path, ".vtu") ? fill_vtu : fill_vtkhdf,
                          &content, error));
done:
    return status;
}
