"""Every outcome, counted, logged and recorded: names, scores and hashes, texts only by setting."""

from __future__ import annotations

import logging
from hashlib import sha256

import structlog

from cache.matching import Hit, Miss, NearMiss
from classifiers.faithfulness import Checked, Unchecked
from classifiers.gate import GateVerdict
from gateway.background import Loop
from gateway.domain import (
    Correction,
    Draft,
    Failed,
    Finding,
    FrontEndTask,
    NothingRelevant,
    Offers,
    Outcome,
    Question,
    Sent,
)
from gateway.errors import UpstreamUnavailable
from gateway.metrics import Metrics
from gateway.offering.accepted import AcceptedOffers
from gateway.recording.failures import log_failure
from gateway.recording.outcomes import OutcomeLog, OutcomeRow
from gateway.retention.traces import asker_key
from gateway.review.audits.lookups import LookupLog
from gateway.review.feedback.given import GivenAnswers

__all__ = ["Telemetry"]


class Telemetry:
    """Is told every outcome. Counting never fails a question: nothing here waits or raises for it."""

    def __init__(
        self,
        metrics: Metrics,
        outcomes: OutcomeLog,
        lookups: LookupLog | None = None,
        acceptances: AcceptedOffers | None = None,
        given: GivenAnswers | None = None,
        *,
        texts: bool,
    ) -> None:
        self.metrics = metrics
        self._outcomes = outcomes
        self._lookups = lookups  # None where the cache is switched off
        self._acceptances = acceptances  # None where nothing is offered
        self._given = given
        self._texts = texts
        self._log = structlog.get_logger("sekisho")

    def outcome(self, outcome: Outcome, /, *, ms: float) -> None:
        """Count, log and record one outcome."""
        row = self._row(outcome, ms)
        self.metrics.outcomes.labels(outcome.name, outcome.reason, row.language).inc()
        self.metrics.question.labels(outcome.name).observe(ms / 1000)
        for step in outcome.steps:
            self.metrics.stage.labels(step.stage).observe(step.ms / 1000)
            self._found(step.found)
        self._outcomes.add(row)
        if self._lookups is not None:
            self._lookups.outcome(outcome)
        if self._acceptances is not None:
            self._acceptances.outcome(outcome)
        if self._given is not None:
            self._given.outcome(outcome)
        if self._log.is_enabled_for(logging.INFO):
            self._log.info("outcome", **row.for_the_log(texts=self._texts))

    @property
    def loops(self) -> dict[str, Loop]:
        """What writes the records for as long as the gateway runs; given answers are the desk's."""
        written = {"outcomes": self._outcomes, "lookups": self._lookups, "acceptances": self._acceptances}
        return {name: rows.run for name, rows in written.items() if rows is not None}

    async def flush(self) -> None:
        """Write what waits in the background. Raises `DatabaseUnavailable`, and then nothing is forgotten."""
        for waiting in (self._outcomes, self._lookups, self._acceptances, self._given):
            if waiting is not None:
                await waiting.flush()

    def front_end_task(self, task: FrontEndTask, /) -> None:
        """A front end had something done beside the chat: no question, no outcome."""
        self.metrics.front_end_tasks.labels(task.front_end).inc()

    def failure(self, question: Question, exc: Exception, /) -> None:
        """A stage broke."""
        about = {"request_id": question.conversation.request_id}
        if isinstance(exc, UpstreamUnavailable):
            about["cause"] = exc.cause
        self.metrics.stage_failed(type(exc).__name__, about.get("cause", ""))
        log_failure(self._log, "stage failed", exc, **about)

    def hung_up(self, question: Question, /) -> None:
        """An asker hung up before anything was decided: there is no outcome."""
        self.metrics.hung_up.inc()

    def held_for_contexts(self, question: Question, /) -> None:
        """Sentences were ready before the contexts came: the stream was as good as buffered."""
        self.metrics.held_for_contexts.inc()
        request_id = question.conversation.request_id
        self._log.info("held for contexts", streaming="sentence", request_id=request_id)

    def first_words(self, mode: str, seconds: float) -> None:
        """The first words of a streamed answer left."""
        self.metrics.first_words.labels(mode).observe(seconds)

    def _found(self, found: Finding) -> None:
        match found:
            case GateVerdict(label=label, shadow=shadow):
                self.metrics.gate.labels(label).inc()
                for unenforced in shadow:
                    self.metrics.gate_shadow.labels(unenforced.rule, unenforced.label).inc()
            case Hit(tier=tier):
                self.metrics.lookups.labels(tier).inc()
            case NearMiss():
                self.metrics.lookups.labels("near_miss").inc()
            case Miss(lookup_failed=failed):
                self.metrics.lookups.labels("failed" if failed else "miss").inc()
            case Checked(faithfulness=share):
                self.metrics.faithfulness.observe(share)
            case Unchecked(reason=reason):
                self.metrics.unchecked.labels(reason).inc()
            case Draft(first_s=first_s, correction=correction):
                if first_s is not None:
                    self.metrics.upstream_first.observe(first_s)
                self._retrieved(correction)
            case NothingRelevant(correction=correction):
                self._retrieved(correction)
            case Offers() | Sent() | Failed():
                pass

    def _retrieved(self, correction: Correction | None) -> None:
        if correction:
            self.metrics.retrieval.verdicts.labels(correction.label).inc()

    def _row(self, outcome: Outcome, ms: float) -> OutcomeRow:
        question = outcome.question
        verdict = outcome.verdict
        findings = [step.found for step in outcome.steps]
        gate = next((found for found in findings if isinstance(found, GateVerdict)), None)
        tokens = next((found.tokens for found in findings if isinstance(found, Draft)), None)
        return OutcomeRow(
            tenant=question.tenant,
            group=question.group,
            request_id=question.conversation.request_id,
            question_hash=sha256(question.text.encode()).hexdigest(),
            question=question.text if self._texts or _would_be_forbidden(gate) else None,
            language=question.language,
            outcome=outcome.name,
            reason=outcome.reason,
            tier=next((found.tier for found in findings if isinstance(found, Hit)), None),
            entry_id=outcome.entry,
            ticket_id=outcome.ticket,
            faithfulness=verdict.faithfulness if isinstance(verdict, Checked) else None,
            unchecked=isinstance(verdict, Unchecked),
            gate_score=gate.score if gate else None,
            gate_label=gate.label if gate else None,
            gate_rule=gate.rule if gate else None,
            shadow=_shadow(gate),
            stage_ms={step.stage: round(step.ms, 3) for step in outcome.steps},
            ms=round(ms, 3),
            tokens_in=tokens.read if tokens else None,
            tokens_out=tokens.written if tokens else None,
            asker_key=asker_key(question.tenant, question.conversation.asker),
        )


def _shadow(gate: GateVerdict | None) -> list[dict[str, str | None]] | None:
    if gate is None or not gate.shadow:
        return None
    return [{"rule": one.rule, "label": one.label, "topic": one.topic} for one in gate.shadow]


def _would_be_forbidden(gate: GateVerdict | None) -> bool:
    """A reviewer can't judge a hash: what only shadow mode lets through is kept for them, as in tickets."""
    return gate is not None and any(one.label == "must_not" for one in gate.shadow)
