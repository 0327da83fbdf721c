/* What operators refuse, in their words, beside what they take: each line is a model of one node,
   run with its inputs given, of unknown shape, and constant. By ONNX's operator documentation. */
#include "one_node.h"

static void nodes_that_do_not_fit_their_schema(void **state)
{
    static const struct one_case cases[] = {
        {"Conv-11 f[1,1,3,3]", "1 inputs; 2 to 3 allowed"},
        {"Conv-11 f[1,1,3,3] f[1,1,1,1] f[1] f[1]", "4 inputs; 2 to 3 allowed"},
        {"Conv-11 _ f[1,1,1,1]", "input 0 (X) is missing"},
        {"Conv-11 f[1,1,3,3] f[1,1,1,1] _", "[1, 1, 3, 3]"},
        {"Relu-13 f[2] >2", "2 outputs; 1 needed"},
        {"Split-13 f[4] >0", "0 outputs; at least 1 needed"},
        {"Upsample-9 f[1,1,2,2] f[4]=1,1,2,2", "[1, 1, 4, 4]"},
        {"Upsample-10 f[1,1,2,2] f[4]=1,1,2,2", "the operator is deprecated since opset 10"},
        {"Relu-13 f[2] bogus=1", "unknown attribute 'bogus'"},
        {"Concat-13 f[2]", "attribute 'axis' is missing"},
        {"Concat-1 f[1,2]", "[1, 2]"},
        {"If-13 b[1]", "attribute 'else_branch' is missing"},
        {"Transpose-13 f[2,3] perm=1", "attribute 'perm' holds an int; ints is needed"},
        {"Transpose-13 f[2,3] perm=[1,0]", "[3, 2]"},
        {"Cast-13 f[2] to=99", "attribute 'to' is 99, which is no element type"},
        {"Cast-13 f[2] to=0", "attribute 'to' is 0, which is no element type"},
        {"Cast-24 f[2] to=24 round_mode=down", "[2]"},
        {"Cast-24 f[2] to=24 round_mode=sideways",
         "attribute 'round_mode' is 'sideways'; allowed: up, down, nearest"},
        {"Add-13 f[2] d[2]",
         "input 1 ('x1'): dtype float64; float32 needed, as other parameters of type T have it"},
        {"Gather-13 f[2] f[1]", "input 1 ('x1'): dtype float32; allowed: int32, int64"},
        {"Gather-13 f[2] j[1]", "[1]"},
        {"Relu-13 s[2]",
         "input 0 ('x0'): dtype string; allowed: float32, float16, float64, bfloat16"},
        {"Relu-13 i[2]",
         "input 0 ('x0'): dtype int64; allowed: float32, float16, float64, bfloat16"},
        {"QuantizeLinear-13 f[2] f[] i[]", "input 2 ('x2'): dtype int64; allowed: uint8, int8"},
        {"Dropout-13 f[2] f[] f[]", "input 2 ('x2'): dtype float32; allowed: bool"},
        {"Loop-13 i[] b[]", "attribute 'body' is missing"},
        {"Einsum-12 f[2,3] equation=az->za", "[3, 2]"},
        {"Einsum-12 f[2,3] equation=a[->[a",
         "equation 'a[->[a': letters, '...', ',' and '->' are allowed"},
        {"Einsum-12 f[2,3] equation=a`->`a",
         "equation 'a`->`a': letters, '...', ',' and '->' are allowed"},
        {"Einsum-12 f[2,3] equation=a@->@a",
         "equation 'a@->@a': letters, '...', ',' and '->' are allowed"},
    };
    (void)state;
    EXPECT_ALL(cases);
}

static void windows_and_weights(void **state)
{
    static const struct one_case cases[] = {
        {"Conv-11 f[1,6,3,3] f[4,3,1,1] group=2", "[1, 4, 3, 3]"},
        {"Conv-11 f[1,6,3,3] f[4,2,1,1] group=2",
         "weights for 2 input channels in each of 2 groups; the input has 6 channels"},
        {"Conv-11 f[1,6,3,3] f[4,4,1,1] group=2",
         "weights for 4 input channels in each of 2 groups; the input has 6 channels"},
        {"Conv-11 f[1,2,3,3] f[4,2,0,1]",
         "weights with 0 taps in spatial dim 0; 1 to 2147483647 allowed"},
        {"Conv-11 f[1,2,3,3] f[4,2,1,0]",
         "weights with 0 taps in spatial dim 1; 1 to 2147483647 allowed"},
        {"ConvTranspose-11 f[1,2,3,3] f[2,4,1,1]", "[1, 4, 3, 3]"},
        {"ConvTranspose-11 f[1,2,3,3] f[3,4,1,1]", "weights for 3 input channels; the input has 2"},
        {"ConvTranspose-11 f[1,2,3,3] f[1,4,1,1]", "weights for 1 input channels; the input has 2"},
        {"DeformConv-19 f[1,2,3,3] f[2,2,1,1] f[1,4,3,3] offset_group=2", "[1, 2, 3, 3]"},
        {"DeformConv-19 f[1,2,3,3] f[2,2,1,1] f[1,4,3,3] offset_group=3",
         "attribute 'offset_group' is 3; it must divide the 2 input channels"},
        {"DeformConv-19 f[1,2,3,3] f[2,2,1,1] f[1,4,3,3] offset_group=0",
         "attribute 'offset_group' is 0; it must divide the 2 input channels"},
        {"Col2Im-18 f[1,4,4] i[2]=3,3 i[2]=2,2", "[1, 1, 3, 3]"},
        {"Col2Im-18 f[1,4,4] i[2]=3,3 i[3]=2,2,1",
         "image_shape has 2 values and block_shape 3; as many, and at least one, are needed"},
        {"Col2Im-18 f[1,4,4] i[2]=3,0 i[2]=2,2",
         "an image of 0 and a block of 2 in spatial dim 1; 1 to 2147483647 allowed"},
        {"Col2Im-18 f[1,4,4] i[2]=3,3 i[2]=0,2",
         "an image of 3 and a block of 0 in spatial dim 0; 1 to 2147483647 allowed"},
        {"Col2Im-18 f[1,4,3] i[2]=3,3 i[2]=2,2",
         "input 0 has shape [1, 4, 3]; [N, C * 4, 4] is needed"},
        {"Col2Im-18 f[1,3,4] i[2]=3,3 i[2]=2,2",
         "input 0 has shape [1, 3, 4]; [N, C * 4, 4] is needed"},
        {"MaxUnpool-11 f[1,1,2] i[1,1,2] i[3]=1,1,4 kernel_shape=[2] strides=[2]", "[1, 1, 4]"},
        {"MaxUnpool-11 f[1,1,2] i[1,1,2] i[2]=1,4 kernel_shape=[2] strides=[2]",
         "output_shape has 2 values; 3 are needed"},
        {"MaxUnpool-11 f[1,1,2] i[1,1,2] i[3]=1,1,-1 kernel_shape=[2] strides=[2]",
         "output_shape holds -1; 0 to 2147483647 allowed"},
        {"MaxUnpool-11 f[1,1,2] i[1,1,2] i[3]=1,1,2147483648 kernel_shape=[2] strides=[2]",
         "output_shape holds 2147483648; 0 to 2147483647 allowed"},
        {"GlobalAveragePool-1 f[1,2,3,1]", "[1, 2, 1, 1]"},
        {"GlobalAveragePool-1 f[1,2,3,0]", "spatial dim 1 is 0; there is nothing to pool"},
        {"GlobalMaxPool-1 f[1,2,0,3]", "spatial dim 0 is 0; there is nothing to pool"},
        {"GlobalAveragePool-1 f[0,2,3,4]", "[0, 2, 1, 1]"},
        {"GlobalMaxPool-1 f[2,0,3]", "[2, 0, 1]"},
        {"AveragePool-11 f[0,2,3] kernel_shape=[2]", "[0, 2, 2]"},
        {"MaxPool-11 f[2,0,3] kernel_shape=[2] >2", "[2, 0, 2]"},
        {"LpPool-11 f[2,0,3] kernel_shape=[2]", "[2, 0, 2]"},
        {"GlobalLpPool-2 f[0,2,3]", "[0, 2, 1]"},
        {"GlobalLpPool-2 f[1,2,3] p=1", "[1, 2, 1]"},
        {"GlobalLpPool-2 f[1,2,3] p=0", "attribute 'p' is 0; it must be positive"},
        {"LRN-13 f[1,2] size=3", "[1, 2]"},
        {"LRN-13 f[2] size=3", "input 0 has rank 1; 2 or more is needed"},

        {"ConvTranspose-11 f[1,1,2] f[1,1,2] pads=[1,1]", "[1, 1, 1]"},
        {"ConvTranspose-11 f[1,1,2] f[1,1,1] pads=[1,1]",
         "spatial dim 0 of the output would be 0; 1 to 2147483647 allowed"},
    };
    (void)state;
    EXPECT_ALL(cases);
}

static void attention(void **state)
{
    static const struct one_case cases[] = {
        {"Attention-23 f[1,2,3,4] f[1,2,5,4] f[1,2,5,6]", "[1, 2, 3, 6]"},
        {"Attention-23 f[1,3,8] f[1,5,8] f[1,5,8] q_num_heads=2 kv_num_heads=2", "[1, 3, 8]"},
        {"Attention-23 f[1,2,3,4] f[1,5,8] f[1,2,5,6]",
         "input 1 has rank 3, input 0 4; both need 3 or both 4"},
        {"Attention-23 f[1,2,3,4] f[1,2,5,4] f[5,6]",
         "input 2 has rank 2, input 0 4; both need 3 or both 4"},
        {"Attention-23 f[3,4] f[5,4] f[5,6]",
         "input 0 has rank 2, input 0 2; both need 3 or both 4"},
        {"Attention-23 f[1,2,3,4] f[1,2,5,4] f[1,2,5,6] _ f[1,2,7,4] f[1,2,7,6] >3",
         "[1, 2, 3, 6]"},
        {"Attention-23 f[1,2,3,4] f[1,2,5,4] f[1,2,5,6] _ f[2,7,4] f[1,2,7,6] >3",
         "input 4 has rank 3; 4 is needed"},
        {"Attention-23 f[1,2,3,4] f[1,2,5,4] f[1,2,5,6] _ f[1,2,7,4]",
         "past_key and past_value go together"},
        {"Attention-23 f[1,4,3,4] f[1,3,5,4] f[1,3,5,6]",
         "4 heads of queries; 3 of keys do not divide them"},
        {"Attention-23 f[1,2,3,4] f[1,2,5,4] f[1,2,5,6] f[3,6]",
         "a mask of shape [3, 6] does not broadcast to the scores, shape [1, 2, 3, 5]"},
        {"Attention-23 f[1,2,3,4] f[1,2,5,4] f[1,2,5,6] f[3,4]",
         "a mask of shape [3, 4] does not broadcast to the scores, shape [1, 2, 3, 5]"},
        {"Attention-24 f[1,2,3,4] f[1,2,5,4] f[1,2,5,6] f[3,4]", "[1, 2, 3, 6]"},
        {"Attention-24 f[1,2,3,4] f[1,2,5,4] f[1,2,5,6] f[3,6]",
         "a mask of shape [3, 6] does not broadcast to the scores, shape [1, 2, 3, 5]"},
        {"Attention-24 f[1,2,3,4] f[1,2,5,4] f[1,2,5,6] _ _ _ i[1]=5", "[1, 2, 3, 6]"},
        {"Attention-24 f[1,2,3,4] f[1,2,5,4] f[1,2,5,6] _ _ _ i[1,1]=5",
         "nonpad_kv_seqlen is a vector, and not used together with a past"},
        {"RotaryEmbedding-23 f[1,2,3,4] f[1,3,2] f[1,3,2]", "[1, 2, 3, 4]"},
        {"RotaryEmbedding-23 f[1,3,8] f[1,3,2] f[1,3,2] num_heads=2", "[1, 3, 8]"},
        {"RotaryEmbedding-23 f[3,4] f[1,3,2] f[1,3,2]", "X has rank 2; 3 or 4 is needed"},
        {"RotaryEmbedding-23 f[1,1,2,3,4] f[1,3,2] f[1,3,2]", "X has rank 5; 3 or 4 is needed"},
        {"RotaryEmbedding-23 f[1,3,8] f[1,3,2] f[1,3,2] num_heads=3",
         "num_heads 3; a divisor of X's last dimension, 8, is needed"},
        {"RotaryEmbedding-23 f[1,3,8] f[1,3,2] f[1,3,2]",
         "num_heads 0; a divisor of X's last dimension, 8, is needed"},
        {"RotaryEmbedding-23 f[1,2,3,5] f[1,3,2] f[1,3,2]",
         "5 elements of heads of 5 are to be turned; an even number that is not larger is needed"},
        {"RotaryEmbedding-23 f[1,2,3,4] f[1,3,3] f[1,3,3] rotary_embedding_dim=6",
         "6 elements of heads of 4 are to be turned; an even number that is not larger is needed"},
        {"RotaryEmbedding-23 f[1,2,3,4] f[1,3,1] f[1,3,1] rotary_embedding_dim=-2",
         "-2 elements of heads of 4 are to be turned; an even number that is not larger is needed"},
        {"RotaryEmbedding-23 f[1,2,3,4] f[1,3,1] f[1,3,1] rotary_embedding_dim=2", "[1, 2, 3, 4]"},
        {"RotaryEmbedding-23 f[1,2,3,4] f[1,3,1] f[1,3,2]",
         "input 1 of shape [1, 3, 1] does not fit X of shape [1, 2, 3, 4]"},
        {"RotaryEmbedding-23 f[1,2,3,4] f[1,3,2] f[1,4,2]",
         "input 2 of shape [1, 4, 2] does not fit X of shape [1, 2, 3, 4]"},
        {"RotaryEmbedding-23 f[1,2,3,4] f[2,3,2] f[1,3,2]",
         "input 1 of shape [2, 3, 2] does not fit X of shape [1, 2, 3, 4]"},
        {"RotaryEmbedding-23 f[1,2,3,4] f[3,2] f[3,2]",
         "input 1 of shape [3, 2] does not fit X of shape [1, 2, 3, 4]"},
        {"RotaryEmbedding-23 f[1,2,3,4] f[9,2] f[9,2] i[1,3]=0,8,4", "[1, 2, 3, 4]"},
        {"RotaryEmbedding-23 f[1,2,3,4] f[9,2] f[9,2] i[3]=0,8,4",
         "positions of shape [3]; one for each of X's 1 by 3 is needed"},
        {"RotaryEmbedding-23 f[1,2,3,4] f[9,2] f[9,2] i[2,3]=0,8,4,0,0,0",
         "positions of shape [2, 3]; one for each of X's 1 by 3 is needed"},
        {"RotaryEmbedding-23 f[1,2,3,4] f[9,2] f[9,2] i[1,4]=0,8,4,0",
         "positions of shape [1, 4]; one for each of X's 1 by 3 is needed"},
    };
    (void)state;
    EXPECT_ALL(cases);
}

static void newest_attention(void **state)
{
    static const struct one_case cases[] = {
        {"LinearAttention-27 f[1,3,8] f[1,3,8] f[1,3,6] _ f[1,3,2] f[1,3,2] q_num_heads=2 "
         "kv_num_heads=2 >2",
         "[1, 3, 6]"},
        {"LinearAttention-27 f[1,3,8] f[1,3,4] f[1,3,3] _ f[1,3,1] f[1,3,1] q_num_heads=2 "
         "kv_num_heads=1 >2",
         "[1, 3, 6]"},
        {"LinearAttention-27 f[3,8] f[1,3,8] f[1,3,6] _ f[1,3,2] f[1,3,2] q_num_heads=2 "
         "kv_num_heads=2 >2",
         "query has rank 2; 3 is needed"},
        {"LinearAttention-27 f[1,3,7] f[1,3,8] f[1,3,6] _ f[1,3,2] f[1,3,2] q_num_heads=2 "
         "kv_num_heads=2 >2",
         "query has a last dimension of 7 for 2 heads"},
        {"LinearAttention-27 f[1,3,8] f[1,3,6] f[1,3,6] _ f[1,3,2] f[1,3,2] q_num_heads=2 "
         "kv_num_heads=2 >2",
         "key has a head size of 3; 4 is needed"},
        {"LinearAttention-27 f[1,3,8] f[1,3,8] f[1,3,7] _ f[1,3,2] f[1,3,2] q_num_heads=2 "
         "kv_num_heads=2 >2",
         "value has a last dimension of 7 for 2 heads"},
        {"LinearAttention-27 f[1,3,8] f[1,3,8] f[1,4,6] _ f[1,3,2] f[1,3,2] q_num_heads=2 "
         "kv_num_heads=2 >2",
         "value has a length of 4; 3 is needed"},
        {"LinearAttention-27 f[1,3,8] f[1,3,8] f[1,4,6] f[1,2,4,3] f[1,3,2] f[1,3,2] q_num_heads=2 "
         "kv_num_heads=2 >2",
         "value has a length of 4; 3 is needed"},
        {"LinearAttention-27 f[1,3,8] f[2,3,8] f[1,3,6] _ f[1,3,2] f[1,3,2] q_num_heads=2 "
         "kv_num_heads=2 >2",
         "key has a batch of 2; 1 is needed"},
        {"LinearAttention-27 f[1,3,8] f[1,3,8] f[1,3,6] f[1,2,4,3] f[1,3,2] f[1,3,2] q_num_heads=2 "
         "kv_num_heads=2 >2",
         "[1, 3, 6]"},
        {"LinearAttention-27 f[1,3,8] f[1,3,8] f[1,3,6] f[1,2,3,3] f[1,3,2] f[1,3,2] q_num_heads=2 "
         "kv_num_heads=2 >2",
         "past_state has a key size of 3; 4 is needed"},
        {"LinearAttention-27 f[1,3,8] f[1,3,8] f[1,3,6] f[1,1,4,3] f[1,3,2] f[1,3,2] q_num_heads=2 "
         "kv_num_heads=2 >2",
         "past_state has a number of heads of 1; 2 is needed"},
        {"LinearAttention-27 f[1,3,8] f[1,3,8] f[1,3,6] f[2,4,3] f[1,3,2] f[1,3,2] q_num_heads=2 "
         "kv_num_heads=2 >2",
         "past_state has rank 3; 4 is needed"},
        {"LinearAttention-27 f[1,3,8] f[1,3,8] f[1,3,6] _ f[1,2,2] f[1,3,2] q_num_heads=2 "
         "kv_num_heads=2 >2",
         "decay has a length of 2; 3 is needed"},
        {"LinearAttention-27 f[1,3,8] f[1,3,8] f[1,3,6] _ f[1,3,8] f[1,3,1] q_num_heads=2 "
         "kv_num_heads=2 >2",
         "[1, 3, 6]"},
        {"LinearAttention-27 f[1,3,8] f[1,3,8] f[1,3,6] _ f[1,3,2] f[1,3,4] q_num_heads=2 "
         "kv_num_heads=2 >2",
         "beta has a last dimension of 4; 1 or 2 is needed"},
        {"LinearAttention-27 f[1,3,8] f[1,3,8] f[1,3,6] _ f[1,3,2] _ q_num_heads=2 "
         "kv_num_heads=2 update_rule=gated >2",
         "[1, 3, 6]"},
        {"LinearAttention-27 f[1,3,8] f[1,3,8] f[1,3,6] _ _ f[1,3,2] q_num_heads=2 "
         "kv_num_heads=2 update_rule=delta >2",
         "[1, 3, 6]"},
        {"LinearAttention-27 f[1,3,8] f[1,3,8] f[1,3,6] _ f[1,3,2] f[1,3,2] q_num_heads=3 "
         "kv_num_heads=2 >2",
         "q_num_heads is 3, kv_num_heads 2, which must divide it"},
        {"CausalConvWithState-27 f[2,3,4] f[3,1,2] >2", "[2, 3, 4]"},
        {"CausalConvWithState-27 f[2,3,4] f[3,1,2] f[3] f[2,3,1] >2", "[2, 3, 4]"},
        {"CausalConvWithState-27 f[3,4] f[3,1,2] >2",
         "input has shape [3, 4]; [?, ?, ?] is needed"},
        {"CausalConvWithState-27 f[2,3,4] f[2,1,2] >2",
         "weight has shape [2, 1, 2]; [3, 1, ?] is needed"},
        {"CausalConvWithState-27 f[2,3,4] f[3,1,2] f[2] >2", "bias has shape [2]; [3] is needed"},
        {"CausalConvWithState-27 f[2,3,4] f[3,1,2] f[3] f[1,3,1] >2",
         "past_state has shape [1, 3, 1]; [2, 3, 1] is needed"},
        {"ai.onnx.preview.FlexAttention-1 f[1,2,3,4] f[1,2,5,4] f[1,2,5,6]", "[1, 2, 3, 6]"},
        {"ai.onnx.preview.FlexAttention-1 f[1,2,3,4] f[1,2,5,3] f[1,2,5,6]",
         "input 1 has shape [1, 2, 5, 3]; [1, 2, 5, 4] is needed"},
        {"ai.onnx.preview.FlexAttention-1 f[1,2,3,4] f[1,2,5,4] f[1,2,4,6]",
         "input 2 has shape [1, 2, 4, 6]; [1, 2, 5, ?] is needed"},
        {"ai.onnx.preview.FlexAttention-1 f[2,3,4] f[1,2,5,4] f[1,2,5,6]",
         "input 0 has shape [2, 3, 4]; [?, ?, ?, ?] is needed"},
        {"ai.onnx.preview.FlexAttention-1 f[1,4,3,4] f[1,3,5,4] f[1,3,5,6]",
         "4 heads of queries; 3 of keys do not divide them"},
    };
    (void)state;
    EXPECT_ALL(cases);
}

static void contributed_attention(void **state)
{
    static const struct one_case cases[] = {
        {"com.microsoft.RotaryEmbedding-1 f[1,2,3,4] i[1] f[9,2] f[9,2]", "[1, 2, 3, 4]"},
        {"com.microsoft.RotaryEmbedding-1 f[1,2,3,4] i[1] f[9,2] f[9,2] scale=2.0",
         "scale has no kernel"},
        {"com.microsoft.RotaryEmbedding-1 f[3,4] i[1] f[9,2] f[9,2]",
         "X of rank 2, caches of rank 2 and 2; 3 or 4, 2 and 2 needed"},
        {"com.microsoft.RotaryEmbedding-1 f[1,2,3,4] i[1] f[9,2] f[9]",
         "X of rank 4, caches of rank 2 and 1; 3 or 4, 2 and 2 needed"},
        {"com.microsoft.RotaryEmbedding-1 f[1,2,3,4] i[1] f[9,3] f[9,3]",
         "caches of 3 and 3 columns, num_heads 0 and rotary_embedding_dim 4 do not fit X's last "
         "dim "
         "of 4"},
        {"com.microsoft.RotaryEmbedding-1 f[1,2,3,4] i[1] f[9,2] f[9,1]",
         "caches of 2 and 1 columns, num_heads 0 and rotary_embedding_dim 4 do not fit X's last "
         "dim "
         "of 4"},
        {"com.microsoft.RotaryEmbedding-1 f[1,2,3,4] i[1,3]=0,1,8 f[9,2] f[9,2]", "[1, 2, 3, 4]"},
        {"com.microsoft.RotaryEmbedding-1 f[1,2,3,4] i[1,2] f[9,2] f[9,2]",
         "2 positions; 1 or one for each of X's 1 by 3 is needed"},
        {"com.microsoft.MultiHeadAttention-1 f[1,3,8] f[1,5,8] f[1,5,8] num_heads=2", "[1, 3, 8]"},
        {"com.microsoft.MultiHeadAttention-1 f[1,3,8] f[1,5,8] f[1,5,8] num_heads=0",
         "num_heads 0; 1 and above are possible"},
        {"com.microsoft.MultiHeadAttention-1 f[1,3,8] f[1,5,8] f[1,4,8] num_heads=2",
         "input 2 of shape [1, 4, 8]; the key's length is needed"},
        {"com.microsoft.MultiHeadAttention-1 f[1,3,8] f[1,5,6] f[1,5,8] num_heads=2",
         "input 1 of shape [1, 5, 6]; heads of the query's size are needed"},
        {"com.microsoft.MultiHeadAttention-1 f[1,3,8] f[1,5,8] f[1,5,8] _ _ _ f[1,2,7,4] "
         "num_heads=2",
         "past_key and past_value go together"},
        {"com.microsoft.MultiHeadAttention-1 f[1,3,8] f[1,5,8] f[1,5,8] _ _ _ f[1,2,7,4] "
         "f[1,2,6,4] "
         "num_heads=2",
         "input 7 of shape [1, 2, 6, 4]; [batch, heads, past length, size] is needed"},
        {"com.microsoft.Attention-1 f[1,3,6] f[6,12] f[12] num_heads=2", "[1, 3, 4]"},
        {"com.microsoft.Attention-1 f[1,3,6] f[6,12] f[12] num_heads=3",
         "input 1 of shape [6, 12]; columns for queries, keys and values of all heads are needed"},
        {"com.microsoft.Attention-1 f[1,3,6] f[6,12] f[12] num_heads=2 qkv_hidden_sizes=[4,4,4]",
         "[1, 3, 4]"},
        {"com.microsoft.Attention-1 f[1,3,6] f[6,12] f[12] num_heads=2 qkv_hidden_sizes=[4,2,4]",
         "qkv_hidden_sizes must be three, the first two of them equal"},
        {"com.microsoft.Attention-1 f[1,3,6] f[6,12] f[12] num_heads=2 qkv_hidden_sizes=[4,4]",
         "qkv_hidden_sizes must be three, the first two of them equal"},
        {"com.microsoft.Attention-1 f[1,3,6] f[6,10] f[10] num_heads=2 qkv_hidden_sizes=[4,4,2] >2",
         "a past or present needs keys and values of one size"},
        {"com.microsoft.Attention-1 f[1,3,6] f[6,10] f[10] num_heads=2 qkv_hidden_sizes=[3,3,4]",
         "input 1 of shape [6, 10]; columns for queries, keys and values of all heads are needed"},
        {"com.microsoft.Attention-1 f[1,3,6] f[6,11] f[11] num_heads=2 qkv_hidden_sizes=[4,4,3]",
         "input 1 of shape [6, 11]; columns for queries, keys and values of all heads are needed"},
        {"com.microsoft.Attention-1 f[1,3,6] f[6,12] f[12] num_heads=2 past_present_share_buffer=1",
         "past_present_share_buffer has no kernel"},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,8] f[1,2,4] f[1,2,4] _ _ j[1]=1 j[1]=2 "
         "num_heads=2 kv_num_heads=1 >3",
         "[1, 2, 8]"},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,8] f[1,2,4] _ _ _ j[1]=1 j[1]=2 "
         "num_heads=2 kv_num_heads=1 >3",
         "key and value go together"},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,8] f[1,2,4] f[1,2,4] f[1,1,3,4] _ j[1]=1 "
         "j[1]=2 num_heads=2 kv_num_heads=1 >3",
         "past_key and past_value go together"},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,8] f[1,2,4] f[1,2,4] _ _ j[1]=0 j[1]=1 "
         "num_heads=2 kv_num_heads=1 >3",
         "total_sequence_length 1; 2 are new"},
        {"com.microsoft.GroupQueryAttention-1 f[1,2,8] f[1,2,4] f[1,2,4] _ _ j[1]=1 j[1]=2 f[2,2] "
         "num_heads=2 kv_num_heads=1 do_rotary=1 >3",
         "do_rotary needs input 8"},
    };
    (void)state;
    EXPECT_ALL(cases);
}

static void scales_and_images(void **state)
{
    static const struct one_case cases[] = {
        {"QuantizeLinear-13 f[2,3] f[3] u[3] axis=1", "[2, 3]"},
        {"QuantizeLinear-13 f[2,3] f[2] u[2] axis=1", "2 scales for a dim of 3"},
        {"QuantizeLinear-13 f[2,3] f[3] u[2] axis=1", "zero point and scale differ in shape"},
        {"QuantizeLinear-21 f[2,7] f[2,3] u[2,3] axis=1 block_size=3", "[2, 7]"},
        {"QuantizeLinear-21 f[2,7] f[2,2] u[2,2] axis=1 block_size=3",
         "scales [2, 2] do not fit input [2, 7] on axis 1 in blocks of 3"},
        {"QuantizeLinear-21 f[2,7] f[1,3] u[1,3] axis=1 block_size=3",
         "scales [1, 3] do not fit input [2, 7] on axis 1 in blocks of 3"},
        {"QuantizeLinear-21 f[2,7] f[3] u[3] axis=1 block_size=3",
         "scales [3] do not fit input [2, 7] on axis 1 in blocks of 3"},
        {"Clip-13 f[3] f[]=0 f[1]=2", "[3]"},
        {"Clip-13 f[3] f[]=0 f[2]=1,2", "input 2 must be a scalar"},
        {"AffineGrid-20 f[1,2,3] i[4]=1,1,2,2", "[1, 2, 2, 2]"},
        {"AffineGrid-20 f[1,2,3] i[3]=1,1,2", "size has 3 values; 4 or 5 are needed"},
        {"GridSample-20 f[1,1,2,2] f[1,3,3,2] mode=cubic", "[1, 1, 3, 3]"},
        {"GridSample-20 f[2,1,2,2] f[1,3,3,2]", "a batch of 2 and grids for 1"},
        {"GridSample-20 f[1,1,2,2,2,2,2] f[1,1,1,1,1,1,5] mode=cubic", "[1, 1, 1, 1, 1, 1, 1]"},
        {"GridSample-20 f[1,1,2,2,2,2,2,2] f[1,1,1,1,1,1,1,6] mode=cubic",
         "no kernel for cubic sampling of 6 dims"},
        {"Resize-13 f[1,1,2,2] _ f[4]=1,1,2,2", "[1, 1, 4, 4]"},
        {"Resize-13 f[1,1,2,2] _ f[3]=1,1,2", "3 scales; 4 are needed, one per axis"},
        {"Resize-13 f[1,1,2,2] _ f[4]=1,1,0,2", "scale 0; a positive number is needed"},
        {"Resize-18 f[1,1,2,2] _ f[2]=2,3 axes=[2,3]", "[1, 1, 4, 6]"},
        {"Resize-18 f[1,1,2,2] _ f[4]=1,1,2,2 keep_aspect_ratio_policy=not_larger",
         "attribute 'keep_aspect_ratio_policy' other than stretch needs sizes, not scales"},
        {"Upsample-1 f[1,1,2,2] height_scale=2.0 width_scale=2.0", "[1, 1, 4, 4]"},
        {"Upsample-1 f[1,2,2] height_scale=2.0 width_scale=2.0",
         "input 0 has rank 3; rank 4 is needed"},
        {"RoiAlign-16 f[1,1,4,4] f[2,4] i[2]", "[2, 1, 1, 1]"},
        {"RoiAlign-16 f[1,1,4,4] f[2,4] i[3]", "2 regions and 3 batch indices"},
        {"RoiAlign-16 f[1,1,4,4] f[2,5] i[2]", "input 1 has shape [2, 5]; its last dim must be 4"},
        {"RoiAlign-16 f[1,1,4,0] f[2,4] i[2]", "the image is empty"},
        {"NonMaxSuppression-11 f[1,3,4] f[1,2,3]", "[0, 3]"},
        {"NonMaxSuppression-11 f[1,3,4] f[1,2,4]",
         "boxes have shape [1, 3, 4] and scores [1, 2, 4]; [batch, boxes, 4] and [batch, classes, "
         "boxes] are needed"},
        {"NonMaxSuppression-11 f[1,3,4] f[2,2,3]",
         "boxes have shape [1, 3, 4] and scores [2, 2, 3]; [batch, boxes, 4] and [batch, classes, "
         "boxes] are needed"},

        {"Resize-18 f[1,1,2,2] _ f[5]=1,1,1,1,1 axes=[0,1,2,3,0]",
         "attribute 'axes' has 5 values; input 0 has rank 4"},
        {"AffineGrid-20 f[1,2,3] i[4]=1,1,-2,2", "size holds -2; 0 to 2147483647 allowed"},
        {"com.microsoft.QLinearAdd-1 u[3] f[1] u[1] u[3] f[1] u[1] f[1] u[1]", "[3]"},
        {"com.microsoft.QLinearAdd-1 u[3] f[2] u[1] u[3] f[1] u[1] f[1] u[1]",
         "input 1 has 2 values; 1 is needed"},
        {"com.microsoft.QLinearAdd-1 u[3] f[1] u[1] u[3] f[1] u[1] f[1] u[2]",
         "input 7 has 2 values; 1 is needed"},
    };
    (void)state;
    EXPECT_ALL(cases);
}

static void products_norms_and_reductions(void **state)
{
    static const struct one_case cases[] = {
        {"Det-11 f[2,3,3]", "[2]"},
        {"Det-11 f[2,3]", "shape [2, 3]; square matrices are needed"},
        {"Det-11 f[3]", "shape [3]; square matrices are needed"},
        {"QLinearMatMul-10 u[2,3] f[] u[] u[3,4] f[4] u[4] f[] u[]", "[2, 4]"},
        {"QLinearMatMul-10 u[2,3] f[] u[] u[3,4] f[3] u[3] f[] u[]",
         "input 5 of shape [3] does not broadcast to a matrix of shape [3, 4]"},
        {"BatchNormalization-15 f[2,3] f[3] f[3] f[3] f[3]", "[2, 3]"},
        {"BatchNormalization-15 f[] f[1] f[1] f[1] f[1]",
         "X is a scalar; rank 1 or more is needed"},
        {"BatchNormalization-15 f[2,3] f[2] f[3] f[3] f[3]",
         "input 1 of shape [2] does not hold a value for each channel of X, shape [2, 3]"},
        {"BatchNormalization-15 f[2,3] f[3] f[3] f[3] f[4]",
         "input 4 of shape [4] does not hold a value for each channel of X, shape [2, 3]"},
        {"BatchNormalization-15 f[2,3] f[3] f[3] f[3] f[3] >2",
         "output 1 is there only in training"},
        {"BatchNormalization-15 f[2,3] f[3] f[3] f[3] f[3] training_mode=1 >3", "[2, 3]"},
        {"GroupNormalization-21 f[1,4,2] f[4] f[4] num_groups=2", "[1, 4, 2]"},
        {"GroupNormalization-21 f[1,0,2] f[0] f[0] num_groups=2", "[1, 0, 2]"},
        {"GroupNormalization-21 f[1,0,2] f[0] f[0] num_groups=-1",
         "-1 groups; 0 channels do not divide into them"},
        {"SoftmaxCrossEntropyLoss-13 f[2,3] i[2]=0,2", "[]"},
        {"SoftmaxCrossEntropyLoss-13 f[2,3] i[2]=0,3", "label 3; there are 3 classes"},
        {"SoftmaxCrossEntropyLoss-13 f[2,3] i[2]=0,-1", "label -1; there are 3 classes"},
        {"SoftmaxCrossEntropyLoss-13 f[2,3] i[2]=0,-1 ignore_index=-1", "[]"},
        {"SoftmaxCrossEntropyLoss-13 f[3] i[1]", "input 0 has rank 1; 2 or more is needed"},
        {"SoftmaxCrossEntropyLoss-13 f[2,3] i[3]",
         "input 1 has not the shape of input 0 without its classes"},
        {"SoftmaxCrossEntropyLoss-13 f[2,3] i[2] f[2]",
         "input 2 has not one weight for each of 3 classes"},
        {"ArgMax-13 f[2,0,3] axis=1", "no element to choose from: axis 1 has length 0"},
        {"ArgMax-13 f[0,3] axis=1", "[0, 1]"},
        {"TopK-11 f[3] i[1]=2 >2", "[2]"},
        {"TopK-11 f[3] i[0] >2", "input 1 (K) is empty"},
        {"CumSum-14 f[3] i[]=0", "[3]"},
        {"CumSum-14 f[3] i[0]", "input 1 (axis) is empty"},
        {"com.microsoft.SkipLayerNormalization-1 f[1,2,4] f[1,2,4] f[4]", "[1, 2, 4]"},
        {"com.microsoft.SkipLayerNormalization-1 f[1,2,4] f[1,2,3] f[4]",
         "shapes [1, 2, 4] and [1, 2, 3] do not broadcast"},
        {"com.microsoft.SkipLayerNormalization-1 f[1,1,4] f[1,2,4] f[4]",
         "skip of shape [1, 2, 4] does not broadcast to [1, 1, 4]"},

        {"com.microsoft.SkipLayerNormalization-1 f[] f[] f[1]", "a scalar has no dim to normalize"},
        {"com.microsoft.EmbedLayerNormalization-1 j[2,3] _ f[9,4] f[9,4] _ f[4] f[4] >2",
         "[2, 3, 4]"},
        {"com.microsoft.EmbedLayerNormalization-1 j[3] _ f[9,4] f[9,4] _ f[4] f[4] >2",
         "word ids of rank 1; 2 is needed"},
        {"com.microsoft.EmbedLayerNormalization-1 j[2,3] _ f[9,4] f[9,5] _ f[4] f[4] >2",
         "input 3 needs rank 2 and a last dim of 4"},
        {"com.microsoft.EmbedLayerNormalization-1 j[2,3] _ f[9,4] f[9,4] _ f[4] f[1,4] >2",
         "input 6 needs rank 1 and a last dim of 4"},
        {"com.microsoft.EmbedLayerNormalization-1 j[2,3] j[2,2] f[9,4] f[9,4] f[2,4] f[4] f[4] >2",
         "input 1 of shape [2, 2] does not fit X, shape [2, 3]"},
        {"GroupNormalization-18 f[1,4,2] f[2] f[2] num_groups=2", "[1, 4, 2]"},
        {"GroupNormalization-18 f[1,4,2] f[4] f[2] num_groups=2",
         "input 1 of shape [4] does not hold a value for each group of X, shape [1, 4, 2]"},
        {"GroupNormalization-21 f[1,4,2] f[4] f[2] num_groups=2",
         "input 2 of shape [2] does not hold a value for each channel of X, shape [1, 4, 2]"},

        {"Gemm-13 f[2,3] f[3,4] f[4]", "[2, 4]"},
        {"Gemm-13 f[2,3] f[3,4] f[2,1]", "[2, 4]"},
        {"Gemm-13 f[3,2] f[3,4] transA=1", "[2, 4]"},
        {"Gemm-13 f[2,3] f[4,3] transB=1", "[2, 4]"},
        {"Gemm-13 f[2,3] f[3,4,1]", "both must have rank 2"},
        {"Gemm-13 f[3] f[3,4]", "both must have rank 2"},
        {"Gemm-13 f[2,3] f[4,4]", "inner dimensions differ"},
        {"Gemm-13 f[2,3] f[3,4] transA=1", "inner dimensions differ"},
        {"Gemm-13 f[2,3] f[3,4] transB=1", "inner dimensions differ"},
        {"Gemm-13 f[2,3] f[3,4] f[3]", "C of shape [3] does not broadcast to the product's [2, 4]"},
        {"Gemm-13 f[2,3] f[3,4] f[1,2,4]",
         "C of shape [1, 2, 4] does not broadcast to the product's [2, 4]"},
        {"MatMul-13 f[2,3] f[3]", "[2]"},
        {"MatMul-13 f[3] f[3,2]", "[2]"},
        {"MatMul-13 f[3] f[3]", "[]"},
        {"MatMul-13 f[5,1,2,3] f[4,3,2]", "[5, 4, 2, 2]"},
        {"MatMul-13 f[2,3] f[2,3]", "inner dimensions differ"},
        {"LayerNormalization-17 f[2,3,4] f[4]", "[2, 3, 4]"},
        {"LayerNormalization-17 f[2,3,4] f[3,4] axis=1", "[2, 3, 4]"},
        {"LayerNormalization-17 f[2,3,4] f[4] axis=3", "axis 3; rank 3 allows -3 to 2"},
    };
    (void)state;
    EXPECT_ALL(cases);
}

static void recurrent_layers(void **state)
{
    static const struct one_case cases[] = {
        {"LSTM-14 f[3,2,4] f[1,20,4] f[1,20,5] f[1,40] j[2]=3,1 f[1,2,5] f[1,2,5] f[1,15] "
         "hidden_size=5",
         "[3, 1, 2, 5]"},
        {"LSTM-14 f[2,4] f[1,20,4] f[1,20,5] hidden_size=5", "input 0 has rank 2; 3 is needed"},
        {"LSTM-14 f[3,2,4] f[20,4] f[1,20,5] hidden_size=5", "input 1 has rank 2; 3 is needed"},
        {"LSTM-14 f[3,2,4] f[1,20,4] f[20,5] hidden_size=5", "input 2 has rank 2; 3 is needed"},
        {"LSTM-14 f[3,2,4] f[1,20,4] f[1,20,5] hidden_size=-1", "hidden_size is -1"},
        {"LSTM-14 f[3,2,4] f[1,20,3] f[1,20,5] hidden_size=5",
         "input 1 has shape [1, 20, 3]; [1, 20, 4] is needed"},
        {"LSTM-14 f[3,2,4] f[1,20,4] f[1,20,4] hidden_size=5",
         "input 2 has shape [1, 20, 4]; [1, 20, 5] is needed"},
        {"LSTM-14 f[3,2,4] f[1,20,4] f[1,20,5] f[1,20] hidden_size=5",
         "input 3 has shape [1, 20]; [1, 40] is needed"},
        {"LSTM-14 f[3,2,4] f[1,20,4] f[1,20,5] _ j[3] hidden_size=5",
         "input 4 has shape [3]; [2] is needed"},
        {"LSTM-14 f[3,2,4] f[1,20,4] f[1,20,5] _ j[2]=0,4 hidden_size=5",
         "sequence 1 has length 4; there are 3 steps"},
        {"LSTM-14 f[3,2,4] f[1,20,4] f[1,20,5] _ _ f[2,1,5] hidden_size=5",
         "input 5 has shape [2, 1, 5]; [1, 2, 5] is needed"},
        {"LSTM-14 f[3,2,4] f[1,20,4] f[1,20,5] _ _ _ f[1,2,4] hidden_size=5",
         "input 6 has shape [1, 2, 4]; [1, 2, 5] is needed"},
        {"LSTM-14 f[3,2,4] f[1,20,4] f[1,20,5] _ _ _ _ f[1,20] hidden_size=5",
         "input 7 has shape [1, 20]; [1, 15] is needed"},
        {"GRU-14 f[2,3,4] f[1,15,4] f[1,15,5] _ _ f[2,1,5] hidden_size=5 layout=1", "[2, 3, 1, 5]"},
        {"GRU-14 f[2,3,4] f[1,15,4] f[1,15,5] _ _ f[1,2,5] hidden_size=5 layout=1",
         "input 5 has shape [1, 2, 5]; [2, 1, 5] is needed"},

        {"RNN-14 f[3,1,1] f[1,1,1] f[1,1,1] hidden_size=1 activations={Relu}", "[3, 1, 1, 1]"},
        {"RNN-14 f[3,1,1] f[1,1,1] f[1,1,1] hidden_size=1 activations={Relu,Relu}",
         "2 activations; 1 are needed"},
        {"RNN-14 f[3,1,1] f[2,1,1] f[2,1,1] hidden_size=1 activations={Relu} "
         "direction=bidirectional",
         "1 activations; 2 are needed"},
        {"RNN-14 f[3,1,1] f[1,1,1] f[1,1,1] hidden_size=1 activations={Swish}",
         "unknown activation 'Swish'"},
    };
    (void)state;
    EXPECT_ALL(cases);
}

static void signals(void **state)
{
    static const struct one_case cases[] = {
        {"DFT-20 f[1,4,1]", "[1, 4, 2]"},
        {"DFT-20 f[1,4,1] i[]=3 i[]=1 onesided=1", "[1, 2, 2]"},
        {"DFT-20 f[1,4,1] i[]=-1", "input 1 is -1; 0 is the least possible"},
        {"DFT-20 f[1,4,1] i[]=0", "a transform of length 0"},
        {"DFT-20 f[1,4,1] i[0]", "input 1 has no element; one integer is needed"},
        {"DFT-20 f[1,4,1] _ i[]=2", "axis 2 is the one of real and imaginary parts"},
        {"DFT-20 f[1,4,3]", "the last dimension must be 1 or 2: real, or real and imaginary"},
        {"DFT-20 f[4]", "the last dimension must be 1 or 2: real, or real and imaginary"},
        {"DFT-20 f[1,4,2] onesided=1", "a one-sided transform needs real values"},
        {"DFT-20 f[1,4,1] onesided=1 inverse=1", "a one-sided transform needs complex values"},
        {"STFT-17 f[1,8,1] i[]=2 f[4]", "[1, 3, 3, 2]"},
        {"STFT-17 f[1,8,1] i[]=2 _ i[]=8", "[1, 1, 5, 2]"},
        {"STFT-17 f[1,8,1] i[]=2 _ i[]=9", "frames of 9 samples; the signal has 8"},
        {"STFT-17 f[1,8,1] i[]=0 _ i[]=4", "a frame step or a frame length of 0"},
        {"STFT-17 f[1,8,1] i[]=2 _ i[]=0", "a frame step or a frame length of 0"},
        {"STFT-17 f[1,8,1] i[]=2 f[2,2]", "the window has rank 2; 1 is needed"},
        {"STFT-17 f[1,8,1] i[]=2 f[4] i[]=5", "the window has not the length of a frame, 5"},
        {"STFT-17 f[1,8,2] i[]=2 f[4]",
         "a signal of 2 parts; 1, or 2 when not one-sided, is possible"},
        {"STFT-17 f[1,8,2] i[]=2 f[4] onesided=0", "[1, 3, 4, 2]"},
        {"STFT-17 f[1,8,3] i[]=2 f[4] onesided=0",
         "a signal of 3 parts; 1, or 2 when not one-sided, is possible"},
        {"STFT-17 f[8,1] i[]=2 f[4]", "the signal has rank 2; 3 is needed"},
        {"MelWeightMatrix-17 i[]=2 i[]=8 i[]=8000 f[]=0 f[]=4000", "[5, 2]"},

        {"MelWeightMatrix-17 i[]=2 i[]=8 i[]=8000 f[2] f[]=4000", "input 3 has not one element"},
        {"HannWindow-17 i[]=4", "[4]"},
        {"HannWindow-17 i[]=-1", "input 0 is -1; 0 is the least possible"},
    };
    (void)state;
    EXPECT_ALL(cases);
}

static void moves(void **state)
{
    static const struct one_case cases[] = {
        {"Split-18 f[6] num_outputs=2 >2", "[3]"},
        {"Split-18 f[5] num_outputs=2 >2", "[3]"},
        {"Split-18 f[6] num_outputs=3 >2", "num_outputs is 3; there are 2 outputs"},
        {"Split-13 f[6] i[2]=2,4 >2", "[2]"},
        {"Split-13 f[5] >2", "a dim of 5 cannot be split into 2 equal parts"},
        {"Split-13 f[6] i[3]=2,2,2 >2", "split has 3 values; there are 2 outputs"},
        {"Split-11 f[6] split=[2,2,2] >2", "split has 3 values; there are 2 outputs"},
        {"Split-13 f[6] i[2]=7,-1 >2", "split[1] is -1; sizes are at least 0"},
        {"Split-13 f[6] i[2]=2,3 >2", "the sizes in split sum up to 5; the dim is 6"},
        {"Range-11 f[]=0 f[]=3 f[]=1", "[3]"},
        {"Range-11 f[]=0 f[2]=3,3 f[]=1", "input 1 has 2 elements; one is needed"},
        {"EyeLike-9 f[2,3]", "[2, 3]"},
        {"EyeLike-9 f[2]", "the input has 1 dims; 2 are needed"},
        {"GatherElements-13 f[2,3] i[2,3]", "[2, 3]"},
        {"GatherElements-13 f[2,3] i[2]", "indices have rank 1, data 2; they must be equal"},
        {"GatherND-13 f[2,3] i[2,1] batch_dims=1", "[2]"},
        {"GatherND-13 f[2,3] i[2,1] batch_dims=2", "batch_dims is 2; ranks 2 and 2 allow 0 to 1"},
        {"GatherND-13 f[2,3] i[2,1] batch_dims=-1", "batch_dims is -1; ranks 2 and 2 allow 0 to 1"},
        {"GatherND-13 f[2,3] i[4,1] batch_dims=1", "batch dim 0 is 2 in data and 4 in indices"},
        {"GatherND-13 f[2,3] i[2,3]", "the last dim of indices is 3; 1 to 2 are possible"},
        {"ReverseSequence-10 f[2,3] i[3]", "[2, 3]"},
        {"ReverseSequence-10 f[2,3] i[3] time_axis=2", "time_axis is 2; 0 and 1 are possible"},
        {"ReverseSequence-10 f[2,3] i[3] batch_axis=-1", "batch_axis is -1; 0 and 1 are possible"},
        {"ReverseSequence-10 f[2,3] i[3] time_axis=1", "time_axis and batch_axis are both 1"},
        {"ReverseSequence-10 f[3] i[3]", "the input has rank 1; at least 2 is needed"},
        {"ReverseSequence-10 f[2,3] i[3,1]", "sequence_lens has rank 2; 1 is needed"},
        {"ReverseSequence-10 f[2,3] i[2]", "sequence_lens has 2 values; the batch has 3"},
        {"Pad-18 f[3] i[2]=1,2", "[6]"},
        {"Pad-18 f[3,3] i[2]=1,2 _ i[1]=1", "[3, 6]"},
        {"Pad-18 f[3] i[3]=1,2,3", "pads has 3 values; two for each axis are needed"},
        {"Pad-18 f[3] i[2]=1,2 f[2]", "constant_value has 2 elements; one is needed"},
        {"Pad-18 f[3,3] i[2]=1,2 _ i[2]=0,1",
         "values for 1 axes, but 2 axes; the input has 2 dims"},
        {"Slice-13 f[4,4] i[1]=1 i[1]=3", "[2, 4]"},
        {"Slice-13 f[4,4] i[1]=1 i[1]=3 i[1]=0 i[2]=1,1", "starts has 1 values, steps 2"},
        {"Slice-13 f[4,4] i[1]=1 i[1]=3 i[1]=0 i[1]=0", "steps[0] is 0"},
        {"Slice-13 f[4] i[2]=1,1 i[2]=3,3", "starts has 2 values; the input has 1 dims"},
        {"DepthToSpace-13 f[1,4,2,2] blocksize=2", "[1, 1, 4, 4]"},
        {"DepthToSpace-13 f[1,4,2,2] blocksize=0", "blocksize is 0; 1 to 2147483647 are possible"},
        {"SpaceToDepth-13 f[4,2,2] blocksize=2", "the input has 3 dims; 4 are needed"},
        {"SpaceToDepth-13 f[1,1,4,2] blocksize=2", "[1, 4, 2, 1]"},
        {"SpaceToDepth-13 f[1,1,3,2] blocksize=2", "axis 2 has size 3; a multiple of 2 is needed"},
        {"Multinomial-7 f[2,3] sample_size=4", "[2, 4]"},
        {"Multinomial-7 f[3] sample_size=4", "input 0 has rank 1; it must be [batch, classes]"},
        {"Multinomial-7 f[2,0] sample_size=4", "input 0 has no classes"},
        {"Multinomial-7 f[2,3] sample_size=-1", "attribute 'sample_size' is -1"},
        {"Dropout-13 f[3] f[]=0.5 b[]=1", "[3]"},
        {"Dropout-13 f[3] f[]=1.5 b[]=1", "ratio 1.5; 0 to 1 is possible"},
        {"Dropout-13 f[3] f[]=-0.5 b[]=1", "ratio -0.5; 0 to 1 is possible"},
        {"Squeeze-11 f[1,1] axes=[0,0,0,0,0,0,0,0,0,0,0,0,0]",
         "attribute 'axes' has 13 values; at most 12 are possible"},
        {"Squeeze-13 f[1,1] i[13]", "input 1 has 13 values; at most 12 are possible"},

        {"Pad-18 f[3] i[2]=4611686018427387904,0",
         "pads[0] is 4611686018427387904, which is out of range"},
        {"GatherND-13 f[] i[1]", "data and indices have ranks 0 and 1; at least 1 is needed"},
        {"SplitToSequence-11 f[5] i[2]=2,3", "[2]"},
        {"SplitToSequence-11 f[5] i[2]=2,2", "split: the parts are 4 long together; dim 0 is 5"},
        {"SplitToSequence-11 f[5] i[2]=2,4", "split: length 4 of part 1; dim 0 is 5"},
        {"SplitToSequence-11 f[5] i[2]=-1,6", "split: length -1 of part 0; dim 0 is 5"},

        {"Range-11 i[]=0 i[]=5 i[]=2", "[3]"},
        {"Range-11 i[]=0 i[]=6 i[]=2", "[3]"},
        {"Range-11 i[]=5 i[]=0 i[]=-2", "[3]"},
        {"Range-11 i[]=6 i[]=0 i[]=-2", "[3]"},
        {"Range-11 i[]=5 i[]=5 i[]=1", "[0]"},
        {"Range-11 i[]=5 i[]=0 i[]=1", "[0]"},
        {"Range-11 i[]=0 i[]=5 i[]=-1", "[0]"},
        {"Range-11 i[]=0 i[]=5 i[]=0", "delta is 0"},
        {"Concat-13 f[2,3] f[2,4] axis=1", "[2, 7]"},
        {"Concat-13 f[2,3] f[2,4] axis=-1", "[2, 7]"},
        {"Concat-13 f[2,3] f[2,4] axis=2", "axis 2; rank 2 allows -2 to 1"},
        {"Squeeze-13 f[1,2,1] i[1]=2", "[1, 2]"},
        {"Squeeze-13 f[1,2,1] i[2]=0,-1", "[2]"},
        {"Squeeze-13 f[1,2,1]", "[2]"},
        {"Squeeze-13 f[1,2,1] i[1]=3", "axis 3; rank 3 allows -3 to 2"},
        {"Squeeze-13 f[1,2,1] i[1]=-4", "axis -4; rank 3 allows -3 to 2"},
        {"Squeeze-11 f[1,2,1] axes=[3]", "axis 3; rank 3 allows -3 to 2"},
        {"Unsqueeze-13 f[2] i[2]=0,2", "[1, 2, 1]"},
        {"Unsqueeze-13 f[2] i[1]=2", "axis 2; rank 2 allows -2 to 1"},
        {"Flatten-13 f[2,3,4] axis=2", "[6, 4]"},
        {"Flatten-13 f[2,3,4] axis=4", "axis 4; rank 3 allows -3 to 3"},
        {"Expand-13 f[2,1] i[3]=3,1,4", "[3, 2, 4]"},
        {"Tile-13 f[2,3] i[2]=2,1", "[4, 3]"},
        {"Transpose-13 f[2,3,4] perm=[2,0,1]", "[4, 2, 3]"},
        {"Gather-13 f[2,3] i[4] axis=1", "[2, 4]"},
        {"Gather-13 f[2,3] i[4] axis=2", "axis 2; rank 2 allows -2 to 1"},
        {"Gather-13 f[2,3] i[1]=2", "indices: element 0 is 2; axis 0 of size 2 allows -2 to 1"},
        {"Gather-13 f[2,3] i[1]=-3", "indices: element 0 is -3; axis 0 of size 2 allows -2 to 1"},
        {"Gather-13 f[2,3] i[1]=-2", "[1, 3]"},
    };
    (void)state;
    EXPECT_ALL(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NET_TEST(nodes_that_do_not_fit_their_schema),
        NET_TEST(windows_and_weights),
        NET_TEST(attention),
        NET_TEST(newest_attention),
        NET_TEST(contributed_attention),
        NET_TEST(scales_and_images),
        NET_TEST(products_norms_and_reductions),
        NET_TEST(recurrent_layers),
        NET_TEST(signals),
        NET_TEST(moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
