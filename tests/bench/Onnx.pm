# Writes ONNX models (opset 17) from Perl, for the benchmarks: nodes as they are called for, weights that are made up.
#
#   my $y = node('Relu', [$x]);   any number of calls, in topological order
#   write_model('m.onnx', 'graph', [input('x', $FLOAT, 1, 3)], [output($y, $FLOAT, 1, 3)]);
#
# Names are those of PyTorch's exporter: "/scope/Op_1", its output "/scope/Op_1_output_0". Weights are uniform noise with a
# given standard deviation, the same in every run: stretches of one block of numbers, so that a model of hundreds of megabytes
# is a matter of a second.
package Onnx;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw($FLOAT $UINT8 $INT8 $INT32 $INT64 $BOOL node nodes int_value ints_value float_value floats_value
    string_value strings_value weight initial noise constant real ints identity input output write_model write_tensor);

our ($FLOAT, $UINT8, $INT8, $INT32, $INT64, $BOOL) = (1, 2, 3, 6, 7, 9);
our $scope = '';     # put before the names of nodes; to be set with local $Onnx::scope
our $domain = '';    # of the operators; likewise
our $quantizes = 0;  # what operators with integer kernels read has gone through integers (QDQ); likewise

my %element_size = ($FLOAT => 4, $UINT8 => 1, $INT8 => 1, $INT32 => 4, $INT64 => 8, $BOOL => 1);

# ---- protobuf: fields as bytes (https://protobuf.dev/programming-guides/encoding/) ----

sub varint { my ($n) = @_; my $s = ''; while ($n > 127) { $s .= chr($n & 127 | 128); $n >>= 7 } $s . chr $n }
sub number { my ($field, $n) = @_; varint($field << 3) . varint $n }
sub bytes { my ($field, $s) = @_; varint($field << 3 | 2) . varint(length $s) . $s }

# ---- nodes ----

my ($nodes, %uses, @weights, %weights) = ('');
my %versions = ('' => 17, 'ai.onnx.ml' => 3);
my %domains = ('' => 1);    # those that nodes are of
my (%is_positive, %dequantized, %source); # values: never below 0; what one is dequantized to, and from

# Attribute values; the field is that of AttributeProto, the last number its type.
sub float_value { varint(2 << 3 | 5) . pack('f<', $_[0]) . number 20, 1 }
sub int_value { number(3, $_[0] & ~0) . number 20, 2 }
sub string_value { bytes(4, $_[0]) . number 20, 3 }
sub tensor_value { bytes(5, $_[0]) . number 20, 4 }
sub floats_value { join('', map { varint(7 << 3 | 5) . pack 'f<', $_ } @_) . number 20, 6 }
sub ints_value { join('', map { number 8, $_ & ~0 } @_) . number 20, 7 }
sub strings_value { join('', map { bytes 9, $_ } @_) . number 20, 8 }

# A node of operator OP (an array of it and its outputs' names, where those matter) with INPUTS ('' is an omitted one) and
# COUNT outputs, whose names come back.
sub nodes { my ($op, $inputs, $count, %attributes) = @_;
    ($op, my @outputs) = ref $op ? @$op : $op;
    $inputs = [read_quantized(@$inputs)] if $quantizes && $op =~ /^(Conv|Gemm|Add|MaxPool|GlobalAveragePool)$/;
    my $number = $uses{"$scope/$op"}++;
    my $name = "$scope/$op" . ($number ? "_$number" : '');
    @outputs = map { "${name}_output_$_" } 0 .. $count - 1 unless @outputs;
    my $s = join '', (map { bytes 1, $_ } @$inputs), map { bytes 2, $_ } @outputs;
    $s .= bytes(3, $name) . bytes 4, $op;
    $s .= bytes 7, $domain if $domain ne '';
    $domains{$domain} = 1;
    $s .= bytes 5, bytes(1, $_) . $attributes{$_} for sort keys %attributes;
    $nodes .= bytes 1, $s;
    $is_positive{$outputs[0]} = $op =~ /^(Relu|Clip)$/ || $op =~ /Pool|Flatten/ && $is_positive{$source{$inputs->[0]} // $inputs->[0]};
    return @outputs;
}

sub node { my ($op, $inputs, %attributes) = @_; (nodes($op, $inputs, 1, %attributes))[0] }
sub identity { my ($x, $output) = @_; node(['Identity', $output], [$x]) }

sub tensor { my ($type, $dims, $data, $name) = @_;
    join('', map { number 1, $_ } @$dims) . number(2, $type) . (defined $name ? bytes 8, $name : '') . bytes 9, $data
}

# Constants as nodes of their own: a tensor, a float, a list of integers.
sub constant { my ($type, $dims, $data) = @_; node('Constant', [], value => tensor_value(tensor($type, $dims, $data))) }
sub real { constant($FLOAT, [], pack 'f<', $_[0]) }
sub ints { constant($INT64, [scalar @_], pack 'q<*', @_) }

# ---- weights ----

sub product { my $n = 1; $n *= $_ for @_; $n }

sub add_weight { my ($name, $type, $dims, %how) = @_;
    push @weights, {name => $name, type => $type, dims => $dims, size => product(@$dims) * $element_size{$type}, %how};
    $weights{$name} = $weights[-1];
    return $name;
}

# Noise around MEAN (0) with standard deviation STD; the bytes DATA.
sub weight { my ($name, $dims, $std, $mean) = @_; add_weight($name, $FLOAT, $dims, std => $std, mean => $mean // 0) }
sub initial { my ($name, $type, $dims, $data) = @_; add_weight($name, $type, $dims, data => $data) }

# The block that weights are stretches of. Its length is prime, so that no two rows of a matrix begin at the same place.
my $PERIOD = 65521;
my (@noise, %blocks);

sub block { my ($std, $mean) = @_;
    unless (@noise) {
        srand 1;
        @noise = map { (rand() - 0.5) * sqrt 12 } 1 .. $PERIOD;
    }
    my $key = sprintf '%.6g %.6g', $std, $mean;
    $blocks{$key} //= do { my $s = pack 'f<*', map { $_ * $std + $mean } @noise; $s . $s };
    return \$blocks{$key};
}

# Noise of standard deviation 1 in the form DIMS, for inputs.
sub noise { my ($dims) = @_;
    my $size = product(@$dims) * 4;
    substr ${block(1, 0)} x (int($size / ($PERIOD * 8)) + 1), 0, $size
}

sub put { my ($file, $s) = @_; print {$file} $s or die "$0: cannot write: $!\n" }

sub put_weight { my ($file, $w, $index) = @_;
    return put($file, $w->{data}) if defined $w->{data};
    my $block = block($w->{std}, $w->{mean});
    my ($start, $length) = ($index * 4 * 1021 % ($PERIOD * 4), $PERIOD * 4);
    for (my $left = $w->{size}; $left > 0; $left -= $length) {
        put($file, substr $$block, $start, $left < $length ? $left : $length);
    }
}

# ---- quantized operands: values near 1 as uint8, weights as int8, biases as int32, all in floats again ----

sub step { my ($x) = @_; ($is_positive{$x} ? 4 : 8) / 255 }

sub round_trip { my ($x) = @_;
    return $dequantized{$x} if defined $dequantized{$x};
    my @by = (real(step($x)), constant($UINT8, [], pack 'C', $is_positive{$x} ? 0 : 128));
    my $y = node('DequantizeLinear', [node('QuantizeLinear', [$x, @by]), @by]);
    ($source{$y}, $dequantized{$x}) = ($x, $y);
    $y
}

# Noise of a weight's standard deviation takes all of int8.
my $bytes;
sub dequantize_weight { my ($w, $step) = @_;
    my $count = $w->{dims}[0];
    block(1, 0);
    $bytes //= pack 'c*', map { sprintf '%.0f', $_ * 127 / sqrt 3 } @noise;
    my $from = 1021 * keys %dequantized;
    $w->{size} /= 4;
    @$w{qw(type data)} = ($INT8, substr $bytes x (2 + $w->{size} / $PERIOD), $from % $PERIOD, $w->{size});
    node('DequantizeLinear', [$w->{name}, constant($FLOAT, [$count], pack 'f<*', ($step) x $count),
        constant($INT8, [$count], pack 'c*', (0) x $count)], axis => int_value(0))
}

sub dequantize_bias { my ($w, $step) = @_;
    my $count = $w->{dims}[0];
    block(1, 0);
    @$w{qw(type data)} = ($INT32, pack 'l<*', map { sprintf '%.0f', $noise[$_] * $w->{std} / $step } 1 .. $count);
    node('DequantizeLinear', [$w->{name}, constant($FLOAT, [$count], pack 'f<*', ($step) x $count),
        constant($INT32, [$count], pack 'l<*', (0) x $count)], axis => int_value(0))
}

# Values, then a weight and a bias, if any.
sub read_quantized { my ($x, @others) = @_;
    my @read = round_trip($x);
    return (@read, map { round_trip($_) } @others) unless @others && $weights{$others[0]};
    my $step = $weights{$others[0]}{std} * sqrt(3) / 127;
    return (@read, dequantize_weight($weights{$others[0]}, $step), dequantize_bias($weights{$others[1]}, $step * step($x)))
}

# ---- files ----

# An input or output of the graph; DIMS are numbers or names.
sub info { my ($field, $name, $type, @dims) = @_;
    my $shape = join '', map { bytes 1, /^\d+$/ ? number 1, $_ : bytes 2, $_ } @dims;
    bytes $field, bytes(1, $name) . bytes 2, bytes 1, number(1, $type) . bytes 2, $shape
}
sub input { info(11, @_) }
sub output { info(12, @_) }

sub aligned { my ($n) = @_; int(($n + 4095) / 4096) * 4096 }

# Gives every weight its bytes before the data (head), and its offset where the data lie in a file of their own: page by page
# from FROM on; those in TIED (name => name of an earlier one) where that one's lie. Returns the bytes all take in the model.
sub lay_out { my ($data_name, $from, $tied) = @_;
    my ($end, $size, %offsets) = ($from, 0);
    for my $w (@weights) {
        my $s = join('', map { number 1, $_ } @{$w->{dims}}) . number(2, $w->{type}) . bytes 8, $w->{name};
        if (defined $data_name && !defined $w->{data}) {
            my $partner = $tied->{$w->{name}};
            $w->{offset} = defined $partner ? $offsets{$partner} : aligned($end);
            $offsets{$w->{name}} = $w->{offset};
            $end = $w->{offset} + $w->{size} if $w->{offset} >= $end;
            my %entries = (location => $data_name, offset => $w->{offset}, length => $w->{size});
            $s .= bytes 13, bytes(1, $_) . bytes 2, $entries{$_} for sort keys %entries;
            $w->{head} = bytes 5, $s . number 14, 1;
        } else {
            $s .= varint(9 << 3 | 2) . varint $w->{size};
            $w->{head} = varint(5 << 3 | 2) . varint(length($s) + $w->{size}) . $s;
            $size += $w->{size};
        }
        $size += length $w->{head};
    }
    return $size;
}

sub open_new { my ($path) = @_; open my $file, '>:raw', $path or die "$0: $path: $!\n"; $file }
sub close_file { my ($file, $path) = @_; close $file or die "$0: $path: $!\n" }

# Writes all nodes and weights so far to PATH. With data => NAME the weights go to the file NAME beside it, from byte
# offset => N on, those in tied => {NAME => NAME} sharing one stretch; else into PATH, which then ends at 2 GB.
sub write_model { my ($path, $graph_name, $inputs, $outputs, %where) = @_;
    my $size = lay_out($where{data}, $where{offset} // 0, $where{tied} // {});
    my $head = $nodes . bytes 2, $graph_name;
    my $infos = join '', @$inputs, @$outputs;
    my $file = open_new($path);
    my $imports = join '', map { bytes 8, ($_ eq '' ? '' : bytes 1, $_) . number 2, $versions{$_} } sort keys %domains;
    put($file, number(1, 8) . $imports . varint(7 << 3 | 2) . varint(length($head) + $size + length $infos) . $head);
    for my $i (0 .. $#weights) {
        put($file, $weights[$i]{head});
        put_weight($file, $weights[$i], $i) unless defined $weights[$i]{offset};
    }
    put($file, $infos);
    close_file($file, $path);
    return unless defined $where{data};
    my $data_path = ($path =~ m{^(.*/)} ? $1 : '') . $where{data};
    $file = open_new($data_path);
    for my $i (grep { defined $weights[$_]{offset} } 0 .. $#weights) {
        seek $file, $weights[$i]{offset}, 0;
        put_weight($file, $weights[$i], $i);
    }
    close_file($file, $data_path);
}

# A tensor as a file of its own (TensorProto).
sub write_tensor { my ($path, $type, $dims, $data, $name) = @_;
    my $file = open_new($path);
    put($file, tensor($type, $dims, $data, $name));
    close_file($file, $path);
}

1;
