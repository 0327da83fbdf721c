#!/usr/bin/perl
# Makes the networks whose speed is measured, of Networks.pm:
#   make_network.pl NAME OUT [INPUTS]      NAME: resnet50 mobilenetv2 vit_s16 bert_base gpt2 lstm chain qdq_resnet50 qdq_mobilenetv2
# INPUTS: a folder that gets input_0.pb, input_1.pb, ... to run it on.
# Sizes and structure are those of the papers and of torchvision, timm and transformers. A chain is 400 nodes on 8 numbers, which
# take what running a node takes. qdq_: as quantized by ONNX Runtime, uint8 with int8 per channel.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Onnx;
use Networks;

sub chain { my ($count, $width) = @_;
    my ($x, $w) = (float_input(1, $width), weight('w', [$width], 0.1, 1));
    for my $i (1 .. $count / 4) {
        $x = node('Tanh', [node('Mul', [node('Sin', [node('Add', [$x, $w])]), $w])]);
    }
    return ($x, 1, $width)
}

my %networks = (
    resnet50 => sub {
        resnet(side => 224, stem => 64, classes => 1000, stages => [[1, 64, 3], [2, 128, 4], [3, 256, 6], [4, 512, 3]])
    },
    mobilenetv2 => sub {
        mobilenetv2(side => 224, stem => 32, head => 1280, classes => 1000, stages => [[1, 16, 1, 1], [6, 24, 2, 2],
            [6, 32, 3, 2], [6, 64, 4, 2], [6, 96, 3, 1], [6, 160, 3, 2], [6, 320, 1, 1]])
    },
    vit_s16 => sub { vit(side => 224, patch => 16, width => 384, heads => 6, layers => 12, classes => 1000) },
    bert_base => sub {
        bert(width => 768, heads => 12, layers => 12, vocabulary => 30522, places => 512,
            ids => [map { 101 + $_ * 7919 % 30000 } 1 .. 128])
    },
    gpt2 => sub { gpt2(width => 768, heads => 12, layers => 12, words => 128, vocabulary => 50257, places => 1024) },
    lstm => sub { lstm(width => 512, steps => 128) },
    chain => sub { chain(400, 8) },
);
for my $name (qw(resnet50 mobilenetv2)) {
    $networks{"qdq_$name"} = sub { local $Onnx::quantizes = 1; $networks{$name}->() };
}
my ($name, $out, $folder) = @ARGV;
@ARGV >= 2 && @ARGV <= 3 && $networks{$name} or die "usage: see the head of $0\n";
write_network($out, $name, $folder, $networks{$name}->());
