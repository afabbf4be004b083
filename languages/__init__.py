"""What there is to know of English, Japanese and Chinese as they are written. No models here.

which one a text is in     `identification`
its characters             `scripts`, those among them that nobody sees too
one spelling of its words  `spelling`: ゴミ is ごみ
its words, one by one      `words`: by stems, Sudachi's dictionary and jieba's
kept for recent texts      `remembering`
"""
