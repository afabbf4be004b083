"""Verified entries, found by meaning: a near-duplicate gets the verified answer, a near miss never does.

a question      `shelf`       the exact tier, then meaning: `Hit`, `NearMiss` or `Miss`
  is read         `text` `spelling` `asking` `wording`     what it asks, in one spelling, by its words
  is matched      `matching` `evidence` `scoring`          from evidence to one probability
  is held back    `guards/`                                one reason why it asks something else
  is cut          `calibration` `arrays` `cuts`            from which score an entry is served
an entry        `store`       every change one transaction, with its history
  is              `entries` `errors`                       what it says, and what can't be done
  is found        `indexing` `looks`                       index after SQL; what was found is looked at once
  comes in files  `transfer`
  is approved     `trial` `collisions` `fitting`   looked at as if it were served
what is served  `audit` `drift`                            what verdicts and scores say of it
"""
