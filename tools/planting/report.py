"""What became of the defects, and which are known to change nothing, or performance only."""

import json
from collections import Counter

NOT_CAUGHT = {'not reached', 'survived'}


def on_one_line(context):
    """A line of a source without the spaces by which clang-format aligns it."""
    return ' '.join(context.split())


class Equivalents:
    """test/equivalent-defects.txt: paragraphs of three lines, and comments.

        FILE: BEFORE  ->  AFTER
        in: THE LINE OF THE SOURCE
        because: WHY
    """

    def __init__(self, path):
        self.reasons = {}
        for paragraph in path.read_text().split('\n\n') if path.exists() else []:
            lines = [line for line in paragraph.strip().split('\n') if line and not line.startswith('#')]
            if not lines:
                continue
            if len(lines) < 3 or not lines[1].startswith('in: ') or not lines[2].startswith('because: '):
                raise SystemExit(f'{path}: not three lines: {lines[0]}')
            file, change = lines[0].split(': ', 1)
            before, _, after = change.partition('  ->')
            self.reasons[file, on_one_line(lines[1][4:]), before, after.strip()] = lines[2]

    @staticmethod
    def key_of(defect):
        file, context, before, after = defect.key()
        return file, on_one_line(context), before, after

    def __contains__(self, defect):
        return self.key_of(defect) in self.reasons


class Report:
    def __init__(self, rooms, equivalents, outcomes):
        self.rooms = rooms
        self.equivalents = Equivalents(equivalents)
        self.path = outcomes
        self.outcomes = []  # (defect, what happened, where)

    def is_equivalent(self, defect):
        return defect in self.equivalents

    def stale(self, places, folders):
        """Entries of the list for files in these folders that stand for none of the defects of their places any more,
        or for one that a mark of performance only covers as well."""
        keys = {Equivalents.key_of(d) for p in places if p.mark is None for d in p.defects}
        below = tuple(f'{folder}/' for folder in folders)
        return [key for key in self.equivalents.reasons if key[0].startswith(below) and key not in keys]

    def add(self, defect, outcome, where):
        self.outcomes.append((defect, outcome, where))

    def performance_only(self, planted):
        """Prints the marks of the planted defects, and how many of those each covers."""
        covered = Counter(id(d.place.mark) for d in planted if d.place.mark)
        marks = {id(d.place.mark): d.place.mark for d in planted if d.place.mark}
        for mark in sorted(marks.values(), key=lambda m: (m.file, m.line)):
            print(f'{mark.file}:{mark.line}: {covered[id(mark)]} in a place of performance only: {mark.why}')

    @property
    def tried(self):
        return len(self.outcomes)

    @property
    def survivors(self):
        return [o for o in self.outcomes if o[1] in NOT_CAUGHT]

    def take_caught_of_last_time(self, defects):
        """Takes over what was caught; returns the defects that were not."""
        last = {tuple(o['key']): o for o in json.loads(self.path.read_text())}
        left = []
        for defect in defects:
            known = last.get(defect.key())
            if known is not None and known['outcome'] not in NOT_CAUGHT:
                self.add(defect, known['outcome'], known['where'])
            else:
                left.append(defect)
        return left

    def room_of(self, defect):
        return next(name for name, folder in self.rooms.items() if defect.file.startswith(folder + '/'))

    def save(self):
        self.path.write_text(json.dumps(
            [{'key': d.key(), 'line': d.line, 'rule': d.rule, 'outcome': o, 'where': w} for d, o, w in self.outcomes], indent=1))

    def print(self, planted, seed, seconds):
        self.save()
        for defect, outcome, where in sorted(self.survivors, key=lambda o: (o[0].file, o[0].line)):
            print(f'\n{defect.file}:{defect.line}: {defect.rule}, {outcome}{" by " + where if where else ""}')
            print(f'    in: {defect.place.context}\n    {defect.before}  ->  {defect.after}')
        print()
        self.performance_only(planted)
        print(f'\n{"room":<12} {"rule":<12} {"planted":>8} {"performance":>11} {"equivalent":>11} {"reached":>8} {"caught":>8} {"survived":>9}')
        for room in self.rooms:
            rules = sorted({d.rule for d in planted if self.room_of(d) == room})
            for rule in rules:
                self.row(room, rule, [d for d in planted if self.room_of(d) == room and d.rule == rule])
            if rules:
                self.row(room, 'all', [d for d in planted if self.room_of(d) == room])
        self.row('all', 'all', planted)
        ends = Counter(o for _, o, _ in self.outcomes)
        print(', '.join(f'{n} {o}' for o, n in sorted(ends.items())))
        caught = self.tried - len(self.survivors)
        known = sum(d.place.mark is not None or d in self.equivalents for d in planted)
        if self.tried + known < len(planted):
            print(f'{len(planted) - self.tried - known} were not tried')
        print(f'seed {seed}: {caught} of {self.tried} caught, {100 * caught / max(self.tried, 1):.1f} %, in {seconds / 60:.1f} minutes')

    def print_marked(self, planted, seed, seconds):
        """What came of trying what the sources mark; it should not have been caught."""
        refuted = [o for o in self.outcomes if o[1] not in NOT_CAUGHT]
        for defect, outcome, where in sorted(refuted, key=lambda o: (o[0].file, o[0].line)):
            print(f'\n{defect.file}:{defect.line}: {defect.rule}, {outcome} by {where}')
            print(f'    in: {defect.place.context}\n    {defect.before}  ->  {defect.after}')
            print(f'    but line {defect.place.mark.line} says: performance only: {defect.place.mark.why}')
        print()
        self.performance_only(planted)
        ends = Counter(o for _, o, _ in self.outcomes)
        print(f'seed {seed}: of {len(self.outcomes)} in places marked as performance only, tests notice {len(refuted)}; '
              f'{ends["survived"]} were reached and not noticed, {ends["not reached"]} not reached; in {seconds / 60:.1f} minutes')
        return len(refuted)

    def row(self, room, rule, planted):
        ids = {id(d) for d in planted}
        ends = [o for d, o, _ in self.outcomes if id(d) in ids]
        survived = sum(o in NOT_CAUGHT for o in ends)
        marked = sum(d.place.mark is not None for d in planted)
        known = sum(d.place.mark is None and d in self.equivalents for d in planted)
        print(f'{room:<12} {rule:<12} {len(planted):>8} {marked:>11} {known:>11} {len(ends) - ends.count("not reached"):>8} '
              f'{len(ends) - survived:>8} {survived:>9}')
