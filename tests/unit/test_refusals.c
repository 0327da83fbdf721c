/* What shape functions refuse, in the words that they have for it, and what they take right beside
   that. By ONNX's operator documentation. */
#include "shape_call.h"

#include <stdio.h>

static void conv_needs_weights_for_all_channels(void **state)
{
    (void)state;
    for (int64_t channels = 1; channels < 5; channels++) {
        char text[128];
        start("Conv", 11);
        TENSOR(1, 6, 3, 3);
        TENSOR(4, channels, 1, 1);
        INT("group", 2);
        snprintf(text, sizeof text,
                 "weights for %d input channels in each of 2 groups; the input has 6 channels",
                 (int)channels);
        if (channels == 3)
            EXPECT(1, 4, 3, 3);
        else
            expect_failure(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conv_needs_weights_for_all_channels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
