"""What the operator has written, for the gate: a name that stands nowhere in it is somebody else's."""

from __future__ import annotations

from collections.abc import Sequence

from cache.store.queries import Filters
from classifiers import ClassifierError
from classifiers.gate import Policy
from classifiers.gate.named import stands_in
from classifiers.gate.rules import Rules
from encoders import Encoded
from gateway.errors import StoreUnavailable
from gateway.review.gate_examples import GateExamples
from gateway.stores import Stores
from languages.identification import Language
from storage.outages import DatabaseUnavailable
from storage.vectors import IndexUnavailable

__all__ = ["OwnWords"]

_PASSAGES = 8  # looked at by meaning, and as many by words, of the question and of each name


class OwnWords:
    """The policy, the documents, the entries and the lists (a `Vocabulary`)."""

    def __init__(self, stores: Stores, policy: Policy, examples: GateExamples, rules: Rules) -> None:
        self._stores = stores
        self._examples = examples
        must = policy.must
        listed = (text for item in rules.allow for text in (*item.texts, *item.words, *item.patterns))
        self._policy = (must.description, *must.examples, *listed)

    def language_of(self, text: str, /) -> Language:
        """By whose rules a question is read."""
        return self._stores.language_of(text)

    async def lacks(self, names: Sequence[str], question: Encoded, /, *, tenant: str) -> bool:
        """Whether none of these names stands in it; never where there are no documents.

        Raises:
            ClassifierError: if it cannot be searched.
        """
        try:
            return await self._lacks(names, question, tenant)
        except (IndexUnavailable, DatabaseUnavailable, StoreUnavailable) as exc:
            raise ClassifierError(f"what the operator has written could not be searched: {exc}") from exc

    async def _lacks(self, names: Sequence[str], question: Encoded, tenant: str) -> bool:
        index, language = self._stores.passage_index, self.language_of(question.text)
        found = await index.nearest(question.vector, where={}, limit=_PASSAGES)
        if not found:
            return False
        for text in (question.text, *names):
            found += await index.matching(text, where={}, limit=_PASSAGES)
        learnt = [one.text for one in await self._examples.accepted(tenant) if one.label == "must"]
        texts = {*self._policy, *learnt, *(one.text for one in found)}
        if any(stands_in(name, text, language) for name in names for text in texts):
            return False
        answers = [await self._stores.entries.list(tenant, Filters(search=name), limit=1) for name in names]
        return not any(page.total for page in answers)
