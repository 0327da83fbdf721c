#!/usr/bin/perl
# Makes small networks of the kinds that are tuned, of Networks.pm and of parts that are only here: hundreds of nodes, one of
# 2 000, and runs of milliseconds.
#   make_small.pl NAME OUT [INPUTS [COUNT]]        NAME: one of those at the end, which make_small.pl --list prints
# INPUTS: a folder that gets COUNT (1) samples to run it on, test_data_set_0 and so on.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Onnx;
use Networks;

# ---- norms taken apart, as older exporters write them ------------------------------------------------------------------

sub mean { my ($x) = @_; node('ReduceMean', [$x], axes => ints_value(-1), keepdims => int_value(1)) }

sub long_layer_norm { my ($x, $width) = @_;
    my $centred = node('Sub', [$x, mean($x)]);
    my $variance = mean(node('Pow', [$centred, real(2)]));
    my $y = node('Div', [$centred, node('Sqrt', [node('Add', [$variance, real(1e-5)])])]);
    $y = node('Mul', [$y, weight(named('weight'), [$width], 0.1, 1)]);
    node('Add', [$y, weight(named('bias'), [$width], 0.1)])
}

sub rms_norm { my ($x, $width) = @_;
    my $root = node('Sqrt', [node('Add', [mean(node('Pow', [$x, real(2)])), real(1e-6)])]);
    node('Mul', [weight(named('weight'), [$width], 0.1, 1), node('Mul', [$x, node('Div', [real(1), $root])])])
}

# A batch normalisation that the exporter left as it is.
sub batch_norm { my ($x, $width) = @_;
    my @weights = map { weight(named($_->[0]), [$width], 0.1, $_->[1]) } ['weight', 1], ['bias', 0], ['mean', 0], ['var', 1];
    node('BatchNormalization', [$x, @weights], epsilon => float_value(1e-5))
}

# Numbers for a constant of WIDTH at each of WORDS places, all 0 but those in %CHANNELS, at the places before LAST.
sub outliers { my ($words, $width, $last, %channels) = @_;
    constant($FLOAT, [1, $words, $width], pack 'f<*', map { my $place = $_;
        map { $place < $last ? $channels{$_} // 0 : 0 } 0 .. $width - 1 } 0 .. $words - 1)
}

# ---- transformers ------------------------------------------------------------------------------------------------------

# A massive activation: a few channels of the first words, from block 0 to the end.
sub gpt_massive {
    gpt2(width => 48, heads => 4, layers => 3, words => 24, vocabulary => 97, places => 32,
        after => sub { node('Add', [$_[0], outliers(24, 48, 2, 7 => 1000, 23 => -1500, 31 => 600)]) })
}

# BIAS is added to the scores, which transformers' T5 does not scale.
sub attention { my ($x, $bias, $words, $width, $heads, $scale) = @_;
    my $size = $width / $heads;
    my ($q, $k, $v) = map { scoped($_, \&linear, $x, $width, $width, $_ eq 'v' ? 1 : $scale) } qw(q k v);
    my $scores = node('MatMul', [heads($q, $words, $heads, $size, 0, 2, 1, 3), heads($k, $words, $heads, $size, 0, 2, 3, 1)]);
    $scores = node('Add', [$scores, $bias]) if defined $bias;
    my $mixed = transpose(node('MatMul', [softmax($scores), heads($v, $words, $heads, $size, 0, 2, 1, 3)]), 0, 2, 1, 3);
    scoped('o', \&linear, reshape($mixed, 1, $words, $width), $width, $width, 0.2)
}

sub t5_block { my ($x, $bias, $words, $width, $heads) = @_;
    my $y = scoped('layer.0/layer_norm', \&rms_norm, $x, $width);
    $x = node('Add', [$x, scoped('layer.0/SelfAttention', \&attention, $y, $bias, $words, $width, $heads, 0.4)]);
    $y = scoped('layer.1/layer_norm', \&rms_norm, $x, $width);
    $y = relu(scoped('layer.1/wi', \&linear, $y, $width, 4 * $width, 2));
    node('Add', [$x, scoped('layer.1/wo', \&linear, $y, 4 * $width, $width, 0.5)])
}

# A table of biases by how far two words are apart, the far ones in one bucket.
sub relative_bias { my ($words, $heads) = @_;
    my @buckets = map { my $i = $_; map { my $far = abs($_ - $i); ($far < 8 ? $far : 8) + ($_ > $i ? 8 : 0) } 0 .. $words - 1 } 0 .. $words - 1;
    my $places = constant($INT64, [$words, $words], pack 'q<*', @buckets);
    my $values = gather(weight('relative_attention_bias.weight', [17, $heads], 1), $places);
    node('Unsqueeze', [transpose($values, 2, 0, 1), ints(0)])
}

sub t5 {
    my ($width, $heads, $words, $vocabulary) = (48, 4, 24, 97);
    my $x = gather(weight('shared.weight', [$vocabulary, $width], 1), ids_input('input_ids', map { $_ * 31 % $vocabulary } 1 .. $words));
    my $bias = scoped('encoder', \&relative_bias, $words, $heads);
    $x = scoped("encoder/block.$_", \&t5_block, $x, $bias, $words, $width, $heads) for 0 .. 3;
    $x = scoped('encoder/final_layer_norm', \&rms_norm, $x, $width);
    return (node('MatMul', [$x, weight('lm_head.weight_t', [$width, $vocabulary], 1 / sqrt $width)]), 1, $words, $vocabulary)
}

sub conv_words { my ($x, $in, $out, $stride) = @_;
    node('Conv', [$x, weight(named('weight'), [$out, $in, 3], sqrt(2 / (3 * $in))), weight(named('bias'), [$out], 0.1)],
        dilations => ints_value(1), group => int_value(1), kernel_shape => ints_value(3), pads => ints_value(1, 1),
        strides => ints_value($stride))
}

sub whisper_layer { my ($x, $words, $width, $heads) = @_;
    my $y = scoped('self_attn_layer_norm', \&long_layer_norm, $x, $width);
    $x = node('Add', [$x, scoped('self_attn', \&attention, $y, undef, $words, $width, $heads, 0.4)]);
    $y = scoped('fc1', \&linear, scoped('final_layer_norm', \&long_layer_norm, $x, $width), $width, 4 * $width);
    node('Add', [$x, scoped('fc2', \&linear, scoped('act', \&gelu, $y), 4 * $width, $width, 0.1)])
}

# Whisper's encoder; in its first words a channel is so large that its square is beyond float16.
sub whisper {
    my ($width, $heads, $words) = (48, 4, 32);
    my $x = scoped('conv1', \&gelu, scoped('conv1', \&conv_words, float_input(1, 16, 2 * $words), 16, $width, 1));
    $x = scoped('conv2', \&gelu, scoped('conv2', \&conv_words, $x, $width, $width, 2));
    $x = node('Add', [transpose($x, 0, 2, 1), weight('embed_positions.weight', [$words, $width], 0.5)]);
    $x = node('Add', [$x, outliers($words, $width, 4, 11 => 400)]);
    $x = scoped("layers.$_", \&whisper_layer, $x, $words, $width, $heads) for 0 .. 3;
    return (scoped('layer_norm', \&long_layer_norm, $x, $width), 1, $words, $width)
}

# ---- convolutional networks --------------------------------------------------------------------------------------------

sub layer_norm_channels { my ($x, $width) = @_; transpose(layer_norm(transpose($x, 0, 2, 3, 1), $width, 1e-6), 0, 3, 1, 2) }

sub convnext_block { my ($x, $width) = @_;
    my $y = transpose(scoped('dwconv', \&conv, $x, $width, $width, 7, 1, 1, $width), 0, 2, 3, 1);
    $y = scoped('pwconv1', \&linear, scoped('norm', \&layer_norm, $y, $width, 1e-6), $width, 4 * $width);
    $y = scoped('pwconv2', \&linear, scoped('act', \&gelu, $y), 4 * $width, $width, 2);
    node('Add', [$x, transpose(node('Mul', [$y, weight(named('gamma'), [$width], 0.1, 0.3)]), 0, 3, 1, 2)])
}

sub convnext {
    my $x = scoped('stem', \&conv, float_input(1, 3, 32, 32), 3, 12, 4, 4, 1);
    $x = scoped('stem/norm', \&layer_norm_channels, $x, 12);
    my $in = 12;
    for my $stage ([0, 12, 2], [1, 24, 2], [2, 48, 3]) {
        my ($number, $width, $count) = @$stage;
        if ($number > 0) {
            $x = scoped("stages.$number/norm", \&layer_norm_channels, $x, $in);
            $x = scoped("stages.$number/downsample", \&conv, $x, $in, $width, 2, 2, 1);
        }
        $x = scoped("stages.$number/blocks.$_", \&convnext_block, $x, $width) for 0 .. $count - 1;
        $in = $width;
    }
    $x = scoped('head/norm', \&layer_norm, average($x), $in, 1e-6);
    return (scoped('head/fc', \&gemm, $x, $in, 20), 1, 20)
}

sub swish { my ($x) = @_; node('Mul', [$x, node('Sigmoid', [$x])]) }

# What a channel is multiplied by, from the averages of all.
sub squeeze { my ($x, $width, $narrow) = @_;
    my $y = swish(scoped('fc1', \&conv, node('GlobalAveragePool', [$x]), $width, $narrow, 1, 1, 2));
    node('Mul', [$x, node('Sigmoid', [scoped('fc2', \&conv, $y, $narrow, $width, 1, 1, 1)])])
}

sub mb_conv { my ($x, $in, $out, $stride, $expansion, $size) = @_;
    my $width = $in * $expansion;
    my $y = $x;
    $y = swish(scoped('expand', \&conv, $y, $in, $width, 1, 1, 3)) if $expansion > 1;
    $y = swish(scoped('depthwise', \&conv, $y, $width, $width, $size, $stride, 3, $width));
    $y = scoped('se', \&squeeze, $y, $width, $in > 4 ? $in / 4 : 1);
    $y = scoped('project', \&conv, $y, $width, $out, 1, 1, 4);
    $stride == 1 && $in == $out ? node('Add', [$x, $y]) : $y
}

sub efficientnet {
    my $x = swish(scoped('stem', \&conv, float_input(1, 3, 32, 32), 3, 8, 3, 2, 3));
    my ($in, $number) = (8, 0);
    for my $stage ([1, 8, 1, 1, 3], [4, 12, 2, 2, 3], [4, 16, 2, 2, 5], [4, 24, 2, 1, 3], [4, 32, 2, 2, 5]) {
        my ($expansion, $out, $count, $stride, $size) = @$stage;
        for my $i (0 .. $count - 1) {
            $x = scoped('blocks.' . $number++, \&mb_conv, $x, $in, $out, $i == 0 ? $stride : 1, $expansion, $size);
            $in = $out;
        }
    }
    $x = swish(scoped('head', \&conv, $x, $in, 96, 1, 1, 3));
    return (scoped('classifier', \&gemm, average($x), 96, 20), 1, 20)
}

sub pool { my ($op, $x) = @_;
    node($op, [$x], kernel_shape => ints_value(2, 2), pads => ints_value(0, 0, 0, 0), strides => ints_value(2, 2))
}

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

sub unet {
    my ($side, @widths) = (48, 8, 16, 32, 64);
    my ($x, $in, @skipped) = (float_input(1, 1, $side, $side), 1);
    for my $level (0 .. $#widths) {
        $x = pool('MaxPool', $x) if $level > 0;
        $x = scoped("down.$level", \&double_conv, $x, $in, $widths[$level]);
        $in = $widths[$level];
        push @skipped, $x;
    }
    for my $level (reverse 0 .. $#widths - 1) {
        $x = node('Concat', [$skipped[$level], scoped("up.$level/up", \&up, $x, $in)], axis => int_value(1));
        $x = scoped("up.$level/conv", \&double_conv, $x, $in, $widths[$level]);
        $in = $widths[$level];
    }
    return (scoped('outc', \&conv, $x, $in, 2, 1, 1, 1), 1, 2, $side, $side)
}

sub norm_relu_conv { my ($x, $in, $out, $size) = @_;
    scoped('conv', \&conv, relu(scoped('norm', \&batch_norm, $x, $in)), $in, $out, $size, 1, 2)
}

sub dense_layer { my ($x, $in, $growth) = @_;
    my $y = scoped('1', \&norm_relu_conv, $x, $in, 4 * $growth, 1);
    node('Concat', [$x, scoped('2', \&norm_relu_conv, $y, 4 * $growth, $growth, 3)], axis => int_value(1))
}

# Of 2 000 nodes, in channels that hardly take time.
sub densenet {
    my ($growth, $layers, $in) = (2, 71, 8);
    my $x = scoped('conv0', \&conv, float_input(1, 3, 16, 16), 3, $in, 3, 1, 2);
    for my $block (1 .. 4) {
        for my $layer (1 .. $layers) {
            $x = scoped("denseblock$block/denselayer$layer", \&dense_layer, $x, $in, $growth);
            $in += $growth;
        }
        last if $block == 4;
        my $half = int($in / 2);
        $x = pool('AveragePool', scoped("transition$block", \&norm_relu_conv, $x, $in, $half, 1));
        $in = $half;
    }
    $x = relu(scoped('norm5', \&batch_norm, $x, $in));
    return (scoped('classifier', \&gemm, average($x), $in, 20), 1, 20)
}

# ---- quantised ---------------------------------------------------------------------------------------------------------

# X as what int8 keeps of it, up to MOST.
sub rounded { my ($x, $most) = @_;
    my @scale = (constant($FLOAT, [], pack 'f<', $most / 127), constant($INT8, [], "\0"));
    node('DequantizeLinear', [node('QuantizeLinear', [$x, @scale]), @scale])
}

# A weight of int8, with a scale per output channel.
my $drawn = 0;
sub int8_weight { my ($name, $std, @dims) = @_;
    my $n = 1;
    $n *= $_ for @dims;
    my @numbers = unpack 'f<*', noise([$drawn + $n]);
    my $data = pack 'c*', map { 60 * $_ } @numbers[$drawn .. $drawn + $n - 1];
    $drawn += $n;
    node('DequantizeLinear', [initial($name, $INT8, [@dims], $data), weight("$name.scale", [$dims[0]], $std / 600, $std / 60),
        initial("$name.zero_point", $INT8, [$dims[0]], "\0" x $dims[0])], axis => int_value(0))
}

sub int8_conv { my ($x, $in, $out, $stride) = @_;
    my $w = int8_weight(named('weight'), sqrt(2 / (9 * $in)), $out, $in, 3, 3);
    my $y = node('Conv', [$x, $w, weight(named('bias'), [$out], 0.1)], dilations => ints_value(1, 1), group => int_value(1),
        kernel_shape => ints_value(3, 3), pads => ints_value(1, 1, 1, 1), strides => ints_value($stride, $stride));
}

sub int8_block { my ($x, $in, $out) = @_;
    my $y = rounded(relu(scoped('conv1', \&int8_conv, $x, $in, $out, $in == $out ? 1 : 2)), 4);
    $y = rounded(scoped('conv2', \&int8_conv, $y, $out, $out, 1), 5);
    $x = rounded(scoped('downsample', \&int8_conv, $x, $in, $out, 2), 5) if $in != $out;
    rounded(relu(node('Add', [$y, $x])), 8)
}

sub int8 {
    my $x = rounded(relu(scoped('conv1', \&int8_conv, rounded(float_input(1, 3, 32, 32), 2), 3, 8, 1)), 4);
    my $in = 8;
    for my $block ([1, 8], [2, 16], [3, 16], [4, 32], [5, 32]) {
        $x = scoped("layer$block->[0]", \&int8_block, $x, $in, $block->[1]);
        $in = $block->[1];
    }
    return (scoped('fc', \&gemm, average($x), $in, 20), 1, 20)
}

# ---- all of them -------------------------------------------------------------------------------------------------------

my %networks = (
    resnet => sub { resnet(side => 32, stem => 16, classes => 20, stages => [[1, 8, 2], [2, 16, 2], [3, 32, 2], [4, 64, 2]]) },
    mobilenetv2 => sub {
        mobilenetv2(side => 48, stem => 8, head => 128, classes => 20,
            stages => [[1, 8, 1, 1], [6, 12, 2, 2], [6, 16, 3, 2], [6, 24, 3, 1], [6, 32, 2, 2]])
    },
    vit => sub { vit(side => 32, patch => 8, width => 48, heads => 4, layers => 4, classes => 20) },
    bert => sub {
        bert(width => 48, heads => 4, layers => 3, vocabulary => 97, places => 32, ids => [map { $_ * 31 % 97 } 1 .. 24])
    },
    gpt2 => sub { gpt2(width => 48, heads => 4, layers => 3, words => 24, vocabulary => 97, places => 32) },
    lstm => sub { lstm(width => 32, steps => 24) },
    t5 => \&t5, whisper => \&whisper, convnext => \&convnext, efficientnet => \&efficientnet, unet => \&unet,
    gpt_massive => \&gpt_massive, int8 => \&int8, densenet => \&densenet,
);
if ("@ARGV" eq '--list') {
    print "$_\n" for sort keys %networks;
    exit;
}
my ($name, $out, $folder, $count) = @ARGV;
@ARGV >= 2 && @ARGV <= 4 && $networks{$name} or die "usage: see the head of $0\n";
write_network($out, $name, undef, $networks{$name}->());
exit unless defined $folder;
for my $sample (0 .. ($count // 1) - 1) {
    my $samples = "$folder/test_data_set_$sample";
    -d $samples or mkdir $samples or die "$0: $samples: $!\n";
    write_inputs($samples, $sample);
}
