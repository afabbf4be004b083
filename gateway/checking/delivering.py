"""A digest of the rules that deliver the chatbot's answers: audits of answers hold for these rules only."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict

from classifiers.faithfulness.promise import CalibratedJudge, CutsInForce
from encoders import EncoderIdentity
from gateway.checking.promises import MadeFor
from gateway.settings import Settings
from gateway.stages import Judge

__all__ = ["Delivering"]

# What the chatbot writes, and what it is read to have written from; not how long it is waited for.
_WRITING = {"kind", "base_url", "model", "contexts", "extra_body", "corrective"}
_ASKING = {"corrective": {"llm": {"api_key", "timeout_s"}, "web": {"api_key", "timeout_s"}}}


class Delivering:
    """The chatbot, the judge with its weights and cuts, and the policy on its verdicts."""

    def __init__(self, settings: Settings, encoder: EncoderIdentity, judge: Judge) -> None:
        check, chatbot = settings.faithfulness, settings.upstream
        self._settled = [
            asdict(MadeFor.of(check, encoder)),
            check.model_dump(mode="json", include={"cut", "cascade", "repair", "on_unchecked"}),
            check.llm.model if check.llm else None,
            chatbot.model_dump(mode="json", include=_WRITING, exclude=_ASKING),
            chatbot.writer.model if chatbot.writer else None,
        ]
        self._cuts = judge.cuts if isinstance(judge, CalibratedJudge) else CutsInForce()

    def __call__(self, language: str) -> str:
        """The word for answers in a language; a new calibration of the cut makes it another one."""
        told = json.dumps([self._settled, self._cuts.present.get(language)], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()
