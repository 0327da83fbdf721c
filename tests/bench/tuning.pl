#!/usr/bin/perl
# What tune.sh prints, from ampconv's reports:
#   tuning.pl low REPORT     signal to noise of the model with all low, in dB, of the worst output
#   tuning.pl row REPORT     what a search came to, as words: nodes, loss, first, all, plain, seconds
#   tuning.pl lowered REPORT how many nodes are in a lower dtype, to be added to a row
#   tuning.pl head           the head of the table
#   tuning.pl table          rows of stdin, "MODEL DTYPE TARGET STRATEGY" and those words, measured, and what became of the rule file
#   tuning.pl means          their summary: min-cut against the others
use strict;
use warnings;
use JSON::PP;
use List::Util qw(min max sum);

sub report { my ($path) = @_;
    open my $file, '<', $path or die "no report\n";
    local $/;
    decode_json(<$file>)
}

sub low { my ($report) = @_;
    my @snr = grep { defined } map { $_->{metrics}{snr} } @{$report->{validation}{outputs}};
    die "no output of all low differs from float32's in numbers: nothing to tune\n" unless @snr;
    printf "%.2f\n", min @snr;
}

# Tenths of a percent are the least that losses are told apart by, in ratios.
my $least = 0.1;

sub row { my ($tuning) = @_;
    my @trials = @{$tuning->{trials}};
    my ($answer) = grep { $_->{trial} == $tuning->{answer} } @trials;
    my ($first) = grep { $trials[$_]{verdict} eq 'met' } 0 .. $#trials;
    my $all_low = $tuning->{costs}{all_low};
    my $loss = $all_low ? 100 * ($answer->{loss} - $trials[0]{loss}) / $all_low : 0;
    printf "%d %.2f %d %d %.1f %.1f\n", $answer->{nodes}, $loss, $first + 1, scalar @trials, $tuning->{plain_runs} // 0,
        $tuning->{seconds};
}

sub lowered { my ($nodes) = @_; printf ", %d nodes low", ($nodes->{float16} // 0) + ($nodes->{bfloat16} // 0) }

my $format = "%-18s %-5s %-7s %-17s %6s %8s %6s %6s %7s %8s %9s  %s\n";

sub table {
    while (<>) {
        chomp;
        my @words = split ' ', $_, 12;
        printf $format, $words[4] =~ /^\d/ ? @words : (@words[0 .. 3], ('-') x 7, join ' ', @words[4 .. $#words]);
    }
}

# ---- summary -----------------------------------------------------------------------------------------------------------

my %found;    # {case}{strategy} => {nodes, loss, ...}

sub read_rows {
    my ($answers, $same) = (0, 0);
    while (<>) {
        chomp;
        my @words = split ' ', $_, 12;
        my $search = $found{"@words[0 .. 2]"}{$words[3]} = {row => $_};
        next unless $words[4] =~ /^\d/;
        @{$search}{qw(nodes loss first all)} = @words[4 .. 7];
        $answers++;
        $same++ if $words[11] =~ /^same/;
    }
    return ($answers, $same)
}

sub geometric { my (@ratios) = @_; exp(sum(map { log } @ratios) / @ratios) }
sub ratio { my ($a, $b, $what) = @_; my $floor = $what eq 'loss' ? $least : 1; max($a->{$what}, $floor) / max($b->{$what}, $floor) }

# RATIOS by case: [case, ratio].
sub print_ratios { my ($label, @ratios) = @_;
    return unless @ratios;
    my ($worst) = sort { $b->[1] <=> $a->[1] } @ratios;
    printf "%-48s %6.3f over %d searches; worst %.2f: %s\n", $label, geometric(map { $_->[1] } @ratios), scalar @ratios,
        reverse @$worst;
}

sub has_answer { my ($case, $name) = @_; $found{$case}{$name} && defined $found{$case}{$name}{nodes} }

sub against { my ($what, $name) = @_;
    my @cases = grep { has_answer($_, 'min-cut') && has_answer($_, $name) } sort keys %found;
    print_ratios("$what of min-cut / $name", map { [$_, ratio(@{$found{$_}}{'min-cut', $name}, $what)] } @cases);
}

my @others = qw(neural-compressor bisect greedy);

sub against_best { my ($what) = @_;
    my @ratios;
    for my $case (grep { has_answer($_, 'min-cut') } sort keys %found) {
        my @found = map { $found{$case}{$_} } grep { has_answer($case, $_) } @others;
        push @ratios, [$case, max(map { ratio($found{$case}{'min-cut'}, $_, $what) } @found)] if @found;
    }
    print_ratios("$what of min-cut / best of the others", @ratios);
}

sub means {
    my ($answers, $same) = read_rows();
    for my $what (grep { my $what = $_; grep { ($_->{$what} // 0) != 0 } map { values %$_ } values %found } qw(nodes loss all)) {
        against($what, $_) for @others;
        against_best($what);
    }
    print "answers that their rule file gives again, byte by byte, within the target: $same of $answers\n";
    for my $case (sort keys %found) {
        print "no answer of min-cut: $found{$case}{'min-cut'}{row}\n" if $found{$case}{'min-cut'} && !has_answer($case, 'min-cut');
    }
}

my ($command, $path) = @ARGV;
@ARGV = ();
if ($command eq 'low') { low(report($path)) }
elsif ($command eq 'row') { row(report($path)->{tuning}) }
elsif ($command eq 'lowered') { lowered(report($path)->{nodes}) }
elsif ($command eq 'head') { printf $format, qw(model dtype target strategy nodes loss first all plain seconds measured), 'rule file' }
elsif ($command eq 'table') { table() }
elsif ($command eq 'means') { means() }
else { die "usage: see the head of $0\n" }
