"""What an asker of a stream waits for, by faithfulness.streaming, beside the chatbot's own first words.

    python -m benchmarks.streaming [--rounds 20] [--word-ms 20]

A played chatbot writes the same four sentences, a word at a time. One gateway for each mode, in this process;
the questions go round the modes, so that all see the same load. Read the ratios: the times are the machine's.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.chatbot import Chatbot, Says
from tests.gateway.running import Gateway, settings

MODES = ("buffer", "sentence", "observe")
SENTENCES = (
    "The library opens at 9:00 and closes at 19:00 from Monday to Saturday.",
    "On Sundays it opens at 10:00 and closes at 17:00.",
    "Loans last two weeks and can be renewed once on the page My Library.",
    "A late book costs 10 yen for each day after the date of return.",
)
CONFIGURATION = """
gate: {{enabled: false}}
cache: {{enabled: false}}
faithfulness: {{streaming: {mode}}}
upstream: {{kind: openai, base_url: "{url}", model: chatbot, contexts: azure-on-your-data}}
"""


def main() -> None:
    """Ask, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--word-ms", type=float, default=20)
    args = parser.parse_args()
    said = Says(" ".join(SENTENCES), [" ".join(SENTENCES)], piece_delay_s=args.word_ms / 1000)
    with ExitStack() as stack:
        bot = stack.enter_context(Chatbot(said))
        gateways = {mode: stack.enter_context(_gateway(stack, mode, bot.base_url)) for mode in MODES}
        for gateway in gateways.values():
            _ask(gateway.url, gateway)  # warm
        rounds = [_round(bot, gateways) for _ in range(args.rounds)]
    _print(rounds, args)


def _gateway(stack: ExitStack, mode: str, url: str) -> Gateway:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    return Gateway(settings(folder, CONFIGURATION.format(mode=mode, url=url)))


def _round(bot: Chatbot, gateways: dict[str, Gateway]) -> dict[str, tuple[float, float]]:
    any_gateway = next(iter(gateways.values()))
    chatbot = {"the chatbot itself": _ask(bot.base_url.removesuffix("/v1"), any_gateway)}
    return chatbot | {mode: _ask(gateway.url, gateway) for mode, gateway in gateways.items()}


def _ask(url: str, gateway: Gateway) -> tuple[float, float]:
    """Seconds to the first words and to the end."""
    body = {"messages": [{"role": "user", "content": "When does the library open?"}], "stream": True}
    started, first = time.perf_counter(), 0.0
    with (
        gateway.http() as client,
        client.stream("POST", f"{url}/v1/chat/completions", json=body) as stream,
    ):
        for line in stream.iter_lines():
            if not first and _words(line):
                first = time.perf_counter() - started
    return first, time.perf_counter() - started


def _words(line: str) -> str:
    if not line.startswith("data: {"):
        return ""
    choices: list[dict[str, Any]] = json.loads(line.removeprefix("data: ")).get("choices", [])
    return "".join(choice.get("delta", {}).get("content") or "" for choice in choices)


def _print(rounds: list[dict[str, tuple[float, float]]], args: argparse.Namespace) -> None:
    title = f"{args.rounds} questions each, a word every {args.word_ms:g} ms, {len(SENTENCES)} sentences"
    table = Table(
        "", "first words ms, p50", "p95", "of buffer", "last word ms, p50", "of buffer", title=title
    )
    whole = median(one["buffer"][0] for one in rounds), median(one["buffer"][1] for one in rounds)
    for name in rounds[0]:
        first, last = zip(*(one[name] for one in rounds), strict=True)
        p95 = quantiles(first, n=20)[-1]
        cells = [f"{median(first) * 1000:.0f}", f"{p95 * 1000:.0f}", f"{median(first) / whole[0]:.2f}"]
        table.add_row(name, *cells, f"{median(last) * 1000:.0f}", f"{median(last) / whole[1]:.2f}")
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
