"""Offline quality: the judges that serve, over files of cases, each score beside a trivial baseline.

`cli` `command_line`                the commands, and what they share
`cases`                             rows of files, checked
`cache/` `followups/`               verified answers, and what is looked up at all: judging, tables
`gate/` `faithfulness/`             the same, with a report and the calibration of their cuts
`answers/` with `metrics/`          whole answers: runs, reports, comparisons
`artificial/` `users/` `acceptance/`   made questions, played users, people who judge blindly
`served` `fitted_on`                what the serving gateway learnt, and what no figure may come from
`statistics` `drawing` `pages/` `workbooks`   intervals, and how figures are shown
"""
