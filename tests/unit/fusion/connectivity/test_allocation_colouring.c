/* labels: quick */
/* Colours of cells, made with their n-th allocation failing. "null:h200" has memory of its own. */
#include "allocation.h"
#include "core/weft_core.h"
#include "fusion/connectivity/connectivity.h"
#include "fusion/weft_program.h"
#include "test_support.h"

enum { CELLS = 300 }; /* all at node 0, so that one thread has a rest to do */

typedef struct colours_case {
    weft_device *device;
    int32_t indices[CELLS][2];
} colours_case;

static weft_status use_colours(void *user, weft_error *error) {
    weft_status status = WEFT_OK;
    const colours_case *c = user;
    weft_connectivity *connectivity = NULL;
    const weft_cell_colours *colours = NULL;
    TRY(weft_connectivity_make(c->device, &c->indices[0][0], CELLS, 2, CELLS + 1, &connectivity,
                               error));
    TRY(weft_connectivity_colours(connectivity, &colours, error));
done:
    weft_connectivity_free(&connectivity);
    return status;
}

static void colours(void **state) {
    (void)state;
    static const char *const devices[] = {"host:1", "null:h200"};
    for (int i = 0; i < 2; ++i) {
        colours_case c = {0};
        weft_error error = {0};
        for (int k = 0; k < CELLS; ++k)
            c.indices[k][1] = k + 1;
        assert_int_equal(weft_device_open(devices[i], NULL, &c.device, &error), WEFT_OK);
        assert_true(test_every_allocation("colours", use_colours, &c) > WEFT_CELL_COLOURS);
        weft_device_free(&c.device);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(colours)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
