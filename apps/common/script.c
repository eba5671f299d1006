/* Reads scripts from files, from the shipped scripts or from standard input. */
#include "apps/common/fem.h"
#include "core/base/file.h"
#include "fem/embedded_scripts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *find_shipped(const char *name) {
    const char *text = weft_fem_script(name);
    char longer[256];
    if (!text && (size_t)snprintf(longer, sizeof longer, "%s.weft", name) < sizeof longer)
        text = weft_fem_script(longer);
    return text;
}

bool app_is_form_file(const char *name) {
    const char *end = strrchr(name, '.');
    return end && (strcmp(end, ".ufl") == 0 || strcmp(end, ".py") == 0);
}

static weft_status refuse_script(const char *name, bool (*is_wanted)(const char *text),
                                 weft_error *error) {
    const char *nearest = NULL;
    weft_text list = {0};
    size_t n = 0;
    if (app_is_form_file(name)) {
        weft_error_set(error, WEFT_ERROR_IO, "there is no such form file");
        weft_error_location(error, name, NULL, 0, 0);
        weft_error_hint(error, "give the path of a file; elasticity.ufl is shipped with solve");
        return WEFT_ERROR_IO;
    }
    const char **names = calloc(weft_embedded_scripts_count + 1, sizeof *names);
    for (size_t i = 0; names && i < weft_embedded_scripts_count; ++i) {
        const weft_embedded_file *shipped = &weft_embedded_scripts[i];
        if (is_wanted && !is_wanted(shipped->text))
            continue;
        names[n] = shipped->name;
        weft_text_add(&list, "%s%.*s", n++ ? ", " : "", (int)strcspn(shipped->name, "."),
                      shipped->name);
    }
    if (names)
        nearest = weft_nearest_name(name, names, n);
    weft_error_set(error, WEFT_ERROR_IO,
                   "there is no such script, neither as a file nor shipped with Weft");
    weft_error_location(error, name, NULL, 0, 0);
    weft_error_hint(error, "%s%s%sshipped%s are %s", nearest ? "did you mean " : "",
                    nearest ? nearest : "", nearest ? "? " : "",
                    is_wanted ? " scripts that can be solved" : "", list.data ? list.data : "none");
    weft_text_free(&list);
    free(names);
    return WEFT_ERROR_IO;
}

weft_status app_script_check(const char *name, bool (*is_wanted)(const char *text),
                             weft_error *error) {
    if (strcmp(name, "-") == 0 || access(name, F_OK) == 0 || find_shipped(name) ||
        weft_ufl_is_shipped(name))
        return WEFT_OK;
    return refuse_script(name, is_wanted, error);
}

static weft_status read_stdin(char **out, weft_error *error) {
    weft_text text = {0};
    char buffer[4096];
    size_t n = 0;
    weft_text_add(&text, "%s", "");
    while ((n = fread(buffer, 1, sizeof buffer, stdin)) > 0)
        weft_text_add_bytes(&text, buffer, n);
    if (text.failed || !text.data) {
        weft_text_free(&text);
        return weft_out_of_memory(error, NULL);
    }
    *out = text.data;
    return WEFT_OK;
}

weft_status app_script_read(const char *name, char **text, weft_error *error) {
    weft_status status = WEFT_OK;
    const char *shipped = NULL;
    size_t length = 0;
    if (strcmp(name, "-") == 0) {
        status = read_stdin(text, error);
        goto done;
    }
    if (access(name, F_OK) != 0) {
        shipped = find_shipped(name);
        if (!shipped)
            TRY(refuse_script(name, NULL, error));
        *text = strdup(shipped);
        status = *text ? WEFT_OK : weft_out_of_memory(error, NULL);
        goto done;
    }
    TRY(weft_file_read_as(name, WEFT_FILE_SCRIPT, text, &length, error));
    if (strlen(*text) != length) {
        free(*text);
        *text = NULL;
        status = weft_error_set(error, WEFT_ERROR_INPUT,
                                "this file contains zero bytes, so it is not a script");
        weft_error_location(error, name, NULL, 0, 0);
        weft_error_hint(error, "name a text file in the language of docs/language.md");
    }
done:
    return status;
}

weft_status app_read_degrees(const app_option *row, const char *option, const char *text, void *at,
                             weft_error *error) {
    (void)row, (void)option;
    return weft_ufl_degrees_find(text, at, error);
}

weft_status app_script_read_forms(const char *name, const weft_ufl_options *options, weft_ufl **ufl,
                                  char **text, weft_error *error) {
    weft_status status = WEFT_OK;
    weft_text script = {0};
    if (!app_is_form_file(name)) {
        status = app_script_read(name, text, error);
        goto done;
    }
    TRY(weft_ufl_read(name, options, ufl, error));
    TRY(weft_ufl_script(*ufl, &script, error));
    *text = script.data;
    script.data = NULL;
done:
    weft_text_free(&script);
    return status;
}
