#!/usr/bin/perl
# Draws single-point changes of C files for tests/mutate.sh.
#   mutate.pl list SEED EQUIVALENT FILE...              all changes in random order, one a line, the fields separated by tabs:
#                                                       file, line, kind, offset, length, replacement, before, after
#   mutate.pl apply FILE OFFSET LENGTH REPLACEMENT      prints the file with one change made
#   mutate.pl runs                                      what gcov -i -t says, from stdin, as a record of what a test runs: of each function
#                                                       "function FILE FIRST LAST COUNT", of each file "run FILE LINE..." and "code FILE
#                                                       LINE...", its lines that were run and all that have code
#   mutate.pl unrun RECORDS FILE...                     the lines of files that none of the records in a folder says were run
# The same files and SEED give the same order, in which each kind is as frequent as another as long as it lasts. EQUIVALENT names
# changes that make no difference: these are not drawn. A replacement has no newline; before and after are lines squeezed into one.
# Only bodies of functions, and of macros of several lines, are changed: no comments, strings, directives or declarations of arrays.
use strict;
use warnings;

# ---- what is code ----

# A text of the same length without comments and without what is in strings.
sub mask { my ($text) = @_;
    my $blank = sub { my ($s, $filler) = @_; $s =~ s/[^\n]/$filler/g; $s };
    $text =~ s{(/\*.*?\*/|//[^\n]*)|("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')}
              {defined $1 ? $blank->($1, ' ') : $blank->($2, '"')}gse;
    return $text;
}

# Whether each line of a masked text is in the body of a function, or of a macro after its first line.
sub code_lines { my @lines = @_;
    my ($in_function, $directive, @is_code) = (0, '');
    for (@lines) {
        my $starts = /^\s*#\s*(\w*)/;
        $directive = $1 if $starts;
        $in_function = 1 if /^\{/;
        push @is_code, $directive ne '' ? !$starts && $directive eq 'define' : $in_function && !is_declared($_);
        $in_function = 0 if /^\}/;
        $directive = '' unless /\\$/;
    }
    return @is_code;
}

# Declarations of arrays and tables, and assertions.
sub is_declared { my ($line) = @_; $line =~ /^\s*(?:static|enum|const char) |^\s*(?:const |unsigned |struct |enum )*\w+ \w+\[[^=]*\];|\bassert\(/ }

# The masked text with all else blank.
sub code_of { my ($text) = @_;
    my @lines = split /^/, mask($text);
    my @is_code = code_lines(@lines);
    for my $i (0 .. $#lines) { $lines[$i] =~ s/[^\n]/ /g unless $is_code[$i]; $lines[$i] =~ s/\\$/ / }
    return join '', @lines;
}

# ---- the kinds of changes: each takes code and gives [offset, length, replacement]s ----

my %kinds = (compare => \&compare, logic => \&logic, arithmetic => \&arithmetic, negate => \&negate, condition => \&condition,
    check => \&check, swap => \&swap, off_by_one => \&off_by_one, constant => \&constant);

# Other operators, binary ones.
sub operators { my ($code, %becomes) = @_;
    my ($any, @changes) = join '|', map { quotemeta } sort { length $b <=> length $a } keys %becomes;
    push @changes, [$-[1], length $1, $becomes{$1}] while $code =~ /(?<=[ \n])($any)(?=[ \n])/g;
    return @changes;
}
sub compare { operators($_[0], '<' => '<=', '<=' => '<', '>' => '>=', '>=' => '>', '==' => '!=', '!=' => '==') }
sub logic { operators($_[0], '&&' => '||', '||' => '&&') }
sub arithmetic { operators($_[0], '+' => '-', '-' => '+', '+=' => '-=', '-=' => '+=') }

# Where the parenthesis closes that opens before OFFSET.
sub closing { my ($code, $offset) = @_;
    my $depth = 1;
    pos($code) = $offset;
    while ($code =~ /([({\[])|[)}\]]/g) {
        $depth += defined $1 ? 1 : -1;
        return $-[0] if $depth == 0;
    }
    return;
}

# Conditions the other way round.
sub negate { my ($code) = @_;
    my @changes;
    push @changes, [$-[1], 1, ''] while $code =~ /(?<=[( ])(!)(?=[\w(])/g;
    while ($code =~ /\bif \((?!!)/g) {
        my ($from, $to) = ($+[0], closing($code, $+[0]));
        push @changes, [$from, $to - $from, '!(' . substr($code, $from, $to - $from) . ')'] if defined $to;
    }
    return @changes;
}

# Where the operand ends that begins at OFFSET: its operator binds as && or as ||.
sub operand_end { my ($code, $offset, $operator) = @_;
    my $depth = 0;
    pos($code) = $offset;
    while ($code =~ /([(\[{])|([)\]}])|([,;?:])|(&&|\|\|)/g) {
        return $-[0] if $depth == 0 && ($2 || $3 || $4 && ($4 eq '||' || $operator eq '&&'));
        $depth += $1 ? 1 : $2 ? -1 : 0;
    }
    return;
}

# Where the operand begins that ends at OFFSET.
sub operand_begin { my ($code, $offset, $operator) = @_;
    my ($reverse, $depth) = (scalar reverse(substr $code, 0, $offset), 0);
    while ($reverse =~ /([)\]}])|([(\[{])|([,;?:]|nruter\b)|(&&|\|\|)|((?<![=<>!])=(?![=<>!]))/g) {
        return $offset - $-[0] if $depth == 0 && ($2 || $3 || $5 || $4 && ($4 eq '||' || $operator eq '&&'));
        $depth += $1 ? 1 : $2 ? -1 : 0;
    }
    return;
}

# One side of && and || alone.
sub condition { my ($code) = @_;
    my @changes;
    while ($code =~ /\s(&&|\|\|)\s+/g) {
        my ($from, $to, $operator) = ($-[0], $+[0], $1);
        my ($begin, $end) = (operand_begin($code, $from, $operator), operand_end($code, $to, $operator));
        next unless defined $begin && defined $end;
        $end-- while substr($code, $end - 1, 1) =~ /\s/;
        $begin++ while substr($code, $begin, 1) =~ /\s/;
        push @changes, [$from, $end - $from, ''], [$begin, $to - $begin, ''];
    }
    return @changes;
}

# Errors that are let through. Where a failure is passed on, by AMP_TRY, the compiler and tests/style/ hold that it is.
sub check { my ($code) = @_;
    my @changes;
    while ($code =~ /\bif \(/g) {
        my ($from, $to) = ($+[0], closing($code, $+[0]));
        next unless defined $to && substr($code, $to) =~ /^\)\s*\{?\s*(?:return|\w+ =) \w*fail\w*\(/i;
        push @changes, [$from, $to - $from, '0 && (' . substr($code, $from, $to - $from) . ')'];
    }
    return @changes;
}

# Functions that give the same when arguments are swapped.
my $SYMMETRIC = qr/^(?:fmaxf?|fminf?|\w*MIN|\w*MAX|strcmp|memcmp|calloc|amp_xmalloc|amp_xcalloc|amp_arena_array|amp_\w*equal)$/;

# Neighbouring arguments of a call in each other's place.
sub swap { my ($code) = @_;
    my @changes;
    while ($code =~ /\b(\w+)\(/g) {
        my ($name, $from, $to) = ($1, $+[0], closing($code, $+[0]));
        next if !defined $to || $name =~ /^(?:if|while|for|switch|return|sizeof|defined|\w*FAIL|amp_\w*fail)$/ || $name =~ $SYMMETRIC;
        my @arguments = arguments($code, $from, $to);
        for my $i (1 .. $#arguments) {
            my ($a, $b) = @arguments[$i - 1, $i];
            my ($first, $second) = map { substr $code, $_->[0], $_->[1] - $_->[0] } $a, $b;
            push @changes, [$a->[0], $b->[1] - $a->[0], "$second, $first"] if $first ne $second;
        }
    }
    return @changes;
}

# The arguments between two offsets, as [begin, end]s.
sub arguments { my ($code, $from, $to) = @_;
    my ($depth, $begin, @ends) = (0, $from);
    my $text = substr $code, $from, $to - $from;
    while ($text =~ /([(\[{])|([)\]}])|(,)/g) {
        push @ends, $from + $-[0] if $3 && $depth == 0;
        $depth += $1 ? 1 : $2 ? -1 : 0;
    }
    my @arguments;
    for my $end (@ends, $to) {
        my ($b, $e) = ($begin, $end);
        $b++ while $b < $e && substr($code, $b, 1) =~ /\s/;
        push @arguments, [$b, $e];
        $begin = $end + 1;
    }
    return @arguments;
}

# Where numbers stand that may as well be larger: more room than is asked for, and what qsort looks at the sign of.
sub roomy { my ($code) = @_;
    my %is_roomy;
    while ($code =~ /\b(?:amp_x\w*alloc|amp_arena_a\w+)\(/g) {
        my ($from, $to) = ($+[0], closing($code, $+[0]));
        next unless defined $to;
        my $arguments = substr $code, $from, $to - $from;
        $is_roomy{$from + $-[1]} = 1 while $arguments =~ /\+ (\d+)(?=[,)]|$)/g;
    }
    while ($code =~ /\breturn [^;]*\? -(1) : (1);/g) { $is_roomy{$_} = 1 for $-[1], $-[2] }
    return %is_roomy;
}

# Small whole numbers.
sub off_by_one { my ($code) = @_;
    my ($is_roomy, @changes) = {roomy($code)};
    while ($code =~ /(?<![\w.])(\d{1,2})(?![\w.])/g) {
        push @changes, [$-[1], length $1, $1 + 1] unless $is_roomy->{$-[1]};
        push @changes, [$-[1], length $1, $1 - 1] if $1 > 0;
    }
    return @changes;
}

my %other_name = (true => 'false', false => 'true', AMP_FLOAT => 'AMP_FLOAT16', AMP_FLOAT16 => 'AMP_BFLOAT16', AMP_BFLOAT16 => 'AMP_FLOAT16',
    AMP_DOUBLE => 'AMP_FLOAT', AMP_INT64 => 'AMP_INT32', AMP_INT32 => 'AMP_INT64', INT64_MAX => 'INT32_MAX', INFINITY => '0');

# Other numbers, and names that stand for one.
sub constant { my ($code) = @_;
    my @changes;
    push @changes, [$-[1], length $1, "($1 / 2)"] while $code =~ /(?<![\w.])(\d{3,}|0x[0-9a-fA-F]+)(?![\w.])/g;
    push @changes, [$-[1], length $1, $1 == 0 ? '1.0' : "($1 * 2)"] while $code =~ /(?<![\w.])(\d+\.\d*|\d+e-?\d+|\d+\.\d*e-?\d+)(?=f?\b(?!\.))/g;
    my $any = join '|', sort keys %other_name;
    push @changes, [$-[1], length $1, $other_name{$1}] while $code =~ /\b($any)\b/g;
    return @changes;
}

# ---- files ----

sub slurp { my ($path) = @_; local $/; open my $file, '<', $path or die "mutate.pl: $path: $!\n"; my $text = <$file>; $text }

sub squeeze { my ($text) = @_; $text =~ s/\\$//mg; $text =~ s/\s+/ /g; $text =~ s/^ | $//g; $text }

# All changes of a file. What a change puts in place is taken from the text itself, as strings are masked in the code.
sub changes_of { my ($path) = @_;
    my $text = slurp($path);
    my $code = code_of($text);
    my @changes;
    for my $kind (sort keys %kinds) {
        push @changes, whole($path, $text, $code, $kind, @$_) for $kinds{$kind}->($code);
    }
    return @changes;
}

# A change with all that is said of it.
sub whole { my ($path, $text, $code, $kind, $offset, $length, $replacement) = @_;
    my $old = substr $code, $offset, $length;
    my $real = substr $text, $offset, $length;
    if ($kind eq 'swap') { $replacement = swapped($code, $real, $offset, $length) }
    elsif ($length > 0 && (my $at = index $replacement, $old) >= 0) { substr $replacement, $at, $length, $real }
    $replacement =~ s/\s*\\?\n\s*/ /g;
    my $begin = rindex($text, "\n", $offset - 1) + 1;
    my $end = index $text, "\n", $offset + $length;
    my $after = substr($text, $begin, $offset - $begin) . $replacement . substr $text, $offset + $length, $end - $offset - $length;
    my $line = 1 + (substr($text, 0, $offset) =~ tr/\n//);
    return {file => $path, line => $line, kind => $kind, offset => $offset, length => $length, replacement => $replacement,
        before => squeeze(substr $text, $begin, $end - $begin), after => squeeze($after)};
}

sub swapped { my ($code, $real, $offset, $length) = @_;
    my ($a, $b) = map { [$_->[0] - $offset, $_->[1] - $_->[0]] } arguments($code, $offset, $offset + $length);
    return substr($real, $b->[0], $b->[1]) . ', ' . substr $real, $a->[0], $a->[1];
}

# ---- what is not drawn ----

# Records of four lines or more: files (a glob), the line before and after (or *: whatever it becomes), indented, and why that makes no
# difference.
sub read_equivalent { my ($path) = @_;
    my @records;
    for my $record (split /\n\n+/, slurp($path)) {
        my ($glob, $before, $after) = grep { !/^#/ } split /\n/, $record;
        push @records, {pattern => glob_pattern($glob), before => squeeze($before), after => squeeze($after)} if defined $after;
    }
    return @records;
}

sub glob_pattern { my ($glob) = @_; my $pattern = quotemeta $glob; $pattern =~ s/\\\*/.*/g; qr/^$pattern$/ }

sub is_equivalent { my ($change, @records) = @_;
    for (@records) {
        return 1 if $change->{file} =~ $_->{pattern} && $change->{before} eq $_->{before} && ($_->{after} eq '*' || $change->{after} eq $_->{after});
    }
    return 0;
}

# ---- the draw ----

# The changes of each kind in random order, the kinds taken in random turns.
sub draw { my (@changes) = @_;
    my (%of_kind, @drawn);
    push @{$of_kind{$_->{kind}}}, $_ for @changes;
    while (my @left = sort keys %of_kind) {
        my $kind = $left[rand @left];
        my $of = $of_kind{$kind};
        push @drawn, splice @$of, rand @$of, 1;
        delete $of_kind{$kind} unless @$of;
    }
    return @drawn;
}

sub list { my ($seed, $equivalent, @files) = @_;
    my @records = read_equivalent($equivalent);
    srand $seed;
    for my $change (draw(grep { !is_equivalent($_, @records) } map { changes_of($_) } @files)) {
        print join("\t", @$change{qw(file line kind offset length replacement before after)}), "\n";
    }
}

sub apply { my ($path, $offset, $length, $replacement) = @_;
    my $text = slurp($path);
    substr $text, $offset, $length, $replacement;
    print $text;
}

# ---- what tests run ----

# A field of a record in gcov's JSON, which nests no braces in the records that matter.
sub field { my ($record, $name) = @_; $record =~ /"$name": (?:"([^"]*)"|(\d+))/ ? $1 // $2 : die "mutate.pl: gcov says nothing of $name\n" }

sub runs {
    while (<STDIN>) {
        while (/"lines": \[(.*?)\], "functions": \[(.*?)\], "file": "([^"]*)"/g) {
            my ($lines, $functions, $file) = ($1, $2, $3);
            next unless $file =~ /^src\/.*\.c$/;
            my (%is_run, %is_code);
            while ($functions =~ /(\{[^{}]*\})/g) {
                my $function = $1;
                print join(' ', 'function', $file, map { field($function, $_) } qw(start_line end_line execution_count)), "\n";
            }
            while ($lines =~ /"count": (\d+), "line_number": (\d+)/g) { $is_code{$2} = 1; $is_run{$2} = 1 if $1 > 0 }
            print join(' ', 'run', $file, sort { $a <=> $b } keys %is_run), "\n", join(' ', 'code', $file, sort { $a <=> $b } keys %is_code), "\n";
        }
    }
}

sub unrun { my ($folder, @files) = @_;
    my (%is_run, %is_code);
    for my $record (glob "$folder/*") {
        open my $in, '<', $record or die "mutate.pl: $record: $!\n";
        while (<$in>) {
            my ($what, $file, @lines) = split;
            if ($what eq 'run') { $is_run{$file}{$_} = 1 for @lines }
            elsif ($what eq 'code') { $is_code{$file}{$_} = 1 for @lines }
        }
    }
    for my $file (@files) {
        my @text = split /\n/, slurp($file);
        print "$file:$_: ", squeeze($text[$_ - 1]), "\n" for sort { $a <=> $b } grep { !$is_run{$file}{$_} } keys %{$is_code{$file} // {}};
    }
}

my $command = shift // '';
if ($command eq 'list') { list(@ARGV) }
elsif ($command eq 'apply') { apply(@ARGV) }
elsif ($command eq 'runs') { runs() }
elsif ($command eq 'unrun') { unrun(@ARGV) }
else { die "usage: see the head of $0\n" }
