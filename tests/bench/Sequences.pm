# Networks for text, speech, signals, tables and the like on top of Networks.pm, in sizes that the caller gives. The structures
# are those of the papers, of transformers and of the usual implementations.
package Sequences;
use strict;
use warnings;
use Exporter 'import';
use Onnx;
use Networks;
our @EXPORT = qw(mean rms_norm long_layer_norm outliers distilbert t5 llama_past text_cnn whisper conformer wav2vec gru_vad rnnoise
    tcn wavenet vocoder crnn lstm_lm tagger seq2seq dense autoencoder policy nerf dlrm gcn tree_classifier tree_regressor);

# A list of N integers below MOST, as an input.
sub made_up_ids { my ($name, $n, $most) = @_; ids_input($name, map { $_ * 7919 % $most } 1 .. $n) }
sub embedded { my ($ids, $count, $width) = @_; gather(weight(named('weight'), [$count, $width], 1), $ids) }
sub tanh_of { node('Tanh', [$_[0]]) }
sub sigmoid { node('Sigmoid', [$_[0]]) }
sub gated { my ($x, $axis, $half, $f) = @_;
    my ($y, $gate) = split_in($x, 2, $axis, $half);
    node('Mul', [$f ? $f->($y) : $y, sigmoid($gate)])
}

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

# ---- text --------------------------------------------------------------------------------------------------------------

sub distilbert { my (%size) = @_;
    my ($width, $words) = @size{qw(width words)};
    my $ids = made_up_ids('input_ids', $words, $size{vocabulary});
    my $kept = ids_input('attention_mask', (1) x $words);
    my $unseen = node('Unsqueeze', [node('Unsqueeze', [node('Equal', [$kept, constant($INT64, [], pack 'q<', 0)]), ints(1)]), ints(2)]);
    my $mask = node('Where', [$unseen, real(-3.4028234663852886e38), real(0)]);
    my $x = scoped('word_embeddings', \&embedded, $ids, $size{vocabulary}, $width);
    $x = node('Add', [$x, weight('position_embeddings.weight', [1, $words, $width], 1)]);
    $x = scoped('LayerNorm', \&layer_norm, $x, $width, 1e-12);
    $x = scoped("layer.$_", \&bert_layer, $x, $mask, $words, $width, $size{heads}) for 0 .. $size{layers} - 1;
    return ($x, 1, $words, $width)
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

# The encoder of the words IDS; with a HEAD, what words come next.
sub t5 { my (%size) = @_;
    my ($width, $heads, $vocabulary) = @size{qw(width heads vocabulary)};
    my $words = @{$size{ids}};
    my $x = gather(weight('shared.weight', [$vocabulary, $width], 1), ids_input('input_ids', @{$size{ids}}));
    my $bias = scoped('encoder', \&relative_bias, $words, $heads);
    $x = scoped("encoder/block.$_", \&t5_block, $x, $bias, $words, $width, $heads) for 0 .. $size{layers} - 1;
    $x = scoped('encoder/final_layer_norm', \&rms_norm, $x, $width);
    return ($x, 1, $words, $width) unless $size{head};
    return (node('MatMul', [$x, weight('lm_head.weight_t', [$width, $vocabulary], 1 / sqrt $width)]), 1, $words, $vocabulary)
}

# Turns X [1, heads, 1, SIZE] to its PLACE (RoPE).
sub turned { my ($x, $place, $size) = @_;
    my @angles = map { $place / 10000 ** (2 * $_ / $size) } 0 .. $size / 2 - 1;
    my ($cos, $sin) = map { my $f = $_; constant($FLOAT, [1, 1, 1, $size], pack 'f<*', map { $f->($_) } @angles, @angles) }
        sub { cos $_[0] }, sub { sin $_[0] };
    my ($low, $high) = (slice($x, 3, 0, $size / 2), slice($x, 3, $size / 2, 9223372036854775807));
    my $half = concat(-1, node('Neg', [$high]), $low);
    node('Add', [node('Mul', [$x, $cos]), node('Mul', [$half, $sin])])
}

sub llama_attention { my ($x, $past, $width, $heads, $i) = @_;
    my $size = $width / $heads;
    my ($q, $k, $v) = map { heads(scoped("${_}_proj", \&linear, $x, $width, $width), 1, $heads, $size, 0, 2, 1, 3) } qw(q k v);
    ($q, $k) = map { turned($_, $past, $size) } $q, $k;
    $k = concat(2, named_input("past.$i.key", 1, $heads, $past, $size), $k);
    $v = concat(2, named_input("past.$i.value", 1, $heads, $past, $size), $v);
    also($k, "present.$i.key", $FLOAT, 1, $heads, $past + 1, $size);
    also($v, "present.$i.value", $FLOAT, 1, $heads, $past + 1, $size);
    my $scores = node('Div', [node('MatMul', [$q, transpose($k, 0, 1, 3, 2)]), real(sqrt $size)]);
    my $mixed = transpose(node('MatMul', [softmax($scores), $v]), 0, 2, 1, 3);
    scoped('o_proj', \&linear, reshape($mixed, 1, 1, $width), $width, $width, 0.2)
}

sub llama_block { my ($x, $past, $width, $heads, $i) = @_;
    my $y = scoped('input_layernorm', \&rms_norm, $x, $width);
    $x = node('Add', [$x, scoped('self_attn', \&llama_attention, $y, $past, $width, $heads, $i)]);
    $y = scoped('post_attention_layernorm', \&rms_norm, $x, $width);
    my $hidden = 32 * int($width / 12 + 0.5);
    my ($gate, $up) = map { scoped("mlp/$_", \&linear, $y, $width, $hidden) } qw(gate_proj up_proj);
    node('Add', [$x, scoped('mlp/down_proj', \&linear, node('Mul', [swish($gate), $up]), $hidden, $width, 0.5)])
}

# One word more behind PAST words, as gpt2_past.
sub llama_past { my (%size) = @_;
    my ($width, $past, $vocabulary) = @size{qw(width past vocabulary)};
    local $Networks::has_bias = 0;
    my $x = scoped('embed_tokens', \&embedded, ids_input('input_ids', 77), $vocabulary, $width);
    $x = scoped("layers.$_", \&llama_block, $x, $past, $width, $size{heads}, $_) for 0 .. $size{layers} - 1;
    return (scoped('lm_head', \&linear, scoped('norm', \&rms_norm, $x, $width), $width, $vocabulary), 1, 1, $vocabulary)
}

# Kim's (2014).
sub text_cnn { my (%size) = @_;
    my ($width, $filters) = @size{qw(width filters)};
    my $x = transpose(scoped('embedding', \&embedded, made_up_ids('input_ids', @size{qw(words vocabulary)}), $size{vocabulary}, $width), 0, 2, 1);
    my @found = map { my $y = relu(scoped("conv$_", \&convolve, $x, $width, $filters, kernel => [$_], pads => [0, 0]));
        node('ReduceMax', [$y], axes => ints_value(2), keepdims => int_value(0)) } 3, 4, 5;
    return (scoped('fc', \&gemm, concat(1, @found), 3 * $filters, 5), 1, 5)
}

# ---- recurrent ---------------------------------------------------------------------------------------------------------

# A layer of OP over X [steps, 1, IN] from STATE (none: zeros): [steps, 1, WIDTH times DIRECTIONS] and its last state.
sub recurrent { my ($op, $x, $in, $width, $directions, $state) = @_;
    my ($gates, @more) = $op eq 'GRU' ? (3, linear_before_reset => int_value(1)) : (4);
    my @weights = (weight(named('W'), [$directions, $gates * $width, $in], 1 / sqrt $in),
        weight(named('R'), [$directions, $gates * $width, $width], 1 / sqrt $width), weight(named('B'), [$directions, 2 * $gates * $width], 0.1));
    $state //= constant($FLOAT, [$directions, 1, $width], "\0" x (4 * $directions * $width));
    my @states = $op eq 'GRU' ? $state : ($state, $state);
    push @more, direction => string_value('bidirectional') if $directions == 2;
    my ($y, $last) = nodes($op, [$x, @weights, '', @states], 2, hidden_size => int_value($width), @more);
    $y = $directions == 2 ? reshape(transpose($y, 0, 2, 1, 3), 0, 0, -1) : node('Squeeze', [$y, ints(1)]);
    return ($y, $last)
}

sub lstm_lm { my (%size) = @_;
    my ($width, $words, $vocabulary) = @size{qw(width words vocabulary)};
    my $ids = transpose(made_up_ids('input_ids', $words, $vocabulary), 1, 0);
    my $x = scoped('encoder', \&embedded, $ids, $vocabulary, $width);
    ($x) = scoped("rnn.$_", \&recurrent, 'LSTM', $x, $width, $width, 1) for 0 .. 1;
    $x = scoped('decoder', \&gemm, reshape($x, -1, $width), $width, $vocabulary);
    return (node('LogSoftmax', [$x], axis => int_value(-1)), $words, $vocabulary)
}

sub tagger { my (%size) = @_;
    my ($width, $words) = @size{qw(width words)};
    my $x = scoped('embedding', \&embedded, transpose(made_up_ids('input_ids', $words, 10000), 1, 0), 10000, 100);
    ($x) = scoped('lstm', \&recurrent, 'LSTM', $x, 100, $width, 2);
    return (scoped('hidden2tag', \&linear, transpose($x, 1, 0, 2), 2 * $width, 17), 1, $words, 17)
}

# Encoder of GRUs in both directions, and a step of the decoder that attends to it (Bahdanau et al. 2015).
sub seq2seq { my (%size) = @_;
    my ($width, $words, $vocabulary) = @size{qw(width words vocabulary)};
    my $x = scoped('encoder.embedding', \&embedded, transpose(made_up_ids('source', $words, $vocabulary), 1, 0), $vocabulary, $width);
    ($x, my $last) = scoped('encoder.rnn', \&recurrent, 'GRU', $x, $width, $width, 2);
    my $state = concat(-1, gather($last, constant($INT64, [], pack 'q<', 0)), gather($last, constant($INT64, [], pack 'q<', 1)));
    $state = node('Unsqueeze', [tanh_of(scoped('encoder.fc', \&gemm, $state, 2 * $width, $width)), ints(0)]);
    my $seen = transpose($x, 1, 0, 2);
    my $query = node('Expand', [transpose($state, 1, 0, 2), ints(1, $words, $width)]);
    my $energy = tanh_of(scoped('attention.attn', \&linear, concat(2, $query, $seen), 3 * $width, $width));
    my $scores = softmax(transpose(scoped('attention.v', \&linear, $energy, $width, 1), 0, 2, 1));
    my $context = transpose(node('MatMul', [$scores, $seen]), 1, 0, 2);
    my $word = scoped('decoder.embedding', \&embedded, ids_input('target', 5), $vocabulary, $width);
    my ($y, $next) = scoped('decoder.rnn', \&recurrent, 'GRU', concat(2, $word, $context), 3 * $width, $width, 1, $state);
    also($next, 'state', $FLOAT, 1, 1, $width);
    my $all = reshape(concat(2, $y, $context, $word), 1, 4 * $width);
    return (scoped('decoder.fc_out', \&gemm, $all, 4 * $width, $vocabulary), 1, $vocabulary)
}

# Text in an image of 32 x 100 (Shi et al. 2015).
sub crnn {
    my ($x, $in) = (float_input(1, 1, 32, 100), 1);
    my %pools = (0 => [[2, 2], [2, 2], [0, 0]], 1 => [[2, 2], [2, 2], [0, 0]], 3 => [[2, 2], [2, 1], [0, 1]], 5 => [[2, 2], [2, 1], [0, 1]]);
    for my $layer ([0, 64], [1, 128], [2, 256], [3, 256], [4, 512], [5, 512]) {
        my ($i, $out) = @$layer;
        $x = relu(scoped("cnn.conv$i", \&conv, $x, $in, $out, 3, 1, 2));
        my ($kernel, $strides, $pad) = @{$pools{$i} // next};
        $x = node('MaxPool', [$x], kernel_shape => ints_value(@$kernel), strides => ints_value(@$strides), pads => ints_value((@$pad) x 2));
    } continue { $in = $layer->[1] }
    $x = relu(scoped('cnn.conv6', \&convolve, $x, 512, 512, kernel => [2, 2], pads => [(0) x 4]));
    $x = transpose(node('Squeeze', [$x, ints(2)]), 2, 0, 1);
    for my $layer ([0, 512, 256], [1, 256, 37]) {
        my ($i, $width, $out) = @$layer;
        ($x) = scoped("rnn.$i.rnn", \&recurrent, 'LSTM', $x, $width, 256, 2);
        $x = reshape(scoped("rnn.$i.embedding", \&gemm, reshape($x, 26, 512), 512, $out), 26, 1, $out);
    }
    return ($x, 26, 1, 37)
}

# ---- speech and signals ------------------------------------------------------------------------------------------------

sub conv_words { my ($x, $in, $out, $stride) = @_;
    node('Conv', [$x, weight(named('weight'), [$out, $in, 3], sqrt(2 / (3 * $in))), weight(named('bias'), [$out], 0.1)],
        dilations => ints_value(1), group => int_value(1), kernel_shape => ints_value(3), pads => ints_value(1, 1),
        strides => ints_value($stride))
}

sub whisper_layer { my ($x, $words, $width, $heads, $norm) = @_;
    my $y = scoped('self_attn_layer_norm', $norm, $x, $width, 1e-5);
    $x = node('Add', [$x, scoped('self_attn', \&attention, $y, undef, $words, $width, $heads, 0.4)]);
    $y = scoped('fc1', \&linear, scoped('final_layer_norm', $norm, $x, $width, 1e-5), $width, 4 * $width);
    node('Add', [$x, scoped('fc2', \&linear, scoped('act', \&gelu, $y), 4 * $width, $width, 0.1)])
}

# Numbers for a constant of WIDTH at each of WORDS places, all 0 but those in %CHANNELS, at the places before LAST.
sub outliers { my ($words, $width, $last, %channels) = @_;
    constant($FLOAT, [1, $words, $width], pack 'f<*', map { my $place = $_;
        map { $place < $last ? $channels{$_} // 0 : 0 } 0 .. $width - 1 } 0 .. $words - 1)
}

# The encoder, with the NORM that the exporter writes. OUTLIERS in its first words: channels as of outliers.
sub whisper { my (%size) = @_;
    my ($mels, $width, $heads, $words) = @size{qw(mels width heads words)};
    my $norm = $size{norm} // \&layer_norm;
    my $x = scoped('conv1', \&gelu, scoped('conv1', \&conv_words, float_input(1, $mels, 2 * $words), $mels, $width, 1));
    $x = scoped('conv2', \&gelu, scoped('conv2', \&conv_words, $x, $width, $width, 2));
    $x = node('Add', [transpose($x, 0, 2, 1), weight('embed_positions.weight', [$words, $width], 0.5)]);
    $x = node('Add', [$x, outliers($words, $width, 4, %{$size{outliers}})]) if $size{outliers};
    $x = scoped("layers.$_", \&whisper_layer, $x, $words, $width, $heads, $norm) for 0 .. $size{layers} - 1;
    return (scoped('layer_norm', $norm, $x, $width, 1e-5), 1, $words, $width)
}

sub half_step { my ($x, $width) = @_;
    my $y = swish(scoped('w_1', \&linear, scoped('norm', \&layer_norm, $x, $width, 1e-5), $width, 4 * $width, 2));
    node('Add', [$x, node('Mul', [scoped('w_2', \&linear, $y, 4 * $width, $width, 0.5), real(0.5)])])
}

sub conformer_conv { my ($x, $width) = @_;
    my $y = transpose(scoped('norm', \&layer_norm, $x, $width, 1e-5), 0, 2, 1);
    $y = gated(scoped('pointwise_conv1', \&convolve, $y, $width, 2 * $width, kernel => [1]), 1, $width);
    $y = scoped('depthwise_conv', \&convolve, $y, $width, $width, kernel => [31], groups => $width, gain => 4);
    $y = scoped('pointwise_conv2', \&convolve, swish(scoped('bn', \&batch_norm, $y, $width)), $width, $width, kernel => [1]);
    node('Add', [$x, transpose($y, 0, 2, 1)])
}

sub conformer_block { my ($x, $words, $width, $heads) = @_;
    $x = scoped('feed_forward1', \&half_step, $x, $width);
    my $y = scoped('norm_mha', \&layer_norm, $x, $width, 1e-5);
    $x = node('Add', [$x, scoped('self_attn', \&attention, $y, undef, $words, $width, $heads, 0.4)]);
    $x = scoped('feed_forward2', \&half_step, scoped('conv', \&conformer_conv, $x, $width), $width);
    scoped('norm_final', \&layer_norm, $x, $width, 1e-5)
}

# FRAMES of 80 coefficients, a quarter of them behind the convolutions.
sub conformer { my (%size) = @_;
    my ($width, $words) = ($size{width}, $size{frames} / 4);
    my $x = relu(scoped('embed.0', \&conv, float_input(1, 1, $size{frames}, 80), 1, $width, 3, 2, 2));
    $x = relu(scoped('embed.2', \&conv, $x, $width, $width, 3, 2, 2));
    $x = scoped('embed.out', \&linear, reshape(transpose($x, 0, 2, 1, 3), 1, $words, 20 * $width), 20 * $width, $width);
    $x = scoped("blocks.$_", \&conformer_block, $x, $words, $width, $size{heads}) for 0 .. $size{layers} - 1;
    return ($x, 1, $words, $width)
}

# The convolutions of wav2vec 2.0, the first with a norm of each channel.
sub wav2vec { my (%size) = @_;
    my ($width, $in) = ($size{width}, 1);
    my $x = float_input(1, 1, $size{samples});
    my $steps = $size{samples};
    my $number = 0;
    for my $layer ([10, 5], ([3, 2]) x 4, ([2, 2]) x 2) {
        my ($kernel, $stride) = @$layer;
        my @how = (kernel => [$kernel], stride => $stride, pads => [0, 0], bare => 1);
        $x = scoped("conv_layers.$number", \&convolve, $x, $in, $width, @how);
        $x = node('InstanceNormalization', [$x, weight('norm.weight', [$width], 0.1, 1), weight('norm.bias', [$width], 0.1)]) if $in == 1;
        $x = scoped("conv_layers.$number", \&gelu, $x);
        $steps = int(($steps - $kernel) / $stride) + 1;
        ($in, $number) = ($width, $number + 1);
    }
    return ($x, 1, $width, $steps)
}

# Speech or not, in 512 samples: a spectrum by convolution, an encoder and a GRU with its state.
sub gru_vad {
    my $x = scoped('stft', \&convolve, float_input(1, 1, 576), 1, 258, kernel => [256], stride => 128, pads => [0, 64], bare => 1);
    my ($re, $im) = split_in($x, 2, 1, 129);
    $x = node('Sqrt', [node('Add', [map { node('Pow', [$_, real(2)]) } $re, $im])]);
    my $in = 129;
    for my $layer ([0, 128, 1], [1, 64, 2], [2, 64, 2], [3, 128, 1]) {
        $x = relu(scoped("encoder.$layer->[0]", \&convolve, $x, $in, $layer->[1], kernel => [3], stride => $layer->[2]));
        $in = $layer->[1];
    }
    ($x, my $last) = scoped('decoder.rnn', \&recurrent, 'GRU', transpose($x, 2, 0, 1), 128, 128, 1, named_input('state', 1, 1, 128));
    also($last, 'next_state', $FLOAT, 1, 1, 128);
    $x = scoped('decoder.out', \&convolve, relu(transpose($x, 1, 2, 0)), 128, 1, kernel => [1]);
    return (node('ReduceMean', [sigmoid($x)], axes => ints_value(2), keepdims => int_value(0)), 1, 1)
}

# Valin's (2018): one frame of 42 features, three GRUs with their states.
sub rnnoise {
    my $x = float_input(1, 1, 42);
    my $first = tanh_of(scoped('input_dense', \&linear, $x, 42, 24));
    my @ys = ($first);
    for my $layer (['vad', 24, 24], ['noise', 90, 48], ['denoise', 114, 96]) {
        my ($name, $in, $width) = @$layer;
        my $all = $name eq 'vad' ? $first : $name eq 'noise' ? concat(2, $first, $ys[1], $x) : concat(2, $ys[1], $ys[2], $x);
        my ($y, $last) = scoped($name, \&recurrent, 'GRU', $all, $in, $width, 1, named_input("${name}_state", 1, 1, $width));
        also($last, "next_${name}_state", $FLOAT, 1, 1, $width);
        push @ys, $y;
    }
    also(sigmoid(scoped('vad_output', \&linear, $ys[1], 24, 1)), 'voice', $FLOAT, 1, 1, 1);
    return (sigmoid(scoped('denoise_output', \&linear, $ys[3], 96, 22)), 1, 1, 22)
}

# Bai et al. (2018): levels of two causal convolutions, each further apart.
sub tcn { my (%size) = @_;
    my ($width, $in) = ($size{width}, $size{channels});
    my $x = float_input(1, $in, $size{steps});
    for my $i (0 .. $size{levels} - 1) {
        my @how = (kernel => [3], dilation => 2 ** $i, causal => 1);
        my $y = relu(scoped("network.$i.conv1", \&convolve, $x, $in, $width, @how));
        $y = relu(scoped("network.$i.conv2", \&convolve, $y, $width, $width, @how));
        $x = scoped("network.$i.downsample", \&convolve, $x, $in, $width, kernel => [1]) if $in != $width;
        $x = relu(node('Add', [$y, $x]));
        $in = $width;
    }
    return (scoped('linear', \&gemm, gather($x, constant($INT64, [], pack 'q<', -1), 2), $width, 10), 1, 10)
}

sub wavenet { my (%size) = @_;
    my ($width, $skipped, $steps) = @size{qw(width skipped steps)};
    my $x = scoped('start', \&convolve, float_input(1, 1, $steps), 1, $width, kernel => [1]);
    my $sum;
    for my $i (0 .. $size{layers} - 1) {
        my $y = scoped("conv.$i", \&convolve, $x, $width, 2 * $width, kernel => [2], dilation => 2 ** ($i % 8), causal => 1);
        $y = gated($y, 1, $width, \&tanh_of);
        my $skip = scoped("skip.$i", \&convolve, $y, $width, $skipped, kernel => [1], gain => 0.5);
        $sum = defined $sum ? node('Add', [$sum, $skip]) : $skip;
        $x = node('Add', [$x, scoped("residual.$i", \&convolve, $y, $width, $width, kernel => [1], gain => 0.5)]);
    }
    $x = relu(scoped('end.0', \&convolve, relu($sum), $skipped, $skipped, kernel => [1]));
    return (scoped('end.1', \&convolve, $x, $skipped, 256, kernel => [1]), 1, 256, $steps)
}

sub vocoder_block { my ($x, $width, $kernel, @dilations) = @_;
    for my $i (0 .. $#dilations) {
        my @how = (kernel => [$kernel], dilation => $dilations[$i], gain => 0.5);
        $x = node('Add', [scoped("convs.$i", \&convolve, leaky($x), $width, $width, @how), $x]);
    }
    return $x
}

# HiFi-GAN's generator, version 3: 256 samples of a frame of 80 coefficients.
sub vocoder { my (%size) = @_;
    my ($width, $steps) = ($size{width}, $size{frames});
    my $x = scoped('conv_pre', \&convolve, float_input(1, 80, $steps), 80, $width, kernel => [7]);
    for my $stage ([0, 8, 16], [1, 8, 16], [2, 4, 8]) {
        my ($number, $factor, $kernel) = @$stage;
        my $w = weight("ups.$number.weight", [$width, $width / 2, $kernel], sqrt($factor / ($width * $kernel)));
        $x = node('ConvTranspose', [leaky($x), $w, weight("ups.$number.bias", [$width / 2], 0.1)], kernel_shape => ints_value($kernel),
            pads => ints_value(($kernel - $factor) / 2, ($kernel - $factor) / 2), strides => ints_value($factor));
        ($width, $steps) = ($width / 2, $steps * $factor);
        my @blocks = map { scoped("resblocks.$number.$_->[0]", \&vocoder_block, $x, $width, @$_) } [3, 1, 2], [5, 2, 6], [7, 3, 12];
        $x = node('Div', [node('Add', [node('Add', [@blocks[0, 1]]), $blocks[2]]), real(3)]);
    }
    return (tanh_of(scoped('conv_post', \&convolve, leaky($x), $width, 1, kernel => [7], gain => 0.5)), 1, 1, $steps)
}

# ---- dense -------------------------------------------------------------------------------------------------------------

# Layers of WIDTHS, the first of them the input's, with F behind all but the last.
sub dense_layers { my ($x, $f, @widths) = @_;
    for my $i (1 .. $#widths) {
        $x = scoped($i - 1, \&gemm, $x, @widths[$i - 1, $i]);
        $x = $f->($x) if $i < $#widths;
    }
    return $x
}

sub dense { my (%size) = @_;
    my ($batch, @widths) = ($size{batch}, @{$size{widths}});
    return (dense_layers(float_input($batch, $widths[0]), $size{activation} // \&relu, @widths), $batch, $widths[-1])
}

# What a robot does next, and what that is worth.
sub policy {
    my $x = float_input(1, 17);
    also(scoped('value', \&dense_layers, $x, \&tanh_of, 17, 64, 64, 1), 'value', $FLOAT, 1, 1);
    return (scoped('policy', \&dense_layers, $x, \&tanh_of, 17, 64, 64, 6), 1, 6)
}

# That of machines' sounds (DCASE 2020).
sub autoencoder { dense(batch => 1, widths => [640, (128) x 4, 8, (128) x 4, 640]) }

# Sines and cosines of X at powers of two.
sub places { my ($x, $count) = @_;
    concat(-1, $x, map { my $y = node('Mul', [$x, real(2 ** $_)]); (node('Sin', [$y]), node('Cos', [$y])) } 0 .. $count - 1)
}

# Mildenhall et al. (2020), RAYS at a time.
sub nerf { my (%size) = @_;
    my $n = $size{points};
    my $place = places(named_input('points', $n, 3), 10);
    my $x = $place;
    for my $i (0 .. 7) {
        $x = concat(-1, $place, $x) if $i == 5;
        $x = relu(scoped("pts_linears.$i", \&gemm, $x, $i == 0 ? 63 : $i == 5 ? 319 : 256, 256));
    }
    my $density = scoped('alpha_linear', \&gemm, $x, 256, 1);
    my $view = places(named_input('views', $n, 3), 4);
    $x = concat(-1, scoped('feature_linear', \&gemm, $x, 256, 256), $view);
    $x = relu(scoped('views_linears.0', \&gemm, $x, 283, 128));
    return (concat(-1, sigmoid(scoped('rgb_linear', \&gemm, $x, 128, 3)), $density), $n, 4)
}

# Naumov et al. (2019): 13 numbers and 26 classes of things.
sub dlrm { my (%size) = @_;
    my ($batch, $width) = @size{qw(batch width)};
    my $x = relu(scoped('bot_l', \&dense_layers, named_input('dense_x', $batch, 13), \&relu, 13, 512, 256, 64, $width));
    my @parts = map { scoped("emb_l.$_", \&embedded, ids_input("index_$_", map { $_ * 7919 % $size{rows} } 1 .. $batch), $size{rows}, $width) } 0 .. 25;
    my $all = concat(1, node('Unsqueeze', [$x, ints(1)]), map { transpose($_, 1, 0, 2) } @parts);
    my $products = reshape(node('MatMul', [$all, transpose($all, 0, 2, 1)]), $batch, 27 ** 2);
    my @below = map { my $i = $_; map { 27 * $i + $_ } 0 .. $i - 1 } 1 .. 26;
    $products = gather($products, constant($INT64, [scalar @below], pack 'q<*', @below), 1);
    $x = scoped('top_l', \&dense_layers, concat(1, $x, $products), \&relu, $width + @below, 512, 256, 1);
    return (sigmoid($x), $batch, 1)
}

# One layer of Kipf and Welling's (2017): sums over EDGES, [source, target] in two lists.
sub gcn_layer { my ($x, $edges, $nodes, $in, $out) = @_;
    my ($from, $to) = @$edges;
    my $messages = gather(node('MatMul', [$x, weight(named('weight'), [$in, $out], 1 / sqrt $in)]), $from);
    $messages = node('Mul', [$messages, weight(named('norm'), [scalar @{$edges->[2]}, 1], 0.05, 0.3)]);
    my $sum = constant($FLOAT, [$nodes, $out], "\0" x (4 * $nodes * $out));
    $sum = node('ScatterND', [$sum, node('Unsqueeze', [$to, ints(1)]), $messages], reduction => string_value('add'));
    node('Add', [$sum, weight(named('bias'), [$out], 0.1)])
}

sub gcn { my (%size) = @_;
    my ($nodes, $features) = @size{qw(nodes features)};
    my $x = float_input($nodes, $features);
    my @from = map { $_ * 7919 % $nodes } 1 .. $size{edges};
    my @to = map { ($_ * 104729 + 13) % $nodes } 1 .. $size{edges};
    my $edges = [(map { constant($INT64, [scalar @$_], pack 'q<*', @$_) } \@from, \@to), \@from];
    $x = relu(scoped('conv1', \&gcn_layer, $x, $edges, $nodes, $features, 16));
    return (scoped('conv2', \&gcn_layer, $x, $edges, $nodes, 16, 7), $nodes, 7)
}

# ---- trees -------------------------------------------------------------------------------------------------------------

# COUNT full trees of DEPTH over FEATURES numbers, as attributes; their leaves as [tree, node] pairs.
sub trees { my ($count, $depth, $features) = @_;
    my (%columns, @leaves);
    my @thresholds = unpack 'f<*', noise([$count * 2 ** $depth]);
    for my $tree (0 .. $count - 1) {
        for my $node (0 .. 2 ** ($depth + 1) - 2) {
            my $is_leaf = $node >= 2 ** $depth - 1;
            push @leaves, [$tree, $node] if $is_leaf;
            my %row = (nodes_treeids => $tree, nodes_nodeids => $node, nodes_featureids => $is_leaf ? 0 : ($tree * 7 + $node * 3) % $features,
                nodes_modes => $is_leaf ? 'LEAF' : 'BRANCH_LEQ', nodes_truenodeids => $is_leaf ? 0 : 2 * $node + 1,
                nodes_falsenodeids => $is_leaf ? 0 : 2 * $node + 2, nodes_values => $is_leaf ? 0 : $thresholds[$tree * 2 ** $depth + $node]);
            push @{$columns{$_}}, $row{$_} for keys %row;
        }
    }
    my %attributes = map { $_ => ints_value(@{$columns{$_}}) } grep { /ids$/ } keys %columns;
    $attributes{nodes_modes} = strings_value(@{$columns{nodes_modes}});
    $attributes{nodes_values} = floats_value(@{$columns{nodes_values}});
    return (\%attributes, @leaves)
}

sub tree_classifier { my (%size) = @_;
    my ($attributes, @leaves) = trees(@size{qw(trees depth features)});
    my ($n, $classes) = @size{qw(batch classes)};
    local $Onnx::domain = 'ai.onnx.ml';
    my ($label, $scores) = nodes('TreeEnsembleClassifier', [float_input($n, $size{features})], 2, %$attributes,
        class_treeids => ints_value(map { $_->[0] } @leaves), class_nodeids => ints_value(map { $_->[1] } @leaves),
        class_ids => ints_value(map { ($_->[0] + $_->[1]) % $classes } @leaves),
        class_weights => floats_value(map { 1 / $size{trees} } @leaves), classlabels_int64s => ints_value(0 .. $classes - 1),
        post_transform => string_value('SOFTMAX'));
    local $Onnx::domain = '';
    also($label, 'label', $INT64, $n);
    return ($scores, $n, $classes)
}

sub tree_regressor { my (%size) = @_;
    my ($attributes, @leaves) = trees(@size{qw(trees depth features)});
    local $Onnx::domain = 'ai.onnx.ml';
    my $y = node('TreeEnsembleRegressor', [float_input($size{batch}, $size{features})], %$attributes,
        target_treeids => ints_value(map { $_->[0] } @leaves), target_nodeids => ints_value(map { $_->[1] } @leaves),
        target_ids => ints_value((0) x @leaves), target_weights => floats_value(map { ($_->[1] % 9 - 4) / 10 } @leaves),
        n_targets => int_value(1));
    return ($y, $size{batch}, 1)
}

1;
