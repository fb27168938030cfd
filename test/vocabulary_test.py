"""One word for each concept (docs/internals/glossary.md), and one concept for each name of a class.

Names that were given up must not come back. Identifiers in code are checked. Comments and strings are not: there, the
same words are ordinary ones. Classes of one part of the library have different names, and so have those of different
parts, unless they mean the same.
"""

import collections
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHECKED = ['include', 'src', 'codegen', 'test', 'tool', 'bench', 'examples']
SUFFIXES = {'.h', '.hpp', '.c', '.cpp', '.cu', '.py', '.j2', '.def', '.build'}

# Where, which identifiers (a regular expression for whole words), and the word for the concept.
# NodeKind::indexed meant what is now indexed_block, and means what was NodeKind::runs: no check can
# tell them apart.
ANYWHERE = ''
GIVEN_UP = [
    (ANYWHERE, r'(NodeKind|LevelKind)::blocks|LevelKind::uniform', 'indexed_block'),
    ('src/frontend', r'Form::blocks', 'indexed_block'),
    (ANYWHERE, r'(Form|NodeKind)::runs|LevelKind::varying', 'indexed'),
    (ANYWHERE, r'Form::fields|NodeKind::sequence', 'structure'),
    (ANYWHERE, r'Derived', 'TypeCache'),
    (ANYWHERE, r'(set_)?laid_out(_\w+)?', 'typed'),
    ('src/frontend', r'Place', 'MemoryLocation'),
    ('src/frontend', r'Places', 'LocationCache'),
    ('src', r'Way', 'RouteKind'),
    (ANYWHERE, r'Movement', 'AsyncOperation'),
    # Batches are not recognised: what comes again is a plan.
    (ANYWHERE, r'KnownBatches|BatchCache|BatchTerms|BatchKey|MemberKey', 'MovePlan'),
    ('src/backend', r'Work', 'LaunchContext'),
    ('src/backend', r'Submission|LaunchSteps|LaunchMode', 'LaunchTarget, LaunchState'),
    ('src/backend', r'Image', 'TableBuilder'),
    ('src/backend', r'Tables', 'DeviceLists'),
    ('src/backend', r'Program\w*|program_kernel\w*', 'Interpreter...'),
    ('src/backend', r'StorePieces?|store_pieces?|Pieces[A-Z]\w*', 'AlignedStores...'),
    (ANYWHERE, r'any_word\w*', 'runtime_width'),
    (ANYWHERE, r'other_kernels\w*', 'fixed_kernels'),
    (ANYWHERE, r'content_name\w*', 'content_id'),
    (ANYWHERE, r'secret_numbers?|SecretNumbers?', 'random_token'),
    (ANYWHERE, r'Arrival', 'AmData'),
    (ANYWHERE, r'Incoming', 'RecvMessage'),
    ('src', r'Parcel|Post', 'SendOp'),
    (ANYWHERE, r'Ticket|RingOffer|RouteOffer', 'TransferMessage'),
    ('src', r'Operand', 'TypedBuffer'),
    ('src', r'happen', 'on_complete'),
    ('src', r'lose', 'on_endpoint_failed'),
    (ANYWHERE, r'most_\w+', 'max_...'),
    ('src/frontend', r'(Copy)?Job(List|Maker|Settings|Addresses)?', 'Move...'),
    ('src/backend', r'(Copy)?Job(List|Maker|Settings|Addresses)?', 'Move...'),
    ('src/backend', r'Plan', 'KernelPlan'),
    ('src/frontend', r'Plan', 'KernelPlan'),
    (ANYWHERE, r'Mock(Buffer|Move|Session)|mock_(options|fixture|buffer)|random_mock_\w+', 'Device..., device_...'),
    (ANYWHERE, r'check_mock_\w+', 'check_device_...'),
]
# In names of files, too.
GIVEN_UP_FILES = {'boundary.h': 'api_guard.h', 'mock_buffer.hpp': 'device_buffer.hpp'}

# The parts whose headers a part includes: a name from there means the same here.
BASE = 'src/base'
CONTRACT = 'src/backend/contract'
GPU = 'src/backend/gpu_common'
INCLUDES = {
    CONTRACT: [BASE],
    'src/frontend': [BASE, CONTRACT, 'src/backend/registry'],
    'src/backend/registry': [BASE, CONTRACT],
    'src/backend/seq': [BASE, CONTRACT],
    GPU: [BASE, CONTRACT],
    'src/backend/cuda': [BASE, CONTRACT, GPU],
    'src/backend/hip': [BASE, CONTRACT, GPU],
    'src/backend/ze': [BASE, CONTRACT, GPU],
    'src/ucx': [BASE],
    'src/mpi': [BASE],
    'src/yaksa': [BASE],
}
# Classes that several parts define for the same concept, because the parts do not include each other.
SAME_MEANING = {
    'AddressRange': 'a range of addresses',
    'Bounds': 'lb, ub, and the true ones',
    'Conversion': 'a conversion of elements while they move',
    'DeviceFacts': "what a driver's device can do",
    'Found': 'the devices that a driver has',
    'HandleTable': 'the handles that are valid',
    'Info': 'an info object',
    'LevelKind': 'the kind of a level of a nest',
    'Quad': 'a vector of four words',
    'Status': 'success, or the code of a failure',
    'Tile': 'a rectangle of a permutation',
    'TileMemory': "a tile's memory in a block of threads",
    'Type': 'a datatype: of libucd, and of yaksa.h',
}
# A definition of a class or an enumeration. Specialisations are none: they have the template's meaning.
CLASS = re.compile(r'''\b(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+
                       (?:(?:\[\[[^\]]*\]\]|alignas\([^;{]*\)|[A-Z][A-Z0-9_]*)\s+)*    # attributes and macros
                       (?:\w+::)*(?!final\b)(\w+)\s*(?:final\s*)?(?::(?!:)[^;{}]*)?\{''', re.X)

PATTERNS = [(where, re.compile(rf'(?<!\w)(?:{names})(?!\w)'), word) for where, names, word in GIVEN_UP]
PROSE = {
    'c': re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S),
    'python': re.compile(r'#[^\n]*|""".*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S),
}


def code_of(text, suffix):
    """The text with comments and strings blank, at the same lines. What includes name stays."""
    prose = PROSE['python' if suffix in {'.py', '.build'} else 'c']
    return prose.sub(lambda m: '\n' * m.group().count('\n') or ' ', text)


def given_up_in(text, path='src/backend/a.cpp'):
    """Line, identifier and word for each name in a file that is at `path` below the root."""
    path = pathlib.PurePath(path)
    code = code_of(text, path.suffix)
    found = []
    for where, pattern, word in PATTERNS:
        if pathlib.PurePath(where) in path.parents:
            for m in pattern.finditer(code):
                found.append((code.count('\n', 0, m.start()) + 1, m.group(), word))
    return sorted(found)


def sources():
    """The paths of what is checked, below the root."""
    this = pathlib.Path(__file__).resolve()
    for folder in CHECKED:
        for path in sorted((ROOT / folder).rglob('*')):
            relative = path.relative_to(ROOT)
            if path.suffix in SUFFIXES and path != this:
                yield relative


def part_of(path):
    """The part of the library that a file below src/ belongs to: a folder of src/ or src/backend/."""
    folders = path.parts[:3] if path.parts[1] == 'backend' else path.parts[:2]
    return '/'.join(folders)


def two_meanings(files):
    """For each part, the classes that are defined there or in what it includes, and places of all their definitions,
    if there are several. `files` are pairs of a path below the root and the text."""
    defined = collections.defaultdict(lambda: collections.defaultdict(list))
    for path, text in files:
        code = code_of(text, path.suffix)
        for m in CLASS.finditer(code):
            defined[part_of(path)][m.group(1)].append(f"{path}:{code.count(chr(10), 0, m.start(1)) + 1}")
    found = {}
    for part, classes in defined.items():
        for name, places in classes.items():
            others = [place for other in INCLUDES.get(part, ()) for place in defined.get(other, {}).get(name, ())]
            if len(places) + len(others) > 1:
                found.setdefault(part, {})[name] = places + others
    return found


def meanings_in_parts(files):
    """The classes that several parts define outside of other classes, and these parts."""
    defined = collections.defaultdict(set)
    for path, text in files:
        code = code_of(text, path.suffix)
        for m in CLASS.finditer(code):
            if not code[code.rfind('\n', 0, m.start()) + 1].isspace():  # what is nested is indented
                defined[m.group(1)].add(part_of(path))
    return {name: parts for name, parts in defined.items() if len(parts) > 1}


class Vocabulary(unittest.TestCase):
    def test_names_that_were_given_up_stay_away(self):
        found = []
        for path in sources():
            if path.name in GIVEN_UP_FILES:
                found.append(f'{path}: the name is {GIVEN_UP_FILES[path.name]}')
            for number, name, word in given_up_in((ROOT / path).read_text(), path):
                found.append(f'{path}:{number}: {name}: the word is {word}')
        self.assertEqual(found, [], '\n' + '\n'.join(found))

    def test_the_words_are_in_use(self):
        used = set()
        for path in sources():
            used |= {path.stem, *re.findall(r'\w+', code_of((ROOT / path).read_text(), path.suffix))}
        glossary = (ROOT / 'docs/internals/glossary.md').read_text()
        entries = re.findall(r'^\| ([^|]+?) \|', glossary, re.M)
        names = [name for entry in entries for name in re.findall(r'\b[A-Z]\w*[a-z][A-Z]\w*|\b[a-z]+(?:_[a-z]+)+\b', entry)]
        self.assertGreater(len(names), 20)
        words = [name for _, _, several in GIVEN_UP for name in several.split(', ')] + [*names]
        missing = [word for word in words
                   if not (any(name.startswith(word[:-3]) for name in used) if word.endswith('...') else word in used)]
        self.assertEqual(missing, [], 'words that no source uses')

    def test_the_core_has_few_words(self):
        glossary = (ROOT / 'docs/internals/glossary.md').read_text()
        core = glossary.split('\n## ')[1]
        self.assertTrue(core.startswith('The core\n'))
        words = re.findall(r'^\| ([^|]+?) \|', core, re.M)[1:]
        self.assertGreater(len(words), 20)
        self.assertLessEqual(len(words), 40)

    def test_a_planted_name_is_found(self):
        for name, word in [('NodeKind::blocks', 'indexed_block'), ('LevelKind::varying', 'indexed'),
                           ('Movement', 'AsyncOperation'), ('most_bytes', 'max_...'), ('StorePiece', 'AlignedStores...'),
                           ('check_mock_pack', 'check_device_...')]:
            with self.subTest(name):
                self.assertEqual(given_up_in(f'// {name}\nauto b = {name}(a);\n'), [(2, name, word)])

    def test_a_qualified_name_is_found(self):
        self.assertEqual(given_up_in('int Table::most_bytes() {}'), [(1, 'most_bytes', 'max_...')])

    def test_prose_and_longer_names_are_not(self):
        self.assertEqual(given_up_in('// Places most_x in "Form::blocks".\n/* Way\n Derived */ f("Post");'), [])
        self.assertEqual(given_up_in('Postpone almost_all = FieldPlace::Place2;'), [])
        self.assertEqual(given_up_in("# Places\nf('Way')\n", 'codegen/a.py'), [])

    def test_a_class_name_has_one_meaning_in_a_part(self):
        library = [path for path in sources() if path.parts[0] == 'src' and path.suffix in {'.h', '.cpp'}]
        found = two_meanings((path, (ROOT / path).read_text()) for path in library)
        several = [f'{part}: {name}: {", ".join(places)}' for part, names in sorted(found.items()) for name, places in names.items()]
        self.assertEqual(several, [], 'classes that are defined several times in a part')

    def test_a_second_meaning_is_found(self):
        def names(*files):
            found = two_meanings((pathlib.PurePath(path), text) for path, text in files)
            return {part: set(classes) for part, classes in found.items()}

        seq, cuda, gpu = 'src/backend/seq', 'src/backend/cuda', 'src/backend/gpu_common'
        for second in ('enum class A : int {};', 'namespace {\nclass A final : public B {};\n}',
                       'struct [[nodiscard]] A {};', 'class B { union A { int i; }; };', 'struct alignas(16) A {};', 'struct UCD_X A {};',
                       'template <class T>\nstruct A : B<T> {};', 'struct B::A {};'):
            with self.subTest(second):
                self.assertEqual(names((f'{seq}/a.h', 'struct A {};'), (f'{seq}/b.cpp', second)), {seq: {'A'}})
        self.assertEqual(names((f'{gpu}/launch/a.h', 'struct A {};'), (f'{cuda}/b.h', 'struct A {};')), {cuda: {'A'}})
        self.assertEqual(names((f'{CONTRACT}/a.h', 'struct A {};'), (f'{gpu}/launch/b.h', 'struct A {};'),
                               ('src/ucx/api/a.h', 'class A {};')), {gpu: {'A'}})

    def test_a_class_name_has_one_meaning_in_all_parts(self):
        library = [path for path in sources() if path.parts[0] == 'src' and path.suffix in {'.h', '.cpp'}]
        found = meanings_in_parts((path, (ROOT / path).read_text()) for path in library)
        several = [f'{name}: {", ".join(sorted(parts))}' for name, parts in sorted(found.items()) if name not in SAME_MEANING]
        self.assertEqual(several, [], 'classes that several parts define')
        self.assertEqual(SAME_MEANING.keys() - found.keys(), set(), 'names that only one part has')

    def test_a_meaning_in_another_part_is_found(self):
        def found(*files):
            return meanings_in_parts((pathlib.PurePath(path), text) for path, text in files)

        self.assertEqual(found(('src/ucx/rma/a.h', 'struct A {};'), ('src/mpi/types/b.h', 'namespace x {\n\nenum class A {};\n}')),
                         {'A': {'src/ucx', 'src/mpi'}})
        self.assertEqual(found(('src/ucx/rma/a.h', 'struct A {};'), ('src/mpi/types/b.h', 'class B {\n    struct A {};\n};')), {})

    def test_declarations_and_specialisations_are_no_second_meaning(self):
        for other in ('class A;', 'template <>\nstruct A<int> {};', '// struct A {};', 'enum class A : int;',
                      'template <class A> void f() {}', 'struct AB {};', 'struct A a{};'):
            with self.subTest(other):
                files = [('src/ucx/api/a.h', 'struct A {};'), ('src/ucx/rma/b.h', other),
                         ('src/mpi/types/a.h', 'struct A {};')]
                self.assertEqual(two_meanings((pathlib.PurePath(path), text) for path, text in files), {})

    def test_sources_are_found(self):
        self.assertGreater(len(list(sources())), 300)


if __name__ == '__main__':
    unittest.main()
