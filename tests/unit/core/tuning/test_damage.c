/* labels: quick */
/* A tuning database that is damaged, another program's, another format's, or where it may not be:
 * refused with the reason, and made again or kept in memory. Never a crash, never a wrong
 * number. */
#include "core/weft_core.h"
#include "core/weft_tuning.h"
#include "tuning_support.h"

#include <fcntl.h>
#include <sys/wait.h>

static const char device[] = "00000000000000000000000000000001";
enum { N_TIMES = 300 };

/* It works: what is put in is there, and, where `kept`, for the next one too. */
static void check_works(tuning_place *place, bool kept) {
    weft_tuning *tuning = tuning_open(place);
    assert_int_equal(weft_tuning_path(tuning)[0] != '\0', kept);
    tuning_add(tuning, device, "afterwards", 2);
    assert_int_equal(tuning_count(tuning, device, "afterwards"), 2);
    weft_tuning_close(&tuning);
    tuning = tuning_open(place);
    assert_int_equal(tuning_count(tuning, device, "afterwards"), kept ? 2 : 0);
    weft_tuning_close(&tuning);
}

static void check_said(tuning_place *place, const char *words) {
    if (place->log.warnings != 1 || !strstr(place->log.text, words))
        fail_msg("wanted one warning with \"%s\", got %d:\n%s", words, place->log.warnings,
                 place->log.text);
    memset(&place->log, 0, sizeof place->log);
}

static char *make_bytes(tuning_place *place, size_t *length) {
    weft_tuning *tuning = tuning_open(place);
    weft_error error = {0};
    weft_tuning_time times[N_TIMES];
    for (int i = 0; i < N_TIMES; ++i)
        times[i] = (weft_tuning_time){"whole", {32, 0, i + 1, 0}, 1e-9 * (i + 1)};
    tuning_ok(weft_tuning_add_times(tuning, device, times, N_TIMES, &error), &error);
    weft_tuning_close(&tuning);
    return test_file_read(place->file, length);
}

/* At any length: all of it is there, or it is made again. Every length about the ends of pages and
 * of the header, and some in each page. */
static void cut_off(void **state) {
    (void)state;
    tuning_place *place = tuning_place_make();
    size_t length = 0, n = 0;
    char *bytes = make_bytes(place, &length);
    assert_true(length > 3 * 4096);
    for (size_t cut = 0; cut <= length; ++cut) {
        const size_t in_page = cut % 4096;
        if (cut > 110 && in_page > 1 && in_page < 4095 && in_page % 977 != 0)
            continue;
        test_file_write(place->file, bytes, cut);
        memset(&place->log, 0, sizeof place->log);
        weft_tuning *tuning = tuning_open(place);
        assert_int_equal(tuning_count(tuning, device, "whole"), cut == length ? N_TIMES : 0);
        assert_int_equal(place->log.warnings, cut == length || cut == 0 ? 0 : 1);
        if (cut < length) {
            tuning_add(tuning, device, "again", 1);
            weft_tuning_close(&tuning);
            tuning = tuning_open(place);
            assert_int_equal(tuning_count(tuning, device, "again"), 1);
        }
        weft_tuning_close(&tuning);
        ++n;
    }
    assert_true(n > 150);
    free(bytes);
    tuning_place_free(place);
}

/* A byte that changes anywhere: a row is right or not there. */
static void changed_bytes(void **state) {
    (void)state;
    tuning_place *place = tuning_place_make();
    size_t length = 0;
    int64_t n_all = 0, n_damaged = 0;
    weft_error error = {0};
    char *bytes = make_bytes(place, &length);
    int fewer = 0;
    for (size_t at = 0; at < length; at += at < 100 ? 7 : 331) {
        bytes[at] = (char)(bytes[at] ^ 0x15);
        test_file_write(place->file, bytes, length);
        weft_tuning *tuning = tuning_open(place);
        weft_arena *arena = NULL;
        weft_tuning_time *times = NULL;
        size_t n = 0;
        tuning_ok(weft_arena_make(&arena, &error), &error);
        /* reading may find what opening has not, and says so */
        if (weft_tuning_times(tuning, device, NULL, arena, &times, &n, &error) == WEFT_OK)
            for (size_t i = 0; i < n; ++i) {
                assert_string_equal(times[i].primitive, "whole");
                assert_double_near(times[i].seconds, 1e-9 * (double)times[i].point.iterations, 0,
                                   0);
            }
        fewer += n < N_TIMES;
        weft_arena_free(&arena);
        weft_tuning_close(&tuning);
        bytes[at] = (char)(bytes[at] ^ 0x15);
    }
    assert_true(fewer > 20);

    /* a number changed in place, as SQLite would: found by the row's hash */
    test_file_write(place->file, bytes, length);
    tuning_sql(place->file, "UPDATE times SET seconds=1.5 WHERE iterations=7");
    memset(&place->log, 0, sizeof place->log);
    weft_tuning *tuning = tuning_open(place);
    assert_int_equal(tuning_count(tuning, device, "whole"), N_TIMES - 1);
    check_said(place, "damaged");
    tuning_ok(weft_tuning_verify(tuning, false, &n_all, &n_damaged, &error), &error);
    assert_int_equal(n_all, N_TIMES);
    assert_int_equal(n_damaged, 1);
    tuning_ok(weft_tuning_verify(tuning, true, &n_all, &n_damaged, &error), &error);
    tuning_ok(weft_tuning_verify(tuning, false, &n_all, &n_damaged, &error), &error);
    assert_int_equal(n_all, N_TIMES - 1);
    assert_int_equal(n_damaged, 0);
    weft_tuning_close(&tuning);
    free(bytes);
    tuning_place_free(place);
}

static void foreign_files(void **state) {
    (void)state;
    tuning_place *place = tuning_place_make();
    weft_tuning *tuning = tuning_open(place);
    tuning_add(tuning, device, "old", 3);
    weft_tuning_close(&tuning);

    tuning_sql(place->file, "PRAGMA user_version=77");
    tuning = tuning_open(place);
    assert_int_equal(tuning_count(tuning, device, "old"), 0);
    weft_tuning_close(&tuning);
    check_said(place, "it has format 77, not 1");
    check_works(place, true);

    tuning_sql(place->file, "PRAGMA application_id=5; CREATE TABLE mine(a)");
    check_works(place, true);
    check_said(place, "another program's database");

    test_text_write(place->file,
                    "This is no database at all, but it is longer than a header of one "
                    "hundred bytes and so looks like one.\n");
    check_works(place, true);
    check_said(place, "file is not a database");
    tuning_place_free(place);
}

static void links_and_folders(void **state) {
    (void)state;
    tuning_place *place = tuning_place_make();
    char *target = test_path(place->folder, "target");
    test_text_write(target, "untouched");
    weft_tuning *tuning = tuning_open(place);
    weft_tuning_close(&tuning);
    assert_int_equal(unlink(place->file), 0);
    assert_int_equal(symlink(target, place->file), 0);
    tuning = tuning_open(place);
    weft_tuning_close(&tuning);
    check_said(place, "is a symbolic link");
    check_works(place, false);
    char *text = test_file_read(target, NULL);
    assert_string_equal(text, "untouched");
    free(text);

    assert_int_equal(unlink(place->file), 0);
    assert_int_equal(mkdir(place->file, 0700), 0);
    memset(&place->log, 0, sizeof place->log);
    tuning = tuning_open(place);
    weft_tuning_close(&tuning);
    check_said(place, "is not a plain file");
    assert_int_equal(rmdir(place->file), 0);

    test_text_write(place->file, "");
    assert_int_equal(chmod(place->file, 0666), 0);
    tuning = tuning_open(place);
    weft_tuning_close(&tuning);
    check_said(place, "may be written by others");
    assert_int_equal(unlink(place->file), 0);

    /* the folder itself, by the cache's rules */
    assert_int_equal(chmod(place->cache, 0777), 0);
    tuning = tuning_open(place);
    weft_tuning_close(&tuning);
    check_said(place, "the tuning database keeps nothing");
    free(target);
    tuning_place_free(place);
}

/* In a child without rights where we are root, for whom nothing is read-only. */
static int in_read_only_home(tuning_place *place, uid_t user) {
    weft_tuning *tuning = NULL;
    weft_arena *arena = NULL;
    weft_tuning_time *times = NULL;
    weft_error error;
    size_t n = 0;
    const weft_tuning_time one = {"new", {1, 0, 1, 0}, 1};
    if (user != 0 && setuid(user) != 0)
        return 1;
    if (weft_tuning_open(&place->options, &tuning, &error) != WEFT_OK ||
        weft_arena_make(&arena, &error) != WEFT_OK)
        return 2;
    if (weft_tuning_path(tuning)[0] || !strstr(place->log.text, "cannot write in"))
        return 3;
    if (weft_tuning_times(tuning, device, "old", arena, &times, &n, &error) != WEFT_OK || n != 3)
        return 4; /* what is there serves */
    if (weft_tuning_add_times(tuning, device, &one, 1, &error) != WEFT_OK)
        return 5;
    if (weft_tuning_times(tuning, device, "new", arena, &times, &n, &error) != WEFT_OK || n != 1)
        return 6;
    weft_arena_free(&arena);
    weft_tuning_close(&tuning);
    return 0;
}

static void read_only_home(void **state) {
    (void)state;
    tuning_place *place = tuning_place_make();
    const uid_t user = geteuid() == 0 ? 65534 : 0;
    int result = 0;
    weft_tuning *tuning = tuning_open(place);
    tuning_add(tuning, device, "old", 3);
    weft_tuning_close(&tuning);
    if (user != 0) {
        assert_int_equal(chown(place->file, user, (gid_t)-1), 0);
        assert_int_equal(chown(place->cache, user, (gid_t)-1), 0);
        assert_int_equal(chmod(place->folder, 0755), 0);
    }
    assert_int_equal(chmod(place->cache, 0500), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(in_read_only_home(place, user));
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(chmod(place->cache, 0700), 0);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
    tuning_place_free(place);
}

/* WEFT_CACHE=read uses what is there and adds nothing; off does neither. */
static void modes(void **state) {
    (void)state;
    tuning_place *place = tuning_place_make();
    place->options.cache = WEFT_CACHE_READ;
    check_works(place, false); /* there is none yet, and none is made */
    struct stat info;
    assert_int_not_equal(stat(place->cache, &info), 0);
    place->options.cache = WEFT_CACHE_ON;
    check_works(place, true);
    for (int off = 0; off < 2; ++off) {
        place->options.cache = off ? WEFT_CACHE_OFF : WEFT_CACHE_READ;
        weft_tuning *tuning = tuning_open(place);
        assert_int_equal(tuning_count(tuning, device, "afterwards"), off ? 0 : 2);
        tuning_add(tuning, device, "unkept", 1);
        weft_tuning_close(&tuning);
    }
    place->options.cache = WEFT_CACHE_ON;
    weft_tuning *tuning = tuning_open(place);
    assert_int_equal(tuning_count(tuning, device, "unkept"), 0);
    weft_tuning_close(&tuning);
    assert_int_equal(place->log.warnings, 0);
    tuning_place_free(place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_off),        cmocka_unit_test(changed_bytes),
        cmocka_unit_test(foreign_files),  cmocka_unit_test(links_and_folders),
        cmocka_unit_test(read_only_home), cmocka_unit_test(modes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
