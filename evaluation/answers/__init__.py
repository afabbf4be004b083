"""Are the answers good enough, which are worst, what got worse? Cases, runs, reports, comparisons."""
