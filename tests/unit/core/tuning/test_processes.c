/* labels: quick */
/* Many processes at one tuning database: none loses what another wrote, where it must be made and
 * where it must be made again; one that is killed while it writes leaves a sound one. */
#include "core/weft_core.h"
#include "core/weft_tuning.h"
#include "tuning_support.h"

#include <signal.h>
#include <sys/wait.h>

static const char device[] = "00000000000000000000000000000001";
enum { N_PROCESSES = 8, N_EACH = 20 };

static int child_writes(const tuning_place *place, int number) {
    weft_tuning *tuning = NULL;
    weft_error error;
    char primitive[32];
    snprintf(primitive, sizeof primitive, "routine %d", number);
    if (weft_tuning_open(&place->options, &tuning, &error) != WEFT_OK)
        return 1;
    if (!weft_tuning_path(tuning)[0])
        return 2;
    for (int i = 0; i < N_EACH; ++i) {
        const weft_tuning_time one = {primitive, {32, 0, i + 1, 0}, 1e-9 * (i + 1)};
        if (weft_tuning_add_times(tuning, device, &one, 1, &error) != WEFT_OK)
            return 3;
    }
    weft_tuning_close(&tuning);
    return 0;
}

static void all_write(tuning_place *place) {
    pid_t children[N_PROCESSES];
    int gate[2];
    char byte;
    assert_int_equal(pipe(gate), 0);
    for (int i = 0; i < N_PROCESSES; ++i) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            close(gate[1]);
            if (read(gate[0], &byte, 1) != 0) /* until the parent closes its end */
                _exit(9);
            _exit(child_writes(place, i));
        }
    }
    close(gate[0]);
    close(gate[1]);
    for (int i = 0; i < N_PROCESSES; ++i) {
        int result = 0;
        assert_int_equal(waitpid(children[i], &result, 0), children[i]);
        assert_true(WIFEXITED(result));
        assert_int_equal(WEXITSTATUS(result), 0);
    }
    weft_tuning *tuning = tuning_open(place);
    assert_int_equal(tuning_count(tuning, device, NULL), N_PROCESSES * N_EACH);
    weft_tuning_close(&tuning);
}

static void eight_write_at_once(void **state) {
    (void)state;
    tuning_place *place = tuning_place_make();
    all_write(place); /* there is nothing */
    all_write(place); /* it is there */
    size_t length = 0;
    char *bytes = test_file_read(place->file, &length);
    test_file_write(place->file, bytes, length / 2 + 100);
    all_write(place); /* it is cut off */
    test_text_write(place->file, "this is none");
    all_write(place);
    free(bytes);
    assert_int_equal(place->log.warnings, 0); /* the children's are theirs */
    tuning_place_free(place);
}

static void killed_while_writing(void **state) {
    (void)state;
    tuning_place *place = tuning_place_make();
    for (int round = 0; round < 5; ++round) {
        pid_t child = fork();
        if (child == 0)
            for (int i = 0;; ++i)
                if (child_writes(place, i) != 0)
                    _exit(1);
        usleep(20000 + 7000 * (useconds_t)round);
        assert_int_equal(kill(child, SIGKILL), 0);
        int result = 0;
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_true(WIFSIGNALED(result));
        weft_tuning *tuning = tuning_open(place);
        (void)tuning_count(tuning, device, NULL); /* each is right */
        tuning_add(tuning, device, "after", round + 1);
        assert_int_equal(tuning_count(tuning, device, "after"), round + 1);
        weft_tuning_close(&tuning);
    }
    assert_int_equal(place->log.warnings, 0);
    tuning_place_free(place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_write_at_once),
        cmocka_unit_test(killed_while_writing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
