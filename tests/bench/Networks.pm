# Networks as nodes of Onnx.pm, with made-up weights, in the node patterns of PyTorch's exporter (opset 17, evaluation mode:
# BatchNormalization is in the convolutions' weights), batch 1: their parts, and those whose structure several scripts make in
# sizes of their own. Weights are scaled so that activations stay near 1.
#
#   write_network('m.onnx', 'lstm', 'inputs', lstm(width => 512, steps => 128));
package Networks;
use strict;
use warnings;
use Exporter 'import';
use Onnx;
our @EXPORT = qw(scoped named conv convolve linear gemm layer_norm batch_norm gelu gelu_new swish transpose reshape softmax gather
    average concat pool slice activated split_in relu relu6 leaky heads attention float_input named_input ids_input also resnet
    mobilenetv2 vit bert_layer bert gpt2 gpt2_past lstm write_network write_inputs);

my @values;    # a tensor file per input: [name, type, dims, bytes]
my @states;    # outputs beside the first

sub scoped { my ($name, $code, @arguments) = @_; local $Onnx::scope = "$Onnx::scope/$name"; $code->(@arguments) }

# A name for a weight from the scope: "layer.0.conv.weight".
sub named { my ($part) = @_; my $name = "$Onnx::scope/$part"; $name =~ s{^/}{}; $name =~ tr{/}{.}; $name }

# ---- parts -------------------------------------------------------------------------------------------------------------

# A square kernel of SIZE; STD is the gain of the layer, 2 where a ReLU follows.
sub conv { my ($x, $in, $out, $size, $stride, $gain, $groups) = @_;
    $groups //= 1;
    my $fan_in = $in / $groups * $size ** 2;
    my $pad = $size > $stride ? ($size - 1) / 2 : 0;
    my $w = weight(named('weight'), [$out, $in / $groups, $size, $size], sqrt($gain / $fan_in));
    node('Conv', [$x, $w, weight(named('bias'), [$out], 0.1)], dilations => ints_value(1, 1), group => int_value($groups),
        kernel_shape => ints_value($size, $size), pads => ints_value(($pad) x 4), strides => ints_value($stride, $stride))
}

# A kernel of several sizes: KERNEL => [3, 3], STRIDE and DILATION of all axes or an array of each, GROUPS, GAIN (2), PADS (those
# that keep the size), causal => 1 for all of them before the first. No bias with bare => 1.
sub convolve { my ($x, $in, $out, %how) = @_;
    my ($kernel, $groups) = ($how{kernel}, $how{groups} // 1);
    my ($strides, $dilations) = map { ref $_ ? $_ : [($_ // 1) x @$kernel] } @how{qw(stride dilation)};
    my $fan_in = $in / $groups;
    $fan_in *= $_ for @$kernel;
    my @around = map { $dilations->[$_] * ($kernel->[$_] - 1) } 0 .. $#$kernel;
    my @pads = $how{causal} ? (@around, (0) x @around) : (map { int($_ / 2) } @around, @around);
    my @weights = weight(named('weight'), [$out, $in / $groups, @$kernel], sqrt(($how{gain} // 2) / $fan_in));
    push @weights, weight(named('bias'), [$out], 0.1) unless $how{bare};
    node('Conv', [$x, @weights], dilations => ints_value(@$dilations), group => int_value($groups),
        kernel_shape => ints_value(@$kernel), pads => ints_value(@{$how{pads} // \@pads}), strides => ints_value(@$strides))
}

our $has_bias = 1;    # of linear; to be set with local $Networks::has_bias

# x W + b over the last axis, as it is exported for three dimensions and more.
sub linear { my ($x, $in, $out, $gain) = @_;
    my $y = node('MatMul', [$x, weight(named('weight_t'), [$in, $out], sqrt(($gain // 1) / $in))]);
    return $y unless $has_bias;
    node('Add', [weight(named('bias'), [$out], 0.1), $y])
}

# The same for two dimensions.
sub gemm { my ($x, $in, $out) = @_;
    node('Gemm', [$x, weight(named('weight'), [$out, $in], 1 / sqrt $in), weight(named('bias'), [$out], 0.1)],
        alpha => float_value(1), beta => float_value(1), transB => int_value(1))
}

sub layer_norm { my ($x, $width, $epsilon) = @_;
    node('LayerNormalization', [$x, weight(named('weight'), [$width], 0.1, 1), weight(named('bias'), [$width], 0.1)],
        axis => int_value(-1), epsilon => float_value($epsilon))
}

# A batch normalisation that the exporter left as it is.
sub batch_norm { my ($x, $width) = @_;
    my @weights = map { weight(named($_->[0]), [$width], 0.1, $_->[1]) } ['weight', 1], ['bias', 0], ['mean', 0], ['var', 1];
    node('BatchNormalization', [$x, @weights], epsilon => float_value(1e-5))
}

sub swish { my ($x) = @_; node('Mul', [$x, node('Sigmoid', [$x])]) }

sub gelu { my ($x) = @_;
    my $erf = node('Erf', [node('Div', [$x, real(sqrt 2)])]);
    node('Mul', [node('Mul', [$x, node('Add', [$erf, real(1)])]), real(0.5)])
}

# GPT-2's: with tanh.
sub gelu_new { my ($x) = @_;
    my $cube = node('Mul', [node('Pow', [$x, real(3)]), real(0.044715)]);
    my $tanh = node('Tanh', [node('Mul', [node('Add', [$x, $cube]), real(sqrt(2 / atan2(0, -1)))])]);
    my $half = node('Mul', [$x, real(0.5)]);
    node('Mul', [$half, node('Add', [$tanh, real(1)])])
}

sub transpose { my ($x, @perm) = @_; node('Transpose', [$x], perm => ints_value(@perm)) }
sub reshape { my ($x, @dims) = @_; node('Reshape', [$x, ints(@dims)], allowzero => int_value(0)) }
sub softmax { my ($x) = @_; node('Softmax', [$x], axis => int_value(-1)) }
sub gather { my ($table, $ids, $axis) = @_; node('Gather', [$table, $ids], axis => int_value($axis // 0)) }
sub average { my ($x) = @_; node('Flatten', [node('GlobalAveragePool', [$x])], axis => int_value(1)) }
sub concat { my ($axis, @parts) = @_; node('Concat', \@parts, axis => int_value($axis)) }
sub slice { my ($x, $axis, $from, $to, $step) = @_; node('Slice', [$x, ints($from), ints($to), ints($axis), ints($step // 1)]) }
sub split_in { my ($x, $count, $axis, $size) = @_;
    nodes('Split', [$x, ints(($size) x $count)], $count, axis => int_value($axis))
}

# ---- convolutional networks --------------------------------------------------------------------------------------------

sub relu { node('Relu', [$_[0]]) }
sub relu6 { node('Clip', [$_[0], real(0), real(6)]) }
sub leaky { node('LeakyRelu', [$_[0]], alpha => float_value(0.1)) }

# A convolution of NAME with what follows it, F: activated('conv1', \&relu, $x, $in, $out, $size, $stride).
sub activated { my ($name, $f, @arguments) = @_; $f->(scoped($name, \&conv, @arguments[0 .. 4], 2, $arguments[5])) }

# Of SIZE and STRIDE on both axes, 2 where not given, padded by PAD.
sub pool { my ($op, $x, $size, $stride, $pad) = @_;
    node($op, [$x], kernel_shape => ints_value(($size // 2) x 2), pads => ints_value(($pad // 0) x 4),
        strides => ints_value(($stride // 2) x 2))
}

sub bottleneck { my ($x, $in, $width, $stride) = @_;
    my $y = relu(scoped('conv1', \&conv, $x, $in, $width, 1, 1, 2));
    $y = relu(scoped('conv2', \&conv, $y, $width, $width, 3, $stride, 2));
    $y = scoped('conv3', \&conv, $y, $width, 4 * $width, 1, 1, 0.2);
    $x = scoped('downsample.0', \&conv, $x, $in, 4 * $width, 1, $stride, 1) if $in != 4 * $width;
    relu(node('Add', [$y, $x]))
}

# The input of a network, of noise; one of several.
sub float_input { push @values, ['input', $FLOAT, [@_]]; 'input' }
sub named_input { my ($name, @dims) = @_; push @values, [$name, $FLOAT, [@dims]]; $name }

# For images of SIDE: STEM channels, then stages of [number, width, count] of blocks that are bottlenecks or what BLOCK makes,
# with EXPANSION times the width at their ends.
sub resnet { my (%size) = @_;
    my ($block, $expansion) = ($size{block} // \&bottleneck, $size{expansion} // 4);
    my ($stem, $classes) = @size{qw(stem classes)};
    my $x = relu(scoped('conv1', \&conv, float_input(1, 3, ($size{side}) x 2), 3, $stem, 7, 2, 2));
    $x = node('MaxPool', [$x], ceil_mode => int_value(0), dilations => ints_value(1, 1), kernel_shape => ints_value(3, 3),
        pads => ints_value(1, 1, 1, 1), strides => ints_value(2, 2));
    my $in = $stem;
    for my $stage (@{$size{stages}}) {
        my ($number, $width, $count) = @$stage;
        for my $i (0 .. $count - 1) {
            $x = scoped("layer$number/layer$number.$i", $block, $x, $in, $width, $number > 1 && $i == 0 ? 2 : 1);
            $in = $expansion * $width;
        }
    }
    return (scoped('fc', \&gemm, average($x), $in, $classes), 1, $classes)
}

sub inverted_residual { my ($x, $in, $out, $stride, $expansion) = @_;
    my $width = $in * $expansion;
    my $y = $x;
    $y = relu6(scoped('conv.0', \&conv, $y, $in, $width, 1, 1, 2)) if $expansion > 1;
    $y = relu6(scoped('conv.1', \&conv, $y, $width, $width, 3, $stride, 2, $width));
    $y = scoped('conv.2', \&conv, $y, $width, $out, 1, 1, 0.5);
    $stride == 1 && $in == $out ? node('Add', [$x, $y]) : $y
}

# Stages of [expansion, channels, count, stride]; HEAD channels at the end.
sub mobilenetv2 { my (%size) = @_;
    my ($stem, $head, $classes) = @size{qw(stem head classes)};
    my $x = relu6(scoped('features/features.0', \&conv, float_input(1, 3, ($size{side}) x 2), 3, $stem, 3, 2, 2));
    my ($in, $number) = ($stem, 1);
    for my $stage (@{$size{stages}}) {
        my ($expansion, $out, $count, $stride) = @$stage;
        for my $i (0 .. $count - 1) {
            $x = scoped('features/features.' . $number++, \&inverted_residual, $x, $in, $out, $i == 0 ? $stride : 1, $expansion);
            $in = $out;
        }
    }
    $x = relu6(scoped("features/features.$number", \&conv, $x, $in, $head, 1, 1, 2));
    return (scoped('classifier/classifier.1', \&gemm, average($x), $head, $classes), 1, $classes)
}

# ---- transformers ------------------------------------------------------------------------------------------------------

# torch.nn.functional.scaled_dot_product_attention, whose scale is computed from the shape and its root put on both factors.
sub sdpa { my ($q, $k, $v) = @_;
    my $size = node('Slice', [node('Shape', [$q]), ints(-1), ints(9223372036854775807)]);
    my $root = node('Sqrt', [node('Cast', [$size], to => int_value($FLOAT))]);
    my $scale = node('Cast', [node('Div', [constant($FLOAT, [1], pack 'f<', 1), $root])], to => int_value($FLOAT));
    my $keys = transpose($k, 0, 1, 3, 2);
    my ($x, $y) = map { node('Mul', [$_, node('Sqrt', [$scale])]) } $q, $keys;
    node('MatMul', [softmax(node('MatMul', [$x, $y])), $v])
}

# timm's VisionTransformer: queries, keys and values from one product.
sub vit_attention { my ($x, $words, $width, $heads) = @_;
    my $size = $width / $heads;
    my $qkv = transpose(reshape(scoped('qkv', \&linear, $x, $width, 3 * $width), 1, $words, 3, $heads, $size), 2, 0, 3, 1, 4);
    my ($q, $k, $v) = map { node('Squeeze', [$_, ints(0)]) } split_in($qkv, 3, 0, 1);
    my $mixed = transpose(sdpa($q, $k, $v), 0, 2, 1, 3);
    scoped('proj', \&linear, reshape($mixed, 1, $words, $width), $width, $width, 0.1)
}

sub vit_block { my ($x, $words, $width, $heads) = @_;
    my $y = scoped('norm1', \&layer_norm, $x, $width, 1e-6);
    $x = node('Add', [$x, scoped('attn', \&vit_attention, $y, $words, $width, $heads)]);
    $y = scoped('mlp/fc1', \&linear, scoped('norm2', \&layer_norm, $x, $width, 1e-6), $width, 4 * $width);
    node('Add', [$x, scoped('mlp/fc2', \&linear, scoped('mlp/act', \&gelu, $y), 4 * $width, $width, 0.1)])
}

sub vit { my (%size) = @_;
    my ($width, $heads, $side, $patch, $classes) = @size{qw(width heads side patch classes)};
    my $words = ($side / $patch) ** 2 + 1;
    my $x = scoped('patch_embed/proj', \&conv, float_input(1, 3, $side, $side), 3, $width, $patch, $patch, 1);
    $x = transpose(reshape($x, 1, $width, $words - 1), 0, 2, 1);
    $x = node('Concat', [weight('cls_token', [1, 1, $width], 0.5), $x], axis => int_value(1));
    $x = node('Add', [$x, weight('pos_embed', [1, $words, $width], 0.5)]);
    $x = scoped("blocks/blocks.$_", \&vit_block, $x, $words, $width, $heads) for 0 .. $size{layers} - 1;
    $x = scoped('norm', \&layer_norm, $x, $width, 1e-6);
    return (scoped('head', \&gemm, gather($x, constant($INT64, [], pack 'q<', 0), 1), $width, $classes), 1, $classes)
}

sub heads { my ($x, $words, $heads, $size, @perm) = @_; transpose(reshape($x, 1, $words, $heads, $size), @perm) }

# Queries, keys and values from a product each; BIAS is added to the scores, which are scaled in the weights.
sub attention { my ($x, $bias, $words, $width, $heads, $scale) = @_;
    my $size = $width / $heads;
    my ($q, $k, $v) = map { scoped($_, \&linear, $x, $width, $width, $_ eq 'v' ? 1 : $scale) } qw(q k v);
    my $scores = node('MatMul', [heads($q, $words, $heads, $size, 0, 2, 1, 3), heads($k, $words, $heads, $size, 0, 2, 3, 1)]);
    $scores = node('Add', [$scores, $bias]) if defined $bias;
    my $mixed = transpose(node('MatMul', [softmax($scores), heads($v, $words, $heads, $size, 0, 2, 1, 3)]), 0, 2, 1, 3);
    scoped('o', \&linear, reshape($mixed, 1, $words, $width), $width, $width, 0.2)
}

# transformers' BertSelfAttention; MASK is added to the scores.
sub bert_attention { my ($x, $mask, $words, $width, $heads) = @_;
    my $size = $width / $heads;
    my ($q, $k, $v) = map { scoped("self/$_", \&linear, $x, $width, $width) } qw(query key value);
    my $scores = node('MatMul', [heads($q, $words, $heads, $size, 0, 2, 1, 3), heads($k, $words, $heads, $size, 0, 2, 3, 1)]);
    my $weights = softmax(node('Add', [node('Div', [$scores, real(sqrt $size)]), $mask]));
    my $mixed = transpose(node('MatMul', [$weights, heads($v, $words, $heads, $size, 0, 2, 1, 3)]), 0, 2, 1, 3);
    my $y = scoped('output/dense', \&linear, reshape($mixed, 1, $words, $width), $width, $width);
    scoped('output/LayerNorm', \&layer_norm, node('Add', [$y, $x]), $width, 1e-12)
}

sub bert_layer { my ($x, $mask, $words, $width, $heads) = @_;
    $x = scoped('attention', \&bert_attention, $x, $mask, $words, $width, $heads);
    my $y = scoped('intermediate/dense', \&linear, $x, $width, 4 * $width);
    $y = scoped('output/dense', \&linear, scoped('intermediate/act', \&gelu, $y), 4 * $width, $width);
    scoped('output/LayerNorm', \&layer_norm, node('Add', [$y, $x]), $width, 1e-12)
}

# LIST of integers as the input NAME.
sub ids_input { my ($name, @list) = @_; push @values, [$name, $INT64, [1, scalar @list], pack 'q<*', @list]; $name }

# X as a further output, NAME, of the form DIMS and the type TYPE.
sub also { my ($x, $name, $type, @dims) = @_; push @states, output(identity($x, $name), $type, @dims); return }

# With the words IDS at PLACES places at most.
sub bert { my (%size) = @_;
    my ($width, $heads, $vocabulary) = @size{qw(width heads vocabulary)};
    my $words = @{$size{ids}};
    my $ids = ids_input('input_ids', @{$size{ids}});
    my $kept = ids_input('attention_mask', (1) x $words);
    my $types = ids_input('token_type_ids', (0) x ($words / 2), (1) x ($words / 2));
    my $mask = node('Unsqueeze', [node('Unsqueeze', [$kept, ints(1)]), ints(2)]);
    $mask = node('Sub', [real(1), node('Cast', [$mask], to => int_value($FLOAT))]);
    $mask = node('Mul', [$mask, real(-3.4028234663852886e38)]);
    my $x = gather(weight('embeddings.word_embeddings.weight', [$vocabulary, $width], 1), $ids);
    $x = node('Add', [$x, gather(weight('embeddings.token_type_embeddings.weight', [2, $width], 1), $types)]);
    my $places = constant($INT64, [1, $words], pack 'q<*', 0 .. $words - 1);
    $x = node('Add', [$x, gather(weight('embeddings.position_embeddings.weight', [$size{places}, $width], 1), $places)]);
    $x = scoped('embeddings/LayerNorm', \&layer_norm, $x, $width, 1e-12);
    $x = scoped("encoder/layer.$_", \&bert_layer, $x, $mask, $words, $width, $heads) for 0 .. $size{layers} - 1;
    my $first = gather($x, constant($INT64, [], pack 'q<', 0), 1);
    return (node('Tanh', [scoped('pooler/dense', \&gemm, $first, $width, $width)]), 1, $width)
}

# transformers' Conv1D: a Gemm between reshapes, its weight as [in, out].
sub conv1d { my ($x, $words, $in, $out, $gain) = @_;
    my $y = node('Gemm', [reshape($x, -1, $in), weight(named('weight'), [$in, $out], sqrt(($gain // 1) / $in)),
        weight(named('bias'), [$out], 0.1)], alpha => float_value(1), beta => float_value(1));
    reshape($y, 1, $words, $out)
}

sub gpt2_attention { my ($x, $seen, $words, $width, $heads) = @_;
    my $size = $width / $heads;
    my ($q, $k, $v) = split_in(scoped('c_attn', \&conv1d, $x, $words, $width, 3 * $width), 3, 2, $width);
    my $scores = node('MatMul', [heads($q, $words, $heads, $size, 0, 2, 1, 3), heads($k, $words, $heads, $size, 0, 2, 3, 1)]);
    $scores = node('Where', [$seen, node('Div', [$scores, real(sqrt $size)]), real(-3.4028234663852886e38)]);
    my $mixed = node('MatMul', [softmax($scores), heads($v, $words, $heads, $size, 0, 2, 1, 3)]);
    scoped('c_proj', \&conv1d, reshape(transpose($mixed, 0, 2, 1, 3), 1, $words, $width), $words, $width, $width, 0.1)
}

sub gpt2_block { my ($x, $seen, $words, $width, $heads) = @_;
    my $y = scoped('ln_1', \&layer_norm, $x, $width, 1e-5);
    $x = node('Add', [scoped('attn', \&gpt2_attention, $y, $seen, $words, $width, $heads), $x]);
    $y = scoped('mlp/c_fc', \&conv1d, scoped('ln_2', \&layer_norm, $x, $width, 1e-5), $words, $width, 4 * $width);
    node('Add', [$x, scoped('mlp/c_proj', \&conv1d, scoped('mlp/act', \&gelu_new, $y), $words, 4 * $width, $width, 0.1)])
}

# One word more behind PAST words, whose keys and values are inputs; those of all of them are outputs.
sub gpt2_past_attention { my ($x, $past, $width, $heads, $i) = @_;
    my $size = $width / $heads;
    my ($q, @new) = map { heads($_, 1, $heads, $size, 0, 2, 1, 3) } split_in(scoped('c_attn', \&conv1d, $x, 1, $width, 3 * $width), 3, 2, $width);
    my ($k, $v) = map { my $kind = ('key', 'value')[$_];
        concat(2, named_input("past.$i.$kind", 1, $heads, $past, $size), $new[$_]) } 0, 1;
    also($k, "present.$i.key", $FLOAT, 1, $heads, $past + 1, $size);
    also($v, "present.$i.value", $FLOAT, 1, $heads, $past + 1, $size);
    my $scores = node('Div', [node('MatMul', [$q, transpose($k, 0, 1, 3, 2)]), real(sqrt $size)]);
    my $mixed = transpose(node('MatMul', [softmax($scores), $v]), 0, 2, 1, 3);
    scoped('c_proj', \&conv1d, reshape($mixed, 1, 1, $width), 1, $width, $width, 0.1)
}

sub gpt2_past_block { my ($x, $past, $width, $heads, $i) = @_;
    my $y = scoped('ln_1', \&layer_norm, $x, $width, 1e-5);
    $x = node('Add', [scoped('attn', \&gpt2_past_attention, $y, $past, $width, $heads, $i), $x]);
    $y = scoped('mlp/c_fc', \&conv1d, scoped('ln_2', \&layer_norm, $x, $width, 1e-5), 1, $width, 4 * $width);
    node('Add', [$x, scoped('mlp/c_proj', \&conv1d, scoped('mlp/act', \&gelu_new, $y), 1, 4 * $width, $width, 0.1)])
}

sub gpt2_past { my (%size) = @_;
    my ($width, $heads, $past, $vocabulary) = @size{qw(width heads past vocabulary)};
    my $x = gather(weight('transformer.wte.weight', [$vocabulary, $width], 1), ids_input('input_ids', 7919));
    my $place = constant($INT64, [1, 1], pack 'q<', $past);
    $x = node('Add', [$x, gather(weight('transformer.wpe.weight', [$size{places}, $width], 1), $place)]);
    $x = scoped("transformer/h.$_", \&gpt2_past_block, $x, $past, $width, $heads, $_) for 0 .. $size{layers} - 1;
    $x = scoped('transformer/ln_f', \&layer_norm, $x, $width, 1e-5);
    return (node('MatMul', [$x, weight('lm_head.weight_t', [$width, $vocabulary], 1 / sqrt $width)]), 1, 1, $vocabulary)
}

# What is behind block 0 may be added to by a function, AFTER.
sub gpt2 { my (%size) = @_;
    my ($width, $heads, $words, $vocabulary) = @size{qw(width heads words vocabulary)};
    my $ids = ids_input('input_ids', map { $_ * 7919 % $vocabulary } 1 .. $words);
    my $places = constant($INT64, [1, $words], pack 'q<*', 0 .. $words - 1);
    my $x = gather(weight('transformer.wte.weight', [$vocabulary, $width], 1), $ids);
    $x = node('Add', [$x, gather(weight('transformer.wpe.weight', [$size{places}, $width], 1), $places)]);
    my $seen = constant($BOOL, [1, 1, $words, $words], join '', map { ("\1" x $_) . "\0" x ($words - $_) } 1 .. $words);
    for my $i (0 .. $size{layers} - 1) {
        $x = scoped("transformer/h.$i", \&gpt2_block, $x, $seen, $words, $width, $heads);
        $x = $size{after}->($x) if $size{after} && $i == 0;
    }
    $x = scoped('transformer/ln_f', \&layer_norm, $x, $width, 1e-5);
    $x = node('MatMul', [$x, weight('lm_head.weight_t', [$width, $vocabulary], 1 / sqrt $width)]);
    return ($x, 1, $words, $vocabulary)
}

# ---- recurrent ---------------------------------------------------------------------------------------------------------

# Zeros [2, batch, width], the batch being that of X.
sub initial_state { my ($x, $width) = @_;
    my $batch = node('Gather', [node('Shape', [$x]), constant($INT64, [], pack 'q<', 1)], axis => int_value(0));
    my $shape = node('Concat', [ints(2), node('Unsqueeze', [$batch, ints(0)]), ints($width)], axis => int_value(0));
    node('Expand', [constant($FLOAT, [2, 1, $width], "\0" x (8 * $width)), $shape])
}

# One layer of a bidirectional torch.nn.LSTM over [steps, batch, IN]: output and last states.
sub lstm_layer { my ($x, $in, $width) = @_;
    my @weights = (weight(named('W'), [2, 4 * $width, $in], 1 / sqrt $in), weight(named('R'), [2, 4 * $width, $width], 1 / sqrt $width));
    my @states = map { initial_state($x, $width) } 1, 2;
    my ($y, @last) = nodes('LSTM', [$x, @weights, weight(named('B'), [2, 8 * $width], 0.1), '', @states], 3,
        direction => string_value('bidirectional'), hidden_size => int_value($width));
    return (reshape(transpose($y, 0, 2, 1, 3), 0, 0, -1), @last)
}

sub lstm { my (%size) = @_;
    my ($width, $steps) = @size{qw(width steps)};
    my ($x, @last) = scoped('l0', \&lstm_layer, transpose(float_input(1, $steps, $width), 1, 0, 2), $width, $width);
    ($x, my @second) = scoped('l1', \&lstm_layer, $x, 2 * $width, $width);
    for my $i (0, 1) {
        my $both = node('Concat', [$last[$i], $second[$i]], axis => int_value(0));
        also($both, ('h_n', 'c_n')[$i], $FLOAT, 4, 1, $width);
    }
    return (transpose($x, 1, 0, 2), 1, $steps, 2 * $width)
}

# ---- files -------------------------------------------------------------------------------------------------------------

# Writes input_0.pb, input_1.pb, ... to FOLDER. Those of another SAMPLE than 0 hold other noise, integers in another order.
sub write_inputs { my ($folder, $sample) = @_;
    my $from = 8 * 1021 * $sample;
    for my $i (0 .. $#values) {
        my ($input, $type, $dims, $data) = @{$values[$i]};
        if (defined $data) {
            my $first = $from % length $data;
            $data = substr($data, $first) . substr $data, 0, $first;
        } else {
            my $n = 1;
            $n *= $_ for @$dims;
            $data = substr noise([$n + $from / 4]), $from;
        }
        write_tensor("$folder/input_$i.pb", $type, $dims, $data, $input);
    }
}

# Writes the network of output Y of SHAPE to OUT, and to FOLDER, where there is one, what to run it on.
sub write_network { my ($out, $name, $folder, $y, @shape) = @_;
    identity($y, 'output');
    write_model($out, $name, [map { input(@{$_}[0, 1], @{$_->[2]}) } @values], [output('output', $FLOAT, @shape), @states]);
    write_inputs($folder, 0) if defined $folder;
}

1;
