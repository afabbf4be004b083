"""A number as a section of its format shows it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Self

from cache.transfer.formats.codes import Section, Token, UnknownLook, language_of

__all__ = ["shown_number"]

_TESTS: Mapping[str, Callable[[Decimal, Decimal], bool]] = {
    "<": Decimal.__lt__, "<=": Decimal.__le__, ">": Decimal.__gt__, ">=": Decimal.__ge__,
    "=": Decimal.__eq__, "<>": Decimal.__ne__,
}  # fmt: skip
_TEST = re.compile(r"(\D+?)(-?[\d.]+)")
_ROUNDED = Context(prec=60, rounding=ROUND_HALF_UP)
_MOST_DECIMALS = 30  # of a format; spreadsheet programs take no more
_KEPT = Decimal(10**15)  # from here on they lose digits
_LEAST, _MOST = Decimal("0.0001"), Decimal(10**10)  # beyond them, a fraction needs a power of ten
_GENERAL_DIGITS = 10  # that a cell without a format has room for
_EMPTY = {"0": "0", "?": " ", "#": ""}  # what a place shows that no digit is left for


def shown_number(sections: Sequence[Section], value: float) -> str:
    """A number as the section shows it that it falls under.

    Raises:
        UnknownLook: if none shows it, or programs differ on it.
    """
    exact = Decimal(value) if isinstance(value, int) else Decimal(f"{value:.15g}")  # as they count
    if not abs(exact) < _KEPT:
        raise UnknownLook(str(value))
    section, sign = _chosen(sections, exact)
    for one in section:
        if one.kind in ("time", "elapsed", "noon", "between"):  # a bare / makes a fraction
            raise UnknownLook(one.text)
        if one.kind == "locale":
            language_of(one.text)
    section = [one for one in section if one.kind not in ("locale", "test")]
    if any(one.kind == "general" for one in section):
        return sign + _with_general(section, abs(exact))
    return sign + _Places.of(section).filled(abs(exact), signed=bool(sign))


def _chosen(sections: Sequence[Section], value: Decimal) -> tuple[Section, str]:
    """The section that shows a number, and the sign that stands before all of it."""
    tests = [next((one.text for one in section if one.kind == "test"), "") for section in sections]
    if not any(tests):
        if value < 0:
            return (sections[1], "") if len(sections) > 1 else (sections[0], "-")
        return sections[2 if len(sections) > 2 and value == 0 else 0], ""
    if value < 0 or not all(tests[:-1]):  # programs differ on these
        raise UnknownLook(str(tests))
    for section, test in zip(sections, tests, strict=True):
        if _holds(test, value):
            return section, ""
    raise UnknownLook(str(tests))


def _holds(test: str, value: Decimal) -> bool:
    found = _TEST.fullmatch(test)
    if found is None:
        return True
    sign, than = found.groups()
    if sign not in _TESTS:
        raise UnknownLook(sign)
    return _TESTS[sign](value, Decimal(than))


def _with_general(section: Section, value: Decimal) -> str:
    """The literals of a section, and the number in its place among them as it is without a format."""
    if {one.kind for one in section} - {"literal", "general"}:
        raise UnknownLook("General")
    return "".join(one.text if one.kind == "literal" else _general(value) for one in section)


def _general(value: Decimal) -> str:
    if value == value.to_integral_value():
        return f"{value.to_integral_value():f}"
    if not _LEAST <= value < _MOST:
        raise UnknownLook(str(value))
    decimals = _GENERAL_DIGITS - len(str(int(value)))
    return f"{_round(value, decimals):f}".rstrip("0").rstrip(".")


def _round(value: Decimal, decimals: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-decimals), context=_ROUNDED)


@dataclass(frozen=True, slots=True)
class _Places:
    """The places for digits of a section, with what stands between them."""

    whole: Section
    fraction: Section
    point: str  # or nothing
    grouped: bool  # in thousands
    power: int  # of ten, that the number is multiplied by

    @classmethod
    def of(cls, section: Section) -> Self:
        at = next((n for n, one in enumerate(section) if one.kind == "point"), len(section))
        whole, grouped, thousands = _without_commas(section[:at])
        fraction, wrong, more = _without_commas(section[at + 1 :])
        kinds = [one.kind for one in section]
        percents = kinds.count("percent")
        if wrong or _digits_in(fraction) > _MOST_DECIMALS or kinds.count("point") > 1 or percents > 1:
            raise UnknownLook("".join(one.text for one in section))
        power = 2 * percents - 3 * (thousands + more)
        return cls(whole, fraction, "." if at < len(section) else "", grouped, power)

    def filled(self, value: Decimal, *, signed: bool) -> str:
        """A number without its sign in these places."""
        rounded = _round(value.scaleb(self.power), _digits_in(self.fraction))
        if signed and not rounded and _digits_in(self.whole):
            raise UnknownLook("-0")
        before, _, after = f"{rounded:f}".partition(".")
        return self._before(before.lstrip("0")) + self.point + self._after(after)

    def _before(self, digits: str) -> str:
        """The part before the point; its first place takes all digits that are left."""
        left = _digits_in(self.whole)
        if not left and self.point:
            return "".join(one.text for one in self.whole) + digits
        backward, counted = list[str](), 0
        for place, one in reversed([*enumerate(self.whole)]):
            if one.kind != "digit":
                backward.append(one.text)
                continue
            left -= 1
            taken = digits if left == 0 else digits[-1:]
            if not taken and one.text != "0" and any(other.text == "0" for other in self.whole[:place]):
                raise UnknownLook(one.text)  # programs differ on it
            digits = digits[: len(digits) - len(taken)]
            for digit in reversed(taken or _EMPTY[one.text]):
                backward.append("," if self.grouped and counted and counted % 3 == 0 and digit != " " else "")
                backward.append(digit)
                counted += 1
        return "".join(reversed(backward))

    def _after(self, digits: str) -> str:
        """The part behind the point; zeros at its end are shown as their places say."""
        found, place = list[str](), 0
        for one in self.fraction:
            if one.kind != "digit":
                found.append(one.text)
                continue
            found.append(digits[place] if digits[place:].strip("0") else _EMPTY[one.text])
            place += 1
        return "".join(found)


def _digits_in(part: Section) -> int:
    return sum(one.kind == "digit" for one in part)


def _without_commas(part: Section) -> tuple[list[Token], bool, int]:
    """A part without its commas: whether they group its digits, and how often they divide it by 1000."""
    digits = [n for n, one in enumerate(part) if one.kind == "digit"]
    commas = [n for n, one in enumerate(part) if one.kind == "comma"]
    if not commas:
        return [*part], False, 0
    if not digits or commas[0] < digits[0]:
        raise UnknownLook(",")
    behind = [n for n in commas if n > digits[-1]]
    if behind and behind[-1] != digits[-1] + len(behind):
        raise UnknownLook(",")
    return [one for one in part if one.kind != "comma"], len(behind) < len(commas), len(behind)
