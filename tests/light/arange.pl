# Prints a TensorProto of float32 with the values i/n, as ONNX's backend runner makes the inputs of its light models
# (onnx.backend.test.runner, generate_dummy_data). Arguments: the dims.
use strict;
sub varint { my $n = shift; my $out = ''; while ($n > 127) { $out .= chr(($n & 127) | 128); $n >>= 7; } return $out . chr $n; }
my $n = 1;
$n *= $_ for @ARGV;
my $data = pack 'f<*', map { $_ / $n } 0 .. $n - 1;
binmode STDOUT;
print map({ chr(8) . varint($_) } @ARGV), chr(16) . chr(1), chr(74) . varint(length $data), $data;
