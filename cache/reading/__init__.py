"""What a question says, read the same way on both sides of every comparison. Nothing here knows entries.

    as a whole    `text`       one spelling for the exact tier, and the characters two texts share
                  `spelling`   that of `languages.spelling`, script; numbers in digits by `numerals`
    by its words  `words`      those that say what is asked
                  `wording`    which words of two texts agree: by their groups and the thesaurus (ja, zh)
    by its parts  `asking`     what it asks, without what only leads up to it

`tables` finds the words of the YAML files.
"""
