/* Compiles the kernels for set-up beside the program, on threads of their own. */
#include "core/weft_core.h"
#include "fusion/setup/setup.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS_MOST = 8 };

struct weft_precompilation {
    weft_device *device;
    pthread_t threads[THREADS_MOST];
    int n_threads;
    atomic_int next; /* file */
    atomic_bool ends;
};

/* Failures come again where the kernels are needed. */
static void *compile_files(void *user) {
    weft_precompilation *p = user;
    char file[64], title[80];
    while (!atomic_load(&p->ends) &&
           weft_setup_file(atomic_fetch_add(&p->next, 1), file, sizeof file)) {
        weft_error error;
        weft_text text = {0};
        (void)snprintf(title, sizeof title, "setup_%s", file);
        if (weft_setup_source(file, &text, &error) == WEFT_OK)
            (void)weft_module_store(p->device, title, text.data, &error);
        weft_text_free(&text);
    }
    return NULL;
}

weft_precompilation *weft_setup_precompile(weft_device *device) {
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const int n = processors > 2 * THREADS_MOST ? THREADS_MOST : (int)(processors / 2);
    weft_precompilation *p = weft_setup_on_device(device) ? calloc(1, sizeof *p) : NULL;
    if (!p)
        return NULL;
    p->device = device;
    for (int i = 0; i < (n > 1 ? n : 1); ++i)
        if (pthread_create(&p->threads[p->n_threads], NULL, compile_files, p) == 0)
            ++p->n_threads;
    return p;
}

void weft_precompilation_end(weft_precompilation **precompilation) {
    weft_precompilation *p = precompilation ? *precompilation : NULL;
    if (!p)
        return;
    atomic_store(&p->ends, true);
    for (int i = 0; i < p->n_threads; ++i)
        pthread_join(p->threads[i], NULL);
    free(p);
    *precompilation = NULL;
}
