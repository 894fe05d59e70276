#!/usr/bin/env python3
"""Asks rust-analyzer for completions, hovers and definitions inside `cuda_graph!`; see README.md."""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

from cases import BESIDE, CASES
from client import Client

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MANIFEST = f"""[workspace]

[package]
name = "editor"
version = "0.0.0"
edition = "2024"
publish = false

[dependencies]
graph-runtime = {{ path = "{ROOT}/graph-runtime" }}
"""


def crate(folder: Path) -> Path:
    """Writes a crate of its own that depends on graph-runtime; returns its one file."""
    for name in ("src", "kernels"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "Cargo.toml").write_text(MANIFEST)
    shutil.copy(ROOT / "Cargo.lock", folder)
    shutil.copy(ROOT / "examples/kernels/forward_backward.ptx", folder / "kernels")
    return Path(shutil.copy(HERE / "fixture.rs", folder / "src/lib.rs"))


def document(places: dict[str, str]) -> tuple[str, int]:
    """The fixture with these texts at its marks, and where the cursor is in it."""
    text = re.sub(r"//@(\w+)", lambda mark: places.get(mark[1], ""), (HERE / "fixture.rs").read_text())
    return text.replace("‸", ""), text.find("‸")


def found(kind: str, answer, text: str) -> list[str]:
    """What an answer says: labels, texts, or the lines that are pointed at."""
    if kind == "completion":
        items = answer["items"] if isinstance(answer, dict) else answer or []
        return [re.split(r"[ (!:<]", item["label"])[0] for item in items]
    if kind == "hover":
        return [answer["contents"]["value"]] if answer else []
    if kind == "signatureHelp":
        return [signature["label"] for signature in (answer or {}).get("signatures", [])]
    lines = text.splitlines()
    return [lines[place["range"]["start"]["line"]] for place in answer or [] if place["uri"].endswith("/src/lib.rs")]


def holds(kind: str, answers: list[str], wanted: list[str], unwanted: list[str]) -> bool:
    """Labels are compared as a whole; other texts have, or have not, these parts."""
    def has(part: str) -> bool:
        return part in answers if kind == "completion" else any(part in answer for answer in answers)

    return all(map(has, wanted)) and not any(map(has, unwanted))


def beside(places: dict[str, str], broken: dict[str, str]) -> dict[str, str]:
    """Puts what is broken into the graph that the cursor is in, or whose value it is at."""
    marks = {"before": "first", "behind": "last"} if {"inside", "end"} & places.keys() else {}
    return {marks.get(mark, mark): text for mark, text in broken.items()}


def asked(client: Client, only: str):
    """Yields a line for each case with, beside each of `BESIDE`, whether the answer is right, and the answer."""
    for kind, name, places, wanted, unwanted in CASES:
        line = f"{kind:<13} {name:<38}"
        if only not in line:
            continue
        answers = []
        for broken, _ in BESIDE.values():
            text, offset = document(places | beside(places, broken))
            answer = found(kind, client.ask(kind, text, offset), text)
            answers.append((holds(kind, answer, wanted, unwanted), answer))
        yield line, answers
    line = f"{'diagnostic':<13} {'each mistake once':<38}"
    if only in line:
        answers = []
        for broken, codes in BESIDE.values():
            items = client.ask("diagnostic", document(broken)[0])["items"]
            first_lines = [item["message"].splitlines()[0] for item in items]
            shown = [text.rpartition("[")[2].rstrip("]") for text in first_lines]
            answers.append((shown == codes, first_lines))
        yield line, answers


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("filter", nargs="?", default="", help="only cases whose line has this text; shows all answers")
    parser.add_argument("--server", default="rust-analyzer", help="the rust-analyzer to ask")
    parser.add_argument("--std", help="the sources of the standard library, if the component rust-src is not there")
    parser.add_argument("--folder", type=Path, default=ROOT / "target/lsp", help="where the crate and its build go")
    options = parser.parse_args()
    folder = options.folder.resolve()
    version = subprocess.run([options.server, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    settings = {
        "cargo": {"targetDir": str(folder / "target"), **({"sysrootSrc": options.std} if options.std else {})},
        "checkOnSave": False,
        "cachePriming": {"enable": False},
        "completion": {"autoimport": {"enable": False}, "postfix": {"enable": False}},
    }
    client = Client([options.server], folder, crate(folder), settings)
    print(f"{version}; beside each statement:")
    for number, what in enumerate(BESIDE, 1):
        print(f"  {number}: {what}")
    right = total = 0
    for line, answers in asked(client, options.filter):
        if options.filter:
            for number, (good, answer) in enumerate(answers, 1):
                print(number, "right" if good else "WRONG", answer[:60])
        print(line, "".join(str(number) if good else "-" for number, (good, _) in enumerate(answers, 1)), flush=True)
        right, total = right + sum(good for good, _ in answers), total + len(answers)
    print(f"{right} of {total} answers are right")
    client.close()
    return 0 if right == total else 1


if __name__ == "__main__":
    sys.exit(main())
