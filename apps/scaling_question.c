#include "scaling.h"

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

/* A list a device, as studies have always had it. */
static json_t *assemblies(const scaling_list *list, int n_devices) {
    json_t *array = json_array();
    for (int i = 0; array && i < n_devices; ++i)
        if (json_array_append_new(array, texts(list->items, list->n)) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

json_t *scaling_question_make(const scaling_options *options, const scaling_cases *cases) {
    json_t *root = json_object();
    if (root && app_json_set(root, "app", json_string(scaling_app_at(options->app)->name)) &&
        app_json_set(root, "version", json_string(WEFT_VERSION)) &&
        app_json_set(root, "program", json_string(cases->program_hash)) &&
        app_json_set(root, "machine", app_json_text(cases->machine)) &&
        app_json_set(root, "meshes", levels(cases)) &&
        app_json_set(root, "devices", texts(cases->devices.items, cases->devices.n)) &&
        app_json_set(root, "assemblies", assemblies(&options->assemblies, cases->devices.n)) &&
        app_json_set(root, "arguments", texts(cases->arguments.items, cases->arguments.n)) &&
        app_json_set(root, "fit_dt", json_boolean(options->fit_dt)) &&
        app_json_set(root, "repeat", json_integer(options->repeat)) &&
        app_json_set(root, "warmup", json_integer(options->warmup)))
        return root;
    json_decref(root);
    return NULL;
}

/* What each answer is called where it has changed. */
static const struct {
    const char *key, *words;
} answers[] = {{"app", "the app (--app)"},
               {"version", "the version of Weft"},
               {"program", "the program itself, which was built anew"},
               {"machine", "the machine"},
               {"meshes", "the meshes (--mesh, --sizes, --refine, or what is in a file)"},
               {"devices", "the devices (--device, --threads)"},
               {"assemblies", "the assemblies (--assembly)"},
               {"arguments", "the options of the app (behind --)"},
               {"fit_dt", "the time steps (--fit-dt)"},
               {"repeat", "the number of runs (--repeat)"},
               {"warmup", "the number of runs that do not count (--warmup)"}};

static void add_answer(weft_text *text, const char *words, const json_t *value) {
    char *dump = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    weft_text_add(text, "%s%.160s%s", words, dump ? dump : "nothing",
                  dump && strlen(dump) > 160 ? "..." : "");
    free(dump);
}

weft_status scaling_question_compare(const char *path, const json_t *before, const json_t *now,
                                     weft_error *error) {
    weft_text text = {0};
    int n_changed = 0;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; ++i) {
        const json_t *old = json_object_get(before, answers[i].key);
        const json_t *new = json_object_get(now, answers[i].key);
        if (old && new &&json_equal(old, new))
            continue;
        weft_text_add(&text, "%s%s", n_changed++ ? "; " : "", answers[i].words);
        if (strcmp(answers[i].key, "program") == 0)
            continue;
        add_answer(&text, ", which was ", old);
        add_answer(&text, " and is ", new);
    }
    if (n_changed == 0)
        return WEFT_OK;
    weft_error_set(error, WEFT_ERROR_USAGE, "this folder holds another study; changed: %s",
                   text.data && !text.failed ? text.data : "its options");
    weft_error_place(error, path, NULL, 0, 0);
    weft_error_hint(error, "give the options as they were, or another folder by --out");
    weft_text_free(&text);
    return WEFT_ERROR_USAGE;
}
