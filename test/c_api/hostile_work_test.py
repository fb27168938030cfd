"""What flattened bytes from anyone cost at most, in instructions, which do not depend on the machine or on what else it does:
in proportion to harmless types of the same size.

Usage: hostile_work_test.py VALGRIND PROGRAM: the program hostile_work.
"""

import re
import subprocess
import sys
import unittest

VALGRIND, PROGRAM = sys.argv[1:3]
del sys.argv[1:]


def work(name, *functions):
    """Instructions within these functions while the program handles the type of this name."""
    command = [VALGRIND, '--tool=callgrind', '--callgrind-out-file=/dev/null']
    command += [f'--toggle-collect={function}' for function in functions]
    run = subprocess.run(command + [PROGRAM, name], capture_output=True, text=True, check=True)
    return int(re.search(r'Collected : (\d+)', run.stderr).group(1))


class HostileWork(unittest.TestCase):
    def check(self, hostile, harmless, times, *functions):
        chosen, others = work(hostile, *functions), work(harmless, *functions)
        self.assertGreater(others, 1000000)  # so much at least the functions take
        self.assertLess(chosen / others, times, f'{chosen} instructions, {others} for {harmless}')

    def test_nobody_can_choose_what_is_slow_to_tell_apart(self):
        """Nodes take 4 times as many if their sender can choose their hashes, else as many as others."""
        self.check('equal_hashes', 'other_hashes', 1.5, 'ucd_get_layout', 'ucd_flatten_size')

    def test_lists_that_differ_at_their_ends_only_are_told_apart_in_the_time_of_their_bytes(self):
        """Few long lists take less than as many bytes in many short ones, and twice as many lists about twice as much."""
        functions = 'ucd_get_layout', 'ucd_flatten_size'
        self.check('long_lists', 'short_lists', 0.5, *functions)
        self.check('short_lists', 'half_of_the_lists', 2.5, *functions)

    def test_a_sequence_is_grouped_in_one_pass_whatever_the_budget_leaves(self):
        """To look ahead from every member for a group that cannot be afforded takes 13 times as many, else it is 3 times."""
        self.check('groups_that_exhaust', 'groups', 5, 'ucd_get_layout')

    def test_elements_are_counted_by_the_depth_of_a_type(self):
        """Not by its members or entries: 30,000 members, or lists of 160 entries, take hundreds of instructions."""
        for name, most in ('groups', 5000), ('long_lists', 5000), ('deep', 100 * 20000):
            self.assertLess(work(name, 'ucd_get_elements'), most, name)


if __name__ == '__main__':
    unittest.main()
