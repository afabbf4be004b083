"""English quantities as they are spoken: "a third of", "an hour and a half", "4 euros 50".

What only names a span or an order claims no number by itself, but a statement that does may mean it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from classifiers.faithfulness.quantities.numerals import WORDS
from classifiers.faithfulness.quantities.pool import Quantity, plain
from classifiers.faithfulness.quantities.signs import Look
from classifiers.faithfulness.quantities.units import converted, unit

__all__ = ["MONTHS", "one_patterns", "spoken_patterns"]

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
)  # fmt: skip
LAST_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
PARTS = {"third": 3, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}
COUNTED = "minute|hour|day|week|month|year|fortnight|dozen|decade|century|kilo|litre|liter|mile|metre|meter"
SMALL = "|".join(WORDS)


def spoken_patterns() -> Iterator[Look]:
    """What says a number and its unit in other words."""
    and_a_part = rf"\ban? (?P<unit>{COUNTED}) and an? (?P<part>half|quarter)\b"
    yield Look("half quarter", and_a_part, _and_a_part)
    parts = " ".join(f"{part} {part}s" for part in PARTS)
    fraction = rf"\b(?P<n>an?|{SMALL})[ -](?P<part>(?:{'|'.join(PARTS)})s?)\b(?P<of> of\b)?"
    yield Look(parts, fraction, _fraction)
    yield Look("out", rf"\b(?P<n>\d{{1,2}}|{SMALL}) out of (?:10|ten)\b", _of_ten)
    money, one_or_more = "pounds?|euros?|dollars?", "pound pounds euro euros dollar dollars"
    cents = r"(?P<m>\d\d)\b(?! ?(?:%|min|h|day|week|month|year|k|people|person))"
    yield Look(one_or_more, rf"(?<![\d.,])(?P<n>\d{{1,4}}) (?P<unit>{money}) (?:and )?{cents}", _money)
    end = rf"\b(?:end of|last day (?:of|in))\s(?P<name>{'|'.join(MONTHS)})\b"
    yield Look(" ".join(MONTHS), end, _end_of_month)
    yield Look("double doubles doubled doubling", r"\bdoubl(?:e[sd]?|ing)\b", _double)


def one_patterns() -> Iterator[Look]:
    """What says one of something, to be read last: "half an hour" and "valid for a year" say more."""
    one = f"(?:an?|per|each|every) (?P<unit>{COUNTED})"
    alone = rf"(?<!once )(?<!twice )(?<!times )\b{one}\b"
    yield Look(COUNTED.replace("|", " "), alone, _one, hint=one)


def _and_a_part(match: re.Match[str]) -> Iterator[Quantity]:
    yield _measured(Decimal("1.5" if match["part"] == "half" else "1.25"), unit(match["unit"]), match[0])


def _fraction(match: re.Match[str]) -> Iterator[Quantity]:
    """Without "of" it may be a part, "a third", or no number: "a third party"."""
    percent = Decimal(WORDS.get(match["n"], 1)) * 100 / PARTS[match["part"].rstrip("s")]
    exact = percent == percent.to_integral_value()
    yield Quantity(plain(round(percent, 1)), "%", match[0].strip(), not exact, is_label=not match["of"])


def _of_ten(match: re.Match[str]) -> Iterator[Quantity]:
    number = WORDS[match["n"]] if match["n"] in WORDS else int(match["n"])
    yield Quantity(str(number * 10), "%", match[0])


def _money(match: re.Match[str]) -> Iterator[Quantity]:
    yield _measured(Decimal(f"{match['n']}.{match['m']}"), unit(match["unit"]), match[0])


def _end_of_month(match: re.Match[str]) -> Iterator[Quantity]:
    month = MONTHS.index(match["name"])
    yield Quantity(str(month + 1), "month#", match["name"])
    yield Quantity(str(LAST_DAYS[month]), "day", match[0], is_label=True)


def _one(match: re.Match[str]) -> Iterator[Quantity]:
    """ "84 pounds a year" is what twelve months cost; "daily" says as much as "a day"."""
    yield _measured(Decimal(1), unit(match["unit"]), match[0], label=True)


def _double(match: re.Match[str]) -> Iterator[Quantity]:
    yield Quantity("2", "time", match[0], is_label=True)


def _measured(value: Decimal, name: str, text: str, *, label: bool = False) -> Quantity:
    compared, smaller = converted(value, name)
    return Quantity(plain(compared), smaller, text, is_label=label)
