#!/usr/bin/perl
# Runs a command and prints its wall-clock seconds and its peak of anonymous memory in MB: RssAnon of /proc/PID/status,
# looked at every 2 ms, which leaves out mapped files, whose pages the system takes back when it needs them.
#   measure.pl COMMAND...
use strict;
use warnings;
use POSIX ':sys_wait_h';
use Time::HiRes qw(time sleep);

my ($start, $peak) = (time, 0);
my $pid = fork // die "$0: cannot fork: $!\n";
if ($pid == 0) { exec @ARGV or die "$0: $ARGV[0]: $!\n" }
until (waitpid $pid, WNOHANG) {
    if (open my $status, '<', "/proc/$pid/status") {
        while (<$status>) { $peak = $1 if /^RssAnon:\s+(\d+)/ && $1 > $peak }
    }
    sleep 0.002;
}
die "$0: $ARGV[0] failed\n" if $?;
printf "%.3f %.1f\n", time - $start, $peak / 1024;
