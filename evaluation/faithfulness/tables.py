"""What was found of a faithfulness judge, as tables for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from rich.table import Column, Table
from rich.text import Text

from classifiers.conformal import TooFew
from classifiers.faithfulness import StatementVerdict, Unchecked
from classifiers.faithfulness.promise import CutPromise
from evaluation.cases import Answer
from evaluation.command_line import BASELINE, latency
from evaluation.faithfulness.calibration import FaithfulnessCalibration, LanguageCalibration
from evaluation.faithfulness.judging import FaithfulnessResult, Judged
from evaluation.faithfulness.ways import OURS, Compared, Figures
from evaluation.statistics import Estimate, Rate

__all__ = ["calibration_tables", "faithfulness_tables", "parts_of", "rated", "worst_rows", "worst_table"]

_LONGEST = 160  # characters of a statement that is shown


def faithfulness_tables(result: FaithfulnessResult, compared: Compared) -> list[Table]:
    """Our verdict beside simpler ways, by language, group and kind of error, and what was not checked."""
    found = [_comparison_table(result, compared)]
    found += [_part_table(name, parts) for name, parts in parts_of(result).items()]
    unchecked = [one.verdict for one in result.judged if isinstance(one.verdict, Unchecked)]
    return [*found, *([_unchecked_table(unchecked, len(result.judged))] if unchecked else [])]


def _comparison_table(result: FaithfulnessResult, compared: Compared) -> Table:
    """Every way, with its intervals: bootstrap for what is no share, Wilson's for shares."""
    ways = compared.figures
    figures = result.as_json()
    table = Table(
        "", *ways,
        title=f"{figures['n']} answers, {figures['unfaithful']} of them unfaithful, which is what to find",
    )  # fmt: skip
    for name, one in _LINES.items():
        table.add_row(name, *(str(one(found)) for found in ways.values()))
    for place, name in enumerate(ways):
        table.columns[place + 1].style = "" if name == OURS else BASELINE
    notes = [f"{way.name}: {way.note}" for way in compared.ways if way.note]
    table.caption = "\n".join([*notes, "95 % intervals", latency(figures, at_once=result.at_once)])
    return table


_LINES: dict[str, Callable[[Figures], Estimate | Rate]] = {
    "AUROC": lambda found: found.auroc,
    "within one generator": lambda found: found.within_group,
    "precision": lambda found: found.precision,
    "recall": lambda found: found.recall,
    "F1": lambda found: found.f1,
    "false blocks": lambda found: found.false_blocks,
    "recall at 5 % false blocks": lambda found: found.recall_at_5pct,
}


def parts_of(result: FaithfulnessResult) -> dict[str, dict[str, FaithfulnessResult]]:
    """By what the rows tell of themselves, where they tell more than one thing."""

    def bad(case: Answer) -> Sequence[str]:
        return () if case.faithful else case.kinds

    def good(case: Answer) -> Sequence[str]:
        return case.kinds if case.faithful else ()

    parts = {
        "language": result.parts(lambda case: (case.lang,)),
        "group": result.parts(lambda case: (case.group,)),
        "error": result.parts(bad),
        "kind of faithful answer": result.parts(good),
    }
    return {name: found for name, found in parts.items() if len(found) > 1}


def rated(parts: Mapping[str, FaithfulnessResult]) -> list[tuple[str, dict[str, Rate]]]:
    """Parts with their rates, the one of which least is found first."""
    rates = {each: part.rates() for each, part in parts.items()}
    return sorted(rates.items(), key=lambda one: _worst_first(one[1]))


def _part_table(name: str, parts: Mapping[str, FaithfulnessResult]) -> Table:
    found = rated(parts)
    shown = [column for column in ("recall", "false blocks") if any(of[column].n for _, of in found)]
    table = Table(Column(name, no_wrap=True), "answers", *shown, title=f"by {name}")
    for each, of in found:
        table.add_row(each, str(len(parts[each].judged)), *(_rate(of[column]) for column in shown))
    return table


def _worst_first(of: Mapping[str, Rate]) -> tuple[float, float]:
    recall, blocks = of["recall"].value, of["false blocks"].value
    return (1.0 if recall is None else recall, -(blocks or 0.0))


def _rate(rate: Rate) -> str:
    return str(rate) if rate.n else "–"


def _unchecked_table(unchecked: Sequence[Unchecked], n: int) -> Table:
    table = Table(
        "not checked, because", "answers", title=f"{Rate(len(unchecked), n)} of the answers unchecked"
    )
    for reason, count in Counter(one.reason for one in unchecked).most_common():
        table.add_row(reason, str(count))
    return table


def worst_table(result: FaithfulnessResult, count: int) -> Table:
    """What was decided wrongly, the surest errors first, each with its worst statement."""
    table = Table("answer", "decided", "statement", "why", title="decided wrongly, the surest first")
    for row in worst_rows(result, count):
        table.add_row(*map(Text, row))
    return table


def worst_rows(result: FaithfulnessResult, count: int) -> list[tuple[str, str, str, str]]:
    """The answer's name, what was decided, the statement that matters, and why."""
    return [
        (
            f"{one.case.id} {', '.join(one.case.kinds)}".strip(),
            "kept back, though faithful" if one.case.faithful else "delivered, though unfaithful",
            *_worst_statement(one),
        )
        for one in result.worst(count)
    ]


def _worst_statement(one: Judged) -> tuple[str, str]:
    if isinstance(one.verdict, Unchecked):
        return _short(one.case.answer), one.verdict.reason
    missed = [each for each in one.verdict.statements if not one.case.faithful and _touches(each, one.case)]
    statement = missed[0] if missed else one.verdict.statements[one.verdict.worst]
    score = "" if statement.score is None else f"{statement.score:.2f}: "
    found = f"\nbeside: {_short(statement.evidence)}" if statement.evidence else ""
    return _short(statement.text), f"{score}{statement.reason}{found}"


def _touches(statement: StatementVerdict, case: Answer) -> bool:
    return any(span.start < statement.end and statement.start < span.end for span in case.unsupported or ())


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def calibration_tables(result: FaithfulnessCalibration, error: float) -> list[Table]:
    """By language: the cut, what it keeps back wrongly, what it stops, and how far the promise goes."""
    table = Table(
        "language", "cut", "faithful, kept back", "unfaithful, stopped", "promise",
        title=f"at most {error:.1%} of the faithful answers kept back",
    )  # fmt: skip
    for lang, one in result.languages.items():
        promise = result.promises.get(lang)
        cut = f"{promise.cut:.4f}" if promise else "as it was"
        table.add_row(lang, cut, *_changes(one), _said(one.found, error))
    notes = [
        f"{count} answers left out: the judge was fitted on {source}"
        for source, count in result.left_out.items()
    ]
    if result.repeated:
        notes.append(f"{result.repeated} repeated answers were counted once")
    if result.disputed:
        notes.append(f"{result.disputed} answers are called both faithful and not: the last row counts")
    if result.unchecked:
        notes.append(f"{result.unchecked} answers were not checked, and no cut changes that")
    table.caption = "\n".join(notes)
    return [table]


def _changes(one: LanguageCalibration) -> list[str]:
    """What is kept back and stopped: before and now; where a promise is not kept, now and at its cut."""
    if isinstance(one.found, TooFew):
        names = ("", "")
    elif one.found.kept:
        names = (" before", " now")
    else:
        names = (" now", f" at a cut of {one.found.cut:.4f}")
    return [
        "\n".join(f"{rate}{name}" for rate, name in zip(rates, names, strict=True) if rate is not None)
        for rates in (one.faithful, one.unfaithful)
    ]


def _said(found: CutPromise | TooFew, error: float) -> str:
    if isinstance(found, TooFew):
        return f"none: {found.n} faithful answers, {found.needed - found.n} more are needed for {error:.1%}"
    bound = f"at most {found.on_average:.1%} on average, with 95 % confidence at most {found.at_most:.1%}"
    if found.kept:
        return f"kept: {bound}"
    return (
        f"not kept, and nothing changed: that would take a cut at {found.needed:.4f}, which stops nothing; "
        f"at {found.cut:.4f} {bound}"
    )
