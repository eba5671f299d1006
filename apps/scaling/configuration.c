/* Describes the configuration of a study as JSON and compares two of them. */
#include "apps/scaling/scaling.h"

#include <stdlib.h>
#include <string.h>

static json_t *texts(char *const *items, int n) {
    json_t *array = json_array();
    for (int i = 0; array && i < n; ++i)
        if (json_array_append_new(array, app_json_text(items[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *levels(const scaling_cases *cases) {
    json_t *array = json_array();
    for (int i = 0; array && i < cases->n_levels; ++i) {
        const scaling_level *level = &cases->levels[i];
        json_t *object = json_object();
        if (json_array_append_new(array, object) != 0 ||
            !app_json_set(object, "name", app_json_text(level->name)) ||
            !app_json_set(object, "hash", json_string(level->hash))) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

/* One list of assemblies per device, the format of all studies so far. */
static json_t *assemblies(const scaling_list *list, int n_devices) {
    json_t *array = json_array();
    for (int i = 0; array && i < n_devices; ++i)
        if (json_array_append_new(array, texts(list->items, list->n)) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

json_t *scaling_configuration_make(const scaling_options *options, const scaling_cases *cases) {
    json_t *root = json_object();
    if (root && app_json_set(root, "app", json_string(scaling_app_at(options->app)->name)) &&
        app_json_set(root, "version", json_string(WEFT_VERSION)) &&
        app_json_set(root, "program", json_string(cases->program_hash)) &&
        app_json_set(root, "machine", app_json_text(cases->machine)) &&
        app_json_set(root, "meshes", levels(cases)) &&
        app_json_set(root, "devices", texts(cases->devices.items, cases->devices.n)) &&
        app_json_set(root, "assemblies", assemblies(&options->assemblies, cases->devices.n)) &&
        app_json_set(root, "preconditioners",
                     texts(options->preconditioners.items, options->preconditioners.n)) &&
        app_json_set(root, "arguments", texts(cases->arguments.items, cases->arguments.n)) &&
        app_json_set(root, "fit_dt", json_boolean(options->fit_dt)) &&
        app_json_set(root, "repeat", json_integer(options->repeat)) &&
        app_json_set(root, "warmup", json_integer(options->warmup)))
        return root;
    json_decref(root);
    return NULL;
}

/* Names of the settings, for messages about differences. */
static const struct {
    const char *key, *words;
} answers[] = {{"app", "--app"},
               {"version", "the version of Weft"},
               {"program", "the program itself, which was built again"},
               {"machine", "the machine"},
               {"meshes", "--mesh, --sizes or --refine"},
               {"devices", "--device or --threads"},
               {"assemblies", "--assembly"},
               {"preconditioners", "--preconditioner"},
               {"arguments", "the options behind --"},
               {"fit_dt", "--fit-dt"},
               {"repeat", "--repeat"},
               {"warmup", "--warmup"}};

/* Append a setting as on the command line: lists with a separator, meshes by name. */
static void add_value(weft_text *text, const json_t *value, const char *separator) {
    if (json_is_array(value)) {
        const bool lists = json_is_array(json_array_get(value, 0)); /* the same for every device */
        for (size_t i = 0; i < (lists ? 1 : json_array_size(value)); ++i) {
            weft_text_add(text, "%s", i ? separator : "");
            add_value(text, json_array_get(value, i), separator);
        }
    } else if (json_is_object(value)) {
        add_value(text, json_object_get(value, "name"), separator);
    } else if (json_is_string(value)) {
        weft_text_add(text, "%s", json_string_value(value));
    } else if (json_is_integer(value)) {
        weft_text_add(text, "%d", (int)json_integer_value(value));
    } else {
        weft_text_add(text, "%s", json_is_true(value) ? "given" : "not given");
    }
}

/* " (csr,lma there, csr here)", or nothing where that would say the same twice. */
static void add_values(weft_text *text, const char *key, const json_t *old, const json_t *new) {
    const char *separator = strcmp(key, "arguments") == 0 ? " " : ",";
    weft_text before = {0}, now = {0};
    add_value(&before, old, separator);
    add_value(&now, new, separator);
    const char *there = before.data ? before.data : "", *here = now.data ? now.data : "";
    if (strcmp(there, here) != 0)
        weft_text_add(text, " (%.160s%s there, %.160s%s here)", there[0] ? there : "none",
                      strlen(there) > 160 ? "..." : "", here[0] ? here : "none",
                      strlen(here) > 160 ? "..." : "");
    else if (strcmp(key, "meshes") == 0)
        weft_text_add(text, " (the same names, but a file's content is another one)");
    text->failed |= before.failed || now.failed;
    weft_text_free(&before);
    weft_text_free(&now);
}

weft_status scaling_configuration_compare(const char *path, const json_t *before, const json_t *now,
                                          weft_error *error) {
    weft_text text = {0};
    int n_changed = 0;
    bool other_app = false;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; ++i) {
        const char *key = answers[i].key;
        const json_t *old = json_object_get(before, key), *new = json_object_get(now, key);
        if (old && new &&json_equal(old, new))
            continue;
        other_app |= strcmp(key, "app") == 0;
        if (other_app && (strcmp(key, "program") == 0 || strcmp(key, "arguments") == 0))
            continue; /* implied by the app */
        weft_text_add(&text, "%s%s", n_changed++ ? "; " : "", answers[i].words);
        if (strcmp(key, "program") != 0)
            add_values(&text, key, old, new);
    }
    if (n_changed == 0)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_USAGE, "this folder holds another study; it differs in: %s",
                   text.data && !text.failed ? text.data : "its options");
    weft_error_location(error, path, NULL, 0, 0);
    weft_error_hint(error, "give the same options as for that study, or another folder by --out");
    weft_text_free(&text);
    return WEFT_ERROR_USAGE;
}
