#!/usr/bin/perl
# The executor against ONNX Runtime on the networks of make_public.pl, in turns, batch 1, THREADS (2) threads each. A round runs each of
# them in a process of its own, after a warm-up, as often as takes a fifth of a second. Prints milliseconds (medians of the
# rounds' medians), how many times faster than ONNX Runtime's float32 ours is (medians of the rounds' ratios), geometric means
# over all, over those that take ONNX Runtime 1 ms and more, over those below 0.2 ms; and the worst five of each dtype. Fair only
# when nothing else runs.
#   models.pl [NAME...]        ROUNDS (default 3), DTYPES (default fp32 bf16 fp16)
# BUSY=1: one processor is taken by a loop, and ours, with the threads that it takes by itself, is compared with what one thread
# takes without the loop; ONNX Runtime stands beside it.
# CHECK=1: instead of that, whether ONNX Runtime's outputs are ours; exits 1 where they are not.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Basename 'dirname';
use File::Path qw(make_path remove_tree);

my $here = dirname abs_path $0;
my ($ampconv, $build, $oracles) = map { $ENV{$_} // die "$0: $_ is not set\n" } qw(AMPCONV BUILD ORACLES);
my ($rounds, @dtypes) = ($ENV{ROUNDS} // 3, split ' ', $ENV{DTYPES} // 'fp32 bf16 fp16');
my $threads = $ENV{ORT_THREADS} = $ENV{THREADS} // 2;
my ($version, $busy) = ('');
my $folder = "$build/bench";

sub lines { my (@command) = @_;
    open my $pipe, '-|', @command or die "$0: $command[0]: $!\n";
    my @lines = <$pipe>;
    close $pipe or die "$0: '@command' failed\n";
    chomp @lines;
    return @lines
}

sub median { my @sorted = sort { $a <=> $b } @_; ($sorted[$#sorted / 2] + $sorted[@sorted / 2]) / 2 }
sub geometric_mean { my $sum = 0; $sum += log for @_; @_ ? exp($sum / @_) : 0 }

sub theirs { my ($runs) = @_;
    ($version, my @times) = lines("$oracles/ort_bench", 'model.onnx', '--time', $runs, glob 'inputs/*.pb');
    median(@times)
}

# Milliseconds in DTYPE with THREADS, undef for as many as it takes by itself.
sub ours { my ($dtype, $runs, $threads) = @_;
    my @words = (bench => 'model.onnx', '--data', 'inputs', '--dtype', $dtype, '--runs', $runs, '-q', '--json');
    my ($ms) = map { /"median_ms": ([\d.e+-]+)/ } lines($ampconv, @words, defined $threads ? ('--threads', $threads) : ());
    $ms
}

sub clear { remove_tree('inputs', 'outputs', 'model.onnx'); make_path('inputs', 'outputs') }
sub make { my ($name) = @_; clear(); lines("$here/make_public.pl", $name, 'model.onnx', 'inputs') }

# A loop on the last of the processors that this may run on.
sub with_loop { my ($f) = @_;
    my ($last) = map { /(\d+)$/ } lines('taskset', '-cp', $$);
    $busy = fork // die "$0: cannot fork: $!\n";
    exec 'taskset', '-c', $last, 'sh', '-c', 'while :; do :; done' if $busy == 0;
    my @results = $f->();
    kill 'TERM', $busy;
    waitpid $busy, 0;
    undef $busy;
    return @results
}

# A round: milliseconds of ONNX Runtime, those of ours per dtype, and what each of ours is compared with.
sub round_of { my ($runs) = @_;
    return (map { my $ms = theirs($runs); ([$ms, map { ours($_, $runs, $threads) } @dtypes], [($ms) x @dtypes]) } 1) unless $ENV{BUSY};
    my @alone = map { ours($_, $runs, 1) } @dtypes;
    ([with_loop(sub { (theirs($runs), map { ours($_, $runs) } @dtypes) })], \@alone)
}

# A row of the table: the name, ONNX Runtime's time, ours, and ours against what they are compared with.
sub measured { my ($name) = @_;
    make($name);
    my $probe = theirs(3);
    my $runs = $probe > 40 ? 5 : $probe < 1 ? 200 : int(200 / $probe);
    my @rounds = map { [round_of($runs)] } 1 .. $rounds;
    my @ms = map { my $i = $_; median(map { $_->[0][$i] } @rounds) } 0 .. @dtypes;
    my @ratios = map { my $i = $_; median(map { $_->[1][$i] / $_->[0][$i + 1] } @rounds) } 0 .. $#dtypes;
    @ratios = map { 1 / $_ } @ratios if $ENV{BUSY};
    printf "%-20s %9.3f%s%s\n", $name, $ms[0], join('', map { sprintf ' %9.3f', $_ } @ms[1 .. $#ms]),
        join '', map { sprintf ' %7.2f', $_ } @ratios;
    return {name => $name, theirs => $probe < $ms[0] ? $probe : $ms[0], ratios => \@ratios}
}

sub summary { my (@rows) = @_;
    my %kinds = (all => sub { 1 }, '1 ms and more' => sub { $_->{theirs} >= 1 }, 'below 0.2 ms' => sub { $_->{theirs} < 0.2 });
    for my $kind (sort keys %kinds) {
        my @chosen = grep { $kinds{$kind}->() } @rows;
        printf "geometric mean, %-15s (%2d)%s\n", $kind, scalar @chosen,
            join '', map { my $i = $_; sprintf ' %s %.2f', $dtypes[$i], geometric_mean(map { $_->{ratios}[$i] } @chosen) } 0 .. $#dtypes;
    }
    for my $i (0 .. $#dtypes) {
        my @sorted = sort { $a->{ratios}[$i] <=> $b->{ratios}[$i] } @rows;
        @sorted = reverse @sorted if $ENV{BUSY};
        my $last = $#sorted < 4 ? $#sorted : 4;
        printf "worst in %s:%s\n", $dtypes[$i], join ',', map { sprintf ' %s %.2f', $_->{name}, $_->{ratios}[$i] } @sorted[0 .. $last];
    }
}

sub agrees { my ($name) = @_;
    make($name);
    lines("$oracles/ort_bench", 'model.onnx', 'outputs', glob 'inputs/*.pb');
    my @bounds = map { ('-t', $_) } 'rtol=1e-3', $name =~ /int8/ ? 'atol=0.1' : 'atol=1e-3';    # steps of int8 that fall otherwise
    my $text = join ' ', eval { lines($ampconv, 'run', 'model.onnx', '--data', 'inputs', '--expect', 'outputs', '-q', @bounds) };
    print $@ ? "not ok $name\n" : "ok $name\n";
    return !$@
}

$SIG{INT} = $SIG{TERM} = sub { exit 1 };
END { my $status = $?; kill 'TERM', $busy if $busy; chdir '/' and remove_tree($folder) if $build; $? = $status }
$| = 1;
my @names = @ARGV ? @ARGV : lines("$here/make_public.pl", '--list');
make_path($folder);
chdir $folder or die "$0: $folder: $!\n";
if ($ENV{CHECK}) {
    exit((grep { !agrees($_) } @names) ? 1 : 0);
}
my ($load) = lines('cut', '-d', ' ', '-f', 1, '/proc/loadavg');
print "models: medians of $rounds rounds, load $load at the start; ",
    $ENV{BUSY} ? "a processor taken, times of one thread without that\n" : "times faster than ONNX Runtime\n";
printf "%-20s %9s%s%s\n", 'model', 'ORT ms', join('', map { sprintf ' %9s', "$_ ms" } @dtypes), join '', map { sprintf ' %7s', $_ } @dtypes;
my @rows = map { measured($_) } @names;
summary(@rows);
print "ONNX Runtime $version\n";
