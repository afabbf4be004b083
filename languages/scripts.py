"""Sets of characters, each as the inside of a class of a regular expression.

The ranges of Japanese and Chinese are those of Unicode's property Script (UAX 24), which `re` does not know,
with the marks that repeat or lengthen and without the middle dot, which separates.
"""

from __future__ import annotations

from typing import Final

__all__ = ["EAST_ASIAN", "HAN", "HIRAGANA", "INVISIBLE", "KATAKANA"]

HIRAGANA: Final = "\u3041-\u3096\u3099-\u309f"
KATAKANA: Final = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
HAN: Final = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003347f"
EAST_ASIAN: Final = HIRAGANA + KATAKANA + HAN
# Nobody sees or misses them, as the selectors of 葛's variants: Default_Ignorable_Code_Point (UAX 44).
INVISIBLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
