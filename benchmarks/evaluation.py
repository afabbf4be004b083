"""Case files of the data at hand, and how long a run over many of them takes.

    python -m benchmarks.evaluation helpdesk              # writes examples/helpdesk/cases.jsonl
    python -m benchmarks.evaluation qa DATA OUT --n 300   # SQuAD 2, JaQuAD, CMRC 2018 as recorded answers
    python -m benchmarks.evaluation size OUT --cases 10000 --workers 2
    python -m benchmarks.evaluation cost OUT --n 200      # CPU time of a case, by language and by part

The helpdesk's questions are the third phrasing of every entry (the last where there are fewer); its ground
truth is the entry's answer; its ground context is the section of the entry's document that holds most of the
answer's words and numbers, what few sections have before the rest: chosen by rule, read over by nobody.
`size` repeats the cases of `helpdesk`, each question and answer with a number, so that no encoder remembers
it. `cost` runs a sample of them through one worker, and writes the scores to OUT, so that two revisions can
be compared.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from math import fsum
from pathlib import Path
from typing import Any

import psutil

from classifiers.faithfulness.wording import folded, terms, weight
from encoders import Vector
from encoders.runtime import OnnxModel, Tokens
from evaluation.answers.cases import read_answer_cases
from evaluation.answers.worker import Job, Task, Worker, open_worker
from evaluation.metrics.registry import DEFAULT
from gateway.settings import Settings
from storage.parts import in_parts
from training.command import rows

HELPDESK = Path(__file__).parent.parent / "examples" / "helpdesk"
LANGUAGES = ("en", "ja")
NUMBER = 1.0  # what a shared number weighs: as much as the rarest word

# About a city, and in none of its documents.
UNANSWERED = {
    "en": [
        "How do I register a marriage at city hall?",
        "Where can I file for divorce?",
        "Is there a subsidy for solar panels?",
        "How do I apply for municipal housing?",
        "Where can I get a fishing permit for the river?",
        "May I fly a drone in the parks of Minamo?",
        "When is the next city council election?",
        "How do I volunteer at the fire brigade?",
        "Does the city have a job fair for students?",
        "How do I reserve a grave in the municipal cemetery?",
        "Are there free flu vaccines for adults this winter?",
        "Can I get a taxi voucher for hospital visits?",
        "When are the summer fireworks held?",
        "How do I renew my driving licence?",
        "Who is the mayor of Minamo, and when is the consultation hour?",
        "Can I adopt a tree in a street of the city?",
        "How do I complain about a noisy neighbour?",
        "Is there a grant for opening a restaurant in the old town?",
    ],
    "ja": [
        "婚姻届はどこに出せばいいですか",
        "離婚届に必要なものを教えてください",
        "太陽光パネルの補助金はありますか",
        "市営住宅に申し込みたいのですが",
        "川で釣りをするのに許可は要りますか",
        "市の公園でドローンを飛ばしてもいいですか",
        "次の市議会議員選挙はいつですか",
        "消防団に入るにはどうすればいいですか",
        "学生向けの求人説明会はありますか",
        "市営墓地の区画を借りられますか",
        "大人のインフルエンザの予防接種は無料ですか",
        "通院のタクシー券はもらえますか",
        "夏の花火大会はいつですか",
        "運転免許証の更新はどこでできますか",
        "市長と話せる日はありますか",
        "街路樹の里親になれますか",
        "隣の家の騒音を何とかしてもらえますか",
        "旧市街で飲食店を開くときの助成金はありますか",
    ],
}


def helpdesk() -> list[dict[str, Any]]:
    """Cases of both helpdesks: every entry, and questions that no document answers."""
    found = []
    for language in LANGUAGES:
        found += [_of_entry(row, language) for row in rows(HELPDESK / language / "entries.jsonl")]
        for place, question in enumerate(UNANSWERED[language], 1):
            row = {"id": f"{language}-unanswered-{place:02}", "lang": language, "question": question}
            found.append({**row, "answerable": False, "tags": ["unanswered"]})
    return found


def _of_entry(entry: dict[str, Any], language: str) -> dict[str, Any]:
    phrasings = [entry["question"], *entry.get("phrasings", [])]
    sections = [section for source in entry["sources"] for section in _sections(HELPDESK / source)]
    return {
        "id": entry["id"],
        "lang": language,
        "question": phrasings[2] if len(phrasings) > 2 else phrasings[-1],
        "ground_contexts": [_ground(entry["answer"], sections)],
        "ground_truth": entry["answer"],
        "tags": [Path(entry["sources"][0]).stem],
    }


def _sections(file: Path) -> list[str]:
    return [part.strip() for part in re.split(r"(?m)^(?=##? )", file.read_text("utf-8")) if part.strip()]


def _ground(answer: str, sections: Sequence[str]) -> str:
    """The section that has most of what the answer says; what n sections have counts an nth in each."""
    found = [_things(section) for section in sections]
    said = _things(answer)
    shares = {thing: value / max(1, sum(thing in one for one in found)) for thing, value in said.items()}
    return max(
        zip(sections, found, strict=True), key=lambda one: fsum(shares[it] for it in said if it in one[1])
    )[0]


def _things(text: str) -> dict[str, float]:
    """The words and numbers of a text, and what each weighs."""
    words = {term: weight([term]) for term in terms(folded(text)).content}
    return words | dict.fromkeys(re.findall(r"\d+", folded(text)), NUMBER)


def qa(data: Path, n: int) -> Iterator[dict[str, Any]]:
    """Questions of three languages. The recorded answer to every second one is a neighbour's: a wrong one."""
    draw = random.Random(0)
    for name in ("squad2", "jaquad_train", "cmrc2018_dev"):
        drawn = draw.sample(rows(data / "qa" / f"{name}.jsonl"), n)
        answers = [row["answers"][0] for row in drawn if row["answerable"]]
        for place, row in enumerate(drawn):
            truth = row["answers"][0] if row["answerable"] else ""
            right = bool(truth) and place % 2 == 0
            yield {
                "id": row["id"],
                "lang": row["lang"],
                "question": row["question"],
                "ground_contexts": [row["context"]] if truth else [],
                "ground_truth": truth,
                "answerable": row["answerable"],
                "recorded_answer": truth if right else draw.choice(answers),
                "recorded_contexts": [row["context"]],
                "tags": [name, "right" if right else "wrong"],
            }


def size(n: int) -> Iterator[dict[str, Any]]:
    """So many cases, each with an answer of two sentences: one of its own, one of another case."""
    cases = [row for row in helpdesk() if row.get("ground_truth")]
    for place in range(n):
        row, other = cases[place % len(cases)], cases[(place * 7 + 3) % len(cases)]
        own = f"{row['ground_truth']} {other['ground_truth']}" if place % 3 else row["ground_truth"]
        contexts = [row["ground_contexts"][0], other["ground_contexts"][0]]
        yield {
            **row,
            "id": f"{row['id']}-{place}",
            "question": f"{row['question']} ({place})",
            "recorded_answer": f"{own} ({place})",
            "recorded_contexts": contexts,
        }


def _write(file: Path, found: Iterator[dict[str, Any]] | list[dict[str, Any]]) -> None:
    with file.open("w", encoding="utf-8") as out:
        for row in found:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


def _timed(cases: Path, out: Path, workers: int, metrics: str | None) -> None:
    """Run the command, and look at the memory of all its processes ten times a second."""
    words = ["evaluate", "answers", "--cases", str(cases), "--target", "recorded", "--out", str(out)]
    words += ["--workers", str(workers), *(["--metrics", metrics] if metrics else [])]
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "gateway", *words])
    seen: list[tuple[float, float]] = []
    while process.poll() is None:
        seen.append((time.perf_counter() - started, _memory(process.pid)))
        time.sleep(0.1)
    took = time.perf_counter() - started
    done = _lines(out / "results.jsonl")
    print(f"{done} of {_lines(cases)} cases have results; exit code {process.returncode}")
    half = [memory for at, memory in seen if took * 0.3 < at < took * 0.5]
    late = [memory for at, memory in seen if took * 0.7 < at < took * 0.9]
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{spent.ru_utime + spent.ru_stime:.0f} s of both cores; load {os.getloadavg()[1]:.1f}")
    print(f"{took:.1f} s; memory of all processes: {max(half):.0f} MiB half-way, {max(late):.0f} MiB late,")
    print(f"{max(memory for _, memory in seen):.0f} MiB at most (reports included)")


def _memory(pid: int) -> float:
    try:
        parent = psutil.Process(pid)
        every = [parent, *parent.children(recursive=True)]
        return sum(one.memory_info().rss for one in every) / 2**20
    except psutil.Error:
        return 0.0


def _lines(file: Path) -> int:
    with file.open("rb") as lines:
        return sum(1 for _ in lines)


async def _cost(folder: Path, n: int) -> None:
    """CPU time of a case in one worker, models loaded: encoding, and everything else."""
    spent = [0.0]
    infer = OnnxModel._infer

    def timed(model: OnnxModel, batch: Sequence[Tokens]) -> Vector:
        started = time.thread_time()
        try:
            return infer(model, batch)
        finally:
            spent[0] += time.thread_time() - started

    OnnxModel._infer = timed  # type: ignore[method-assign]
    job = Job(settings=Settings(), target="recorded", metrics=tuple(DEFAULT))
    every = list(size(10_000))
    for language in LANGUAGES:
        drawn = random.Random(1).sample([row for row in every if row["lang"] == language], n)
        _write(folder / f"{language}.jsonl", drawn)
        tasks = [Task(case) for case in read_answer_cases(folder / f"{language}.jsonl")]
        async with open_worker(job) as worker:
            await worker.run([Task(case) for case in read_answer_cases(HELPDESK / "cases.jsonl")][:1])
            spent[0], started = 0.0, time.process_time()
            scores = await _scores(worker, tasks, job.batch)
            took = time.process_time() - started
        _write(folder / f"{language}.scores.jsonl", scores)
        encoding = spent[0] / n * 1000
        print(f"{language}: {took / n * 1000:.1f} ms a case, {encoding:.1f} of them encoding")


async def _scores(worker: Worker, tasks: Sequence[Task], batch: int) -> list[dict[str, Any]]:
    found = [result for some in in_parts(tasks, batch) for result in await worker.run(some)]
    return [
        {"id": one.case.id, **{name: measured.value for name, measured in one.metrics.items()}}
        for one in found
    ]


def main() -> None:
    """Read the words, write the files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("helpdesk", "qa", "size", "cost"))
    parser.add_argument("places", nargs="*", type=Path)
    parser.add_argument("--n", type=int, default=100)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--metrics")
    told = parser.parse_args()
    match told.what:
        case "helpdesk":
            _write(HELPDESK / "cases.jsonl", helpdesk())
        case "qa":
            _write(told.places[1], qa(told.places[0], told.n))
        case "cost":
            told.places[0].mkdir(parents=True, exist_ok=True)
            asyncio.run(_cost(told.places[0], told.n))
        case _:
            told.places[0].mkdir(parents=True, exist_ok=True)
            _write(told.places[0] / "cases.jsonl", size(told.cases))
            _timed(told.places[0] / "cases.jsonl", told.places[0] / "run", told.workers, told.metrics)


if __name__ == "__main__":
    main()
