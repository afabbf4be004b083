"""Are the answers good enough, which are worst, what got worse?

`cases` → `targets` (who answers) → `worker` (asks and measures) in `lanes` → `journal` (on disk) = a `run`
a run → `summary` → `report`, `sheet`, `tables`
two runs → `comparison` → `thresholds` → `junit`
"""
