"""What a comparison must keep for the build to pass: a YAML file, and a verdict on each of its lines.

```yaml
good: {min_share: 0.85, min_lower: 0.8, max_drop: 0.02, max_became_bad: 3}
metrics:
  answer_correctness: {min_mean: 0.7, max_drop: 0.02}
max_undetermined: 0.1        # share of the cases, of each metric named above
max_errors: 0                # cases whose target failed
cached_unchanged: true       # verified entries answer as before, word for word
max_rewritten: 0             # cases that are not what they were
```
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from encoders.problems import first_problem
from evaluation.answers.comparison import Comparison
from evaluation.answers.summary import Summary
from gateway.errors import InvalidRequest

__all__ = ["Check", "Thresholds", "checks", "read_thresholds"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _GoodThresholds(_Part):
    min_share: float | None = Field(None, ge=0, le=1)
    min_lower: float | None = Field(None, ge=0, le=1)  # of its 95 % interval
    max_drop: float | None = Field(None, ge=0, le=1)
    max_became_bad: int | None = Field(None, ge=0)


class _MetricThresholds(_Part):
    min_mean: float | None = Field(None, ge=0, le=1)
    max_drop: float | None = Field(None, ge=0, le=1)


class Thresholds(_Part):
    """What must hold; what is not named is not looked at."""

    good: _GoodThresholds = _GoodThresholds()
    metrics: dict[str, _MetricThresholds] = {}
    max_undetermined: float | None = Field(None, ge=0, le=1)
    max_errors: int | None = Field(None, ge=0)
    cached_unchanged: bool = False
    max_rewritten: int | None = Field(None, ge=0)


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the file, and whether it holds."""

    name: str
    kept: bool
    told: str


def read_thresholds(file: Path) -> Thresholds:
    """The thresholds of a file.

    Raises:
        InvalidRequest: naming the key that can't be used; unknown ones can't.
    """
    try:
        tree = YAML(typ="safe", pure=True).load(file.read_text("utf-8"))
        return Thresholds.model_validate(tree or {})
    except (OSError, UnicodeDecodeError, YAMLError) as exc:
        raise InvalidRequest(f"--thresholds: {file} can't be read: {exc}") from exc
    except ValidationError as exc:
        problem = first_problem(exc, whole="the file", says={"extra_forbidden": "unknown key"})
        raise InvalidRequest(f"--thresholds: {file}: {problem}") from exc


def checks(wanted: Thresholds, found: Comparison, now: Summary) -> list[Check]:
    """Every threshold with its verdict.

    A figure that could not be determined keeps none; without a case in both runs, no change is determined.

    Raises:
        InvalidRequest: if a metric is named that was not measured in both runs.
    """
    return [*_of_good(wanted, found, now), *_of_metrics(wanted, found, now), *_of_cases(wanted, found, now)]


def _of_good(wanted: Thresholds, found: Comparison, now: Summary) -> Iterator[Check]:
    good, interval = wanted.good, now.good.ci95
    before, after = found.good.before.value, found.good.after.value
    drop = None if before is None or after is None else before - after
    if good.min_share is not None:
        yield _least("good.min_share", now.good.value, good.min_share)
    if good.min_lower is not None:
        yield _least("good.min_lower", interval[0] if interval else None, good.min_lower)
    if good.max_drop is not None:
        yield _most("good.max_drop", drop, good.max_drop)
    if good.max_became_bad is not None:
        became_bad = found.good.became_bad if found.n else None
        yield _most("good.max_became_bad", became_bad, good.max_became_bad)


def _of_metrics(wanted: Thresholds, found: Comparison, now: Summary) -> Iterator[Check]:
    for name, part in wanted.metrics.items():
        if name not in found.metrics:
            known = ", ".join(found.metrics) or "none"
            raise InvalidRequest(
                f"--thresholds: metrics.{name}: not measured in both runs (they have: {known})"
            )
        change, figures = found.metrics[name], now.metric(name)
        if part.min_mean is not None:
            yield _least(f"metrics.{name}.min_mean", figures.mean, part.min_mean)
        if part.max_drop is not None:
            yield _most(
                f"metrics.{name}.max_drop", None if change.delta is None else -change.delta, part.max_drop
            )
        if wanted.max_undetermined is not None:
            share = figures.undetermined / len(now.seen)
            yield _most(f"max_undetermined ({name})", share, wanted.max_undetermined)


def _of_cases(wanted: Thresholds, found: Comparison, now: Summary) -> Iterator[Check]:
    if wanted.max_errors is not None:
        yield _most("max_errors", sum(now.errors.values()), wanted.max_errors)
    if wanted.max_rewritten is not None:
        yield _most("max_rewritten", len(found.rewritten), wanted.max_rewritten)
    if wanted.cached_unchanged:
        changed = found.cached.changed
        told = f"{found.cached.unchanged} unchanged" + (
            f", changed: {', '.join(changed[:10])}" if changed else ""
        )
        yield Check("cached_unchanged", found.n > 0 and not changed, told)


def _least(name: str, value: float | None, bound: float) -> Check:
    told = "undetermined" if value is None else f"{value:.4g}"
    return Check(name, value is not None and value >= bound, f"{told}, at least {bound:g}")


def _most(name: str, value: float | None, bound: float) -> Check:
    told = "undetermined" if value is None else f"{value:.4g}"
    return Check(name, value is not None and value <= bound + 1e-12, f"{told}, at most {bound:g}")
