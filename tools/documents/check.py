"""Checks what the documents cite: it must exist. Prints a line for each citation that does not, and then
fails.

* Relative links, with their headings.
* In `code` and in code blocks: names ucd_* and UCD_*, keys ucd.* (a final * stands for any end), options
  of Meson (-Dname=), and the commands of this repository's programs with their options.
* In `code` alone: paths of files and folders, absolute from the repository's root or the end of a path,
  and in docs/internals the names of C++ functions and classes.
* The commands of docs/measurements/data/*.csv, and the pages that sources name (docs/...md).
* On pages of promises, a test behind each sentence (promises.py).
"""

import ast
import fnmatch
import functools
import os
import pathlib
import re
import sys

import promises
from pages import ROOT, files, folders

SOURCE = {'.h', '.hpp', '.c', '.cpp', '.cu', '.cuh', '.py', '.j2', '.def', '.build', '.in', '.sh', '.cmake'}
# What a path of a document may end in; programs and other data have users' own files as well.
CITED = SOURCE - {'.sh', '.in'} | {'.md'}
PAGES_OF_THE_PAST = {'CHANGELOG.md'}  # only its links are checked
# What a page may name though it is gone.
GONE = {'from-0.3.md': {'ucd_ucx_pipeline_t', 'ucd_ucx_rma_t', 'ucd_ucx_pipeline_params_t', 'ucd_ucx_rma_params_t',
                        'ucd_ucx_pipeline_create', 'ucd_ucx_rma_create', 'ucd_ucx_pipeline_destroy', 'ucd_ucx_rma_destroy',
                        'ucd_ucx_rma_lose_endpoint', 'ucd_ucx_rma_progress', 'ucd_ucx_rma_fence', 'ucd_ucx_rma_flush_nbx',
                        'ucd_pack_desc_t', 'ucd_unpack_desc_t', 'ucd_ipack_batch', 'ucd_iunpack_batch', 'ucd_pack_batch_stream',
                        'ucd_unpack_batch_stream', 'UCD_TUNING', 'UCD_UCX_PIPELINE__NULL', 'UCD_UCX_RMA__NULL'}}

# Of Meson itself.
MESON_OPTIONS = re.compile(r'b_\w+|buildtype|debug|optimization|prefix|libdir|bindir|werror|warning_level|'
                           r'auto_features|default_library|(c|cpp)_(args|link_args|std)')
# What others have named.
OPTIONS_OF_OTHERS = {'--help', '--prefix', '--config-settings'}
OF_OTHERS = re.compile(r'(cuda|hip|hsa|cu[A-Z]|nv|zes?[A-Z_]|ucp_|ucs_|uct_|UC[PSTX]_|MPI_|PMPI_|IOV_|SIG|CMAKE_|CATCH_|__|std::)')
# Not the versions of symbols, UCD_0.1.
TOKEN = re.compile(r'\b(?:ucd|UCD)_(?!(?:UCX_|MPI_|YAKSA_)?\d)\w*\*?')
# How a command in tools/ names its folder and its subcommands.
SUBCOMMANDS = re.compile(r"^subcommands\.run\(__doc__, '(\w+)', (\[.*?\])\)", re.M | re.S)
KEY = re.compile(r'(?<![\w./-])ucd\.[a-z_]+(?:\.[a-z_]+)*(?:\.\*)?(?![\w(])')


@functools.cache
def text_of(path):
    return (ROOT / path).read_text(errors='replace')


@functools.cache
def sources():
    """The text of everything that is no document."""
    there = [p for p in files() if pathlib.PurePath(p).suffix in SOURCE or p == 'meson_options.txt']
    return {p: text_of(p) for p in there}


@functools.cache
def words():
    return {word for text in sources().values() for word in re.findall(r'\w+', text)}


@functools.cache
def keys():
    return {key for text in sources().values() for key in re.findall(r'"(ucd(?:\.[a-z_]+)+)["=]', text)}


@functools.cache
def modules():
    """The modules in the Python packages, which names with dots belong to, as keys do."""
    packages = (ROOT / 'python/ucd', ROOT / 'python-models/ucd_models')
    return {f'{package.name}.{path.stem}' for package in packages for path in package.glob('[a-z]*.py')}


def closing(text, start):
    """Where the bracket that opens before start closes."""
    depth = 1
    for match in re.compile(r'[()\[\]]').finditer(text, start):
        depth += 1 if match.group() in '([' else -1
        if depth == 0:
            return match.start()
    return len(text)


@functools.cache
def programs():
    """The programs that Meson builds, with the text of their sources."""
    found = {}
    for path in (p for p in files() if pathlib.PurePath(p).name == 'meson.build'):
        folder, text = pathlib.PurePath(path).parent, text_of(path)
        for match in re.finditer(r"\bexecutable\(\s*'([\w-]+)',", text):
            call = text[match.end():closing(text, match.end())]
            parts = [call]
            for name in set(re.findall(r'^\s*(\w+),', call, re.M)):
                for assigned in re.finditer(rf'\b{name} \+?= (?:files)?([(\[])', text):
                    parts.append(text[assigned.end():closing(text, assigned.end())])
            named = {os.path.normpath(folder / p) for part in parts for p in re.findall(r"'([^'\s]+\.(?:c|cpp))'", part)}
            with_headers = named | {os.path.splitext(p)[0] + end for p in named for end in ('.h', '.hpp')}
            found[match[1]] = '\n'.join(text_of(p) for p in sorted(with_headers) if (ROOT / p).is_file())
    # Its commands are a library of Meson's.
    found['ucd'] = '\n'.join(text for path, text in sources().items() if path.startswith('tool/'))
    for path in files():
        if path.startswith('tools/') or (path.startswith('examples/') and path.endswith(('.sh', '.py'))):
            found[path] = '\n'.join([text_of(path), *modules_of(path).values()])
    return found


def modules_of(path):
    """The texts of the modules of a command in tools/ that has subcommands, by the names that these have."""
    call = SUBCOMMANDS.search(text_of(path))
    folder = f'tools/{call[1]}/' if call else '/'
    return {pathlib.PurePath(p).stem.replace('_', '-'): text_of(p) for p in files() if p.startswith(folder)}


@functools.cache
def subcommands(program):
    """The names of a program's subcommands, each with the text that has its options."""
    text = programs()[program]
    if program == 'ucd':
        return dict.fromkeys(re.findall(r'Command (\w+)_command\(', text), text)
    call = SUBCOMMANDS.search(text)
    if call is None:
        return {}
    names, modules = ast.literal_eval(call[2]), modules_of(program)
    shared = [text for name, text in modules.items() if name not in names]
    return {name: '\n'.join([modules[name], *shared]) for name in names}


@functools.cache
def targets():
    """All that Meson names: programs, libraries, tests; also those named after a vendor of GPUs."""
    texts = [text for path, text in sources().items() if path.endswith('meson.build')]
    vendors = os.listdir(ROOT / 'src/backend')
    return ({name for text in texts for name in re.findall(r"'([\w-]+)'", text)} |
            {vendor + rest for text in texts for rest in re.findall(r"\bname \+ '(\w+)'", text) for vendor in vendors})


def has_option(text, option):
    """Whether a program's text has the option in one, or as a prefix and the rest."""
    if option in OPTIONS_OF_OTHERS or re.search(rf'(?<![\w-]){re.escape(option)}(?![\w-])', text):
        return True
    prefix, dash, rest = option[2:].partition('-')
    return f'+ "{option[2:]}"' in text or (dash != '' and f'"{prefix}-"' in text and f'"{rest}"' in text)


def program_of(word):
    """The program that a word of a command runs, or None."""
    if word in programs():
        return word
    name = word.rsplit('/', 1)[-1]
    return name if name in programs() and (word == name or word.startswith(('build', './build'))) else None


class Page:
    def __init__(self, path):
        self.path = path
        self.text = path.read_text()
        self.problems = []

    def wrong(self, at, text):
        self.problems.append((self.text.count('\n', 0, at) + 1, text))

    def check(self):
        self.check_links()
        if self.path.name in promises.PAGES:
            self.problems += [(self.text.count('\n', 0, at) + 1, text) for at, text in promises.problems(self.text)]
        if self.path.name not in PAGES_OF_THE_PAST:
            self.used = {name for name in programs() if re.search(rf'(?<![\w-]){re.escape(name)}(?![\w-])', self.text)}
            in_blocks = []
            for match in re.finditer(r'^(?:```|~~~)(\w*)\n(.*?)^(?:```|~~~)\s*$', self.text, re.M | re.S):
                in_blocks.append(match.span())
                self.check_names(match.start(2), match[2])
                if match[1] in ('sh', 'console', 'bash', ''):
                    self.check_commands(match.start(2), match[2], prompted=match[1] == 'console')
            for match in re.finditer(r'(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)', self.text, re.S):
                if not any(a <= match.start() < b for a, b in in_blocks):
                    self.check_span(match.start(2), re.sub(r'\s+', ' ', match[2].strip()))
        return [f'{self.name()}:{line}: {text}' for line, text in sorted(self.problems)]

    def name(self):
        return self.path.relative_to(ROOT) if self.path.is_relative_to(ROOT) else self.path

    # --- links

    def check_links(self):
        prose = re.sub(r'^```.*?^```', lambda m: re.sub(r'[^\n]', ' ', m[0]), self.text, flags=re.M | re.S)
        for match in re.finditer(r'\]\(([^)\s]+)\)', prose):
            target, _, heading = match[1].partition('#')
            if re.match(r'[a-z]+:', target):
                continue
            path = (self.path.parent / target).resolve() if target else self.path
            if not path.exists():
                self.wrong(match.start(), f'the link {match[1]} leads nowhere')
            elif heading and path.suffix == '.md' and heading not in headings(path):
                self.wrong(match.start(), f'{target or "this page"} has no heading #{heading}')

    # --- names, in code of any kind

    def check_names(self, at, code):
        for match in TOKEN.finditer(code):
            name = match.group()
            known = any(w.startswith(name[:-1]) for w in words()) if name.endswith('*') else name in words()
            if not known and name not in GONE.get(self.path.name, ()):
                self.wrong(at + match.start(), f'{name} is in no source')
        for match in KEY.finditer(code):
            key = match.group()
            known = any(k.startswith(key[:-1]) for k in keys()) if key.endswith('*') else key in keys() | modules() | {'ucd.pc'}
            if not known and not is_file(key, self.path):
                self.wrong(at + match.start(), f'the key {key} is in no source')
        for match in re.finditer(r'(?<!\S)-D([a-z]\w*)=?', code):
            if not MESON_OPTIONS.fullmatch(match[1]) and f"option('{match[1]}'" not in text_of('meson_options.txt'):
                self.wrong(at + match.start(), f'meson_options.txt has no option {match[1]}')

    # --- commands

    def check_commands(self, at, block, prompted=False):
        position = 0
        lines = re.sub(r'\\\n', '  ', block).splitlines(keepends=True)
        for line, answer in zip(lines, lines[1:] + ['']):
            # What is refused in a transcript may show what does not exist.
            if not prompted or line.startswith('$ ') and not answer.startswith('ucd: '):
                self.check_command(at + position, line.removeprefix('$ '))
            position += len(line)

    def check_command(self, at, line):
        for command in re.split(r'&&|\|\||[|;]|\$\(', re.sub(r'(?<!\S)#.*', '', line)):
            command = re.sub(r'''(['"]).*?\1''', 'TEXT', command).split()
            while command and re.fullmatch(r'[A-Z]\w*=\S*|nice|env|time|sudo|mpirun|sh', command[0]):
                command.pop(0)
            if not command:
                continue
            program = program_of(command[0])
            if program is None:
                self.check_path_of_command(at, command[0])
                continue
            text = programs()[program]
            if subcommands(program) and len(command) > 1 and re.fullmatch('[a-z-]+', command[1]):
                if command[1] not in subcommands(program):
                    self.wrong(at, f'{program} has no command {command[1]}')
                    continue
                text = subcommands(program)[command[1]]
                program += f' {command[1]}'
            for word in command[1:]:
                option = re.match(r'--[a-z][\w-]*', word)
                if option and not has_option(text, option[0]):
                    self.wrong(at, f'{program} has no option {option[0]}')

    def check_path_of_command(self, at, word):
        built = re.fullmatch(r'(?:\./)?build[\w-]*/(?:[\w.-]+/)*([\w.-]+)', word)
        if built and not is_target(built[1]):
            self.wrong(at, f'Meson builds no {built[1]}')
        elif word.split('/')[0] in ('tools', 'examples', 'test', 'codegen') and not is_file(word, self.path):
            self.wrong(at, f'there is no {word}')

    # --- `code` in prose

    def check_span(self, at, code):
        self.check_names(at, code)
        if ' ' in code:
            self.check_command(at, code)
            return
        option = re.fullmatch(r'(--[a-z][\w-]*)(=\S*)?', code)
        if option:
            if not any(has_option(programs()[p], option[1]) for p in self.used or programs()):
                self.wrong(at, f'no program of this page has the option {option[1]}')
        elif self.is_path(code):
            if not is_file(code, self.path):
                self.wrong(at, f'there is no file {code}')
        elif re.match(r'(\./)?build[\w-]*/', code):
            self.check_path_of_command(at, code)
        elif self.is_internal():
            self.check_identifier(at, code)

    def is_path(self, code):
        # xyz stands for any backend.
        if not re.fullmatch(r'[\w.*/{},+-]+', code) or code.startswith(('.', '/')) or 'xyz' in code:
            return False
        if pathlib.PurePath(code).suffix in CITED:
            return True
        return '/' in code and code.split('/')[0] in {p.split('/')[0] for p in folders()}

    def is_internal(self):
        return ROOT not in self.path.parents or ROOT / 'docs/internals' in self.path.parents

    def check_identifier(self, at, code):
        match = re.fullmatch(r'(?:\w+(?:::|\.))*~?(\w+)(\(\))?', code)
        if match is None or OF_OTHERS.match(code) or TOKEN.match(code) or KEY.match(code):
            return
        name = match[1]
        cited = '::' in code or match[2] or '_' in name or re.search('[a-z][A-Z]', name)
        if cited and name not in words() and not is_kernel(name) and not is_target(name):
            self.wrong(at, f'{code} is in no source')


@functools.cache
def ends_of_targets():
    """Of programs that Meson names by a variable and an end: `name + '_fuzz'`."""
    texts = (text_of(p) for p in files() if pathlib.PurePath(p).name == 'meson.build')
    return tuple(end for text in texts for end in re.findall(r"\bexecutable\(\s*\w+ \+ '(_\w+)'", text))


def is_target(name):
    return name in targets() or re.sub(r'^lib|\.(so|a)$', '', name) in targets() or name.endswith(ends_of_targets())


@functools.cache
def kernel_names():
    sys.path.insert(0, str(ROOT / 'codegen'))
    import kernel_space  # pylint: disable=import-outside-toplevel,import-error
    import naming  # pylint: disable=import-outside-toplevel,import-error
    return {naming.format_name(kernel) for b in kernel_space.BACKENDS.values() for kernel in b.kernels()}


def is_kernel(name):
    return name in kernel_names()


@functools.cache
def included_names():
    return {name for text in sources().values() for name in re.findall(r'#\s*include\s*["<]([^">]+)[">]', text)}


def is_file(name, page):
    """Whether files end so, or something includes a header of that name; {a,b} and * stand for several."""
    braces = re.search(r'\{([^{}]*)\}', name)
    if braces:
        return all(is_file(name[:braces.start()] + part + name[braces.end():], page) for part in braces[1].split(','))
    name = name.rstrip('/')
    if (page.parent / name).exists() or name in included_names():
        return True
    return any(fnmatch.fnmatch(path, name) or fnmatch.fnmatch(path, '*/' + name)
               for group in (files(), folders()) for path in group)


@functools.cache
def headings(page):
    """The anchors of a page's headings, as GitHub makes them."""
    anchors = set()
    text = re.sub(r'^```.*?^```', '', page.read_text(), flags=re.M | re.S)
    for title in re.findall(r'^#+ +(.+?)\s*$', text, re.M):
        title = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', title)
        anchor = base = re.sub(r'[^\w\- ]', '', title.lower()).replace(' ', '-')
        number = 0
        while anchor in anchors:
            number += 1
            anchor = f'{base}-{number}'
        anchors.add(anchor)
    return anchors


def commands_of_data():
    problems = []
    for name in files():
        if fnmatch.fnmatch(name, 'docs/measurements/data/*.csv'):
            page = Page(ROOT / name)
            for match in re.finditer(r'^# command: (.*)$', page.text, re.M):
                page.check_names(match.start(1), match[1])
                page.check_command(match.start(1), match[1])
            problems += [f'{name}:{line}: {text}' for line, text in page.problems]
    return problems


def pages_of_sources():
    problems = []
    tools = {path: text_of(path) for path in files() if path.startswith('tools/')}
    for path, text in (sources() | tools).items():
        for match in re.finditer(r'(?<![\w/])docs/[\w/-]+\.md', text):
            if not (ROOT / match[0]).is_file():
                line = text.count('\n', 0, match.start()) + 1
                problems.append(f'{path}:{line}: there is no page {match[0]}')
    return problems


def main():
    pages = [pathlib.Path(p).resolve() for p in sys.argv[1:]]
    problems = [] if pages else commands_of_data() + pages_of_sources()
    for path in pages or [ROOT / p for p in files() if p.endswith('.md')]:
        problems += Page(path).check()
    for problem in problems:
        print(problem)
    if problems:
        sys.exit(f'{len(problems)} citations of what does not exist')
