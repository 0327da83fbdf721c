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
use Images;
use Sequences;

# A massive activation: a few channels of the first words, from block 0 to the end.
sub gpt_massive {
    gpt2(width => 48, heads => 4, layers => 3, words => 24, vocabulary => 97, places => 32,
        after => sub { node('Add', [$_[0], outliers(24, 48, 2, 7 => 1000, 23 => -1500, 31 => 600)]) })
}

# ---- convolutional networks --------------------------------------------------------------------------------------------

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
    t5 => sub { t5(width => 48, heads => 4, layers => 4, vocabulary => 97, ids => [map { $_ * 31 % 97 } 1 .. 24], head => 1) },
    # In the first words a channel is so large that its square is beyond float16.
    whisper => sub {
        whisper(mels => 16, width => 48, heads => 4, words => 32, layers => 4, norm => \&long_layer_norm, outliers => {11 => 400})
    },
    convnext => sub { convnext(side => 32, classes => 20, stages => [[0, 12, 2], [1, 24, 2], [2, 48, 3]]) },
    efficientnet => sub {
        efficientnet(side => 32, stem => 8, head => 96, classes => 20,
            stages => [[1, 8, 1, 1, 3], [4, 12, 2, 2, 3], [4, 16, 2, 2, 5], [4, 24, 2, 1, 3], [4, 32, 2, 2, 5]])
    },
    unet => sub { unet(side => 48, channels => 1, widths => [8, 16, 32, 64]) },
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
