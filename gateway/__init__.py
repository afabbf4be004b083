"""Sekisho, the checkpoint in front of a question-answering chatbot: the service.

a question comes   `routes`          HTTP: parse, call once, render; `console` is the reviewers' side
  goes             `pipeline`        its `_walk` is one screen: the verbs of `stages`, the values of `domain`
    understood     `understanding`   messages → questions
    let in         `gatekeeping`     must, may, must not, or unsure
    drafted        `rag`             the chatbot, or our own `documents`; `models` is the door to both
    checked        `checking`        every statement; what may leave meanwhile is `streaming`'s
    offered        `offering`        did you mean …?
  is told          `replies`         the operator's words, or the answer; `handover` has it wait for a person
a person answers   `review`          tickets, entries, audits; `delivery` tells who asked
who may            `people`          keys, roles, sessions
is written down    `telemetry`       `metrics` `recording` `tracing`; `figures`, until `retention` ends
is put together    `configuration` reads `settings` → `stores` → `assembly` → `app`, by `cli` and `commands`
"""
