/* Reads the settings of tuned parameters from the tuning database. */
#include "fusion/tune/tuned.h"
#include "fusion/script/script.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    struct entry *next;
    const char *key;
    int size_class;
    weft_tuned_setting setting; /* text NULL: none is stored */
} entry;

struct weft_tuned {
    weft_tuned_source source;
    weft_tuning *tuning, *own; /* NULL: not open yet; own: to be closed */
    const weft_device *opens;  /* for which the database is opened; NULL: it is open */
    char device[33];
    weft_arena *arena;
    entry *first; /* looked up before */
    pthread_mutex_t lock;
};

/* Open the database for reading, which must not create it. */
static void open_own(weft_tuned *tuned) {
    weft_device_options how = weft_device_options_default(weft_device_monitor(tuned->opens));
    weft_error ignored;
    if (how.cache == WEFT_CACHE_ON)
        how.cache = WEFT_CACHE_READ;
    if (weft_tuning_open(&how, &tuned->own, &ignored) == WEFT_OK)
        tuned->tuning = tuned->own;
    tuned->opens = NULL;
}

static entry *look_up(weft_tuned *tuned, const char *key, int size_class) {
    weft_tuning_best_plan found = {.cover = NULL};
    weft_error ignored;
    entry *made = weft_arena_alloc(tuned->arena, 1, sizeof *made);
    const char *copy = weft_arena_copy(tuned->arena, key, strlen(key));
    if (tuned->opens)
        open_own(tuned);
    if (!made || !copy || !tuned->tuning)
        return NULL;
    if (weft_tuning_lookup(tuned->tuning, tuned->device, key, size_class, tuned->arena, &found,
                           &ignored) != WEFT_OK)
        found.cover = NULL; /* as without a database */
    *made = (entry){tuned->first, copy, size_class, {found.cover, found.seconds, found.predicted}};
    tuned->first = made;
    return made;
}

static const weft_tuned_setting *find(void *user, const char *key, int64_t elements) {
    weft_tuned *tuned = user;
    const int size_class = weft_tuning_size_class(elements);
    pthread_mutex_lock(&tuned->lock);
    entry *at = tuned->first;
    while (at && (at->size_class != size_class || strcmp(at->key, key) != 0))
        at = at->next;
    if (!at)
        at = look_up(tuned, key, size_class);
    pthread_mutex_unlock(&tuned->lock);
    return at && at->setting.text ? &at->setting : NULL;
}

weft_status weft_tuned_make(weft_tuning *tuning, const char *device, weft_tuned **out,
                            weft_error *error) {
    weft_status status = WEFT_OK;
    weft_tuned *made = calloc(1, sizeof *made);
    if (!made)
        TRY(weft_out_of_memory(error, "tuned parameters"));
    pthread_mutex_init(&made->lock, NULL);
    TRY(weft_arena_make(&made->arena, error));
    made->source = (weft_tuned_source){find, made};
    made->tuning = tuning;
    memcpy(made->device, device, sizeof made->device);
    *out = made;
    made = NULL;
done:
    weft_tuned_free(&made);
    return status;
}

weft_status weft_tuned_open(const weft_device *device, weft_tuned **out, weft_error *error) {
    weft_status status = WEFT_OK;
    char identity[33];
    weft_device_identity(device, identity);
    TRY(weft_tuned_make(NULL, identity, out, error));
    (*out)->opens = weft_device_limits(device)->records_only ? NULL : device;
done:
    return status;
}

void weft_tuned_free(weft_tuned **tuned) {
    if (!tuned || !*tuned)
        return;
    weft_tuning_close(&(*tuned)->own);
    weft_arena_free(&(*tuned)->arena);
    pthread_mutex_destroy(&(*tuned)->lock);
    free(*tuned);
    *tuned = NULL;
}

const weft_tuned_source *weft_tuned_source_of(const weft_tuned *tuned) {
    return &tuned->source;
}
