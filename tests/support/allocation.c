#include "allocation.h"
#include "core/weft_core.h"
#include "test_support.h"

#include <execinfo.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The linker sends malloc here and __real_malloc to the C library. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *pointer, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t length);
void __real_free(void *pointer);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *pointer, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t length);
void __wrap_free(void *pointer);

/* Live pointers, hashed, so that freeing what another library made is not counted. */
enum { SLOTS = 1 << 20, MOST_RUNS = 1000000 };
static void *const removed = (void *)&removed;
static void *slots[SLOTS];
static long n_live, n_removed, n_allocations, failing;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Of each allocation in order, a hash of the functions that asked for it; NULL: not wanted. */
static uint64_t *stacks;
enum { FRAMES = 24, MOST_STACKS = 1 << 16, SAMPLED = 16 };

static size_t slot_of(const void *pointer) {
    return (size_t)(((uintptr_t)pointer >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 40) % SLOTS;
}

static uint64_t stack_hash(void) {
    void *frames[FRAMES];
    const int n = backtrace(frames, FRAMES);
    uint64_t hash = 0;
    for (int i = 0; i < n; ++i)
        hash = (hash ^ (uintptr_t)frames[i]) * UINT64_C(0x9E3779B97F4A7C15);
    return hash;
}

static bool fails(void) {
    pthread_mutex_lock(&mutex);
    bool failed = ++n_allocations == failing;
    if (stacks && n_allocations <= MOST_STACKS)
        stacks[n_allocations - 1] = stack_hash();
    pthread_mutex_unlock(&mutex);
    return failed;
}

static void *record(void *pointer) {
    if (!pointer)
        return NULL;
    pthread_mutex_lock(&mutex);
    size_t i = slot_of(pointer);
    while (slots[i] && slots[i] != removed)
        i = (i + 1) % SLOTS;
    slots[i] = pointer;
    ++n_live;
    pthread_mutex_unlock(&mutex);
    return pointer;
}

static void forget(const void *pointer) {
    if (!pointer)
        return;
    pthread_mutex_lock(&mutex);
    for (size_t i = slot_of(pointer); slots[i]; i = (i + 1) % SLOTS)
        if (slots[i] == pointer) {
            slots[i] = removed;
            ++n_removed;
            --n_live;
            break;
        }
    pthread_mutex_unlock(&mutex);
}

/* Marks of removed pointers slow the search: put the live ones in again. */
static void rehash(void) {
    void **live = __real_calloc((size_t)n_live + 1, sizeof *live);
    if (!live || n_removed < SLOTS / 4) {
        __real_free(live);
        return;
    }
    size_t n = 0;
    for (size_t i = 0; i < SLOTS; ++i)
        if (slots[i] && slots[i] != removed)
            live[n++] = slots[i];
    memset(slots, 0, sizeof slots);
    for (size_t k = 0; k < n; ++k) {
        size_t i = slot_of(live[k]);
        while (slots[i])
            i = (i + 1) % SLOTS;
        slots[i] = live[k];
    }
    n_removed = 0;
    __real_free(live);
}

void *__wrap_malloc(size_t size) {
    return fails() ? NULL : record(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size) {
    return fails() ? NULL : record(__real_calloc(count, size));
}

void *__wrap_realloc(void *pointer, size_t size) {
    if (fails())
        return NULL;
    forget(pointer);
    void *larger = __real_realloc(pointer, size);
    record(larger ? larger : pointer);
    return larger;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return fails() ? NULL : record(__real_aligned_alloc(alignment, size));
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t size) {
    if (fails())
        return 12; /* ENOMEM */
    int number = __real_posix_memalign(out, alignment, size);
    if (number == 0)
        record(*out);
    return number;
}

char *__wrap_strdup(const char *text) {
    return fails() ? NULL : record(__real_strdup(text));
}

char *__wrap_strndup(const char *text, size_t length) {
    return fails() ? NULL : record(__real_strndup(text, length));
}

void __wrap_free(void *pointer) {
    forget(pointer);
    __real_free(pointer);
}

/* A child that the library forks (HDF5 works in one) allocates freely: what fails there is not seen
 * here. tests/fault injects failures into whole programs, children included. */
static void allow_in_child(void) {
    failing = 0;
    pthread_mutex_init(&mutex, NULL);
}

void test_allocation_fail_at(long n) {
    static bool prepared;
    if (!prepared)
        prepared = pthread_atfork(NULL, NULL, allow_in_child) == 0;
    pthread_mutex_lock(&mutex);
    rehash();
    n_allocations = 0;
    failing = n;
    pthread_mutex_unlock(&mutex);
}

long test_allocation_count(void) {
    pthread_mutex_lock(&mutex);
    long count = n_allocations;
    pthread_mutex_unlock(&mutex);
    return count;
}

long test_allocation_outstanding(void) {
    pthread_mutex_lock(&mutex);
    long count = n_live;
    pthread_mutex_unlock(&mutex);
    return count;
}

/* The stack of each allocation of a call: [MOST_STACKS], 0 past the last. */
static uint64_t *stacks_of(test_allocation_call call, void *user) {
    uint64_t *made = __real_calloc(MOST_STACKS, sizeof *made);
    weft_error error = {0};
    assert_non_null(made);
    test_allocation_fail_at(0);
    stacks = made;
    (void)call(user, &error); /* its status and leaks: in the last run of test_every_allocation */
    stacks = NULL;
    return made;
}

/* Is the n-th allocation left out of the default run: one of the same functions has failed already? */
static bool is_left_out(const uint64_t *known, long n) {
    if (known == NULL || n > MOST_STACKS || known[n - 1] == 0 || n % SAMPLED == 0)
        return false;
    for (long k = 0; k < n - 1; ++k)
        if (known[k] == known[n - 1])
            return true;
    return false;
}

long test_every_allocation(const char *what, test_allocation_call call, void *user) {
    long n_failed = 0;
    uint64_t *known = test_is_full() ? NULL : stacks_of(call, user);
    for (long n = 1; n < MOST_RUNS; ++n) {
        if (is_left_out(known, n))
            continue;
        weft_error error;
        memset(&error, 0, sizeof error);
        long before = test_allocation_outstanding();
        test_allocation_fail_at(n);
        weft_status status = call(user, &error);
        bool reached = test_allocation_count() >= n;
        test_allocation_fail_at(0);
        if (test_allocation_outstanding() != before)
            fail_msg("%s leaks when allocation %ld fails: %ld left", what, n,
                     test_allocation_outstanding() - before);
        if (!reached) {
            if (status != WEFT_OK)
                fail_msg("%s fails with all allocations allowed: %s", what, error.message);
            if (n_failed == 0)
                fail_msg("%s never failed for want of memory in %ld allocations", what, n - 1);
            __real_free(known);
            return n - 1;
        }
        n_failed += status != WEFT_OK;
        if (status != WEFT_OK && (status != WEFT_ERROR_MEMORY || !error.message[0]))
            fail_msg("%s with allocation %ld failing: status %s, \"%s\"", what, n,
                     weft_status_name(status), error.message);
    }
    fail_msg("%s allocates without end", what);
    return 0;
}
