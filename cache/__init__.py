"""Verified entries, found by meaning: a near-duplicate gets the verified answer, a near miss never does.

    a question     asked by        `shelf`         the exact tier, then meaning: `Hit`, `NearMiss` or `Miss`
                   read by         `reading`       what it asks, in one spelling, by its words
                   matched by      `matching`      evidence for each entry, weighed into one probability
                   held back by    `guards`        one reason why it asks something else
                   cut by          `calibration`   from which score an entry is served, and whether that holds
    an entry       is              `entries`       what it says; `errors`: what can't be done with it
                   kept by         `store`         every change one transaction, with its history
                   found by        `indexing`      SQL first, the index after
                   filed by        `transfer`      sheets that people edit, in and out
                   approved after  `trial`         the shelf as if it were on it: what would happen?

`looks` remembers what was found for a question on its way, so that gate and cache look only once.
"""
