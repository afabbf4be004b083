"""People in the loop: the way of a ticket, and the verified entries that answers become.

    opened by     the pipeline (withheld, escalated, answer_then_review) · `feedback` (a thumbs down)
                  · `entries.rereview` (a source changed, a day of review came)
    kept in       `tickets`            its states, and every event of it
    found in      `queue`              put together by meaning, ranked by frequency and severity
    decided in    `closing`            one transaction: the answer, the entry it becomes, what judges learn
                    ├ `closing.promotion`  answer → verified entry, looked at first by `entries.approval`
                    ├ `gate_examples`      what the question should have been, until an admin accepts it
                    └ `judgements`         whether the draft was supported by its passages
    told by       `gateway.delivery`   webhooks, notices, and the asker's next turn

Beside that way: `audits` draws a random sample of what was served, and tightens a cut that serves too many
wrong answers; `cases` makes evaluation cases of what people decided; `acceptance_tests` lets them judge
blindly. `gateway.desk` puts all of it together.
"""
