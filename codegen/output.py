"""Writes generated files."""


def write_if_changed(path, text):
    """A file that is the same already keeps its time, so that what is made from it is not made again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
