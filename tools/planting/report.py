"""What became of the defects, and which of them people have judged to change nothing."""

import json
from collections import Counter

NOT_CAUGHT = {'not reached', 'survived'}


class Readings:
    """Which defects of a sample change nothing that a caller can see, as people judged apart from each other before any test
    ran: in each file a line for each defect, its number and E with a sentence why, or its number and V."""

    def __init__(self, paths, sample):
        self.reasons = [self.read(path, sample) for path in paths]  # of each reading: the reasons, by defect
        self.numbers = {id(defect): number for number, defect in sample.items()}

    @staticmethod
    def read(path, sample):
        reasons, judged = {}, set()
        for line in path.read_text().splitlines():
            number, _, verdict = line.partition(' ')
            letter, _, why = verdict.strip().partition(' ')
            if not number.isdecimal() or letter not in {'E', 'V'} or (letter == 'E' and not why):
                raise SystemExit(f'{path}: not a number and V, or a number, E and a reason: {line}')
            judged.add(int(number))
            if letter == 'E' and int(number) in sample:
                reasons[id(sample[int(number)])] = why
        missing = sorted(set(sample) - judged)
        if missing:
            raise SystemExit(f'{path}: says nothing of {", ".join(map(str, missing))}')
        return reasons

    def of(self, defect):
        """'equivalent' if all readings say so, 'differ' if only some do, or ''."""
        said = [id(defect) in reasons for reasons in self.reasons]
        return 'equivalent' if said and all(said) else 'differ' if any(said) else ''

    def number(self, defect):
        return self.numbers[id(defect)]


class Report:
    def __init__(self, rooms, paths, readings, keys):
        self.rooms = rooms
        self.paths = paths  # of outcomes; the first is written
        self.readings = readings
        self.keys = keys  # of the defects, by id
        self.became = {}  # by id: (defect, what happened, where)

    def add(self, defect, outcome, where):
        self.became[id(defect)] = (defect, outcome, where)

    @property
    def outcomes(self):
        return list(self.became.values())

    @staticmethod
    def is_caught(outcome):
        return outcome not in NOT_CAUGHT

    @property
    def survivors(self):
        return [o for o in self.outcomes if not self.is_caught(o[1])]

    @property
    def missed(self):
        """What survives, and is not equivalent by all readings."""
        return [o for o in self.survivors if self.readings.of(o[0]) != 'equivalent']

    def take_last_time(self, defects):
        """Takes over what became of these defects, which are caught if any run caught them; returns those of which that is
        known."""
        last = {}
        for outcome in (o for path in self.paths if path.exists() for o in json.loads(path.read_text())):
            key = tuple(outcome['key'])
            if key not in last or not self.is_caught(last[key]['outcome']):
                last[key] = outcome
        known = [d for d in defects if self.keys[id(d)] in last]
        for defect in known:
            found = last[self.keys[id(defect)]]
            self.add(defect, found['outcome'], found['where'])
        return known

    def room_of(self, defect):
        return next(name for name, folder in self.rooms.items() if defect.file.startswith(folder + '/'))

    def save(self):
        self.paths[0].write_text(json.dumps(
            [{'number': self.readings.number(d), 'key': self.keys[id(d)], 'line': d.line, 'rule': d.rule, 'outcome': o, 'where': w}
             for d, o, w in self.outcomes], indent=1))

    def show(self, outcomes):
        for defect, outcome, where in sorted(outcomes, key=lambda o: (o[0].file, o[0].line)):
            judged = {'differ': ', readings differ', 'equivalent': ', equivalent by all readings'}.get(self.readings.of(defect), '')
            print(f'\n{self.readings.number(defect)} {defect.file}:{defect.line}: {defect.rule}, {outcome}{" by " + where if where else ""}{judged}')
            print(f'    in: {defect.place.context}\n    {defect.before}  ->  {defect.after}')

    def print(self, planted, about):
        self.save()
        self.show(self.missed)
        self.show(o for o in self.outcomes if self.is_caught(o[1]) and self.readings.of(o[0]) == 'equivalent')
        print()
        self.performance_only(planted)
        print(f'\n{"":<24} {"planted":>8} {"equivalent":>11} {"readings":>9} {"of these":>9} {"not":>8} {"":>7} {"":>7} {"caught of":>10}')
        print(f'{"room or rule":<24} {"":>8} {"":>11} {"differ":>9} {"caught":>9} {"reached":>8} {"caught":>7} {"missed":>7} {"the rest":>10}')
        for room in self.rooms:
            self.row(room, [d for d in planted if self.room_of(d) == room])
        for rule in sorted({d.rule for d in planted}):
            self.row(rule, [d for d in planted if d.rule == rule])
        self.row('all', planted)
        ends = Counter(o for _, o, _ in self.outcomes)
        print(', '.join(f'{n} {o}' for o, n in sorted(ends.items())) + f'; {about}')
        if len(self.outcomes) < len(planted):
            print(f'{len(planted) - len(self.outcomes)} were not tried')

    def row(self, name, planted):
        if not planted:
            return
        ids = {id(d) for d in planted}
        outcomes = [o for o in self.outcomes if id(o[0]) in ids]
        judged = Counter(self.readings.of(d) for d in planted)
        missed = sum(id(d) in ids for d, _, _ in self.missed)
        of_these = sum(self.is_caught(o) and self.readings.of(d) == 'equivalent' for d, o, _ in outcomes)
        caught = sum(self.is_caught(o) for _, o, _ in outcomes) - of_these
        share = f'{100 * caught / max(caught + missed, 1):.1f} %'
        print(f'{name:<24} {len(planted):>8} {judged["equivalent"]:>11} {judged["differ"]:>9} {of_these:>9} '
              f'{sum(o == "not reached" for _, o, _ in outcomes):>8} {caught:>7} {missed:>7} {share:>10}')

    def performance_only(self, planted):
        """Prints the marks of the planted defects, and how many of those each covers."""
        covered = Counter(id(d.place.mark) for d in planted if d.place.mark)
        marks = {id(d.place.mark): d.place.mark for d in planted if d.place.mark}
        for mark in sorted(marks.values(), key=lambda m: (m.file, m.line)):
            print(f'{mark.file}:{mark.line}: {covered[id(mark)]} in a place of performance only: {mark.why}')

    def print_marked(self, planted, about):
        """What came of trying what the sources mark; it should not have been caught."""
        refuted = [o for o in self.outcomes if self.is_caught(o[1])]
        for outcome in refuted:
            self.show([outcome])
            print(f'    but line {outcome[0].place.mark.line} says: performance only: {outcome[0].place.mark.why}')
        print()
        self.performance_only(planted)
        ends = Counter(o for _, o, _ in self.outcomes)
        print(f'of {len(self.outcomes)} in places marked as performance only, tests notice {len(refuted)}; '
              f'{ends["survived"]} were reached and not noticed, {ends["not reached"]} not reached; {about}')
        return len(refuted)
