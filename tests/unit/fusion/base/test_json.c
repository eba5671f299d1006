/* labels: quick */
/* JSON values: numbers that are counts are integers, text is valid whatever its bytes, and what fails
 * leaves NULL. */
#include "fusion/base/json.h"
#include "test_support.h"

#include <math.h>
#include <string.h>

static void numbers(void **state) {
    (void)state;
    const double all[] = {0, 24, -3, 1e12, 0.5, 1e300};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        json_t *number = weft_json_number(all[i]);
        assert_int_equal(json_is_integer(number), i < 4);
        assert_true(json_number_value(number) == all[i]);
        json_decref(number);
    }
}

static void strings(void **state) {
    (void)state;
    json_t *plain = weft_json_string("a \"quoted\\name\".weft");
    assert_string_equal(json_string_value(plain), "a \"quoted\\name\".weft");
    json_decref(plain);
    json_t *broken = weft_json_string("x\xff\xc3(y");
    const char *text = json_string_value(broken);
    assert_non_null(text);
    assert_true(text[0] == 'x' && text[strlen(text) - 1] == 'y');
    json_decref(broken);
}

static void failures(void **state) {
    (void)state;
    json_t *list = json_array(), *object = json_object();
    weft_text out = {0};
    weft_json_append(&list, json_integer(1));
    assert_int_equal(json_array_size(list), 1);
    weft_json_append(&list, NULL);
    assert_null(list);
    weft_json_append(&list, json_integer(2));
    assert_null(list);
    weft_json_set(&object, "key", list);
    assert_null(object);
    weft_json_write(json_pack("{s:o}", "key", object), &out);
    assert_true(out.failed);
    weft_text_free(&out);
}

static void writes(void **state) {
    (void)state;
    const int list[] = {3, 2};
    weft_text out = {0};
    weft_json_write(json_pack("{s:o}", "shape", weft_json_integers(list, 2)), &out);
    json_t *read = json_loads(out.data, JSON_REJECT_DUPLICATES, NULL);
    const json_t *shape = json_object_get(read, "shape");
    assert_int_equal(json_array_size(shape), 2);
    assert_int_equal(json_integer_value(json_array_get(shape, 1)), 2);
    assert_int_equal(out.data[out.length - 1], '\n');
    json_decref(read);
    weft_text_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(strings),
        cmocka_unit_test(failures),
        cmocka_unit_test(writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
