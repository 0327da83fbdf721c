/* Text for people, and JSON: what becomes of characters that are not to be shown. */
#include "cli/report/json.h"
#include "core/print.h"
#include "core/status.h"
#include "scratch.h"

#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 1, 2))) static char *text_of(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    char *text = amp_print_format(format, args);
    va_end(args);
    assert_non_null(text);
    return text;
}

#define assert_text(expected, ...)            \
    do {                                      \
        char *text_ = text_of(__VA_ARGS__);   \
        assert_string_equal(text_, expected); \
        free(text_);                          \
    } while (0)

static void plain_text_is_that_of_printf(void **state)
{
    (void)state;
    assert_text("", "%s", "");
    assert_text("a b\tc\n", "a %s\n", "b\tc");
    assert_text("  ab|ab  |ab", "%4s|%-4s|%1s", "ab", "ab", "ab");
    assert_text("   ab|ab   |a", "%*s|%*s|%.*s", 5, "ab", -5, "ab", 1, "ab");
    assert_text("ab|", "%.*s|%.0s", -1, "ab", "ab");
    assert_text("-1 18446744073709551615 7 -2 ff 100%", "%d %zu %lld %ld %x %d%%", -1, SIZE_MAX,
                7LL, -2L, 255u, 100);
    assert_text("1.50 1e+10     2.5 x", "%.2f %g %7.*f %c", 1.5, 1e10, 1, 2.5, 'x');
    assert_text("00012 +3 255 -4", "%05d %+d %hhu %jd", 12, 3, (unsigned char)255, (intmax_t)-4);
    assert_text("\xc3\xb6\xe2\x82\xac\xf0\x9f\x98\x80 \\d", "%s %s",
                "\xc3\xb6\xe2\x82\xac\xf0\x9f\x98\x80", "\\d");
}

static void what_is_not_to_be_shown_is_escaped(void **state)
{
    (void)state;
    assert_text("\\x1B[31m\\n\\r\\x07\\x7F\\x01", "%s", "\x1b[31m\n\r\a\x7f\x01");
    assert_text("\\u0080\\u009F\xc2\xa0", "%s", "\xc2\x80\xc2\x9f\xc2\xa0");
    assert_text("\\u202E\\u2066\\u200F\\u061C\\u2028\\u2029", "%s",
                "\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c\xe2\x80\xa8\xe2\x80\xa9");
    /* Bytes that are no UTF-8: alone, cut short, overlong, a surrogate. */
    assert_text("\\xFF\\x9B a\\xE2\\x82 \\xC0\\x80 \\xED\\xA0\\x80", "%s",
                "\xff\x9b a\xe2\x82 \xc0\x80 \xed\xa0\x80");
    assert_text("\\xC3 \\n", "%.1s %c", "\xc3\xb6", '\n');
    /* Once is enough. */
    assert_text("\\x1B", "%s", "\\x1B");
}

__attribute__((format(printf, 2, 3))) static void assert_markup(const char *expected,
                                                                const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = amp_print_markup(format, args);
    va_end(args);
    assert_string_equal(text, expected);
    free(text);
}

static void arguments_are_no_markup(void **state)
{
    (void)state;
    assert_markup("<b>&lt;/b&gt; &amp;amp; &quot;&#39; 7</b>", "<b>%s %c%c %d</b>", "</b> &amp;",
                  '"', '\'', 7);
    assert_markup("\\x1B\\n\\xFF \\uFFFE\\uFFFF \\u202E \xef\xbf\xbd\xc3\xb6", "%s",
                  "\x1b\n\xff \xef\xbf\xbe\xef\xbf\xbf \xe2\x80\xae \xef\xbf\xbd\xc3\xb6");
    /* XML alone has no place for them. */
    assert_text("\xef\xbf\xbe<&>", "%s", "\xef\xbf\xbe<&>");
}

static void failures_are_clean_lines(void **state)
{
    struct amp_error err = {.status = AMP_OK}, other = {.status = AMP_OK};
    char name[5000];

    (void)state;
    assert_int_equal(amp_fail(&err, AMP_MODEL, "%s: wrong\n%s", "a\nb", "^"), AMP_MODEL);
    amp_error_prefix(&err, "p\n%s", "q\x1b");
    assert_string_equal(err.text, "p\nq\\x1B: a\\nb: wrong\n^");
    assert_int_equal(amp_error_copy(&other, &err), AMP_MODEL);
    assert_string_equal(other.text, err.text);
    /* A long one is not cut within a character. */
    for (size_t shift = 0; shift < 4; shift++) {
        for (size_t i = 0; i + 3 < sizeof name; i += 3)
            memcpy(name + i, "\xe2\x82\xac", 4);
        err.status = AMP_OK;
        amp_fail(&err, AMP_MODEL, "%s%s", &"xxx"[shift % 4], name);
        assert_text(err.text, "%s", err.text);
        assert_non_null(strstr(err.text, "..."));
    }
}

static void json_is_whole_and_shown(void **state)
{
    static const char name[] = "\x1b\n\x7f\xc2\x85\xe2\x80\xae\xc3\xb6\"\\";
    json_t *object = json_object();
    json_error_t problem;

    (void)state;
    amp_json_set(object, "name", amp_json_text(name));
    amp_json_set(object, "bytes", amp_json_text("\xff"));
    char *text = amp_json_dump(object, JSON_COMPACT);
    assert_string_equal(text, "{\"name\":\"\\u001B\\n\\u007F\\u0085\\u202E\xc3\xb6\\\"\\\\\","
                              "\"bytes\":\"(not UTF-8)\"}");
    json_t *read = json_loads(text, 0, &problem);
    assert_non_null(read);
    assert_string_equal(json_string_value(json_object_get(read, "name")), name);
    json_decref(read);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_is_that_of_printf),
        cmocka_unit_test(what_is_not_to_be_shown_is_escaped),
        cmocka_unit_test(arguments_are_no_markup),
        cmocka_unit_test(failures_are_clean_lines),
        cmocka_unit_test(json_is_whole_and_shown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
