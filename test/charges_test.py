"""In libucd-ucx, an allocation whose size is no constant says what limits it.

A peer can choose most numbers there. A comment on the statement, or before it, begins with one of these words and says what
holds: `charged:` the charge that was taken for it, `bounded:` the limit that was checked, `own:` whose number it is, if no
peer has a part in it. A size is a constant if it consists of numbers, sizeof and names that are declared constexpr. Room for
a constant number of elements more needs no comment, as push_back needs none: what is inserted has its charge.
"""

import pathlib
import re
import unittest

SOURCES = pathlib.Path(__file__).resolve().parent.parent / 'src' / 'ucx'
ALLOCATION = re.compile(
    r'\bnew\s*(?:\(std::nothrow\)\s*)?[\w:]+\s*(?P<array>\[)'
    r'|\b(?:malloc|aligned_alloc|calloc|realloc|mmap|ucd_memory_alloc|make_unique<[^;()]*\[\]>)\s*(?P<call>\()'
    r'|(?:\.|->)(?:resize|reserve|assign|append)\s*(?P<member>\()'
    r'|\bstd::(?:vector<[^;()]*>|string)(?:\s+\w+)?(?P<constructor>[({])'
)
PARAMETERS = re.compile(r'(const )?[\w:]+(<[^>]*>)?[ *&]+\w+\s*(,|$)')
LIMIT = re.compile(r'//.*\b(charged|bounded|own): \S')


def sources():
    return sorted(p for p in SOURCES.rglob('*') if p.suffix in {'.h', '.cpp'})


def constants(text):
    """Names that are declared constexpr."""
    declared = re.findall(r'\bconstexpr\s[^;{]*?;', text)
    return {name for one in declared for name in re.findall(r'(\w+)\s*=', one)}


def arguments(text, opening):
    """What is between the bracket at `opening` and its end."""
    depth = 0
    for i in range(opening, len(text)):
        depth += (text[i] in '([{') - (text[i] in ')]}')
        if depth == 0:
            return text[opening + 1 : i]
    raise ValueError(text[opening : opening + 40])


def is_constant(size, here, elsewhere):
    """Constants of other files count if their class is named."""
    parts = [r'sizeof\s*(?:\([^()]*\)|[\w.]+)', 'std::size_t', *sorted(here)]
    parts += [rf'\w+::{name}' for name in sorted(elsewhere)]
    return not re.search(r'[a-z_]', re.sub(rf"\b(?:{'|'.join(parts)})(?!\w)", "", size), re.I)


def allocations(text, here, elsewhere=frozenset()):
    """Line number and text of each allocation of another size than a constant one, without a comment that says its limit."""
    code = re.sub(r'//[^\n]*', lambda m: ' ' * len(m.group()), text)
    lines = text.splitlines()
    for m in ALLOCATION.finditer(code):
        opening = max(m.start(group) for group in ('array', 'call', 'member', 'constructor'))
        size = arguments(code, opening)
        if m.group('member'):
            container = re.search(r'[\w.>-]*$', code[: m.start()]).group()
            size = size.removeprefix(f'{container}.size() + ')
        is_declaration = m.group('constructor') and PARAMETERS.match(size)
        if is_constant(size, here, elsewhere) or is_declaration:
            continue
        # The statement's lines, and the comment before it.
        before = max(code.rfind(end, 0, m.start()) for end in ';{}')
        line = text.count('\n', 0, m.start())
        begin = min(text.count('\n', 0, max(before, 0)) + 1, line)
        if not any(LIMIT.search(one) for one in lines[begin : line + 1]):
            yield line + 1, lines[line].strip()


class Charges(unittest.TestCase):
    maxDiff = None

    def test_each_allocation_says_its_limit(self):
        texts = {path: path.read_text() for path in sources()}
        declared = {path: constants(text) for path, text in texts.items()}
        elsewhere = set().union(*declared.values())
        without = []
        for path, text in texts.items():
            here = declared[path] | declared.get(path.with_suffix('.h'), set())
            name = path.relative_to(SOURCES.parent.parent)
            without += [f'{name}:{line}: {code}' for line, code in allocations(text, here, elsewhere)]
        self.assertEqual([], without)

    def test_what_is_found(self):
        text = '''constexpr std::size_t most = 1 << 10;
            a.reserve(most + sizeof(T));
            b.reserve(b.size() + 1);
            c.resize(c_bytes);
            // charged: by the caller
            d.resize(bytes);
            e.reserve(d.size() + 1); // bounded: by d
            f.reset(new (std::nothrow) char[bytes]);
            g = new char[64];
            std::vector<iovec> h(segments);
            std::vector<iovec> i;
            std::string j(bytes, 'j');
            void *k = ::mmap(nullptr, bytes, 1, 2, 3, 0);
            // It is charged.
            l.assign(text);
            std::string m = n(bytes);
            m = std::malloc(bytes); // own: the program's
            n = std::make_unique<T[]>(bytes);
            o.resize(Limits::max * 2);
            p.resize(max);'''
        found = [code.split()[0].split('.')[0] for _, code in allocations(text, constants(text), {'max'})]
        self.assertEqual(found, ['c', 'f', 'std::vector<iovec>', 'std::string', 'void', 'l', 'n', 'p'])


if __name__ == '__main__':
    unittest.main()
