#!/usr/bin/perl
# Makes a transformer with made-up weights, to measure with: embeddings, then layers of attention and feed-forward with
# LayerNormalization before each, as exporters of today write them (opset 17).
#   make_model.pl [--layers N] [--width N] [--hidden N] [--heads N] [--words N] [--causal] [--data NAME [--tied]] [--offset BYTES] OUT
# --data: the weights go to the file NAME beside OUT, aligned to pages and from BYTES on (what is before stays a hole);
# else into OUT, which then ends at 2 GB. --causal: a decoder's mask, and scores of all words at the end.
# --tied: the weights of queries and keys share one stretch of the file.
use strict;
use warnings;
use Getopt::Long;
use FindBin;
use lib $FindBin::Bin;
use Onnx;

my ($layers, $width, $hidden, $heads, $words, $causal, $data, $tied, $offset) = (2, 64, 256, 4, 100, 0, undef, 0, 0);
GetOptions(
    'layers=i' => \$layers, 'width=i' => \$width, 'hidden=i' => \$hidden, 'heads=i' => \$heads,
    'words=i' => \$words, 'causal' => \$causal, 'data=s' => \$data, 'tied' => \$tied, 'offset=i' => \$offset
) && @ARGV == 1 or die "usage: see the head of $0\n";

my $STD = 0.035;

sub linear { my ($x, $name, $in, $out) = @_;
    node('Add', [node('MatMul', [$x, weight("$name.weight", [$in, $out], $STD)]), weight("$name.bias", [$out], $STD)])
}
sub norm { my ($x, $name) = @_;
    node('LayerNormalization', [$x, weight("$name.weight", [$width], $STD), weight("$name.bias", [$width], $STD)])
}
sub split_heads { my ($x, @perm) = @_; node('Transpose', [node('Reshape', [$x, 'heads'])], perm => ints_value(@perm)) }

sub attention { my ($x, $name) = @_;
    my ($q, $k, $v) = map { linear($x, "$name.$_", $width, $width) } qw(q k v);
    my $scores = node('Div', [node('MatMul', [split_heads($q, 0, 2, 1, 3), split_heads($k, 0, 2, 3, 1)]), 'scale']);
    $scores = node('Add', [$scores, 'mask']) if $causal;
    my $mixed = node('MatMul', [node('Softmax', [$scores], axis => int_value(3)), split_heads($v, 0, 2, 1, 3)]);
    linear(node('Reshape', [node('Transpose', [$mixed], perm => ints_value(0, 2, 1, 3)), 'flat']), "$name.o", $width, $width)
}

sub gelu { my ($x) = @_;
    my $erf = node('Erf', [node('Div', [$x, 'root_2'])]);
    node('Mul', [node('Mul', [$x, node('Add', [$erf, 'one'])]), 'half'])
}

sub feed_forward { my ($x, $name) = @_; linear(gelu(linear($x, "$name.up", $width, $hidden)), "$name.down", $hidden, $width) }

my %numbers = (scale => sqrt($width / $heads), root_2 => sqrt 2, one => 1, half => 0.5);
initial($_, $FLOAT, [], pack 'f<', $numbers{$_}) for sort keys %numbers;
initial('heads', $INT64, [4], pack 'q<*', 0, 0, $heads, $width / $heads);
initial('flat', $INT64, [3], pack 'q<*', 0, 0, $width);
my $x = node('Gather', [weight('embedding', [$words, $width], $STD), 'ids']);
for my $i (0 .. $layers - 1) {
    $x = node('Add', [$x, attention(norm($x, "layer$i.norm1"), "layer$i.attention")]);
    $x = node('Add', [$x, feed_forward(norm($x, "layer$i.norm2"), "layer$i.mlp")]);
}
$x = norm($x, 'norm');
$x = node('MatMul', [$x, weight('head', [$width, $words], $STD)]) if $causal;
identity($x, 'y');

my @inputs = (input('ids', $INT64, 'batch', 'length'));
push @inputs, input('mask', $FLOAT, 'length', 'length') if $causal;
my %tied = $tied ? map { ("layer$_.attention.k.weight" => "layer$_.attention.q.weight") } 0 .. $layers - 1 : ();
write_model($ARGV[0], 'transformer', \@inputs, [output('y', $FLOAT, 'batch', 'length', $causal ? $words : $width)],
    data => $data, offset => $offset, tied => \%tied);
