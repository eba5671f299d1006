/* labels: quick */
/* Which devices there are, what is said of names that are none, and what each says of itself. */
#define _GNU_SOURCE 1
#include "core/weft_core.h"
#include "test_support.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void names_that_are_none(void **state) {
    static const struct {
        const char *name, *hint;
        weft_status status;
    } cases[] = {
        {"hots", "host", WEFT_ERROR_USAGE},
        {"", "", WEFT_ERROR_USAGE},
        {"host:", "", WEFT_ERROR_USAGE},
        {"host:0", "", WEFT_ERROR_USAGE},
        {"host:-1", "", WEFT_ERROR_USAGE},
        {"host:2x", "", WEFT_ERROR_USAGE},
        {"host: 2", "", WEFT_ERROR_USAGE},
        {"host:1025", "", WEFT_ERROR_USAGE},
        {"host:99999999999999999999", "", WEFT_ERROR_USAGE},
        {"null:h20", "h200", WEFT_ERROR_USAGE},
        {"null:", "", WEFT_ERROR_USAGE},
        {"hosts:2", "", WEFT_ERROR_USAGE},
        {"cuda:", "", WEFT_ERROR_USAGE},
        {"cuda:x", "", WEFT_ERROR_USAGE},
        {"cuda:-1", "", WEFT_ERROR_USAGE},
        {"cuda:0x", "", WEFT_ERROR_USAGE},
        {"cuda:4096", "", WEFT_ERROR_USAGE},
        {"cuda:0:trace", "traced", WEFT_ERROR_USAGE},
        {"cuda:traced:0", "", WEFT_ERROR_USAGE},
        {"cud", "cuda", WEFT_ERROR_USAGE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        weft_device *device = NULL;
        weft_error error;
        weft_status status = weft_device_open(cases[i].name, NULL, &device, &error);
        if (status != cases[i].status || device || !strstr(error.hint, cases[i].hint))
            fail_msg("\"%s\": %s, %s (%s)", cases[i].name, weft_status_name(status), error.message,
                     error.hint);
        if (!strchr(cases[i].name, ':'))
            assert_non_null(strstr(error.message, "auto, host, host:THREADS, "
                                                  "host:THREADS:SET, cuda, cuda:NUMBER, "
                                                  "cuda:NUMBER:traced, gpu (which is cuda), "
                                                  "null, null:h200"));
        assert_non_null(strstr(error.message, cases[i].name));
        assert_int_equal(weft_device_open(cases[i].name, NULL, &device, NULL), status);
    }
}

static weft_limits limits_of(const char *name) {
    weft_device *device = NULL;
    weft_error error;
    if (weft_device_open(name, NULL, &device, &error) != WEFT_OK)
        fail_msg("%s: %s", name ? name : "NULL", error.message);
    weft_limits limits = *weft_device_limits(device);
    weft_device_free(&device);
    assert_null(device);
    weft_device_free(&device);
    return limits;
}

typedef struct heard {
    weft_monitor monitor;
    int n_auto; /* messages about the choice */
    char last[600];
} heard;

static void hear(void *user, weft_log_level level, const char *message) {
    heard *h = user;
    if (level > WEFT_LOG_INFO || strncmp(message, "device auto: ", 13) != 0)
        return;
    h->n_auto += 1;
    snprintf(h->last, sizeof h->last, "%s", message);
}

/* A GPU only where it can be opened, else the host; said once, with the reason. */
static void automatic_without_a_name(void **state) {
    (void)state;
    heard h = {.monitor = {.log = hear, .user = &h}};
    weft_device_options options = {
        .size = sizeof options, .monitor = &h.monitor, .cache = WEFT_CACHE_OFF};
    weft_device *device = NULL;
    weft_error error = {0};
    unsetenv("WEFT_DEVICE");
    weft_status cuda = weft_device_open("cuda", &options, &device, &error);
    weft_device_free(&device);
    assert_int_equal(weft_device_open("auto", &options, &device, NULL), WEFT_OK);
    weft_device_kind kind = weft_device_limits(device)->kind;
    assert_int_equal(h.n_auto, 1);
    if (cuda != WEFT_OK) {
        assert_int_equal(kind, WEFT_DEVICE_HOST);
        assert_non_null(strstr(h.last, "device auto: the host: "));
        assert_non_null(strstr(h.last, error.message));
    } else if (kind == WEFT_DEVICE_HOST) {
        assert_non_null(strstr(h.last, "NVRTC"));
    } else {
        assert_int_equal(kind, WEFT_DEVICE_CUDA);
    }
    weft_device_free(&device);
}

/* Only the names for which nothing else says what they are. */
static void automatic_or_not(void **state) {
    static const struct {
        const char *environment, *name;
        bool is_automatic;
    } cases[] = {{NULL, NULL, true},     {NULL, "auto", true},    {"", "auto", true},
                 {"auto", NULL, true},   {"auto", "auto", true},  {"host", "auto", false},
                 {"cuda", NULL, false},  {"auto", "host", false}, {NULL, "host:2", false},
                 {NULL, "cuda", false},  {NULL, "", false},       {NULL, "automatic", false},
                 {"none", "auto", false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        if (cases[i].environment)
            setenv("WEFT_DEVICE", cases[i].environment, 1);
        else
            unsetenv("WEFT_DEVICE");
        assert_int_equal(weft_device_is_automatic(cases[i].name), cases[i].is_automatic);
    }
    unsetenv("WEFT_DEVICE");
}

static void automatic(void **state) {
    (void)state;
    setenv("WEFT_DEVICE", "host", 1);
    assert_int_equal(limits_of("auto").kind, WEFT_DEVICE_HOST);
    setenv("WEFT_DEVICE", "null:h200", 1);
    assert_int_equal(limits_of("auto").kind, WEFT_DEVICE_NULL);
    assert_int_equal(limits_of(NULL).lanes_double, 32);
    assert_int_equal(limits_of("host:1").kind, WEFT_DEVICE_HOST);
    setenv("WEFT_DEVICE", "auto", 1);
    assert_true(limits_of("auto").kind != WEFT_DEVICE_NULL);
    setenv("WEFT_DEVICE", "nonsense", 1);
    weft_device *device = NULL;
    weft_error error;
    assert_int_equal(weft_device_open("auto", NULL, &device, NULL), WEFT_ERROR_USAGE);
    /* nobody typed the name, so it is said where it is from */
    assert_int_equal(weft_device_open("auto", NULL, &device, &error), WEFT_ERROR_USAGE);
    assert_non_null(strstr(error.hint, "WEFT_DEVICE"));
    setenv("WEFT_DEVICE", "hots", 1);
    assert_int_equal(weft_device_open("auto", NULL, &device, &error), WEFT_ERROR_USAGE);
    assert_non_null(strstr(error.hint, "did you mean host?; "));
    assert_non_null(strstr(error.hint, "WEFT_DEVICE"));
    assert_int_equal(weft_device_open("hots", NULL, &device, &error), WEFT_ERROR_USAGE);
    assert_null(strstr(error.hint, "WEFT_DEVICE"));
    unsetenv("WEFT_DEVICE");
    weft_device_free(NULL);
}

static void host_limits(void **state) {
    (void)state;
    unsetenv("WEFT_INSTRUCTIONS"); /* the widest that the processor has */
    weft_limits limits = limits_of("host:3");
    int lanes = 2;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f"))
        lanes = 8;
    else if (__builtin_cpu_supports("avx2"))
        lanes = 4;
#endif
    assert_int_equal(limits.lanes_double, lanes);
    assert_int_equal(limits.lanes_float, 2 * lanes);
    assert_int_equal(limits.threads, 3);
    assert_non_null(strstr(limits.name, "host: "));
    assert_non_null(strstr(limits.name, "3 threads"));
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    /* the machine's, or less where a control group says so */
    assert_in_range(limits.memory_bytes, 1 << 20, (size_t)pages * (size_t)page);
    assert_int_equal(limits.multiprocessors, 3);
    assert_in_range(limits.l2_bytes, 1 << 15, (size_t)1 << 33);
    assert_true(limits.onchip_bytes >= 8192 && limits.register_bytes >= 256);
    assert_true(limits.bandwidth > 1e9 && limits.flops > 1e9 && limits.launch_seconds > 0);
    assert_non_null(strstr(limits_of("host:1").name, "1 thread"));
    assert_null(strstr(limits_of("host:1").name, "1 threads"));
    /* by default as many threads as there are processors to run on, or fewer by a quota */
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    assert_in_range(limits_of("host").threads, 1, CPU_COUNT(&set));
    cpu_set_t one;
    size_t first = 0;
    while (!CPU_ISSET(first, &set))
        ++first;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(limits_of("host").threads, 1);
    assert_int_equal(sched_setaffinity(0, sizeof set, &set), 0);
}

/* NVIDIA's data: 132 multiprocessors, 64 K registers of 4 bytes, 227 KB of shared memory a block.
 */
static void limits_of_an_h200(void **state) {
    (void)state;
    weft_limits limits = limits_of("null:h200");
    assert_int_equal(limits.kind, WEFT_DEVICE_NULL);
    assert_int_equal(limits.lanes_double, 32);
    assert_int_equal(limits.lanes_float, 32);
    assert_int_equal(limits.register_bytes, 262144);
    assert_int_equal(limits.onchip_bytes, 232448);
    assert_int_equal(limits.multiprocessors, 132);
    assert_int_equal(limits.l2_bytes, 60000000);
    assert_int_equal(limits.memory_bytes, 141000000000);
    assert_double_near(limits.bandwidth, 4.3e12, 0, 0);
    assert_double_near(limits.flops, 33.4e12, 1e-12, 0);
    assert_double_near(limits.launch_seconds, 3.1e-6, 0, 0);
    assert_non_null(strstr(limits.name, "132"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_are_none), cmocka_unit_test(automatic_without_a_name),
        cmocka_unit_test(automatic_or_not),    cmocka_unit_test(automatic),
        cmocka_unit_test(host_limits),         cmocka_unit_test(limits_of_an_h200),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
