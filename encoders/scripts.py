"""The characters of Japanese and Chinese, each set as the inside of a class of a regular expression.

The ranges are those of Unicode's property Script (UAX 24), which `re` does not know, with the marks that
repeat or lengthen and without the middle dot, which separates.
"""

from __future__ import annotations

from typing import Final

__all__ = ["EAST_ASIAN", "HAN", "HIRAGANA", "KATAKANA"]

HIRAGANA: Final = "\u3041-\u3096\u3099-\u309f"
KATAKANA: Final = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
HAN: Final = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003347f"
EAST_ASIAN: Final = HIRAGANA + KATAKANA + HAN
