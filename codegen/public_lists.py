#!/usr/bin/env python3
"""Renders a template with the lists that include/ucd.h has: constructors, predefined types and ops.

    public_lists.py UCD_H TEMPLATE OUTPUT

The header is the only place where they are listed. What a template is given, describe the classes below.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

# What a parameter of a constructor stands for, by its declaration in C. The first pattern that matches decides.
KINDS = (
    (r"ucd_type_t oldtype", "type"),
    (r"const ucd_type_t \*types", "types"),
    (r"ucd_type_t \w+", "predefined"),
    (r"const void \*\w+", "address"),
    (r"const int \*distribs", "distributions"),
    (r"const intptr_t \*dargs", "distribution_args"),
    (r"const intptr_t \*\w+", "list"),
    (r"const int \*\w+", "ints"),
    (r"int order", "order"),
    (r"intptr_t count|int ndims", "number"),  # or "length": see Constructor
    (r"intptr_t \w+", "number"),
    (r"int \w+", "int"),
)
ARRAYS = {"types", "distributions", "distribution_args", "list", "ints"}


@dataclass
class Parameter:
    """kind: one of KINDS, or "length", which is the number of entries that the arrays have."""

    declaration: str
    name: str
    kind: str


@dataclass
class Constructor:
    """name: after ucd_create_. identifier: the name, where C++ allows it. node: the name in the style of a class."""

    name: str
    meaning: str  # the first sentence of its comment
    parameters: list
    node: str = ""

    @property
    def identifier(self):
        return {"struct": "structure"}.get(self.name, self.name)

    @property
    def by_address(self):
        """Whether it keeps an address, so that no text can say what it makes."""
        return any(p.kind == "address" for p in self.parameters)

    @property
    def arguments(self):
        """The parameters but the lengths of arrays."""
        return [p for p in self.parameters if p.kind != "length"]

    @property
    def first_array(self):
        return next((p for p in self.parameters if p.kind in ARRAYS), None)


@dataclass
class Constant:
    """name: after UCD_TYPE__ or UCD_OP__. word: the same in lower case, as the type language has it."""

    name: str

    @property
    def word(self):
        return self.name.lower()


def first_sentence(comment):
    text = " ".join(re.sub(r"^\s*\*", "", line).strip() for line in comment.splitlines()).strip()
    sentence = re.split(r"(?<=[^.]\.)\s+(?=[A-Z])", text)[0]
    return sentence.replace("ucd_create_", "")


def parameter_of(declaration):
    name = re.search(r"\w+$", declaration).group()
    for pattern, kind in KINDS:
        if re.fullmatch(pattern, declaration):
            return Parameter(declaration, name, kind)
    sys.exit(f"public_lists.py: no kind is known for the parameter '{declaration}' of a constructor")


def constructors_of(header):
    found = re.findall(r"/\*((?:(?!\*/).)*)\*/\s*UCD_API int ucd_create_(\w+)\(([^)]*)\);", header, re.S)
    made = []
    for comment, name, declarations in found:
        parameters = [parameter_of(" ".join(d.split())) for d in declarations.split(",")[:-2]]  # without info, newtype
        constructor = Constructor(name, first_sentence(comment), parameters)
        if constructor.first_array:
            for parameter in parameters:
                if parameter.name in ("count", "ndims"):
                    parameter.kind = "length"
        made.append(constructor)
    names = {c.name for c in made}
    for c in made:
        in_bytes = c.name[0] == "h" and c.name[1:] in names  # hvector: HVector
        words = ("h_" + c.name[1:] if in_bytes else c.name).split("_")
        c.node = "".join(word.capitalize() for word in words)
    return made


def lists_of(header):
    """The lists by the names that templates use, in the order of the header."""
    lists = {
        "constructors": constructors_of(header),
        "predefined": [
            Constant(name)
            for name in re.findall(r"^#define UCD_TYPE__(\w+)\s+\(\(ucd_type_t\)\(uintptr_t\)\d+\)", header, re.M)
            if name != "NULL"
        ],
        "ops": [Constant(name) for name in re.findall(r"^    UCD_OP__(\w+)\b", header, re.M)],
    }
    declared = len(re.findall(r"\bucd_create_\w+\(", header))
    if declared != len(lists["constructors"]):
        sys.exit(f"public_lists.py: {declared} constructors are declared, {len(lists['constructors'])} understood")
    return lists


def rendered(template, header):
    """The text of a template with the lists of a header. Both are paths."""
    from output import environment  # what only reads the lists needs no templates

    env = environment()
    env.filters["c_string"] = lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return env.from_string(template.read_text()).render(lists_of(header.read_text()))


def main():
    from output import write_if_changed

    header, template, output = map(Path, sys.argv[1:])
    write_if_changed(output, rendered(template, header))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
