"""What the support model learns from."""

from __future__ import annotations

from training.rewording import English, exchanged
from training.support_groups import Document, Group, groups
from training.synonyms import Synonyms

TEXT = (
    "Registered readers may borrow up to 12 items at a time.",
    "The library of Exeter was built by Henry Adams in 1903.",
    "Overdue items cost 25 pence per day in every branch.",
    "The Riverside branch is open from Monday to Saturday.",
    "Reference works can be read in the hall on the second floor.",
    "A card is free for children who live in Plymouth.",
)
WORDS = Synonyms({}, {"branch": ("office",), "library": ("museum",)}, {})


def made() -> list[Group]:
    document = Document("test", "en", TEXT, ("You can take home 12 things if you are registered.",))
    return groups([document] * 40, English(WORDS, ["Oslo", "Peter Brown"]))


def test_words_are_exchanged_and_not_parts_of_them() -> None:
    text, old, new = exchanged("In 1903, 19 of 1903.5", {"19": "20", "1903": "1910"})
    assert text == "In 1910, 20 of 1903.5"
    assert (old, new) == (((3, 7), (9, 11)), ((3, 7), (9, 11)))
    assert exchanged("Adams beat Exeter", {"Adams": "Exeter", "Exeter": "Adams"})[0] == "Exeter beat Adams"


def test_no_wording_of_an_exchange_is_only_true_or_only_false() -> None:
    """So that a statement alone does not say what it is."""
    swapped = [
        (said.text, said.supported)
        for group in made()
        for said in group.said
        if said.kind not in ("baseless", "half", "removed")
    ]
    for word in ("Oslo", "office", "museum", "Peter Brown"):
        found = [supported for text, supported in swapped if word in text]
        assert 0.25 < sum(found) / len(found) < 0.75


def test_marked_words_are_the_wrong_ones() -> None:
    for group in made():
        for said in group.said:
            parts = [said.text[start:end] for start, end in said.wrong or ()]
            assert not (said.supported and said.kind == "true" and parts)
            if said.kind == "name":
                assert parts
                assert not any(part in group.window for part in parts)


def test_what_a_window_lacks_is_unsupported_there() -> None:
    found = [(group.window, said.text) for group in made() for said in group.said if said.kind == "removed"]
    assert found
    assert not any("12" in text and "12 items" in window for window, text in found)
