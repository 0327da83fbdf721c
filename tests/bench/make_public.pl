#!/usr/bin/perl
# Makes well-known networks with made-up weights, of Networks.pm, Images.pm and Sequences.pm: the set that speed is judged on.
#   make_public.pl NAME OUT [INPUTS]      NAME: one of those below, which make_public.pl --list prints
# INPUTS: a folder that gets input_0.pb, input_1.pb, ... to run it on. Some are ONNX's own, of the folder TESTDATA (its backend
# tests' data), where weights are constants.
# Structures are those of the papers; images, texts and batches are as small as it takes to run in 0.02 to 100 ms.
use strict;
use warnings;
use File::Copy;
use FindBin;
use lib $FindBin::Bin;
use Onnx;
use Networks;
use Images;
use Sequences;

my @mobilenetv2 = ([1, 16, 1, 1], [6, 24, 2, 2], [6, 32, 3, 2], [6, 64, 4, 2], [6, 96, 3, 1], [6, 160, 3, 2], [6, 320, 1, 1]);
my @efficientnet = map { [@$_, 0.7] } [1, 16, 1, 1, 3], [6, 24, 2, 2, 3], [6, 40, 2, 2, 5], [6, 80, 3, 2, 3], [6, 112, 3, 1, 5],
    [6, 192, 4, 2, 5], [6, 320, 1, 1, 3];
my @mobilenetv3_small = ([3, 16, 16, 1, 0, 2, 1], [3, 72, 24, 0, 0, 2, 1], [3, 88, 24, 0, 0, 1, 1], [5, 96, 40, 1, 1, 2, 1],
    [5, 240, 40, 1, 1, 1, 2], [5, 120, 48, 1, 1, 1, 1], [5, 144, 48, 1, 1, 1, 1], [5, 288, 96, 1, 1, 2, 1], [5, 576, 96, 1, 1, 1, 2]);
my @mobilenetv3_large = ([3, 16, 16, 0, 0, 1, 1], [3, 64, 24, 0, 0, 2, 1], [3, 72, 24, 0, 0, 1, 1], [5, 72, 40, 1, 0, 2, 1],
    [5, 120, 40, 1, 0, 1, 2], [3, 240, 80, 0, 1, 2, 1], [3, 200, 80, 0, 1, 1, 1], [3, 184, 80, 0, 1, 1, 2], [3, 480, 112, 1, 1, 1, 1],
    [3, 672, 112, 1, 1, 1, 1], [5, 672, 160, 1, 1, 2, 1], [5, 960, 160, 1, 1, 1, 2]);
my @resnet_basic = (block => \&basic_block, expansion => 1);
my @words = map { 101 + $_ * 7919 % 30000 } 1 .. 128;

my %networks = (
    # images to classes
    lenet => \&lenet,
    resnet20_cifar => sub {
        resnet(@resnet_basic, side => 64, stem => 16, classes => 10, stages => [[1, 16, 3], [2, 32, 3], [3, 64, 3]])
    },
    resnet18 => sub {
        resnet(@resnet_basic, side => 224, stem => 64, classes => 1000, stages => [[1, 64, 2], [2, 128, 2], [3, 256, 2], [4, 512, 2]])
    },
    resnet50 => sub {
        resnet(side => 224, stem => 64, classes => 1000, stages => [[1, 64, 3], [2, 128, 4], [3, 256, 6], [4, 512, 3]])
    },
    se_resnet50 => sub {
        resnet(block => \&se_bottleneck, side => 128, stem => 64, classes => 1000,
            stages => [[1, 64, 3], [2, 128, 4], [3, 256, 6], [4, 512, 3]])
    },
    resnet18_int8 => sub { resnet_int8(side => 224, stem => 64, classes => 1000, stages => [[64, 2], [128, 2], [256, 2], [512, 2]]) },
    resnet8_int8 => sub { resnet_int8(side => 64, stem => 16, classes => 10, stages => [[16, 1], [32, 1], [64, 1]]) },
    vgg11 => sub {
        vgg(side => 96, classes => 100, layers => [64, 'M', 128, 'M', 256, 256, 'M', 512, 512, 'M', 512, 512, 'M'])
    },
    repvgg_a0 => sub {
        vgg(side => 224, classes => 1000, layers => [[48, 2], [48, 2], 48, [96, 2], (96) x 3, [192, 2], (192) x 13, [1280, 2]])
    },
    mobilenetv2 => sub { mobilenetv2(side => 224, stem => 32, head => 1280, classes => 1000, stages => \@mobilenetv2) },
    mobilenetv3_small => sub { mobilenetv3(side => 224, rows => \@mobilenetv3_small, last => 576, head => 1024, classes => 1000) },
    mobilenetv3_large => sub { mobilenetv3(side => 224, rows => \@mobilenetv3_large, last => 960, head => 1280, classes => 1000) },
    efficientnet_b0 => sub { efficientnet(side => 224, stem => 32, head => 1280, classes => 1000, stages => \@efficientnet) },
    efficientnet_lite0 => sub {
        efficientnet(side => 224, stem => 32, head => 1280, classes => 1000, stages => \@efficientnet, lite => 1)
    },
    shufflenetv2 => sub { shufflenetv2(side => 224, stages => [[116, 4], [232, 8], [464, 4]], head => 1024, classes => 1000) },
    convnext_atto => sub { convnext(side => 224, classes => 1000, stages => [[0, 40, 2], [1, 80, 2], [2, 160, 6], [3, 320, 2]]) },
    vit_tiny => sub { vit(side => 224, patch => 16, width => 192, heads => 3, layers => 12, classes => 1000) },
    vit_small => sub { vit(side => 224, patch => 16, width => 384, heads => 6, layers => 12, classes => 1000) },
    swin_micro => sub { swin(side => 224, width => 48, heads => 3, counts => [2, 2, 6, 2], classes => 1000) },
    mixer_s32 => sub { mixer(side => 224, patch => 32, width => 512, layers => 8, classes => 1000) },
    # images to places, faces, images
    ssd_mobilenet => sub { ssd(classes => 21) },
    yolov5n => sub { yolo(side => 320, width => 16, classes => 80) },
    face_slim => \&face, mobilefacenet => \&mobilefacenet,
    unet => sub { unet(side => 128, channels => 3, widths => [16, 32, 64, 128, 256]) },
    super_resolution => sub { super_resolution(side => 96) },
    style_transfer => sub { style(side => 96) },
    crnn => \&crnn, dqn => \&dqn,
    pointnet => sub { pointnet(points => 1024, classes => 40) },
    nerf => sub { nerf(points => 1024) },
    # text
    distilbert => sub { distilbert(width => 768, heads => 12, layers => 6, words => 64, vocabulary => 30522) },
    minilm => sub { bert(width => 384, heads => 12, layers => 6, vocabulary => 30522, places => 512, ids => [@words[0 .. 31]]) },
    bert_tiny => sub { bert(width => 128, heads => 2, layers => 2, vocabulary => 30522, places => 512, ids => [@words[0 .. 31]]) },
    t5_small => sub {
        local $Networks::has_bias = 0;
        t5(width => 512, heads => 8, layers => 6, vocabulary => 32128, ids => [@words[0 .. 63]])
    },
    gpt2_prefill => sub { gpt2(width => 768, heads => 12, layers => 12, words => 32, vocabulary => 50257, places => 1024) },
    gpt2_decode => sub { gpt2_past(width => 768, heads => 12, layers => 12, past => 128, vocabulary => 50257, places => 1024) },
    llama_15m_decode => sub { llama_past(width => 288, heads => 6, layers => 6, past => 64, vocabulary => 32000) },
    text_cnn => sub { text_cnn(width => 128, filters => 100, words => 64, vocabulary => 20000) },
    lstm_lm => sub { lstm_lm(width => 650, words => 35, vocabulary => 10000) },
    bilstm_tagger => sub { tagger(width => 128, words => 24) },
    seq2seq_gru => sub { seq2seq(width => 256, words => 20, vocabulary => 8000) },
    # speech and signals
    whisper_tiny => sub { whisper(mels => 80, width => 384, heads => 6, words => 300, layers => 4) },
    conformer => sub { conformer(width => 144, heads => 4, frames => 400, layers => 4) },
    wav2vec_features => sub { wav2vec(width => 512, samples => 4000) },
    gru_vad => \&gru_vad, rnnoise => \&rnnoise, ds_cnn => \&ds_cnn,
    tcn => sub { tcn(channels => 12, width => 64, levels => 8, steps => 256) },
    wavenet => sub { wavenet(width => 32, skipped => 64, layers => 16, steps => 512) },
    hifigan => sub { vocoder(width => 256, frames => 32) },
    # tables and the rest
    mlp => sub { dense(batch => 1, widths => [784, 512, 512, 10]) },
    autoencoder => \&autoencoder, policy => \&policy,
    dlrm => sub { dlrm(batch => 64, width => 16, rows => 10000) },
    gcn => sub { gcn(nodes => 2708, features => 64, edges => 10556) },
    forest => sub { tree_classifier(batch => 1, trees => 100, depth => 6, features => 30, classes => 3) },
    boosted_trees => sub { tree_regressor(batch => 100, trees => 200, depth => 5, features => 30) },
);
my %stored = (    # the names of their inputs
    (map { $_ => 'data_0' } qw(bvlc_alexnet densenet121 inception_v1 inception_v2 squeezenet)),
    (map { $_ => 'gpu_0/data_0' } qw(shufflenet zfnet512)),
);

sub copy_stored { my ($name, $out, $folder) = @_;
    my $path = ($ENV{TESTDATA} // die "$0: TESTDATA is not set\n") . "/light/light_$name.onnx";
    copy($path, $out) or die "$0: $path: $!\n";
    my @dims = (1, 3, 224, 224);
    write_tensor("$folder/input_0.pb", $FLOAT, \@dims, noise(\@dims), $stored{$name}) if defined $folder;
}

if ("@ARGV" eq '--list') {
    print "$_\n" for sort keys %networks, keys %stored;
    exit;
}
my ($name, $out, $folder) = @ARGV;
@ARGV >= 2 && @ARGV <= 3 && ($networks{$name} || $stored{$name}) or die "usage: see the head of $0\n";
if ($stored{$name}) { copy_stored($name, $out, $folder) }
else { write_network($out, $name, $folder, $networks{$name}->()) }
