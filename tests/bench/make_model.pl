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

my ($layers, $width, $hidden, $heads, $words, $causal, $data, $tied, $offset) = (2, 64, 256, 4, 100, 0, undef, 0, 0);
GetOptions(
    'layers=i' => \$layers, 'width=i' => \$width, 'hidden=i' => \$hidden, 'heads=i' => \$heads,
    'words=i' => \$words, 'causal' => \$causal, 'data=s' => \$data, 'tied' => \$tied, 'offset=i' => \$offset
) && @ARGV == 1 or die "usage: see the head of $0\n";
my $out = $ARGV[0];

# ---- protobuf: fields as bytes (https://protobuf.dev/programming-guides/encoding/) ----

sub varint { my ($n) = @_; my $s = ''; while ($n > 127) { $s .= chr($n & 127 | 128); $n >>= 7 } $s . chr $n }
sub number { my ($field, $n) = @_; varint($field << 3) . varint $n }
sub bytes { my ($field, $s) = @_; varint($field << 3 | 2) . varint(length $s) . $s }

# ---- the model: nodes as text, weights as a list to be written later ----

my ($nodes, $made, @weights) = ('', 0);
my ($FLOAT, $INT64) = (1, 7);

sub node {    # OP, inputs, attributes (name => a packed value): the output's name
    my ($op, $inputs, %attributes) = @_;
    my $output = "$op" . $made++;
    my $s = join '', map { bytes 1, $_ } @$inputs;
    $s .= bytes(2, $output) . bytes(3, "node_$output") . bytes 4, $op;
    $s .= bytes 5, bytes(1, $_) . $attributes{$_} for sort keys %attributes;
    $nodes .= bytes 1, $s;
    return $output;
}

sub int_value { number(3, $_[0]) . number 20, 2 }
sub ints_value { join('', map { number 8, $_ } @_) . number 20, 7 }

# A weight of the form DIMS; its bytes, when they are not made up.
sub weight { my ($name, $dims, $type, $bytes) = @_;
    my $count = 1;
    $count *= $_ for @$dims;
    push @weights, {name => $name, dims => $dims, type => $type // $FLOAT, bytes => $bytes, size => $count * (($type // $FLOAT) == $FLOAT ? 4 : 8)};
    return $name;
}

sub scalar_weight { weight($_[0], [], $FLOAT, pack 'f<', $_[1]) }
sub shape_weight { my ($name, @n) = @_; weight($name, [scalar @n], $INT64, pack 'q<*', @n) }

sub linear { my ($x, $name, $in, $out) = @_;
    node('Add', [node('MatMul', [$x, weight("$name.weight", [$in, $out])]), weight("$name.bias", [$out])])
}
sub norm { my ($x, $name) = @_; node('LayerNormalization', [$x, weight("$name.weight", [$width]), weight("$name.bias", [$width])]) }
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

scalar_weight('scale', sqrt($width / $heads));
scalar_weight('root_2', sqrt 2);
scalar_weight('one', 1);
scalar_weight('half', 0.5);
shape_weight('heads', 0, 0, $heads, $width / $heads);
shape_weight('flat', 0, 0, $width);
my $x = node('Gather', [weight('embedding', [$words, $width]), 'ids']);
for my $i (0 .. $layers - 1) {
    $x = node('Add', [$x, attention(norm($x, "layer$i.norm1"), "layer$i.attention")]);
    $x = node('Add', [$x, feed_forward(norm($x, "layer$i.norm2"), "layer$i.mlp")]);
}
$x = norm($x, 'norm');
$x = node('MatMul', [$x, weight('head', [$width, $words])]) if $causal;
$nodes .= bytes 1, bytes(1, $x) . bytes(2, 'y') . bytes(3, 'last') . bytes 4, 'Identity';

# ---- writing ----

# A value's name and type; dims are numbers or names.
sub info { my ($name, $type, @dims) = @_;
    my $shape = join '', map { bytes 1, /^\d+$/ ? number 1, $_ : bytes 2, $_ } @dims;
    bytes(1, $name) . bytes 2, bytes 1, number(1, $type) . bytes 2, $shape
}

# Made-up floats within 0.06, of which every weight takes a stretch from another place on.
srand 1;
my $noise = pack 'f<*', map { (rand() - 0.5) * 0.12 } 1 .. 1 << 18;
$noise .= $noise;
my $period = length($noise) / 2;

sub put { my ($file, $s) = @_; print {$file} $s or die "$0: cannot write: $!\n" }

sub put_weight { my ($file, $w, $index) = @_;
    return put($file, $w->{bytes}) if defined $w->{bytes};
    my $start = $index * 4 * 1021 % $period;
    for (my $left = $w->{size}; $left > 0; $left -= $period) {
        put($file, substr $noise, $start, $left < $period ? $left : $period);
    }
}

sub aligned { my ($n) = @_; int(($n + 4095) / 4096) * 4096 }

my ($end, $size, $query) = ($offset, 0, 0);
for my $w (@weights) {
    my $s = join('', map { number 1, $_ } @{$w->{dims}}) . number(2, $w->{type}) . bytes 8, $w->{name};
    if (defined $data && !defined $w->{bytes}) {
        $w->{offset} = $tied && $w->{name} =~ /\.k\.weight$/ ? $query : aligned($end);
        $end = $w->{offset} + $w->{size} if $w->{offset} >= $end;
        $query = $w->{offset} if $w->{name} =~ /\.q\.weight$/;
        my %entries = (location => $data, offset => $w->{offset}, length => $w->{size});
        $s .= bytes 13, bytes(1, $_) . bytes 2, $entries{$_} for sort keys %entries;
        $w->{head} = bytes 5, $s . number 14, 1;
        $size += length $w->{head};
    } else {
        $s .= varint(9 << 3 | 2) . varint $w->{size};
        $w->{head} = varint(5 << 3 | 2) . varint(length($s) + $w->{size}) . $s;
        $size += length($w->{head}) + $w->{size};
    }
}

my $infos = bytes 11, info('ids', $INT64, 'batch', 'length');
$infos .= bytes 11, info('mask', $FLOAT, 'length', 'length') if $causal;
$infos .= bytes 12, info('y', $FLOAT, 'batch', 'length', $causal ? $words : $width);
my $head = $nodes . bytes 2, 'transformer';
open my $file, '>:raw', $out or die "$0: $out: $!\n";
put($file, number(1, 8) . bytes(8, number(2, 17)) . varint(7 << 3 | 2) . varint(length($head) + $size + length $infos) . $head);
for my $i (0 .. $#weights) {
    put($file, $weights[$i]{head});
    put_weight($file, $weights[$i], $i) unless defined $weights[$i]{offset};
}
put($file, $infos);
close $file or die "$0: $out: $!\n";
exit unless defined $data;

my $folder = $out =~ m{^(.*/)} ? $1 : '';
open $file, '>:raw', "$folder$data" or die "$0: $data: $!\n";
for my $i (grep { defined $weights[$_]{offset} } 0 .. $#weights) {
    seek $file, $weights[$i]{offset}, 0;
    put_weight($file, $weights[$i], $i);
}
close $file or die "$0: $data: $!\n";
