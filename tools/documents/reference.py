"""Makes the API reference from the comments of the public headers, as Markdown: ucd.md for ucd.h in FOLDER, and so on.

A comment belongs to what follows it without an empty line between; one that stands alone is text.
"""

import pathlib
import re
import sys

from pages import ROOT

INCLUDE = ROOT / "include"
HEADERS = ["ucd.h", "ucd.hpp", "ucd_memory.h", "ucd_device.h", "ucd_types.hpp", "ucd_ucx.h", "ucd_ucx_rma.h", "ucd_mpi.h",
           "ucd-yaksa/yaksa.h"]
NAME = re.compile(r"(?:UCD_(?:\w+_)?API\s[^;(]*?|^\s*(?:typedef\s)[^;]*?)\b(\w+)\s*\(", re.S)


def comment_text(lines: list[str]) -> str:
    """What a comment says: indented parts stay as they are laid out."""
    text = []
    for line in lines:
        line = re.sub(r"^\s*(/\*+|\*/|\*|//+)", "", line)
        line = re.sub(r"\*/\s*$", "", line)
        text.append(line[1:] if line.startswith(" ") else line)
    body = "\n".join(line.rstrip() for line in text).strip("\n")
    if re.fullmatch(r"[-=\s]*", body):
        return ""
    return re.sub(r"^[-=]{20,}$", "", body, flags=re.M)


def as_markdown(body: str) -> str:
    """Paragraphs, with what has columns of its own as it is."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", body):
        if not paragraph.strip():
            continue
        if re.search(r"^ |\S {2,}\S", paragraph, re.M):
            parts.append("```text\n" + paragraph.strip("\n") + "\n```")
        else:
            parts.append(paragraph.strip())
    return "\n\n".join(parts)


def blocks(lines: list[str]) -> list[tuple[list[str], list[str]]]:
    """Pairs of a comment and the code that follows at once; either may be empty."""
    found: list[tuple[list[str], list[str]]] = []
    comment: list[str] = []
    code: list[str] = []
    depth = 0

    def end() -> None:
        nonlocal comment, code
        if comment or code:
            found.append((comment, code))
        comment, code = [], []

    in_comment = False
    for line in lines:
        stripped = line.strip()
        if in_comment:
            comment.append(line)
            in_comment = "*/" not in line
        elif depth == 0 and stripped.startswith("/*"):
            end()
            comment.append(line)
            in_comment = "*/" not in line
        elif depth == 0 and stripped.startswith("//"):
            if code:
                end()
            comment.append(line)
        elif not stripped and depth == 0:
            end()
        else:
            code.append(line)
            # Braces that hold all of a header are no block.
            if not re.match(r'\s*(extern "C"|(inline )?namespace\b|}\s*(//.*)?$)', line) or depth > 0:
                depth += line.count("{") - line.count("}")
                depth = max(depth, 0)
    end()
    return found


def is_noise(code: list[str]) -> bool:
    """Guards, includes and the like."""
    noise = re.compile(r'^\s*(#\s*(if|ifndef|ifdef|endif|else|elif|define UCD_\w*H\w*_INCLUDED'
                       r'|include|pragma)|extern "C"|}\s*(//.*)?$|$)')
    return all(noise.match(line) for line in code)


def title_of(code: str) -> str:
    function = NAME.search(code)
    if function:
        return function.group(1)
    named = re.search(r"}\s*(\w+);\s*$", code) or re.search(
        r"\b(?:class|struct|enum|using|typedef\s+\w+(?:\s+\w+)?)\s+\**(\w+)", code)
    return named.group(1) if named else ""


def reference(header: str) -> str:
    text = (INCLUDE / header).read_text(encoding="utf-8")
    out = [f"# {header}", "", f"Made by `tools/docs reference` from `include/{header}`."]
    for comment, code in blocks(text.splitlines()):
        said = comment_text(comment)
        lone_title = len(comment) == 1 and not code and len(said) < 100
        if lone_title and said:
            out += ["", f"## {said}"]
            continue
        shown = [] if is_noise(code) else code
        if not said and not shown:
            continue
        name = title_of("\n".join(shown)) if shown else ""
        if name:
            out += ["", f"### {name}"]
        if shown:
            out += ["", "```c" if header.endswith(".h") else "```cpp", *shown, "```"]
        if said:
            out += ["", as_markdown(said)]
    return "\n".join(out) + "\n"


def write(folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for header in HEADERS:
        name = pathlib.Path(header).name.removesuffix(".h")
        (folder / f"{name}.md").write_text(reference(header), encoding="utf-8")


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(pathlib.Path(sys.argv[1]))
