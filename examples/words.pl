# words.pl: a workload for the demo, with the allocation habits of many scripts: makes text, cuts it
# into words, keeps a record for each line, counts and sorts.
use strict;
use warnings;

my @syllables = qw(al lo ca tor ma tra ce sam ple pro mo te);
my (%count, @lines);
for my $number (1 .. 120_000) {
    my @words = map { join '', map { $syllables[($_ * $number) % @syllables] } 1 .. 3 + $_ % 3 } 1 .. 6;
    my $text  = join ' ', @words;
    $count{$_}++ for split ' ', $text;
    push @lines, { number => $number, text => $text, words => \@words };
}
my @longest = sort { length $b->{text} <=> length $a->{text} || $a->{number} <=> $b->{number} } @lines;
my @common  = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
print "longest line: $longest[0]{number}; most common words: @common[0 .. 4]\n";
