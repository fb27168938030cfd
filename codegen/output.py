"""Makes texts from templates, and writes them."""

from pathlib import Path

import jinja2


def environment():
    """The templates."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).resolve().parent / "templates"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )


def write_if_changed(path, text):
    """A file that is the same already keeps its time, so that what is made from it is not made again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
