# Networks for images on top of Networks.pm, in sizes that the caller gives: classifiers, what finds things in an image, what
# makes images of images. The structures are those of the papers and of torchvision and timm.
package Images;
use strict;
use warnings;
use Exporter 'import';
use Onnx;
use Networks;
our @EXPORT = qw(basic_block se_bottleneck rounded resnet_int8 mobilenetv3 efficientnet shufflenetv2 vgg convnext swin mixer pointnet
    unet ssd yolo face mobilefacenet super_resolution style lenet dqn ds_cnn);

sub max_pool { pool('MaxPool', @_) }
sub hard_swish { node('HardSwish', [$_[0]]) }
sub classified { my ($x, $in, $classes) = @_; (scoped('classifier', \&gemm, average($x), $in, $classes), 1, $classes) }

# ---- residual ----------------------------------------------------------------------------------------------------------

sub basic_block { my ($x, $in, $out, $stride) = @_;
    my $y = activated('conv1', \&relu, $x, $in, $out, 3, $stride);
    $y = scoped('conv2', \&conv, $y, $out, $out, 3, 1, 0.2);
    $x = scoped('downsample.0', \&conv, $x, $in, $out, 1, $stride, 1) if $in != $out;
    relu(node('Add', [$y, $x]))
}

# What a channel is multiplied by, from the averages of all.
sub squeeze { my ($x, $width, $narrow, $inner, $gate) = @_;
    my $y = $inner->(scoped('fc1', \&conv, node('GlobalAveragePool', [$x]), $width, $narrow, 1, 1, 2));
    node('Mul', [$x, node($gate, [scoped('fc2', \&conv, $y, $narrow, $width, 1, 1, 1)])])
}

sub se_bottleneck { my ($x, $in, $width, $stride) = @_;
    my $y = activated('conv1', \&relu, $x, $in, $width, 1, 1);
    $y = activated('conv2', \&relu, $y, $width, $width, 3, $stride);
    $y = scoped('conv3', \&conv, $y, $width, 4 * $width, 1, 1, 0.4);
    $y = scoped('se', \&squeeze, $y, 4 * $width, $width / 4, \&relu, 'Sigmoid');
    $x = scoped('downsample.0', \&conv, $x, $in, 4 * $width, 1, $stride, 1) if $in != 4 * $width;
    relu(node('Add', [$y, $x]))
}

# X as what int8 keeps of it, up to MOST.
sub rounded { my ($x, $most) = @_;
    my @scale = (constant($FLOAT, [], pack 'f<', $most / 127), constant($INT8, [], "\0"));
    node('DequantizeLinear', [node('QuantizeLinear', [$x, @scale]), @scale])
}

# Integers of int8 or int32, uniform noise up to MOST, as floats by SCALES, one per row.
my $drawn = 0;
sub scaled { my ($part, $type, $format, $most, $scales, @dims) = @_;
    my $n = 1;
    $n *= $_ for @dims;
    my @numbers = unpack 'f<*', substr noise([$drawn + $n]), 4 * $drawn;
    $drawn = ($drawn + $n) % 65521;
    my $zeros = $dims[0] * ($type == $INT8 ? 1 : 4);
    node('DequantizeLinear', [initial(named($part), $type, [@dims], pack $format, map { $_ * $most / 2 } @numbers), $scales,
        initial(named("${part}_zero_point"), $type, [$dims[0]], "\0" x $zeros)], axis => int_value(0))
}

# A convolution of what RANGE says the most of, as quantisers write it: weights of int8, the bias in int32 by the product of
# both scales.
sub int8_conv { my ($x, $range, $in, $out, $size, $stride) = @_;
    my @weight_scales = map { sqrt(6 / ($in * $size ** 2)) / 127 * (1 + $_ % 7 / 20) } 1 .. $out;
    my ($scales, $bias_scales) = map { my ($part, $factor) = @$_;
        initial(named($part), $FLOAT, [$out], pack 'f<*', map { $_ * $factor } @weight_scales) } ['scale', 1], ['bias_scale', $range / 127];
    my $pad = ($size - 1) / 2;
    node('Conv', [$x, scaled('weight', $INT8, 'c*', 127, $scales, $out, $in, $size, $size),
        scaled('bias', $INT32, 'l<*', 900, $bias_scales, $out)], dilations => ints_value(1, 1), group => int_value(1),
        kernel_shape => ints_value($size, $size), pads => ints_value(($pad) x 4), strides => ints_value($stride, $stride))
}

sub int8_block { my ($x, $in, $out, $stride) = @_;
    my $y = rounded(relu(scoped('conv1', \&int8_conv, $x, 4, $in, $out, 3, $stride)), 4);
    $y = rounded(scoped('conv2', \&int8_conv, $y, 4, $out, $out, 3, 1), 4);
    $x = rounded(scoped('downsample.0', \&int8_conv, $x, 4, $in, $out, 1, $stride), 4) if $in != $out;
    rounded(relu(node('Add', [$y, $x])), 4)
}

# ResNet of basic blocks, stages of [width, count], quantised; its head is float.
sub resnet_int8 { my (%size) = @_;
    my $x = rounded(float_input(1, 3, ($size{side}) x 2), 2);
    $x = max_pool(rounded(relu(scoped('conv1', \&int8_conv, $x, 2, 3, $size{stem}, 7, 2)), 4), 3, 2, 1);
    my ($in, $number) = ($size{stem}, 0);
    for my $stage (@{$size{stages}}) {
        my ($width, $count) = @$stage;
        for my $i (0 .. $count - 1) {
            $x = scoped("layer$number.$i", \&int8_block, $x, $in, $width, $number > 0 && $i == 0 ? 2 : 1);
            $in = $width;
        }
        $number++;
    }
    return classified($x, $in, $size{classes})
}

# ---- mobile ------------------------------------------------------------------------------------------------------------

sub mobilenetv3_block { my ($x, $in, $row, $stride) = @_;
    my ($size, $width, $out, $has_se, $f) = @$row;
    my $y = $x;
    $y = activated('expand', $f, $y, $in, $width, 1, 1) if $width != $in;
    $y = scoped('depthwise', \&conv, $y, $width, $width, $size, $stride, 2, $width);
    $y = $f->($y);
    $y = scoped('se', \&squeeze, $y, $width, 8 * int($width / 32 + 0.5) || 8, \&relu, 'HardSigmoid') if $has_se;
    $y = scoped('project', \&conv, $y, $width, $out, 1, 1, 0.7);
    $stride == 1 && $in == $out ? node('Add', [$x, $y]) : $y
}

# Rows of [kernel, expanded, out, squeeze and excite, hard-swish, stride, count].
sub mobilenetv3 { my (%size) = @_;
    my $x = activated('stem', \&hard_swish, float_input(1, 3, ($size{side}) x 2), 3, 16, 3, 2);
    my ($in, $number) = (16, 0);
    for my $row (@{$size{rows}}) {
        my ($kernel, $width, $out, $has_se, $is_hard, $stride, $count) = @$row;
        for my $i (0 .. $count - 1) {
            my @block = ($kernel, $width, $out, $has_se, $is_hard ? \&hard_swish : \&relu);
            $x = scoped('features.' . $number++, \&mobilenetv3_block, $x, $in, \@block, $i == 0 ? $stride : 1);
            $in = $out;
        }
    }
    $x = activated('last', \&hard_swish, $x, $in, $size{last}, 1, 1);
    $x = hard_swish(scoped('classifier.0', \&gemm, average($x), $size{last}, $size{head}));
    return (scoped('classifier.3', \&gemm, $x, $size{head}, $size{classes}), 1, $size{classes})
}

# Without squeeze-and-excite and with ReLU6 where the network is a LITE one.
sub mb_conv { my ($x, $in, $row, $stride, $is_lite) = @_;
    my ($expansion, $out, $size) = @$row[0, 1, 4];
    my ($width, $f, $gain, $y) = ($in * $expansion, $is_lite ? (\&relu6, 2) : (\&swish, 3), $x);
    $y = $f->(scoped('expand', \&conv, $y, $in, $width, 1, 1, $gain)) if $expansion > 1;
    $y = $f->(scoped('depthwise', \&conv, $y, $width, $width, $size, $stride, $gain, $width));
    $y = scoped('se', \&squeeze, $y, $width, $in > 4 ? $in / 4 : 1, \&swish, 'Sigmoid') unless $is_lite;
    $y = scoped('project', \&conv, $y, $width, $out, 1, 1, $row->[5] // ($is_lite ? 0.5 : 4));
    $stride == 1 && $in == $out ? node('Add', [$x, $y]) : $y
}

# Stages of [expansion, channels, count, stride, kernel], with the gain of their last convolutions, where that is not 4.
sub efficientnet { my (%size) = @_;
    my ($stem, $head, $classes, $is_lite) = @size{qw(stem head classes lite)};
    my $f = $is_lite ? \&relu6 : \&swish;
    my $x = $f->(scoped('stem', \&conv, float_input(1, 3, ($size{side}) x 2), 3, $stem, 3, 2, 3));
    my ($in, $number) = ($stem, 0);
    for my $stage (@{$size{stages}}) {
        for my $i (0 .. $stage->[2] - 1) {
            $x = scoped('blocks.' . $number++, \&mb_conv, $x, $in, $stage, $i == 0 ? $stage->[3] : 1, $is_lite);
            $in = $stage->[1];
        }
    }
    $x = $f->(scoped('head', \&conv, $x, $in, $head, 1, 1, 3));
    return classified($x, $head, $classes)
}

sub shuffled { my ($x, $width, $side) = @_;
    reshape(transpose(reshape($x, 1, 2, $width / 2, $side, $side), 0, 2, 1, 3, 4), 1, $width, $side, $side)
}

# One branch: pointwise, depthwise, pointwise.
sub shuffle_branch { my ($x, $in, $width, $stride) = @_;
    my $y = activated('conv1', \&relu, $x, $in, $width, 1, 1);
    $y = scoped('conv2', \&conv, $y, $width, $width, 3, $stride, 1, $width);
    activated('conv3', \&relu, $y, $width, $width, 1, 1)
}

sub shuffle_unit { my ($x, $in, $width, $side, $stride) = @_;
    my ($kept, $y) = $stride == 1 ? split_in($x, 2, 1, $width / 2) : ($x, $x);
    $y = scoped('branch2', \&shuffle_branch, $y, $stride == 1 ? $width / 2 : $in, $width / 2, $stride);
    if ($stride == 2) {
        $kept = scoped('branch1/conv1', \&conv, $kept, $in, $in, 3, 2, 1, $in);
        $kept = activated('branch1/conv2', \&relu, $kept, $in, $width / 2, 1, 1);
    }
    shuffled(concat(1, $kept, $y), $width, $side)
}

# Stages of [channels, count].
sub shufflenetv2 { my (%size) = @_;
    my $side = $size{side} / 4;
    my $x = max_pool(activated('conv1', \&relu, float_input(1, 3, ($size{side}) x 2), 3, 24, 3, 2), 3, 2, 1);
    my $in = 24;
    for my $number (2 .. 4) {
        my ($width, $count) = @{$size{stages}[$number - 2]};
        $side = int(($side + 1) / 2);
        for my $i (0 .. $count - 1) {
            $x = scoped("stage$number.$i", \&shuffle_unit, $x, $in, $width, $side, $i == 0 ? 2 : 1);
            $in = $width;
        }
    }
    return classified(activated('conv5', \&relu, $x, $in, $size{head}, 1, 1), $size{head}, $size{classes})
}

# ---- plain -------------------------------------------------------------------------------------------------------------

# LAYERS: the channels of a 3x3 convolution, [channels, stride] of one with a stride, or 'M' for a pooling.
sub vgg { my (%size) = @_;
    my ($x, $in, $number) = (float_input(1, 3, ($size{side}) x 2), 3, 0);
    for my $layer (@{$size{layers}}) {
        if ($layer eq 'M') {
            $x = max_pool($x);
            next;
        }
        my ($out, $stride) = ref $layer ? @$layer : ($layer, 1);
        $x = activated('features.' . $number++, \&relu, $x, $in, $out, 3, $stride);
        $in = $out;
    }
    return classified($x, $in, $size{classes})
}

sub flat_dense { my ($x, $flat, @widths) = @_;
    $x = reshape($x, 1, $flat);
    for my $i (0 .. $#widths) {
        $x = relu($x) if $i > 0;
        $x = scoped("fc$i", \&gemm, $x, $i == 0 ? $flat : $widths[$i - 1], $widths[$i]);
    }
    return ($x, 1, $widths[-1])
}

# LeCun's, for digits; and that of Mnih et al. (2015), which plays from four frames.
sub lenet {
    my $x = max_pool(activated('conv1', \&relu, float_input(1, 1, 28, 28), 1, 6, 5, 1));
    $x = max_pool(relu(scoped('conv2', \&convolve, $x, 6, 16, kernel => [5, 5], pads => [(0) x 4])));
    flat_dense($x, 400, 120, 84, 10)
}

sub dqn {
    my ($x, $in) = (float_input(1, 4, 84, 84), 4);
    for my $layer ([0, 32, 8, 4], [1, 64, 4, 2], [2, 64, 3, 1]) {
        my ($number, $out, $size, $stride) = @$layer;
        my @how = (kernel => [$size, $size], stride => $stride, pads => [(0) x 4]);
        $x = relu(scoped("conv$number", \&convolve, $x, $in, $out, @how));
        $in = $out;
    }
    flat_dense($x, 3136, 512, 18)
}

# Depthwise separable, for keywords in 49 frames of 10 coefficients (Zhang et al. 2017).
sub ds_cnn {
    my $x = relu(scoped('conv', \&convolve, float_input(1, 1, 49, 10), 1, 64, kernel => [10, 4], stride => 2, pads => [4, 1, 5, 1]));
    for my $i (0 .. 3) {
        $x = activated("dw$i", \&relu, $x, 64, 64, 3, 1, 64);
        $x = activated("pw$i", \&relu, $x, 64, 64, 1, 1);
    }
    return classified($x, 64, 12)
}

# ---- of transformers' kind ---------------------------------------------------------------------------------------------

sub layer_norm_channels { my ($x, $width) = @_; transpose(layer_norm(transpose($x, 0, 2, 3, 1), $width, 1e-6), 0, 3, 1, 2) }

sub convnext_block { my ($x, $width) = @_;
    my $y = transpose(scoped('dwconv', \&conv, $x, $width, $width, 7, 1, 1, $width), 0, 2, 3, 1);
    $y = scoped('pwconv1', \&linear, scoped('norm', \&layer_norm, $y, $width, 1e-6), $width, 4 * $width);
    $y = scoped('pwconv2', \&linear, scoped('act', \&gelu, $y), 4 * $width, $width, 2);
    node('Add', [$x, transpose(node('Mul', [$y, weight(named('gamma'), [$width], 0.1, 0.3)]), 0, 3, 1, 2)])
}

# Stages of [number, width, count].
sub convnext { my (%size) = @_;
    my $in = $size{stages}[0][1];
    my $x = scoped('stem', \&conv, float_input(1, 3, ($size{side}) x 2), 3, $in, 4, 4, 1);
    $x = scoped('stem/norm', \&layer_norm_channels, $x, $in);
    for my $stage (@{$size{stages}}) {
        my ($number, $width, $count) = @$stage;
        if ($number > 0) {
            $x = scoped("stages.$number/norm", \&layer_norm_channels, $x, $in);
            $x = scoped("stages.$number/downsample", \&conv, $x, $in, $width, 2, 2, 1);
        }
        $x = scoped("stages.$number/blocks.$_", \&convnext_block, $x, $width) for 0 .. $count - 1;
        $in = $width;
    }
    $x = scoped('head/norm', \&layer_norm, average($x), $in, 1e-6);
    return (scoped('head/fc', \&gemm, $x, $in, $size{classes}), 1, $size{classes})
}

my $WINDOW = 7;

# torch.roll over both axes of [1, side, side, width].
sub rolled { my ($x, $by) = @_;
    for my $axis (1, 2) {
        $x = concat($axis, slice($x, $axis, $by, 9223372036854775807), slice($x, $axis, 0, $by));
    }
    return $x
}

sub windows { my ($x, $side, $width) = @_;
    my $n = $side / $WINDOW;
    my $y = transpose(reshape($x, 1, $n, $WINDOW, $n, $WINDOW, $width), 0, 1, 3, 2, 4, 5);
    reshape($y, $n ** 2, $WINDOW ** 2, $width)
}

sub unwindowed { my ($x, $side, $width) = @_;
    my $n = $side / $WINDOW;
    reshape(transpose(reshape($x, 1, $n, $n, $WINDOW, $WINDOW, $width), 0, 1, 3, 2, 4, 5), 1, $side, $side, $width)
}

# Which places of a window that was rolled do not see each other: -100 there.
sub window_mask { my ($side) = @_;
    my @band = map { $_ < $side - $WINDOW ? 0 : $_ < $side - 3 ? 1 : 2 } 0 .. $side - 1;
    my @mask;
    for my $window (0 .. ($side / $WINDOW) ** 2 - 1) {
        my ($top, $left) = (int($window / ($side / $WINDOW)) * $WINDOW, $window % ($side / $WINDOW) * $WINDOW);
        my @kind = map { 3 * $band[$top + int($_ / $WINDOW)] + $band[$left + $_ % $WINDOW] } 0 .. $WINDOW ** 2 - 1;
        push @mask, map { my $i = $_; map { $kind[$_] == $kind[$i] ? 0 : -100 } 0 .. $#kind } 0 .. $#kind;
    }
    constant($FLOAT, [($side / $WINDOW) ** 2, 1, $WINDOW ** 2, $WINDOW ** 2], pack 'f<*', @mask)
}

sub window_attention { my ($x, $side, $width, $heads, $is_shifted) = @_;
    my ($n, $words, $size) = (($side / $WINDOW) ** 2, $WINDOW ** 2, $width / $heads);
    my $qkv = scoped('qkv', \&linear, windows($x, $side, $width), $width, 3 * $width);
    $qkv = transpose(reshape($qkv, $n, $words, 3, $heads, $size), 2, 0, 3, 1, 4);
    my ($q, $k, $v) = map { gather($qkv, constant($INT64, [], pack 'q<', $_)) } 0 .. 2;
    my $scores = node('MatMul', [node('Mul', [$q, real($size ** -0.5)]), transpose($k, 0, 1, 3, 2)]);
    $scores = node('Add', [$scores, weight(named('relative_position_bias'), [1, $heads, $words, $words], 0.5)]);
    $scores = node('Add', [$scores, window_mask($side)]) if $is_shifted;
    my $mixed = reshape(transpose(node('MatMul', [softmax($scores), $v]), 0, 2, 1, 3), $n, $words, $width);
    unwindowed(scoped('proj', \&linear, $mixed, $width, $width, 0.2), $side, $width)
}

sub swin_block { my ($x, $side, $width, $heads, $is_shifted) = @_;
    my $y = scoped('norm1', \&layer_norm, $x, $width, 1e-5);
    $y = rolled($y, 3) if $is_shifted;
    $y = scoped('attn', \&window_attention, $y, $side, $width, $heads, $is_shifted);
    $y = rolled($y, -3) if $is_shifted;
    $x = node('Add', [$x, $y]);
    $y = scoped('mlp.0', \&linear, scoped('norm2', \&layer_norm, $x, $width, 1e-5), $width, 4 * $width);
    node('Add', [$x, scoped('mlp.3', \&linear, scoped('mlp.1', \&gelu, $y), 4 * $width, $width, 0.2)])
}

sub patch_merging { my ($x, $width) = @_;
    my @quarters = map { slice(slice($x, 1, $_ % 2, 9223372036854775807, 2), 2, int($_ / 2), 9223372036854775807, 2) } 0 .. 3;
    my $y = scoped('norm', \&layer_norm, concat(-1, @quarters), 4 * $width, 1e-5);
    node('MatMul', [$y, weight(named('reduction'), [4 * $width, 2 * $width], sqrt(0.25 / $width))])
}

# The first stage of WIDTH in HEADS; COUNTS of blocks in each.
sub swin { my (%size) = @_;
    my ($width, $heads, $side) = ($size{width}, $size{heads}, $size{side} / 4);
    my $x = transpose(scoped('features.0', \&conv, float_input(1, 3, ($size{side}) x 2), 3, $width, 4, 4, 1), 0, 2, 3, 1);
    $x = scoped('features.0/norm', \&layer_norm, $x, $width, 1e-5);
    for my $stage (0 .. $#{$size{counts}}) {
        if ($stage > 0) {
            $x = scoped("merging.$stage", \&patch_merging, $x, $width);
            ($width, $heads, $side) = (2 * $width, 2 * $heads, $side / 2);
        }
        for my $i (0 .. $size{counts}[$stage] - 1) {
            $x = scoped("stage.$stage.$i", \&swin_block, $x, $side, $width, $heads, $i % 2 && $side > $WINDOW);
        }
    }
    $x = transpose(scoped('norm', \&layer_norm, $x, $width, 1e-5), 0, 3, 1, 2);
    return classified($x, $width, $size{classes})
}

sub mixer_mlp { my ($x, $in, $hidden) = @_;
    scoped('fc2', \&linear, scoped('act', \&gelu, scoped('fc1', \&linear, $x, $in, $hidden)), $hidden, $in, 0.3)
}

sub mixer { my (%size) = @_;
    my ($width, $patch) = @size{qw(width patch)};
    my $words = ($size{side} / $patch) ** 2;
    my $x = scoped('stem/proj', \&conv, float_input(1, 3, ($size{side}) x 2), 3, $width, $patch, $patch, 1);
    $x = transpose(reshape($x, 1, $width, $words), 0, 2, 1);
    for my $i (0 .. $size{layers} - 1) {
        my $y = transpose(scoped("blocks.$i/norm1", \&layer_norm, $x, $width, 1e-6), 0, 2, 1);
        $x = node('Add', [$x, transpose(scoped("blocks.$i/mlp_tokens", \&mixer_mlp, $y, $words, $width / 2), 0, 2, 1)]);
        $y = scoped("blocks.$i/norm2", \&layer_norm, $x, $width, 1e-6);
        $x = node('Add', [$x, scoped("blocks.$i/mlp_channels", \&mixer_mlp, $y, $width, 4 * $width)]);
    }
    $x = node('ReduceMean', [scoped('norm', \&layer_norm, $x, $width, 1e-6)], axes => ints_value(1), keepdims => int_value(0));
    return (scoped('head', \&gemm, $x, $width, $size{classes}), 1, $size{classes})
}

# ---- points ------------------------------------------------------------------------------------------------------------

sub shared_mlp { my ($x, @widths) = @_;
    $x = relu(scoped("conv$_", \&convolve, $x, @widths[$_ - 1, $_], kernel => [1])) for 1 .. $#widths;
    node('ReduceMax', [$x], axes => ints_value(2), keepdims => int_value(0))
}

# The N x N matrix that points are turned by.
sub t_net { my ($x, $n) = @_;
    $x = scoped('points', \&shared_mlp, $x, $n, 64, 128, 1024);
    my @widths = (1024, 512, 256);
    $x = relu(scoped("fc$_", \&gemm, $x, @widths[$_ - 1, $_])) for 1, 2;
    my $eye = constant($FLOAT, [1, $n ** 2], pack 'f<*', map { my $i = $_; map { $_ == $i ? 1 : 0 } 1 .. $n } 1 .. $n);
    reshape(node('Add', [scoped('fc3', \&gemm, $x, 256, $n ** 2), $eye]), 1, $n, $n)
}

sub pointnet { my (%size) = @_;
    my $x = float_input(1, 3, $size{points});
    $x = transpose(node('MatMul', [transpose($x, 0, 2, 1), scoped('input_transform', \&t_net, $x, 3)]), 0, 2, 1);
    $x = relu(scoped('conv1', \&convolve, $x, 3, 64, kernel => [1]));
    $x = scoped('feat', \&shared_mlp, $x, 64, 64, 128, 1024);
    $x = relu(scoped('fc1', \&gemm, $x, 1024, 512));
    $x = relu(scoped('fc2', \&gemm, $x, 512, 256));
    return (node('LogSoftmax', [scoped('fc3', \&gemm, $x, 256, $size{classes})], axis => int_value(-1)), 1, $size{classes})
}

# ---- detection ---------------------------------------------------------------------------------------------------------

# Boxes [1, N, 4] and scores [1, CLASSES, N] -> those that suppression leaves, at most 100 of a class, and for which class.
sub suppressed { my ($boxes, $scores, $least) = @_;
    my $kept = node('NonMaxSuppression', [$boxes, $scores, ints(100), map { constant($FLOAT, [1], pack 'f<', $_) } 0.5, $least],
        center_point_box => int_value(1));
    also($kept, 'selected', $INT64, 'found', 3);
    my $numbers = reshape(slice($kept, 1, 2, 3), -1);
    return (gather($boxes, $numbers, 1), 1, 'found', 4)
}

# [1, OUT * ANCHORS, side, side] as [1, ANCHORS * side * side, OUT].
sub head_rows { my ($x, $out) = @_; reshape(transpose($x, 0, 2, 3, 1), 1, -1, $out) }

# Centres and sizes of boxes from their offsets to N made-up priors.
sub decoded { my ($offsets, $n) = @_;
    my ($places, $sizes) = split_in($offsets, 2, 2, 2);
    my @priors = map { weight(named($_->[0]), [1, $n, 2], $_->[1], $_->[2]) } ['prior_centres', 0.3, 0.5], ['prior_sizes', 0.08, 0.2];
    my $centres = node('Add', [node('Mul', [node('Mul', [$places, real(0.1)]), $priors[1]]), $priors[0]]);
    concat(2, $centres, node('Mul', [node('Exp', [node('Mul', [$sizes, real(0.2)])]), $priors[1]]))
}

sub separable { my ($x, $in, $out, $stride) = @_;
    $x = activated('dw', \&relu6, $x, $in, $in, 3, $stride, $in);
    activated('pw', \&relu6, $x, $in, $out, 1, 1)
}

# What boxes and classes are read off, at each map of [x, channels, anchors].
sub ssd_heads { my ($classes, @maps) = @_;
    my (@boxes, @scores);
    for my $i (0 .. $#maps) {
        my ($x, $width, $anchors) = @{$maps[$i]};
        push @boxes, head_rows(scoped("loc.$i", \&conv, $x, $width, 4 * $anchors, 3, 1, 1), 4);
        push @scores, head_rows(scoped("conf.$i", \&conv, $x, $width, $classes * $anchors, 3, 1, 1), $classes);
    }
    return (concat(1, @boxes), concat(1, @scores))
}

# MobileNet v1 of rows [channels, stride], the maps that heads look at, then extra layers; CLASSES with the background.
sub ssd { my (%size) = @_;
    my ($x, $in, @maps) = (activated('conv0', \&relu6, float_input(1, 3, 300, 300), 3, 32, 3, 2), 32);
    my $number = 1;
    for my $row ([64, 1], [128, 2], [128, 1], [256, 2], [256, 1], [512, 2], ([512, 1]) x 5, [1024, 2], [1024, 1]) {
        push @maps, [$x, 512, 3] if $in == 512 && $row->[1] == 2;
        $x = scoped('features.' . $number++, \&separable, $x, $in, @$row);
        $in = $row->[0];
    }
    push @maps, [$x, 1024, 6];
    for my $extra ([0, 256, 512], [1, 128, 256], [2, 128, 256], [3, 64, 128]) {
        $x = activated("extras.$extra->[0].0", \&relu6, $x, $in, $extra->[1], 1, 1);
        $x = activated("extras.$extra->[0].1", \&relu6, $x, $extra->[1], $extra->[2], 3, 2);
        $in = $extra->[2];
        push @maps, [$x, $in, 6];
    }
    my ($boxes, $scores) = ssd_heads($size{classes}, @maps);
    $boxes = decoded($boxes, 19 ** 2 * 3 + (10 ** 2 + 5 ** 2 + 3 ** 2 + 2 ** 2 + 1) * 6);
    suppressed($boxes, transpose(softmax($scores), 0, 2, 1), 0.3)
}

sub csp { my ($x, $in, $out, $count, $adds) = @_;
    my $half = $out / 2;
    my $y = activated('cv1', \&swish, $x, $in, $half, 1, 1);
    for my $i (0 .. $count - 1) {
        my $z = activated("m.$i.cv1", \&swish, $y, $half, $half, 1, 1);
        $z = activated("m.$i.cv2", \&swish, $z, $half, $half, 3, 1);
        $y = $adds ? node('Add', [$y, $z]) : $z;
    }
    activated('cv3', \&swish, concat(1, $y, activated('cv2', \&swish, $x, $in, $half, 1, 1)), $out, $out, 1, 1)
}

sub sppf { my ($x, $in) = @_;
    my @pooled = activated('cv1', \&swish, $x, $in, $in / 2, 1, 1);
    push @pooled, max_pool($pooled[-1], 5, 1, 2) for 1 .. 3;
    activated('cv2', \&swish, concat(1, @pooled), 2 * $in, $in, 1, 1)
}

sub doubled { my ($x) = @_;
    node('Resize', [$x, '', constant($FLOAT, [4], pack 'f<*', 1, 1, 2, 2)], mode => string_value('nearest'),
        coordinate_transformation_mode => string_value('asymmetric'), nearest_mode => string_value('floor'))
}

# Boxes and scores of one map: SIDE, PITCH in pixels, 3 anchors.
sub yolo_head { my ($x, $in, $side, $pitch, $classes) = @_;
    my $y = scoped('m', \&conv, $x, $in, 3 * (5 + $classes), 1, 1, 0.06);
    $y = node('Sigmoid', [transpose(reshape($y, 1, 3, 5 + $classes, $side, $side), 0, 1, 3, 4, 2)]);
    my ($places, $sizes, $rest) = nodes('Split', [$y, ints(2, 2, 1 + $classes)], 3, axis => int_value(4));
    my $grid = constant($FLOAT, [1, 1, $side, $side, 2], pack 'f<*', map { my $i = $_; map { ($_ - 0.5, $i - 0.5) } 0 .. $side - 1 } 0 .. $side - 1);
    my $anchors = constant($FLOAT, [1, 3, 1, 1, 2], pack 'f<*', map { $_ * $pitch } 1.2, 1.6, 2, 3.7, 4.1, 2.9);
    $places = node('Mul', [node('Add', [node('Mul', [$places, real(2)]), $grid]), real($pitch)]);
    $sizes = node('Mul', [node('Pow', [node('Mul', [$sizes, real(2)]), real(2)]), $anchors]);
    reshape(concat(4, $places, $sizes, $rest), 1, 3 * $side ** 2, 5 + $classes)
}

# YOLOv5, of WIDTH at the first convolution.
sub yolo { my (%size) = @_;
    my ($w, $side, $classes) = @size{qw(width side classes)};
    my ($x, $in, @kept) = (swish(scoped('0', \&convolve, float_input(1, 3, $side, $side), 3, $w, kernel => [6, 6], stride => 2, pads => [(2) x 4])), $w);
    for my $stage ([1, 2, 1], [3, 4, 2], [5, 8, 3], [7, 16, 1]) {
        my ($number, $factor, $count) = @$stage;
        $x = activated($number, \&swish, $x, $in, $factor * $w, 3, 2);
        $in = $factor * $w;
        $x = scoped($number + 1, \&csp, $x, $in, $in, $count, 1);
        push @kept, $x;
    }
    my $p5 = activated('10', \&swish, scoped('9', \&sppf, $x, 16 * $w), 16 * $w, 8 * $w, 1, 1);
    my $p4 = scoped('13', \&csp, concat(1, doubled($p5), $kept[2]), 16 * $w, 8 * $w, 1, 0);
    $p4 = activated('14', \&swish, $p4, 8 * $w, 4 * $w, 1, 1);
    my $p3 = scoped('17', \&csp, concat(1, doubled($p4), $kept[1]), 8 * $w, 4 * $w, 1, 0);
    $p4 = scoped('20', \&csp, concat(1, activated('18', \&swish, $p3, 4 * $w, 4 * $w, 3, 2), $p4), 8 * $w, 8 * $w, 1, 0);
    $p5 = scoped('23', \&csp, concat(1, activated('21', \&swish, $p4, 8 * $w, 8 * $w, 3, 2), $p5), 16 * $w, 16 * $w, 1, 0);
    my @maps = ([$p3, 4 * $w, $side / 8, 8], [$p4, 8 * $w, $side / 16, 16], [$p5, 16 * $w, $side / 32, 32]);
    my $all = concat(1, map { scoped("24.$_", \&yolo_head, @{$maps[$_]}, $classes) } 0 .. 2);
    my ($boxes, $objectness, $scores) = nodes('Split', [$all, ints(4, 1, $classes)], 3, axis => int_value(2));
    suppressed($boxes, transpose(node('Mul', [$scores, $objectness]), 0, 2, 1), 0.9)
}

# The slim face detector of Ultra-Light-Fast-Generic-Face-Detector, 240 x 320.
sub face {
    my ($x, $in, @maps) = (activated('0', \&relu, float_input(1, 3, 240, 320), 3, 16, 3, 2), 16);
    my $number = 1;
    for my $row ([32, 1], [32, 2], [32, 1], [64, 2], [64, 1], [64, 1], [64, 1], [128, 2], [128, 1], [128, 1], [256, 2], [256, 1]) {
        push @maps, [$x, $in, $in == 64 ? 3 : 2] if $in >= 64 && $row->[1] == 2;
        $x = activated("$number.dw", \&relu, $x, $in, $in, 3, $row->[1], $in);
        $x = activated("$number.pw", \&relu, $x, $in, $row->[0], 1, 1);
        ($in, $number) = ($row->[0], $number + 1);
    }
    push @maps, [$x, 256, 2];
    $x = relu(scoped('extra', \&separable, activated('extra.0', \&relu, $x, 256, 64, 1, 1), 64, 256, 2));
    my ($boxes, $scores) = ssd_heads(2, @maps, [$x, 256, 3]);
    also(softmax($scores), 'scores', $FLOAT, 1, 4420, 2);
    return (decoded($boxes, 4420), 1, 4420, 4)
}

# ---- faces -------------------------------------------------------------------------------------------------------------

sub prelu { my ($x, $width) = @_; node('PRelu', [$x, weight(named('slope'), [$width, 1, 1], 0.05, 0.25)]) }

sub prelu_conv { my ($x, $in, $out, $size, $stride, $groups) = @_;
    prelu(conv($x, $in, $out, $size, $stride, 1.8, $groups), $out)
}

sub face_block { my ($x, $in, $width, $out, $stride) = @_;
    my $y = scoped('0', \&prelu_conv, $x, $in, $width, 1, 1);
    $y = scoped('1', \&prelu_conv, $y, $width, $width, 3, $stride, $width);
    $y = scoped('2', \&conv, $y, $width, $out, 1, 1, 0.5);
    $stride == 1 && $in == $out ? node('Add', [$x, $y]) : $y
}

# 112 x 112 -> 128 numbers of length 1.
sub mobilefacenet {
    my $x = scoped('conv1', \&prelu_conv, float_input(1, 3, 112, 112), 3, 64, 3, 2);
    $x = scoped('dw1', \&prelu_conv, $x, 64, 64, 3, 1, 64);
    my ($in, $number) = (64, 0);
    for my $row ([2, 64, 5, 2], [4, 128, 1, 2], [2, 128, 6, 1], [4, 128, 1, 2], [2, 128, 2, 1]) {
        my ($expansion, $out, $count, $stride) = @$row;
        for my $i (0 .. $count - 1) {
            $x = scoped('blocks.' . $number++, \&face_block, $x, $in, $in * $expansion, $out, $i == 0 ? $stride : 1);
            $in = $out;
        }
    }
    $x = scoped('conv2', \&prelu_conv, $x, 128, 512, 1, 1);
    $x = scoped('linear7', \&convolve, $x, 512, 512, kernel => [7, 7], groups => 512, pads => [(0) x 4], gain => 1);
    $x = node('Flatten', [scoped('linear1', \&conv, $x, 512, 128, 1, 1, 1)], axis => int_value(1));
    return (node('Div', [$x, node('ReduceL2', [$x], axes => ints_value(1), keepdims => int_value(1))]), 1, 128)
}

# ---- images of images --------------------------------------------------------------------------------------------------

sub double_conv { my ($x, $in, $out) = @_;
    $x = relu(scoped('0', \&conv, $x, $in, $out, 3, 1, 2));
    relu(scoped('3', \&conv, $x, $out, $out, 3, 1, 2))
}

# Twice the size, half the channels.
sub up { my ($x, $in) = @_;
    my $w = weight(named('weight'), [$in, $in / 2, 2, 2], sqrt(1 / $in));
    node('ConvTranspose', [$x, $w, weight(named('bias'), [$in / 2], 0.1)], dilations => ints_value(1, 1), group => int_value(1),
        kernel_shape => ints_value(2, 2), pads => ints_value(0, 0, 0, 0), strides => ints_value(2, 2))
}

sub unet { my (%size) = @_;
    my ($side, @widths) = ($size{side}, @{$size{widths}});
    my ($x, $in, @skipped) = (float_input(1, $size{channels}, $side, $side), $size{channels});
    for my $level (0 .. $#widths) {
        $x = max_pool($x) if $level > 0;
        $x = scoped("down.$level", \&double_conv, $x, $in, $widths[$level]);
        $in = $widths[$level];
        push @skipped, $x;
    }
    for my $level (reverse 0 .. $#widths - 1) {
        $x = concat(1, $skipped[$level], scoped("up.$level/up", \&up, $x, $in));
        $x = scoped("up.$level/conv", \&double_conv, $x, $in, $widths[$level]);
        $in = $widths[$level];
    }
    return (scoped('outc', \&conv, $x, $in, 2, 1, 1, 1), 1, 2, $side, $side)
}

# ESPCN, three times the size.
sub super_resolution { my (%size) = @_;
    my ($x, $in) = (float_input(1, 1, ($size{side}) x 2), 1);
    for my $layer ([1, 64, 5], [2, 64, 3], [3, 32, 3]) {
        $x = activated("conv$layer->[0]", \&relu, $x, $in, @$layer[1, 2], 1);
        $in = $layer->[1];
    }
    $x = scoped('conv4', \&conv, $x, $in, 9, 3, 1, 1);
    return (node('DepthToSpace', [$x], blocksize => int_value(3), mode => string_value('CRD')), 1, 1, (3 * $size{side}) x 2)
}

# A convolution behind a border of reflections, and a norm per image.
sub style_conv { my ($x, $in, $out, $size, $stride) = @_;
    my $pad = int($size / 2);
    $x = node('Pad', [$x, ints(0, 0, $pad, $pad, 0, 0, $pad, $pad)], mode => string_value('reflect'));
    $x = convolve($x, $in, $out, kernel => [$size, $size], stride => $stride, pads => [(0) x 4], gain => 1);
    node('InstanceNormalization', [$x, weight(named('scale'), [$out], 0.1, 1), weight(named('shift'), [$out], 0.1)],
        epsilon => float_value(1e-5))
}

# Johnson et al. (2016), as in PyTorch's examples.
sub style { my (%size) = @_;
    my $x = relu(scoped('conv1', \&style_conv, float_input(1, 3, ($size{side}) x 2), 3, 32, 9, 1));
    $x = relu(scoped('conv2', \&style_conv, $x, 32, 64, 3, 2));
    $x = relu(scoped('conv3', \&style_conv, $x, 64, 128, 3, 2));
    for my $i (1 .. 5) {
        my $y = relu(scoped("res$i/conv1", \&style_conv, $x, 128, 128, 3, 1));
        $x = node('Add', [scoped("res$i/conv2", \&style_conv, $y, 128, 128, 3, 1), $x]);
    }
    $x = relu(scoped('deconv1', \&style_conv, doubled($x), 128, 64, 3, 1));
    $x = relu(scoped('deconv2', \&style_conv, doubled($x), 64, 32, 3, 1));
    return (scoped('deconv3', \&style_conv, $x, 32, 3, 9, 1), 1, 3, ($size{side}) x 2)
}

1;
