/* Fault injection for whole programs, their libraries included: with LD_PRELOAD set to this shared
 * object the n-th allocation of a process fails. Environment:
 *
 *      WEFT_FAULT_AT=N         the N-th allocation returns NULL (N from 1; 0 or unset: none)
 *      WEFT_FAULT_ON=1         all after it too, as where memory is really exhausted
 *      WEFT_FAULT_LIBRARY=TEXT count only allocations asked for by an object whose path has TEXT
 *      WEFT_FAULT_PROGRAM=NAME only in programs of this name, so that compilers are left alone
 *      WEFT_FAULT_COUNT=FILE   at the end, write how many were counted, in decimal
 *
 * Only malloc and its relatives are replaced: mmap is not.
 *
 * One kind of allocation is neither counted nor made to fail: the growth of the text of a string or
 * number that libjansson reads. It does not check whether that succeeds (lex_save in its load.c), looks
 * for a closing quote that it has not stored, and runs past the end. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* glibc's own, under the names that it exports for replacements. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *pointer, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_long n_counted;
static long failing;
static bool from_then_on, counts;
static const char *library, *count_file;
static _Thread_local int n_reads; /* libjansson is reading */

/* No allocation here: it would come back to this file. */
__attribute__((constructor)) static void read_environment(void) {
    const char *at = getenv("WEFT_FAULT_AT"), *on = getenv("WEFT_FAULT_ON");
    const char *program = getenv("WEFT_FAULT_PROGRAM");
    if (program && *program && strcmp(program, program_invocation_short_name) != 0)
        return;
    failing = at ? atol(at) : 0;
    from_then_on = on && *on && *on != '0';
    library = getenv("WEFT_FAULT_LIBRARY");
    if (library && !*library)
        library = NULL;
    count_file = getenv("WEFT_FAULT_COUNT");
    counts = true;
}

__attribute__((destructor)) static void write_count(void) {
    char text[32];
    if (!counts || !count_file || !*count_file)
        return;
    const int length = snprintf(text, sizeof text, "%ld\n", atomic_load(&n_counted));
    const int file = open(count_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file >= 0) {
        (void)!write(file, text, (size_t)length);
        close(file);
    }
}

void *json_loads(const char *text, size_t flags, void *error) {
    void *(*next)(const char *, size_t, void *);
    *(void **)&next = dlsym(RTLD_NEXT, "json_loads");
    ++n_reads;
    void *made = next(text, flags, error);
    --n_reads;
    return made;
}

void *json_loadb(const char *text, size_t length, size_t flags, void *error) {
    void *(*next)(const char *, size_t, size_t, void *);
    *(void **)&next = dlsym(RTLD_NEXT, "json_loadb");
    ++n_reads;
    void *made = next(text, length, flags, error);
    --n_reads;
    return made;
}

static bool is_from(const void *caller, const char *text) {
    Dl_info from;
    return dladdr(caller, &from) && from.dli_fname && strstr(from.dli_fname, text);
}

/* Texts start with 16 bytes and double; a few tables of objects and arrays have such sizes, too. */
static bool is_text_growing(size_t size, const void *caller) {
    const bool is_power = (size & (size - 1)) == 0;
    return n_reads > 0 && is_power && size >= 32 && is_from(caller, "libjansson");
}

static bool fails(size_t size, const void *caller) {
    if (!counts || (library && !is_from(caller, library)) || is_text_growing(size, caller))
        return false;
    const long n = atomic_fetch_add(&n_counted, 1) + 1;
    if (failing < 1 || (from_then_on ? n < failing : n != failing))
        return false;
    errno = ENOMEM;
    return true;
}

#define CALLER __builtin_return_address(0)

void *malloc(size_t size) {
    return fails(size, CALLER) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    return fails(count * size, CALLER) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *pointer, size_t size) {
    return fails(size, CALLER) ? NULL : __libc_realloc(pointer, size);
}

void *memalign(size_t alignment, size_t size) {
    return fails(size, CALLER) ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return fails(size, CALLER) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size) {
    void *made = fails(size, CALLER) ? NULL : __libc_memalign(alignment, size);
    if (made)
        *out = made;
    return made ? 0 : ENOMEM;
}
