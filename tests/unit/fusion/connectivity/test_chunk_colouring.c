/* labels: quick */
#include "core/weft_core.h"
#include "fusion/connectivity/connectivity.h"
#include "fusion/weft_program.h"
#include "test_support.h"

#include <stdlib.h>
#include <string.h>

/* xorshift, so that every run sees the same maps */
static uint64_t random_next(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static weft_device *device_make(const char *name) {
    weft_device *device = NULL;
    weft_device_options options = weft_device_options_default(NULL);
    assert_int_equal(weft_device_open(name, &options, &device, NULL), WEFT_OK);
    return device;
}

typedef struct connectivity {
    int64_t n_from, n_to;
    int width;
    int32_t *indices;
} connectivity;

/* Instances that see targets near to i * n_to / n, within `spread`, their order shuffled or not. */
static connectivity map_make(int64_t n_from, int width, int64_t n_to, int64_t spread,
                             uint64_t seed) {
    connectivity made = {n_from, n_to, width,
                         weft_array_make((size_t)(n_from * width), sizeof(int32_t))};
    assert_non_null(made.indices);
    for (int64_t i = 0; i < n_from; ++i)
        for (int k = 0; k < width; ++k) {
            int64_t j = i * n_to / n_from + (int64_t)(random_next(&seed) % (uint64_t)spread);
            made.indices[i * width + k] = (int32_t)(j % n_to);
        }
    return made;
}

static void map_shuffle(connectivity *m, uint64_t seed) {
    for (int64_t i = m->n_from - 1; i > 0; --i) {
        int64_t j = (int64_t)(random_next(&seed) % (uint64_t)(i + 1));
        for (int k = 0; k < m->width; ++k) {
            int32_t swapped = m->indices[i * m->width + k];
            m->indices[i * m->width + k] = m->indices[j * m->width + k];
            m->indices[j * m->width + k] = swapped;
        }
    }
}

/* Every block once, ranges not empty, and no target in two ranges of one colour. */
static void check_schedule(const connectivity *m, int lanes, const weft_schedule *schedule) {
    int64_t n_blocks = (m->n_from + lanes - 1) / lanes;
    int *seen = calloc((size_t)n_blocks + 1, sizeof *seen);
    int64_t *owner = malloc((size_t)(m->n_to + 1) * sizeof *owner);
    for (int64_t j = 0; j < m->n_to; ++j)
        owner[j] = -1;
    assert_int_equal(schedule->colour_start[0], 0);
    int64_t *colour_of = malloc((size_t)(m->n_to + 1) * sizeof *colour_of);
    for (int64_t j = 0; j < m->n_to; ++j)
        colour_of[j] = -1;
    for (int c = 0; c < schedule->n_colours; ++c) {
        assert_true(schedule->colour_start[c] < schedule->colour_start[c + 1]);
        for (int64_t r = schedule->colour_start[c]; r < schedule->colour_start[c + 1]; ++r) {
            int64_t first = schedule->ranges[r][0], last = schedule->ranges[r][1];
            assert_true(0 <= first && first < last && last <= n_blocks);
            for (int64_t b = first; b < last; ++b)
                seen[b] += 1;
            int64_t end = last * lanes < m->n_from ? last * lanes : m->n_from;
            for (int64_t i = first * lanes * m->width; i < end * m->width; ++i) {
                int32_t j = m->indices[i];
                if (colour_of[j] == c)
                    assert_int_equal(owner[j], r);
                colour_of[j] = c;
                owner[j] = r;
            }
        }
    }
    for (int64_t b = 0; b < n_blocks; ++b)
        assert_int_equal(seen[b], 1);
    free(seen);
    free(owner);
    free(colour_of);
}

static void schedules_share_no_target(void **state) {
    (void)state;
    weft_device *device = device_make("host:2");
    const int64_t sizes[] = {1, 7, 8, 9, 511, 513, 5000, 140001};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s)
        for (int shuffled = 0; shuffled < 2; ++shuffled)
            for (int width = 1; width <= 4; width += 3) {
                int64_t n_to = sizes[s] / 5 + 1;
                connectivity m =
                    map_make(sizes[s], width, n_to, n_to / 50 + 1, 88172645463325252u + s);
                if (shuffled)
                    map_shuffle(&m, 99 + s);
                weft_connectivity *c = NULL;
                assert_int_equal(
                    weft_connectivity_make(device, m.indices, m.n_from, m.width, m.n_to, &c, NULL),
                    WEFT_OK);
                for (int lanes = 1; lanes <= 32; lanes *= 8) {
                    const weft_schedule *schedule = NULL, *again = NULL;
                    assert_int_equal(weft_connectivity_schedule(c, lanes, &schedule, NULL),
                                     WEFT_OK);
                    check_schedule(&m, lanes, schedule);
                    assert_int_equal(weft_connectivity_schedule(c, lanes, &again, NULL), WEFT_OK);
                    assert_ptr_equal(schedule, again);
                }
                weft_connectivity_free(&c);
                free(m.indices);
            }
    weft_device_free(&device);
}

/* In a good order, chunks touch their neighbours only: few colours and many ranges in each. */
static void good_orders_need_few_colours(void **state) {
    (void)state;
    weft_device *device = device_make("host:2");
    connectivity m = map_make(200000, 4, 40000, 60, 5);
    weft_connectivity *c = NULL;
    const weft_schedule *schedule = NULL;
    assert_int_equal(weft_connectivity_make(device, m.indices, m.n_from, 4, m.n_to, &c, NULL),
                     WEFT_OK);
    assert_int_equal(weft_connectivity_schedule(c, 8, &schedule, NULL), WEFT_OK);
    assert_in_range(schedule->n_colours, 2, 3);
    for (int k = 0; k < schedule->n_colours; ++k)
        assert_true(schedule->colour_start[k + 1] - schedule->colour_start[k] >= 8);
    weft_connectivity_free(&c);
    free(m.indices);
    weft_device_free(&device);
}

static void interleaved_copy_has_the_layout(void **state) {
    (void)state;
    weft_device *device = device_make("host:1");
    const int32_t indices[] = {0, 1, 2, 1, 2, 3, 4, 0, 1};
    weft_connectivity *c = NULL;
    weft_memory *memory = NULL, *again = NULL;
    assert_int_equal(weft_connectivity_make(device, indices, 3, 3, 5, &c, NULL), WEFT_OK);
    assert_int_equal(weft_connectivity_interleaved(c, 2, &memory, NULL), WEFT_OK);
    const int32_t expected[] = {0, 1, 1, 2, 2, 3, 4, 4, 0, 0, 1, 1};
    int32_t found[12];
    assert_int_equal(weft_memory_bytes(memory), sizeof expected);
    assert_int_equal(weft_memory_read(memory, 0, found, sizeof found, NULL), WEFT_OK);
    assert_memory_equal(found, expected, sizeof expected);
    assert_int_equal(weft_connectivity_interleaved(c, 2, &again, NULL), WEFT_OK);
    assert_ptr_equal(memory, again);
    weft_connectivity_free(&c);
    weft_device_free(&device);
}

static void transpose_lists_every_place_once(void **state) {
    (void)state;
    weft_device *device = device_make("host:1");
    connectivity m = map_make(1003, 4, 300, 40, 77);
    weft_connectivity *c = NULL;
    weft_memory *starts = NULL, *places = NULL;
    const int lanes = 8;
    assert_int_equal(weft_connectivity_make(device, m.indices, m.n_from, 4, m.n_to, &c, NULL),
                     WEFT_OK);
    assert_int_equal(weft_connectivity_transposed(c, lanes, &starts, &places, NULL), WEFT_OK);
    const int64_t *start = weft_memory_host(starts);
    const uint32_t *position = weft_memory_host(places);
    assert_int_equal(start[0], 0);
    assert_int_equal(start[m.n_to], m.n_from * 4);
    for (int64_t j = 0, before = 0; j < m.n_to; ++j)
        for (int64_t k = start[j]; k < start[j + 1]; ++k) {
            int64_t place = position[k], local = place / lanes % 4;
            int64_t cell = place / lanes / 4 * lanes + place % lanes;
            assert_true(cell < m.n_from);
            assert_int_equal(m.indices[cell * 4 + local], j);
            assert_true(k == start[j] || cell * 4 + local > before); /* in the order of cells */
            before = cell * 4 + local;
        }
    weft_connectivity_free(&c);
    free(m.indices);
    weft_device_free(&device);
}

static void interleave_and_back(void **state) {
    (void)state;
    double plain[15], back[15], blocked[24];
    for (int i = 0; i < 15; ++i)
        plain[i] = i;
    weft_interleave(plain, 5, 3, 4, blocked);
    assert_double_near(blocked[0], 0, 0, 0);
    assert_double_near(blocked[1], 3, 0, 0); /* element 1, component 0 */
    assert_double_near(blocked[4], 1, 0, 0); /* element 0, component 1 */
    assert_double_near(blocked[12], 12, 0, 0);
    assert_double_near(blocked[15], 12, 0, 0); /* spare lane: the last element */
    weft_deinterleave(blocked, 5, 3, 4, back);
    assert_memory_equal(plain, back, sizeof plain);
}

static void wrong_indices_are_named(void **state) {
    (void)state;
    weft_device *device = device_make("host:1");
    const int32_t indices[] = {0, 1, 2, 5};
    weft_connectivity *c = NULL;
    weft_error error;
    assert_int_equal(weft_connectivity_make(device, indices, 2, 2, 5, &c, &error),
                     WEFT_ERROR_SHAPE);
    assert_non_null(strstr(error.message, "index 5 of element 1"));
    assert_int_equal(weft_connectivity_make(device, indices, 2, 2, (int64_t)1 << 31, &c, &error),
                     WEFT_ERROR_SHAPE);
    assert_null(c);
    weft_device_free(&device);
}

static void no_elements_no_colours(void **state) {
    (void)state;
    weft_device *device = device_make("host:1");
    const int32_t none[1] = {0};
    weft_connectivity *c = NULL;
    const weft_schedule *schedule = NULL;
    assert_int_equal(weft_connectivity_make(device, none, 0, 3, 5, &c, NULL), WEFT_OK);
    assert_int_equal(weft_connectivity_schedule(c, 8, &schedule, NULL), WEFT_OK);
    assert_int_equal(schedule->n_colours, 0);
    assert_int_equal(schedule->colour_start[0], 0);
    weft_connectivity_free(&c);
    weft_device_free(&device);
}

/* Every list ascends and leads back to its target, on any number of threads, also where one target
 * has more places than are sorted by hand. */
static void transposing_on_many_threads(void **state) {
    (void)state;
    const char *const names[] = {"host:1", "host:2", "host:5"};
    const int64_t n_to[] = {1, 60, 30000};
    enum { WIDTH = 4, LANES = 8, N = 50003 };
    for (size_t d = 0; d < sizeof names / sizeof *names; ++d)
        for (size_t s = 0; s < sizeof n_to / sizeof *n_to; ++s) {
            weft_device *device = device_make(names[d]);
            connectivity m = map_make(N, WIDTH, n_to[s], n_to[s] / 50 + 1, 7 + s);
            map_shuffle(&m, 3);
            weft_connectivity *c = NULL;
            weft_memory *start = NULL, *positions = NULL;
            assert_int_equal(weft_connectivity_make(device, m.indices, N, WIDTH, m.n_to, &c, NULL),
                             WEFT_OK);
            assert_int_equal(weft_connectivity_transposed(c, LANES, &start, &positions, NULL),
                             WEFT_OK);
            const int64_t *first = weft_memory_host(start);
            const uint32_t *places = weft_memory_host(positions);
            assert_int_equal(first[0], 0);
            assert_int_equal(first[m.n_to], (int64_t)N * WIDTH);
            for (int64_t j = 0, before = 0; j < m.n_to; ++j)
                for (int64_t k = first[j]; k < first[j + 1]; ++k) {
                    int64_t block = places[k] / (WIDTH * LANES), lane = places[k] % LANES;
                    int64_t i = places[k] / LANES % WIDTH;
                    assert_int_equal(m.indices[(block * LANES + lane) * WIDTH + i], j);
                    const int64_t number = (block * LANES + lane) * WIDTH + i;
                    assert_true(k == first[j] || number > before); /* in the order of cells */
                    before = number;
                }
            weft_connectivity_free(&c);
            free(m.indices);
            weft_device_free(&device);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedules_share_no_target),
        cmocka_unit_test(good_orders_need_few_colours),
        cmocka_unit_test(interleaved_copy_has_the_layout),
        cmocka_unit_test(transpose_lists_every_place_once),
        cmocka_unit_test(transposing_on_many_threads),
        cmocka_unit_test(interleave_and_back),
        cmocka_unit_test(wrong_indices_are_named),
        cmocka_unit_test(no_elements_no_colours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
