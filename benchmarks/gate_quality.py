"""How well the gate keeps its promise, and what leaks, on the development data.

    python -m benchmarks.gate_quality DATA [--out FOLDER] [--languages en ja zh] [--sources] [--few-shot]

DATA is the folder of development data. An operator's policy is drawn from it: of the must-questions one part
are examples, one part calibrates as `sekisho calibrate gate` does (2 % promised), the rest is judged; half of
the near ones are may examples (English, which has no documents), and 20 of each far kind. Japanese and
Chinese have the documents. No must-not example is given. A public source of attacks is judged by a detector
that was fitted without it; what we wrote ourselves, by its held-out half. Beside it TF-IDF with logistic
regression on the same examples and, for a source of attacks, on the other sources. FOLDER gets a report and
the figures as JSON, with --few-shot by 0 to 50 examples a class, too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from benchmarks.gate import BANK, MUST, NEAR, read_slices
from benchmarks.unseen_detectors import detectors_without
from classifiers.gate import ClassPolicy, Policy
from classifiers.gate.examples import ExampleGate
from classifiers.gate.promise import OPEN, CutsInForce, HeldOut, Promise, keep_promise
from classifiers.gate.scope import LEAST_CUT
from classifiers.gate.shipped import Attacks, Shipped, shipped_attacks
from encoders import encode_one
from evaluation.cases import GateCase
from evaluation.fitted_on import FittedTexts
from evaluation.gate.calibration import scope_of
from evaluation.gate.few_shot import FewShotCurve, few_shot
from evaluation.gate.judging import GateResult, evaluate_gate
from evaluation.gate.report import write_report
from evaluation.gate.tables import few_shot_table, gate_table
from evaluation.gate.words_baseline import WordsBaseline
from gateway.gatekeeping.opening import gate_sources
from gateway.settings import CacheSettings, EncoderSettings, Settings, StorageSettings
from gateway.stores import Stores, open_stores
from training.command import rows

PROMISE = 0.02
HELD_OUT = Path(__file__).parent.parent / "tests/classifiers/gate/attacks"
FEW_SHOT_CASES = 60  # of a slice
PARTS = {
    "en": (0.4, 0.3),
    "ja": (1 / 3, 1 / 3),
    "zh": (1 / 3, 1 / 3),
}  # examples, calibration; the rest is judged
console = Console(highlight=False, width=150)


@dataclass(frozen=True)
class Split:
    """What the operator wrote, what calibrates, and what is judged."""

    policy: Policy
    calibration: Sequence[str]
    judged: Mapping[str, Sequence[str]]  # by slice
    attacks: Mapping[str, Sequence[str]]  # by source


def split(language: str, slices: Mapping[str, Sequence[str]]) -> Split:
    """Draw a policy from the slices of a language."""
    examples, calibration = (int(share * len(slices[MUST])) for share in PARTS[language])
    used = {MUST: examples + calibration}
    for name, texts in slices.items():
        if name in NEAR:
            used[name] = len(texts) // 2 if language == "en" else 0
        elif name.startswith("may_far"):
            used[name] = 20
    may = [text for name, count in used.items() if name != MUST for text in slices[name][:count]]
    must = ClassPolicy(BANK if language == "en" else "", tuple(slices[MUST][:examples]))
    rest = {name: texts[used.get(name, 0) :] for name, texts in slices.items()}
    return Split(
        policy=Policy(must=must, may=ClassPolicy("", tuple(may))),
        calibration=slices[MUST][examples : examples + calibration],
        judged={name: texts for name, texts in rest.items() if not name.startswith("mustnot")},
        attacks={name: texts for name, texts in rest.items() if name.startswith("mustnot")},
    )


@asynccontextmanager
async def stores_with(documents: Sequence[Path]) -> AsyncIterator[Stores]:
    """Stores of their own with the operator's documents, found as the gateway finds them."""
    with TemporaryDirectory(prefix="sekisho-") as folder:
        settings = Settings(
            storage=StorageSettings(folder=Path(folder)),
            cache=CacheSettings(pair_model=False),
            encoder=EncoderSettings(remembered=50_000),
        )
        async with open_stores(settings) as stores:
            await stores.documents.ingest(documents)
            yield stores


async def calibrated(stores: Stores, part: Split, attacks: Attacks | None) -> ExampleGate:
    """A gate whose cuts keep the promise on the calibration questions."""
    cuts = CutsInForce()
    sources = await gate_sources(stores)
    shipped = Shipped(attacks=attacks) if attacks else None
    gate = await ExampleGate.fit(
        part.policy, stores.encoder, sources, max_false_refusal=PROMISE, shipped=shipped, in_force=cuts
    )
    cuts.present = OPEN
    read = []
    for text in part.calibration:
        verdict = await gate.judge(await encode_one(stores.encoder, text), tenant="default")
        read.append(HeldOut(text=text, scope=scope_of(verdict), forbidden=verdict.forbidden or 0.0))
    promise = keep_promise(
        read, PROMISE, fitted_suspicion=gate.fitted_cuts.suspicious_from, least_scope=LEAST_CUT
    )
    cuts.present = promise.cuts if isinstance(promise, Promise) else None
    console.print(promise)
    return gate


async def judged(stores: Stores, part: Split, language: str, attacked: Path | None) -> GateResult:
    """Everything by one gate, but each public source of attacks by one that never saw it."""
    cases = [
        GateCase(text=text, gold="must" if name == MUST else "may", slice=name)
        for name, texts in part.judged.items()
        for text in texts
    ]
    own = [_own(row) for row in rows(HELD_OUT / f"{language}.jsonl")]
    gate, fitted = await calibrated(stores, part, None), FittedTexts(part.policy)
    whole = await evaluate_gate(
        [*cases, *own], gate, stores.encoder, fitted=fitted, baseline=words(part.policy, [])
    )
    found, left_out = list(whole.judged), list(whole.left_out)
    if attacked is None:
        return whole
    async for source, detector in detectors_without(attacked, list(part.attacks)):
        gate = await calibrated(stores, part, replace(shipped_attacks(), detector=detector))
        cases = [GateCase(text=text, gold="must_not", slice=source) for text in part.attacks[source]]
        others = [text for name, texts in part.attacks.items() if name != source for text in texts]
        of_source = await evaluate_gate(
            cases, gate, stores.encoder, fitted=fitted, baseline=words(part.policy, others)
        )
        found.extend(of_source.judged)
        left_out.extend(of_source.left_out)
    return GateResult(tuple(found), tuple(left_out), with_words=whole.with_words)


def _own(row: Mapping[str, str]) -> GateCase:
    """A text that we wrote: the kinds of look-alikes are too small to be read one by one."""
    kind = row["slice"].removeprefix("mustnot_") if row["gold"] == "must_not" else "look_alikes"
    return GateCase.model_validate({"text": row["text"], "gold": row["gold"], "slice": f"own_{kind}"})


def words(policy: Policy, attacks: Sequence[str]) -> WordsBaseline | None:
    """The baseline, with attacks of other sources where one is judged."""
    return WordsBaseline.fit(replace(policy, must_not=ClassPolicy("", tuple(attacks))), PROMISE)


async def grown(stores: Stores, part: Split) -> FewShotCurve:
    """The same slices by fewer examples, at the cuts of the fit: nothing is left to calibrate on."""
    cases = [
        GateCase(text=text, gold="must" if name == MUST else "may", slice=name)
        for name, texts in part.judged.items()
        for text in texts[:FEW_SHOT_CASES]
    ]
    fit = partial(
        ExampleGate.fit, encoder=stores.encoder, sources=await gate_sources(stores), max_false_refusal=PROMISE
    )
    return await few_shot(part.policy, cases, fit, stores.encoder, error=PROMISE)


async def run(options: argparse.Namespace) -> None:
    """A table, and if asked a report, for each language."""
    for language in options.languages:
        part = split(language, read_slices(options.data / "gate" / f"{language}.dev.jsonl"))
        documents = [] if language == "en" else [options.data / "gate" / f"{language}.corpus.jsonl"]
        async with stores_with(documents) as stores:
            result = await judged(stores, part, language, options.data if options.sources else None)
            curve = await grown(stores, part) if options.few_shot else None
        count = f"{len(part.policy.must.examples)} must, {len(part.policy.may.examples)} may examples"
        console.rule(f"{language}: {count}, {len(part.calibration)} to calibrate")
        for table in [*gate_table(result), *([few_shot_table(curve)] if curve else [])]:
            console.print(table)
        if options.out:
            options.out.mkdir(parents=True, exist_ok=True)
            about = f"Development data, {language}: {count}"
            write_report(
                options.out / f"gate.{language}.html", result, about=about, promise=PROMISE, few_shot=curve
            )
            figures = result.as_json() | ({"few_shot": curve.as_json()} if curve else {})
            (options.out / f"gate.{language}.json").write_text(
                json.dumps(figures, indent=2, ensure_ascii=False)
            )


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--languages", nargs="+", choices=("en", "ja", "zh"), default=("en", "ja", "zh"))
    parser.add_argument("--sources", action="store_true", help="judge the public attacks, too (slow)")
    parser.add_argument("--few-shot", action="store_true")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
