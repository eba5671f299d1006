/* labels: quick */
/* The read-only cache that is installed with Weft: its kernels run without a compilation, and whatever is wrong with an
 * entry or with its folder, the kernel is compiled and gives its own answer. */
#include "cache_support.h"
#include "core/cache/cache.h"
#include "core/host/compiler.h"

enum { SHIPPED = 3, OTHER = 4 };

typedef struct shipped_place {
    cache_place *place;
    char *shipped; /* what WEFT_SHIPPED names */
    char *set;     /* its folder for this processor */
    char *bin;     /* has the counted compiler as cc */
    char *path;    /* $PATH of before */
} shipped_place;

/* The user names no compiler, and PATH leads to one that counts, which itself sees the PATH of before: ccache looks for
 * compilers there. */
static void find_counted_compiler(shipped_place *s) {
    char text[8192], *name;
    s->bin = test_path(s->place->folder, "bin");
    s->path = strdup(getenv("PATH"));
    assert_int_equal(mkdir(s->bin, 0700), 0);
    name = test_path(s->bin, "cc");
    assert_true(snprintf(text, sizeof text, "#!/bin/sh\nPATH='%s' exec '%s' \"$@\"\n", s->path,
                         s->place->compiler) < (int)sizeof text);
    test_text_write(name, text);
    assert_int_equal(chmod(name, 0700), 0);
    free(name);
    setenv("PATH", s->bin, 1);
    unsetenv("CC");
    s->place->options.compiler = NULL;
}

/* A shipped folder with the kernel SHIPPED, made by an ordinary run for the set's name. */
static shipped_place shipped_make(void) {
    shipped_place s = {.place = place_make()};
    weft_processor processor;
    assert_int_equal(weft_processor_read(NULL, &processor, NULL), WEFT_OK);
    assert_non_null(processor.set);
    s.shipped = test_path(s.place->folder, "shipped");
    assert_int_equal(mkdir(s.shipped, 0700), 0);
    s.set = test_path(s.shipped, processor.set);
    s.place->options.cache_directory = s.set;
    s.place->options.instructions = processor.set;
    setenv("WEFT_SHIPPED", "none", 1);
    assert_false(kernel_runs(s.place, SHIPPED));
    s.place->options.cache_directory = s.place->cache;
    s.place->options.instructions = NULL;
    setenv("WEFT_SHIPPED", s.shipped, 1);
    find_counted_compiler(&s);
    assert_int_equal(remove(s.place->runs), 0);
    return s;
}

static void shipped_free(shipped_place *s, const char *compiler) {
    setenv("PATH", s->path, 1);
    setenv("CC", compiler, 1);
    setenv("WEFT_SHIPPED", "none", 1);
    free(s->shipped);
    free(s->set);
    free(s->bin);
    free(s->path);
    place_free(s->place);
}

/* Sources that were compiled since `shipped_make`: the other runs ask for the version. */
static int n_compiled(const shipped_place *s) {
    int n = 0;
    char *text = test_file_read(s->place->runs, NULL);
    for (const char *line = text; line && *line; line += strcspn(line, "\n") + 1)
        n += strncmp(line, "--version", 9) != 0;
    free(text);
    return n;
}

static char *set_entry(const shipped_place *s) {
    const cache_place in_set = {.cache = s->set};
    return kernel_entry(&in_set);
}

static char *compiler; /* of the environment */

static void no_compilation_where_it_is_shipped(void **state) {
    (void)state;
    shipped_place s = shipped_make();
    weft_processor processor;
    for (int i = 0; i < 2; ++i) /* the kernel is not copied, so the second run needs it again */
        assert_true(kernel_runs(s.place, SHIPPED));
    assert_int_equal(n_compiled(&s), 0);
    assert_false(kernel_runs(s.place, OTHER));
    assert_int_equal(n_compiled(&s), 1);
    assert_true(kernel_runs(s.place, OTHER)); /* from the user's cache */
    assert_int_equal(n_compiled(&s), 1);
    /* the same set by its name */
    assert_int_equal(weft_processor_read(NULL, &processor, NULL), WEFT_OK);
    s.place->options.instructions = processor.set;
    assert_true(kernel_runs(s.place, SHIPPED));
    assert_int_equal(n_compiled(&s), 1);
    assert_int_equal(s.place->log.warnings, 0);
    shipped_free(&s, compiler);
}

static void without_a_compiler(void **state) {
    (void)state;
    shipped_place s = shipped_make();
    double answer = 0;
    bool cached = false;
    weft_error error;
    setenv("PATH", s.shipped, 1);
    assert_true(kernel_runs(s.place, SHIPPED));
    assert_int_equal(s.place->log.warnings, 0);
    assert_int_equal(run_kernel(&s.place->options, OTHER, &answer, &cached, NULL, &error),
                     WEFT_ERROR_COMPILER);
    shipped_free(&s, compiler);
}

/* What the user chose in place of shipped kernels. */
static void not_where_the_user_chose(void **state) {
    (void)state;
    shipped_place s = shipped_make();
    char *named = test_path(s.bin, "cc -DNAMED");
    s.place->options.compiler = named;
    assert_false(kernel_runs(s.place, SHIPPED));
    const int before = n_compiled(&s); /* of its version, too */
    assert_true(before > 0);
    free(named);
    s.place->options.compiler = NULL;
    s.place->options.cache = WEFT_CACHE_OFF;
    assert_false(kernel_runs(s.place, SHIPPED));
    s.place->options.cache = WEFT_CACHE_READ;
    assert_true(kernel_runs(s.place, SHIPPED));
    setenv("WEFT_SHIPPED", "none", 1);
    assert_false(kernel_runs(s.place, SHIPPED));
    assert_int_equal(n_compiled(&s), before + 2);
    assert_int_equal(s.place->log.warnings, 0);
    shipped_free(&s, compiler);
}

/* A change of an entry's bytes. */
typedef void entry_change(unsigned char *bytes, size_t *size);

/* With a changed entry, the kernel is compiled. */
static void check_ignored(entry_change *change) {
    shipped_place s = shipped_make();
    size_t size = 0;
    char *path = set_entry(&s);
    unsigned char *bytes = (unsigned char *)test_file_read(path, &size);
    change(bytes, &size);
    test_file_write(path, bytes, size);
    assert_false(kernel_runs(s.place, SHIPPED));
    assert_int_equal(n_compiled(&s), 1);
    assert_int_equal(s.place->log.warnings, 0);
    assert_true(kernel_runs(s.place, SHIPPED)); /* from the user's cache */
    assert_int_equal(n_compiled(&s), 1);
    free(bytes);
    free(path);
    shipped_free(&s, compiler);
}

/* Make header and hashes valid again. */
static void encode_again(unsigned char *bytes, size_t size, bool other_source) {
    weft_entry entry = {.kind = WEFT_ENTRY_HOST_MODULE, .payload_bytes = size - WEFT_ENTRY_HEADER};
    memcpy(entry.key, bytes + 24, 32);
    memcpy(entry.source_key, bytes + 56, 32);
    if (other_source)
        entry.source_key[31] = entry.source_key[31] == '0' ? '1' : '0';
    weft_hash(bytes + WEFT_ENTRY_HEADER, size - WEFT_ENTRY_HEADER, entry.payload_hash);
    weft_entry_encode(&entry, bytes);
}

static void cut_off(unsigned char *bytes, size_t *size) {
    (void)bytes;
    *size /= 2;
}

static void cut_in_header(unsigned char *bytes, size_t *size) {
    (void)bytes;
    *size = 100;
}

static void other_numbers(unsigned char *bytes, size_t *size) {
    const double shipped = SHIPPED, wrong = 5;
    int n = 0;
    for (size_t at = WEFT_ENTRY_HEADER; at + sizeof shipped <= *size; ++at)
        if (memcmp(bytes + at, &shipped, sizeof shipped) == 0) {
            memcpy(bytes + at, &wrong, sizeof wrong);
            ++n;
        }
    assert_true(n > 0);
}

static void half_an_object(unsigned char *bytes, size_t *size) {
    *size /= 2;
    encode_again(bytes, *size, false);
}

static void zeros(unsigned char *bytes, size_t *size) {
    memset(bytes + WEFT_ENTRY_HEADER, 0, *size - WEFT_ENTRY_HEADER);
    encode_again(bytes, *size, false);
}

/* The answer of another source, under this one's name and key: as if an entry of another version or of other options,
 * which are in the full key, had these 16 digits. */
static void other_source(unsigned char *bytes, size_t *size) {
    other_numbers(bytes, size);
    encode_again(bytes, *size, true);
}

static void damaged_entries(void **state) {
    (void)state;
    check_ignored(cut_off);
    check_ignored(cut_in_header);
    check_ignored(other_numbers);
    check_ignored(half_an_object);
    check_ignored(zeros);
}

static void stale_entries(void **state) {
    (void)state;
    check_ignored(other_source);
}

static void folders_that_are_not_trusted(void **state) {
    (void)state;
    shipped_place s = shipped_make();
    assert_int_equal(chmod(s.set, 0777), 0);
    assert_false(kernel_runs(s.place, SHIPPED));
    assert_int_equal(n_compiled(&s), 1);
    assert_int_equal(s.place->log.warnings, 1);
    assert_non_null(strstr(s.place->log.text, "shipped kernels are not used: others may write"));
    shipped_free(&s, compiler);
}

/* Where the folder of the program may be written by its group, as by pip where users have groups of their own, so may that of
 * the kernels, by the same group. */
static void group_of_the_program(void **state) {
    (void)state;
    cache_place *place = place_make();
    char *path = test_path(place->folder, "set"), reason[1200];
    struct stat of_program;
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(stat(path, &of_program), 0);
    const gid_t group = of_program.st_gid;
    static const struct {
        mode_t kernels, program;
        bool same, is_opened;
    } cases[] = {{0775, 0775, true, true},  {0775, 0755, true, false}, {0775, 0775, false, false},
                 {0777, 0777, true, false}, {0755, 0755, true, true},  {0755, 0775, false, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        bool missing = false;
        assert_int_equal(chmod(path, cases[i].kernels), 0);
        of_program.st_mode = S_IFDIR | cases[i].program;
        of_program.st_gid = cases[i].same ? group : group + 1;
        const int folder =
            weft_cache_folder_open(path, &of_program, &missing, reason, sizeof reason);
        assert_int_equal(folder >= 0, cases[i].is_opened);
        if (folder >= 0)
            close(folder);
    }
    free(path);
    place_free(place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_compilation_where_it_is_shipped),
        cmocka_unit_test(without_a_compiler),
        cmocka_unit_test(not_where_the_user_chose),
        cmocka_unit_test(damaged_entries),
        cmocka_unit_test(stale_entries),
        cmocka_unit_test(folders_that_are_not_trusted),
        cmocka_unit_test(group_of_the_program),
    };
    unsetenv("WEFT_INSTRUCTIONS"); /* the tests name their set */
    if (!getenv("CC") || !getenv("CC")[0])
        setenv("CC", "/usr/bin/cc", 1);
    compiler = strdup(getenv("CC"));
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(compiler);
    return failed;
}
