/* labels: quick */
/* What is read of the system takes no memory: where an allocation failed, the number of processors
 * and the memory were others, and with them the plan of a script and the last bits of its results. */
#include "core/base/file.h"
#include "core/base/threads.h"
#include "core/weft_core.h"
#include "test_support.h"

#include <stdlib.h>
#include <string.h>

static int n_allocations;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void *__libc_malloc(size_t size);
/* Also for calls of the C library itself, such as by fopen. */
void *malloc(size_t size) {
    ++n_allocations;
    return __libc_malloc(size);
}
#endif

static void no_memory_is_taken(void **state) {
    (void)state;
    char text[300];
    n_allocations = 0;
    const int n_threads = weft_threads_available();
    const size_t memory = weft_memory_available();
    const bool read = weft_system_file_read("/proc/self/status", text, sizeof text);
    const int counted = n_allocations;
    assert_int_equal(counted, 0);
    assert_true(n_threads >= 1 && memory > 1 << 20);
    assert_true(read && strlen(text) == sizeof text - 1 && strncmp(text, "Name:", 5) == 0);
    assert_false(weft_system_file_read("/nonexistent", text, sizeof text));
    assert_string_equal(text, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_memory_is_taken)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
