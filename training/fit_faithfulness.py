"""Fit the weights of the local faithfulness judges, and measure them on answers that were left out.

    python -m training.fit_faithfulness DATA [--write local_weights]

DATA holds faithfulness/*.jsonl. Weights are fitted on answers of real RAG (RAGTruth outside its test split)
and, with less weight, on FactCG, on half of our own probes (every other set of passages), whose true
answers are in words of their own, and, with the model that reads, on the statements that it learnt nothing
of. The other half, the other sources, the answers unread and those of answers/ are only measured. HaluEval is
left out: its labels show in the length of its answers.

Both judges are fitted, of words alone and with a reading. In both a contradiction rules by itself, where no
reading overrules it. Answers from the same contexts are held out together.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from sklearn.metrics import roc_auc_score

from classifiers.faithfulness import lexical, local
from classifiers.faithfulness.evidence import Features
from encoders.shipped import load_shipped_support
from training.judged_answers import LANGUAGES, MEASURED, Answer, Floats, judged_answers
from training.worst_statement import Fit, fit

FITTED: Final = {"ragtruth_nontest": 1.0, "factcg": 0.3}  # sources with their weights
PROBES: Final = "probes fitted on"
KEPT: Final = "kept"
TASKS: Final = (*MEASURED, "ragtruth_nontest qa", "ragtruth_nontest summary")
OURS: Final = ("probes held out", "kept", "askers", "unread")
HELD_OUT: Final = (*(f"{name} {language}" for name in OURS for language in LANGUAGES), "answers ja")
WRITINGS: Final = ("words", "characters")
# The faithful answers that set each cut. Nobody judged Chinese ones of real RAG: the Japanese cut held back
# more of our probes and caught no more.
CUT_SOURCE: Final = {"en": "ragtruth_nontest qa", "ja": "jhars_dev", "zh": "probes fitted on zh"}
# A wrong answer costs more than "a person will answer you": fewer false blocks cost F1, more gain none.
FALSE_BLOCKS: Final = {"en": 0.1, "ja": 0.13, "zh": 0.05}
FOLDS: Final = 8
HARDLY: Final = 1e-3
HIGHEST: Final = {"unbound_number": 0.3, "new_counts": 0.5, "new_compounds": 0.3}
GROUPS: Final = {
    "new words": ("new_content", "new_pairs", "doubted_words"),
    "best place": ("uncovered_window", "unfounded"),
    "numbers": ("new_numbers", "new_counts", "other_units", "unbound_number"),
    "names": ("new_names", "new_compounds", "exchanged"),
    "contradictions": ("swapped", "negation_added", "negation_dropped", "opposite", "degree", "crossed"),
    "reading": ("reading", "doubted_words"),
}


@dataclass(frozen=True, slots=True)
class Kind:
    """A judge that is fitted: what it weighs, and what it learns from beside `FITTED`."""

    judge: str
    file: Path
    names: tuple[str, ...]
    left_out: tuple[str, ...]
    ours: Mapping[str, Mapping[str, float]]  # weights of our own sources of the same writing

    def fitted(self, answers: Sequence[Answer], without: Sequence[str] = ()) -> Fit:
        """Weights from these answers, without some figures."""
        gone = {*self.left_out, *without}
        highest = {self.names.index(name): most for name, most in HIGHEST.items()}
        highest |= {at: 0.0 for at, name in enumerate(self.names) if name in gone}
        return fit(answers, self._weights(answers), highest, len(self.names))

    def learns_from(self, answer: Answer, writing: str) -> bool:
        """Whether an answer has a say in the weights of a writing."""
        return answer.source in FITTED or (answer.writing == writing and _kind_of(answer) in self.ours)

    def _weights(self, answers: Sequence[Answer]) -> Floats:
        """Each source weighs what `FITTED` and `ours` say, however many answers it has."""
        names = [_kind_of(one) for one in answers]
        sizes = Counter(names)
        said = [
            self.ours[name][one.writing] if name in self.ours else FITTED.get(name, 1.0)
            for one, name in zip(answers, names, strict=True)
        ]
        weight = np.array([one / sizes[name] for one, name in zip(said, names, strict=True)])
        return np.asarray(weight / weight.sum())


# Contradictions are not weighed beside words alone: they cost AUROC on RAGTruth (QA .880 → .875). Probes
# weigh little there: from 0.3 on RAGTruth loses, and JHARS before.
WORDS: Final = Kind(
    "lexical@11",
    lexical.SHIPPED,
    Features.names(),
    GROUPS["contradictions"],
    {PROBES: {"words": 0.1, "characters": 0.05}},
)
READING: Final = Kind(
    "local@8",
    local.SHIPPED,
    local.FIGURES,
    (),
    # In English more of ours costs RAGTruth (questions .870 → .863); in Japanese and Chinese it costs JHARS
    # nothing.
    {PROBES: {"words": 0.5, "characters": 0.5}, KEPT: {"words": 0.2, "characters": 1.0}},
)
JUDGES: Final = (WORDS, READING)


def main() -> None:
    """Read, measure, fit, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--write", choices=[kind.file.stem for kind in JUDGES], help="this file of weights")
    arguments = parser.parse_args()
    answers = judged_answers(arguments.data, load_shipped_support())
    console = Console(width=160)
    for kind in JUDGES:
        held_out = _held_out(answers, kind)
        cuts = {language: _cut(answers, held_out, language) for language in CUT_SOURCE}
        held_out = _ruled(answers, held_out, cuts)
        others = _ruled(answers, _other_sources(answers, kind), cuts)
        names = (*TASKS, *HELD_OUT)
        console.print(
            _figures(answers, held_out, cuts, f"{kind.judge}: answers of one origin left out", names)
        )
        console.print(_figures(answers, others, cuts, f"{kind.judge}: the whole source left out", TASKS))
        if kind is READING:
            console.print(_ablation(answers, kind))
        if arguments.write == kind.file.stem:
            _write(answers, held_out, kind, cuts)


def _kind_of(answer: Answer) -> str:
    """Its source, of our own without the language."""
    return next((name for name in (PROBES, KEPT) if answer.source.startswith(name)), answer.source)


def _held_out(answers: Sequence[Answer], kind: Kind, without: Sequence[str] = ()) -> Floats:
    """Each answer by weights that saw none from its contexts; sources that are only measured by all."""
    scores = np.zeros(len(answers))
    for name in WRITINGS:
        learnt = [one for one in answers if kind.learns_from(one, name)]
        origins = sorted({one.origin for one in learnt})
        shuffled = np.random.default_rng(0).permutation(origins)
        fold = {str(origin): number % FOLDS for number, origin in enumerate(shuffled)}
        for number in range(FOLDS + 1):
            here = [
                i for i, a in enumerate(answers) if a.writing == name and fold.get(a.origin, FOLDS) == number
            ]
            if here:
                found = kind.fitted([one for one in learnt if fold[one.origin] != number], without)
                scores[here] = found.worst([answers[i] for i in here])
    return scores


def _other_sources(answers: Sequence[Answer], kind: Kind) -> Floats:
    """Each answer of a measured source by weights that saw nothing of that source."""
    scores = np.zeros(len(answers))
    for source in MEASURED:
        here = np.flatnonzero([a.source == source for a in answers])
        writing = answers[here[0]].writing
        others = [a for a in answers if a.source != source and kind.learns_from(a, writing)]
        scores[here] = kind.fitted(others).worst([answers[i] for i in here])
    return scores


def _cut(answers: Sequence[Answer], suspicion: Floats, language: str) -> float:
    """The suspicion above which so many faithful answers of its source are held back as was promised."""
    good = [i for i in _of(answers, CUT_SOURCE[language]) if answers[i].faithful]
    left = [suspicion[i] for i in good if not answers[i].contradicted]
    more = FALSE_BLOCKS[language] * len(good) - (len(good) - len(left))
    return float(np.quantile(left, 1 - max(0.0, more) / len(left)))


def _ruled(answers: Sequence[Answer], suspicion: Floats, cuts: Mapping[str, float]) -> Floats:
    """What contradicts its contexts is held back, but ranks no higher than the least that is."""
    least = np.array([cuts[a.language] + HARDLY if a.contradicted else -np.inf for a in answers])
    return np.maximum(suspicion, least)


def _of(answers: Sequence[Answer], name: str) -> list[int]:
    """Where the answers of a source stand, or those of one of its tasks."""
    return [i for i, a in enumerate(answers) if f"{a.source} {a.group}".startswith(name)]


def _figures(
    answers: Sequence[Answer],
    suspicion: Floats,
    cuts: Mapping[str, float],
    title: str,
    names: Sequence[str],
) -> Table:
    table = Table(
        "answers", "n", "unfaithful", "AUROC [95 %]", "in group", "caught", "false blocks", "F1", title=title
    )
    table.add_column("best F1 (held back)")
    table.add_column("flag all")
    for name in names:
        here = _of(answers, name)
        bad = np.array([not answers[i].faithful for i in here])
        s = suspicion[here]
        blocked = s > np.array([cuts[answers[i].language] for i in here])
        low, high = _interval(bad, s)
        best, share = max(
            (_f1(bad, s > c), float(np.mean(s > c))) for c in np.quantile(s, np.linspace(0.02, 0.98, 97))
        )
        table.add_row(
            name, str(len(here)), str(bad.sum()),
            f"{roc_auc_score(bad, s):.3f} [{low:.3f}, {high:.3f}]",
            f"{_within(bad, s, [answers[i].group for i in here]):.3f}",
            f"{blocked[bad].mean():.0%}", f"{blocked[~bad].mean():.1%}", f"{_f1(bad, blocked):.3f}",
            f"{best:.3f} ({share:.0%})", f"{_f1(bad, np.ones(len(bad), bool)):.3f}",
        )  # fmt: skip
    return table


def _ablation(answers: Sequence[Answer], kind: Kind) -> Table:
    names = ("ragtruth_nontest qa", "factcg", "begin_dev", "jhars_dev", *HELD_OUT)
    table = Table("left out", *names, title=f"{kind.judge}: AUROC without one group of evidence")
    for name, figures in {"nothing": (), **GROUPS}.items():
        if figures and not {*figures} & {*kind.names}:
            continue
        suspicion = _held_out(answers, kind, figures)
        areas = (
            roc_auc_score([not answers[i].faithful for i in here], suspicion[here])
            for here in (_of(answers, source) for source in names)
        )
        table.add_row(name, *(f"{area:.3f}" for area in areas))
    return table


def _interval(bad: NDArray[np.bool_], s: Floats, rounds: int = 500) -> tuple[float, float]:
    random = np.random.default_rng(0)
    drawn = (random.integers(0, len(bad), len(bad)) for _ in range(rounds))
    values = [roc_auc_score(bad[i], s[i]) for i in drawn if 0 < bad[i].sum() < len(i)]
    return float(np.quantile(values, 0.025)), float(np.quantile(values, 0.975))


def _within(bad: NDArray[np.bool_], s: Floats, groups: Sequence[str]) -> float:
    """AUROC over pairs of one group only."""
    members: dict[str, list[int]] = defaultdict(list)
    for index, group in enumerate(groups):
        members[group].append(index)
    mixed = [m for m in members.values() if 0 < bad[m].sum() < len(m)]
    pairs = [float(bad[m].sum() * (~bad[m]).sum()) for m in mixed]
    return float(np.average([roc_auc_score(bad[m], s[m]) for m in mixed], weights=pairs))


def _f1(bad: NDArray[np.bool_], blocked: NDArray[np.bool_]) -> float:
    return float(2 * (bad & blocked).sum() / (bad.sum() + blocked.sum()))


def _write(answers: Sequence[Answer], held_out: Floats, kind: Kind, cuts: Mapping[str, float]) -> None:
    models = {}
    for name in WRITINGS:
        found = kind.fitted([one for one in answers if kind.learns_from(one, name)])
        languages = ("en",) if name == "words" else ("ja", "zh")
        weights = zip(kind.names, found.weights, strict=True)
        models[name] = {
            "cuts": {lang: round(float(1 / (1 + np.exp(cuts[lang]))), 4) for lang in languages},
            "cuts_from": {lang: _promised(answers, held_out, lang, cuts[lang]) for lang in languages},
            "bias": round(-found.bias - found.single, 4),
            "weights": {figure: round(-float(weight), 4) or 0.0 for figure, weight in weights},
        }
    text = json.dumps({"judge": kind.judge, "models": models}, indent=1)
    kind.file.write_text(f"{text}\n", encoding="utf-8")


def _promised(answers: Sequence[Answer], suspicion: Floats, language: str, cut: float) -> str:
    here = _of(answers, CUT_SOURCE[language])
    bad = np.array([not answers[i].faithful for i in here])
    blocked = suspicion[here] > cut
    return (
        f"{CUT_SOURCE[language]}, held out: {blocked[~bad].mean():.1%} of {(~bad).sum()} faithful ones are "
        f"held back, {blocked[bad].mean():.0%} of {bad.sum()} others, F1 {_f1(bad, blocked):.3f}"
    )


if __name__ == "__main__":
    main()
