"""What defects can be planted in a source, by rule.

The source is parsed, not compiled: tree-sitter says where its expressions begin and end. A place is wrapped into a call
that does what stood there, unless its defect is chosen when the program runs (planted.h). Places where the wrapped
text does not compile are found by the compiler and left out (workplace.py).
"""

import dataclasses
import re

import tree_sitter
import tree_sitter_cpp

from marks import Mark, mark_of, spread, without_marks

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language()))

# What the grammar does not know: spaces in its place keep positions as they are.
MASKED = re.compile(
    rb'\b(UCD_GPU_FUNCTION|UCD_SEQ_INLINE|UCD_SEQ_ONE_COPY|UCD_HALF_FUNCTION|UCD_GPU_KERNEL|UCD_GPU_INDEXING_KERNEL|__restrict)\b'
    rb'|(?<=\.)template ')

# operator: what the defects make of it
OPERATORS = {
    '<': ('relation', ['<=', '>=']),
    '<=': ('relation', ['<', '>']),
    '>': ('relation', ['>=', '<=']),
    '>=': ('relation', ['>', '<']),
    '==': ('relation', ['!=']),
    '!=': ('relation', ['==']),
    '+': ('arithmetic', ['-']),
    '-': ('arithmetic', ['+']),
    '*': ('arithmetic', ['/']),
    '/': ('arithmetic', ['*']),
    '%': ('arithmetic', ['/']),
    '<<': ('arithmetic', ['>>']),
    '>>': ('arithmetic', ['<<']),
    '&': ('arithmetic', ['|']),
    '|': ('arithmetic', ['&']),
    '&&': ('logic', ['||']),
    '||': ('logic', ['&&']),
}
FUNCTIONS = {
    '<': 'less', '<=': 'less_equal', '>': 'greater', '>=': 'greater_equal', '==': 'equal', '!=': 'not_equal',
    '+': 'plus', '-': 'minus', '*': 'times', '/': 'over', '%': 'modulo', '<<': 'left', '>>': 'right',
    '&': 'bit_and', '|': 'bit_or',
}
COMPOUND = {'+=': '-=', '-=': '+=', '*=': '/=', '/=': '*=', '|=': '&=', '&=': '|=', '<<=': '>>=', '>>=': '<<='}
COMPOUND_FUNCTIONS = {
    '+=': 'add_to', '-=': 'take_from', '*=': 'multiply', '/=': 'divide', '|=': 'set_bits', '&=': 'keep_bits',
    '<<=': 'shift_left', '>>=': 'shift_right',
}
# Of keys, orders and equalities, one part that is compared is left out. Calls that make a key of their arguments; that look
# something up by the key in braces; that are 0 for what is equal; that make a name of bytes; and that compare two things.
MAKE_KEYS = {'std::tie', 'std::tuple', 'std::make_tuple', 'std::pair', 'std::make_pair'}
LOOK_UP = re.compile(r'(.*(\.|->))(find|try_emplace|emplace|insert|contains|count|at|lower_bound|upper_bound|erase)')
ORDER = re.compile(r'(std::)?(order_of|memcmp|strcmp|strncmp)')
NAME_BYTES = {'content_id', 'hash'}
COMPARE = re.compile(r'(std::equal|(\w*_)?(same|equal|alike)(_\w+)?)')
CONSTANT = re.compile(r'([\d\'.]+\w*|nullptr|true|false|[\w:]*::\w+|[A-Z][A-Z0-9_]+|-?\d+)')
STATUS_NAME = re.compile(r'UC[DS]_ERR_\w+')

# Nothing in them happens at run time, or nothing that a test could notice.
SKIPPED = {
    'template_argument_list', 'template_parameter_list', 'static_assert_declaration', 'enumerator', 'bitfield_clause',
    'alignas_qualifier', 'alignof_expression', 'sizeof_expression', 'decltype', 'noexcept', 'requires_clause',
    'requires_expression', 'concept_definition', 'attribute_declaration', 'preproc_def', 'preproc_function_def',
    'preproc_include', 'string_literal', 'concatenated_string', 'char_literal', 'ERROR', 'gnu_asm_expression',
    'asm_statement', 'using_declaration', 'alias_declaration', 'type_definition', 'static_assert',
}


@dataclasses.dataclass
class Defect:
    """One change of one place."""
    rule: str
    before: str
    after: str
    place: 'Place'
    number: int = 0

    @property
    def file(self):
        return self.place.file

    @property
    def line(self):
        return self.place.line

    def key(self):
        return self.file, self.place.context, self.before, self.after


@dataclasses.dataclass
class Place:
    """A place that is wrapped, with what can be made of it."""
    file: str
    start: int
    end: int
    line: int
    column: int
    context: str  # the source's line, without its indentation
    edits: list  # of (begin, end, text with {0} for the number of the first defect)
    defects: list = dataclasses.field(default_factory=list)
    first: int = 0  # the number of the first defect
    mark: object = None  # that it changes performance only

    def plant(self, rule, before, *afters):
        for after in afters:
            self.defects.append(Defect(rule, before, after, self))
        return self


class Finder:
    """Walks one source's tree, without recursion into what cannot be changed."""

    def __init__(self, file, source):
        self.file = file
        self.text, self.numbers, self.marks = without_marks(file, source)
        self.lines = self.text.split(b'\n')
        self.places = []
        masked = MASKED.sub(lambda m: b' ' * len(m.group()), self.text).replace(b'__int128', b'int     ')
        tree = PARSER.parse(masked)
        spread(self.marks, masked, tree)
        self.visit(tree.root_node, inside=False)

    def words(self, node):
        return ' '.join(self.text[node.start_byte:node.end_byte].decode().split())

    def place(self, node, *edits):
        row, column = node.start_point
        place = Place(self.file, node.start_byte, node.end_byte, self.numbers[row], column + 1,
                      self.lines[row].decode().strip(), list(edits), mark=mark_of(self.marks, node.start_byte))
        self.places.append(place)
        return place

    def wrapped(self, node, before, after):
        """A place with text before and after the node."""
        return self.place(node, (node.start_byte, node.start_byte, before), (node.end_byte, node.end_byte, after))

    def visit(self, node, inside, late=False):
        """`inside`: of a function's body, a member's initial value or the like. `late`: of the value of a constant that
        would be worked out by the compiler if it could, which must not be so."""
        kind = node.type
        if kind in SKIPPED or node.is_missing:
            return
        if kind == 'friend_declaration' or (kind == 'function_definition' and node.children[-1].type == 'default_method_clause'):
            self.defaulted(node)
            return
        if kind == 'function_definition' and any(self.words(c) == 'consteval' for c in node.children if c.type == 'type_qualifier'):
            return  # nothing of it is there at run time
        if kind == 'expression_statement' and self.words(node).startswith('__builtin_prefetch('):
            row = node.start_point[0]
            self.marks.append(Mark(self.file, self.numbers[row], row, False, 'a prefetch is a hint, and never faults',
                                   node.start_byte, node.end_byte))
        if kind in {'compound_statement', 'field_initializer_list', 'field_declaration'}:
            inside, late = True, False
        if kind in {'declaration', 'field_declaration'}:
            words = {self.words(c) for c in node.children if c.type in {'type_qualifier', 'storage_class_specifier'}}
            if words & {'constexpr', 'constinit', 'static'}:
                return
            late = 'const' in words
        if inside:
            rule = getattr(self, 'at_' + kind, None)
            if rule:
                rule(node, '{0}L' if late else '{0}')
        for child in node.children:
            if kind == 'if_statement' and child.type == 'condition_clause' and node.children[1].type == 'constexpr':
                continue
            if kind in {'preproc_if', 'preproc_elif'} and child == node.child_by_field_name('condition'):
                continue
            if kind == 'case_statement' and child == node.child_by_field_name('value'):
                continue
            if kind == 'array_declarator' and child == node.child_by_field_name('size'):
                continue
            if kind == 'new_declarator':
                continue
            self.visit(child, inside, late)

    # One function for each kind of node in the grammar.

    def at_binary_expression(self, node, number):
        left, right = node.child_by_field_name('left'), node.child_by_field_name('right')
        sign = node.child_by_field_name('operator').type
        self.compared(node, number, sign, left, right)
        if sign not in OPERATORS or any(c.type in {'string_literal', 'raw_string_literal', 'concatenated_string'}
                                        for c in (left, right)):
            return
        if re.search(r'\btemplate\b', self.words(left)):
            return  # a call of a member template, whose arguments the parser takes for comparisons
        rule, others = OPERATORS[sign]
        before = self.words(node)
        changed = [f'{self.words(left)} {other} {self.words(right)}' for other in others]
        if rule == 'logic':
            once = f'::ucd_planted::chosen({number})'
            place = self.place(
                node, (node.start_byte, node.start_byte, f'({once} != (({once} != static_cast<bool>('),
                (left.end_byte, right.start_byte, f')) {sign} ({once} != static_cast<bool>('),
                (node.end_byte, node.end_byte, '))))'))
            place.plant(rule, before, *changed)
            return
        function = FUNCTIONS[sign]
        of_loop = node.parent.type == 'for_statement' and sign in {'<', '<=', '>', '>='}
        if of_loop:
            rule, function = 'bound', function + '_bound'
            changed[1] = f'{before}, but not the last time'
        place = self.place(node, (node.start_byte, node.start_byte, f'::ucd_planted::{function}({number}, ('),
                           (left.end_byte, right.start_byte, '), ('), (node.end_byte, node.end_byte, '))'))
        place.plant(rule, before, *changed)

    def at_unary_expression(self, node, number):
        sign = node.child_by_field_name('operator').type
        argument = node.child_by_field_name('argument')
        before = self.words(node)
        if sign == '!':
            self.wrapped(node, f'(::ucd_planted::chosen({number}) != (', '))').plant('logic', before, self.words(argument))
        elif sign == '-' and argument.type != 'number_literal':
            place = self.place(node, (node.start_byte, argument.start_byte, f'::ucd_planted::negative({number}, '),
                               (node.end_byte, node.end_byte, ')'))
            place.plant('arithmetic', before, self.words(argument))

    def at_number_literal(self, node, number):
        text = self.words(node)
        if not re.fullmatch(r"(0x[0-9a-fA-F']+|[0-9][0-9']*)[uUlLzZ]*", text):
            return
        if node.parent.type in {'array_declarator', 'new_declarator', 'case_statement'}:
            return
        digits = text.rstrip('uUlLzZ').replace("'", '')
        value, suffix = int(digits, 0), text[len(text.rstrip('uUlLzZ')):]
        others = [f'{value + 1}{suffix}'] + ([f'0{suffix}'] if value == 1 else [])
        place = self.wrapped(node, f'::ucd_planted::number({number}, ', ''.join(f', {o}' for o in others) + ')')
        place.plant('constant', text, *others)

    def at_true(self, node, number):
        self.wrapped(node, f'(::ucd_planted::chosen({number}) != ', ')').plant('constant', 'true', 'false')

    def at_false(self, node, number):
        self.wrapped(node, f'(::ucd_planted::chosen({number}) != ', ')').plant('constant', 'false', 'true')

    def force(self, node, number, to_true):
        if node.type in {'declaration', 'true', 'false'}:
            return
        chosen, next_one = f'::ucd_planted::chosen({number})', f'::ucd_planted::chosen({number} + 1)'
        if to_true:
            place = self.wrapped(node, f'({chosen} ? true : {next_one} ? false : static_cast<bool>(', '))')
            place.plant('condition', self.words(node), 'true', 'false')
        else:
            place = self.wrapped(node, f'(!{chosen} && static_cast<bool>(', '))')
            place.plant('condition', self.words(node), 'false')

    def at_condition_clause(self, node, number):
        value = node.child_by_field_name('value')
        if value is not None and node.parent.type in {'if_statement', 'while_statement'}:
            self.force(value, number, node.parent.type == 'if_statement')

    def at_conditional_expression(self, node, number):
        self.force(node.child_by_field_name('condition'), number, True)

    def at_expression_statement(self, node, number):
        if node.named_child_count == 0:
            return
        what = node.named_child(0)
        if what.type not in {'call_expression', 'assignment_expression', 'update_expression'}:
            return
        if node.parent.parent.type == 'switch_statement':
            return  # a macro that is a case: what stands before its label never runs
        place = self.wrapped(node, f'{{ if (!::ucd_planted::chosen({number})) ', ' }')
        place.plant('statement', self.words(node), '')

    def at_assignment_expression(self, node, number):
        left, right = node.child_by_field_name('left'), node.child_by_field_name('right')
        sign = node.child_by_field_name('operator').type
        if sign in COMPOUND:
            place = self.place(
                node, (node.start_byte, node.start_byte, f'::ucd_planted::{COMPOUND_FUNCTIONS[sign]}({number}, '),
                (left.end_byte, right.start_byte, ', ('), (node.end_byte, node.end_byte, '))'))
            place.plant('arithmetic', self.words(node), f'{self.words(left)} {COMPOUND[sign]} {self.words(right)}')

    def at_call_expression(self, node, number):
        function, arguments = node.child_by_field_name('function'), node.child_by_field_name('arguments')
        name = self.words(function)
        if name in MAKE_KEYS or name in NAME_BYTES:
            self.parts_of_key(node, arguments.named_children, number)
        elif ORDER.fullmatch(name):
            self.left_out(node, number, self.words(node), '0')
        elif COMPARE.fullmatch(name) and self.chain_of(node) == '&&':
            self.always(node, number)
        if name in {'std::min', 'std::max'} and arguments.named_child_count == 2:
            other = {'std::min': 'max', 'std::max': 'min'}[name]
            place = self.place(node, (function.start_byte, function.end_byte, f'::ucd_planted::{name[5:]}_of({number})'))
            place.plant('relation', self.words(node), f'std::{other}{self.words(arguments)}')
        elif name == 'UCD_TRY' and arguments.named_child_count == 1:
            inner = arguments.named_child(0)
            place = self.wrapped(inner, f'::ucd_planted::ignored({number}, ', ')')
            place.plant('status', self.words(node), self.words(inner))
        elif name == 'fail' and arguments.named_child_count and STATUS_NAME.fullmatch(self.words(arguments.named_child(0))):
            self.another_status(arguments.named_child(0), number)

    def another_status(self, node, number):
        self.wrapped(node, f'::ucd_planted::another({number}, ', ')').plant('status', self.words(node), 'another status')

    # Keys.

    def chain_of(self, node):
        """The operator of the chain of conditions that a node is an operand of."""
        parent = node.parent
        while parent.type == 'parenthesized_expression':
            parent = parent.parent
        return parent.child_by_field_name('operator').type if parent.type == 'binary_expression' else ''

    def always(self, node, number):
        self.wrapped(node, f'(::ucd_planted::chosen({number}) || (', '))').plant('key', self.words(node), 'true')

    def compared(self, node, number, sign, left, right):
        """One comparison of several, and what differs where two words differ: a ^ b."""
        words = self.words(left), self.words(right)
        if any(CONSTANT.fullmatch(w) for w in words):
            return
        chain = self.chain_of(node)
        if sign == '==' and chain == '&&':
            self.always(node, number)
        elif sign == '!=' and chain == '||':
            self.wrapped(node, f'(!::ucd_planted::chosen({number}) && (', '))').plant('key', self.words(node), 'false')
        elif sign == '^' and len({*re.findall(r'\w+', words[0])} ^ {*re.findall(r'\w+', words[1])}) == 2:
            self.left_out(node, number, self.words(node), '0')

    def left_out(self, node, number, before, after):
        self.wrapped(node, f'::ucd_planted::left_out({number}, ', ')').plant('key', before, after)

    def parts_of_key(self, key, parts, number):
        if len(parts) < 2:
            return
        before = self.words(key)
        for part in parts:
            self.left_out(part, number, before, f'{before} without {self.words(part)}')

    def at_initializer_list(self, node, number):
        around = node.parent
        looked_up = around.type == 'subscript_argument_list' or (
            around.type == 'argument_list' and around.named_children[0] == node and
            around.parent.type == 'call_expression' and
            LOOK_UP.fullmatch(self.words(around.parent.child_by_field_name('function'))))
        if looked_up:
            self.parts_of_key(node, node.named_children, number)

    def defaulted(self, node):
        """An equality or an order that the compiler makes: compares all members of the class but one."""
        written = re.fullmatch(r'(friend )?(?:bool|auto) (operator(?:==|<=>))\((.*?)\)( const)? = default;?', self.words(node))
        if not written:
            return
        friend, name, given, const = written.groups('')
        fields = [self.words(d).lstrip('* ') for m in node.parent.named_children if m.type == 'field_declaration'
                  and not any(self.words(c) == 'static' for c in m.children)
                  for d in m.children_by_field_name('declarator') if d.type in {'field_identifier', 'pointer_declarator'}]
        ours = 'ucd_a' if friend else '(*this)'
        names = ['ucd_a', 'ucd_b'] if friend else ['ucd_b']
        given = ', '.join(f'{each.strip()}{n}' for each, n in zip(given.split(','), names))
        parts = [(f'::ucd_planted::chosen({{0}} + {i})', f'{ours}.{f}', f'ucd_b.{f}') for i, f in enumerate(fields)]
        equal = f'{friend}constexpr bool operator==({given}){const} {{{{ return {{0}}; }}}}'
        if name == 'operator==':
            text = equal.format(' && '.join(f'({chosen} || {a} == {b})' for chosen, a, b in parts))
        else:
            lines = ' '.join(f'if (!{chosen}) if (const auto o = {a} <=> {b}; o != 0) return o;' for chosen, a, b in parts)
            text = (f'{friend}constexpr auto operator<=>({given}){const} {{ {lines} return std::strong_ordering::equal; }} '
                    + equal.format(f'({ours} <=> ucd_b) == 0'))
        place = self.place(node, (node.start_byte, node.end_byte, text))
        place.plant('key', f'{name} of {", ".join(fields)}', *[f'without {f}' for f in fields])

    def at_return_statement(self, node, number):
        if node.named_child_count == 0:
            return
        value = node.named_child(0)
        words = self.words(value)
        if words in {'success', 'UCS_OK', 'UCD_SUCCESS'}:
            self.wrapped(value, f'::ucd_planted::failure({number}, ', ')').plant('status', f'return {words}', 'return a failure')
        elif STATUS_NAME.fullmatch(words):
            self.another_status(value, number)


def places_of(file, source):
    """The places of a source (bytes) where defects can be planted; its text without marks, where the places are; its marks."""
    finder = Finder(file, source)
    return finder.places, finder.text, finder.marks


def rewritten(text, places, header):
    """The source with these places wrapped; and where each is now, as (line, first column, last column or end of line)."""
    # At one position what ends there comes before what begins; of what begins, the widest comes first, and of what ends,
    # the narrowest. Of equal widths the one found first is the outer one.
    edits = []
    for order, place in enumerate(places):
        width = place.end - place.start
        for begin, end, new in place.edits:
            new = new.replace('{0}', str(place.first))
            if begin == end == place.end:
                key = (begin, 0, width, -order)
            elif begin == end:
                key = (begin, 1, -width, order)
            else:
                key = (begin, 2, -width, order)
            edits.append((key, begin, end, new.encode(), place))
    edits.sort(key=lambda e: e[0])
    out, at, spans = bytearray(), 0, {}
    for _, begin, end, new, place in edits:
        out += text[at:begin]
        spans.setdefault(id(place), [place, len(out), 0])
        out += new
        spans[id(place)][2] = len(out)
        at = max(at, end)
    out += text[at:]
    first_line = f'#include "{header}"\n#line 1\n'.encode()
    return first_line + bytes(out), bytes(out), [tuple(s) for s in spans.values()]
