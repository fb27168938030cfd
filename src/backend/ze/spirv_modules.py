"""Makes SPIR-V modules of few kernels from those of a whole file, so that a device compiles only what it runs."""

import re
import struct
import subprocess
import sys

MAGIC = 0x07230203
HEADER_WORDS = 5

# Opcodes of the SPIR-V specification, 3.32.
NAMES = {2, 3, 4, 5, 6, 7, 8, 317, 330}  # sources, names, lines, processed: debug information
EXTENDED_IMPORT, MEMORY_MODEL, ENTRY_POINT, EXECUTION_MODE, CAPABILITY = 11, 14, 15, 16, 17
EXTENSION = 10
TYPE_FLOAT, FUNCTION, FUNCTION_END, FUNCTION_CALL = 22, 54, 56, 57
DECORATE, MEMBER_DECORATE = 71, 72
# Opcodes of types, constants and variables, by the index of the word with the id of the result.
DEFINES_AT_1 = {EXTENDED_IMPORT, *range(19, 40)}
DEFINES_AT_2 = {1, *range(41, 53), 59}
# Opcodes in functions that have no result: stores, copies, barriers, merges, branches.
LABEL, BRANCH, BRANCH_CONDITIONAL, SWITCH = 248, 249, 250, 251
DEFINES_NOTHING = {62, 63, 64, 224, 225, 228, 246, 247, *range(249, 258)}
CAPABILITY_FLOAT64, CAPABILITY_LINKAGE = 10, 5
DECORATION_LINKAGE = 41


def text_at(words):
    return b"".join(struct.pack("<I", word) for word in words).split(b"\0")[0].decode()


# These passes turn variables into values and remove duplicate blocks and loads, which halves the size. Functions are
# not inlined, which would increase it again, but for those that are declared to be. Passes that change arithmetic would make integers of odd widths and
# `freeze`, which SPIR-V does not have.
PASSES = "always-inline,function(sroa,early-cse,simplifycfg),globaldce"


def successors(block):
    """The labels that the last instruction of a block refers to."""
    last = block[-1]
    opcode = last[0] & 0xFFFF
    if opcode == BRANCH:
        return last[1:2]
    if opcode == BRANCH_CONDITIONAL:
        return last[2:4]
    # A default label, then pairs of a number and a label. No switch here has 64-bit numbers.
    return last[2:3] + last[4::2] if opcode == SWITCH else ()


def in_order(body):
    """A function's instructions with each block after all blocks that dominate it, as SPIR-V requires."""
    starts = [i for i, instruction in enumerate(body) if instruction[0] & 0xFFFF == LABEL]
    ends = [*starts[1:], len(body) - 1]
    blocks = {body[start][1]: body[start:end] for start, end in zip(starts, ends)}
    entry = body[starts[0]][1]
    left, seen = [], {entry}  # blocks in post-order of a depth-first search
    path = [(entry, iter(successors(blocks[entry])))]
    while path:
        label, waiting = path[-1]
        following = next((label for label in waiting if label not in seen), None)
        if following is None:
            left.append(label)
            path.pop()
        else:
            seen.add(following)
            path.append((following, iter(successors(blocks[following]))))
    ordered = [instruction for label in reversed(left) for instruction in blocks[label]]
    return [*body[:starts[0]], *ordered, body[-1]]


class File:
    """The kernels of a file."""

    def __init__(self, simplifier, translator, path):
        simplified = subprocess.run(
            [simplifier, "-passes=" + PASSES, path, "-o", "-"], stdout=subprocess.PIPE, check=True
        ).stdout
        data = subprocess.run(
            [translator, "--spirv-max-version=1.2", "-", "-o", "-"],
            input=simplified, stdout=subprocess.PIPE, check=True,
        ).stdout
        words = struct.unpack(f"<{len(data) // 4}I", data)
        if words[0] != MAGIC:
            sys.exit(f"{translator} made no SPIR-V of {path}")
        self.header = words[:HEADER_WORDS]
        self.before, self.functions, self.calls = [], {}, {}
        self.entries = {}
        body = None
        at = HEADER_WORDS
        while at < len(words):
            opcode, count = words[at] & 0xFFFF, words[at] >> 16
            instruction = words[at:at + count]
            at += count
            if opcode in NAMES:
                continue
            if opcode == FUNCTION:
                body = self.functions.setdefault(instruction[2], [])
                self.calls[instruction[2]] = calls = set()
            if body is None:
                self.before.append((opcode, instruction))
                if opcode == ENTRY_POINT:
                    self.entries[text_at(instruction[3:])] = instruction[2]
                continue
            body.append(instruction)
            if opcode == FUNCTION_CALL:
                calls.add(instruction[3])
            if opcode == FUNCTION_END:
                body[:] = in_order(body)
                body = None

    def defined(self, opcode, instruction):
        if opcode in DEFINES_AT_1:
            return instruction[1]
        return instruction[2] if opcode in DEFINES_AT_2 else None

    @staticmethod
    def defined_in_body(instruction):
        opcode = instruction[0] & 0xFFFF
        if opcode == LABEL:
            return instruction[1]
        return None if opcode in DEFINES_NOTHING or len(instruction) < 3 else instruction[2]

    def groups(self):
        """The kernels of each module."""
        groups = {}
        for kernel in self.entries:
            alone = kernel.removesuffix("_batch") if kernel.startswith("reduce") else kernel
            reduction = re.fullmatch("reduce_[a-z]+_(\\w+)", alone)
            groups.setdefault(reduction[1] if reduction else alone, []).append(kernel)
        return groups.values()

    def module_of(self, kernels):
        """The words of a module with only these kernels, and whether it uses doubles."""
        entries = {self.entries[kernel] for kernel in kernels}
        kept, waiting = {}, list(entries)
        while waiting:
            function = waiting.pop()
            if function not in kept:
                kept[function] = self.functions[function]
                waiting += self.calls[function]
        # A word that is not an id may look like one; a declaration is then kept without need.
        needed = {word for body in kept.values() for instruction in body for word in instruction[1:]}
        declarations = []
        for opcode, instruction in reversed(self.before):
            number = self.defined(opcode, instruction)
            if number is None or number in needed:
                if number is not None:
                    needed.update(instruction[1:])
                declarations.append((opcode, instruction))
        declarations.reverse()
        present = {self.defined(opcode, instruction) for opcode, instruction in declarations}
        for body in kept.values():
            present.update(map(self.defined_in_body, body))
        doubles = any(
            opcode == TYPE_FLOAT and instruction[2] == 64 for opcode, instruction in declarations
        )
        out = list(self.header)
        for opcode, instruction in declarations:
            if self.belongs(opcode, instruction, entries, present, doubles):
                out += self.without_absent(opcode, instruction, present)
        for body in (self.functions[number] for number in self.functions if number in kept):
            for instruction in body:
                out += instruction
        return out, doubles

    def belongs(self, opcode, instruction, entries, present, doubles):
        if opcode == CAPABILITY:
            # The module imports and exports nothing any more, so it does not need linkage.
            return instruction[1] != CAPABILITY_LINKAGE and (
                doubles or instruction[1] != CAPABILITY_FLOAT64
            )
        if opcode == ENTRY_POINT:
            return instruction[2] in entries
        if opcode == EXECUTION_MODE:
            return instruction[1] in entries
        if opcode in (DECORATE, MEMBER_DECORATE):
            linkage = opcode == DECORATE and instruction[2] == DECORATION_LINKAGE
            return instruction[1] in present and not linkage
        return True

    @staticmethod
    def without_absent(opcode, instruction, present):
        """Removes absent variables from an entry point, which lists the variables that it uses after its name."""
        if opcode != ENTRY_POINT:
            return instruction
        words = len(text_at(instruction[3:]).encode()) // 4 + 1
        fixed = instruction[1:3 + words]
        used = tuple(word for word in instruction[3 + words:] if word in present)
        return ((1 + len(fixed) + len(used)) << 16 | ENTRY_POINT, *fixed, *used)
