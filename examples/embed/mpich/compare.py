#!/usr/bin/env python3
"""Compares two builds of MPICH by what pingpong printed with each.

    compare.py --before A1.txt A2.txt ... --after B1.txt B2.txt ...

A line is a layout and a size: the smallest median of either build's runs, their ratio (above 1: the second is faster), and
the same of the times that a tenth of the rounds is faster than, which depend less on what else the machine does.
"""

import argparse


def times(files):
    """The smallest times by layout and size."""
    found = {}
    for file in files:
        with open(file, encoding='utf-8') as lines:
            for line in lines:
                *layout, size, median, tenth = line.split()
                best = found.setdefault((' '.join(layout), int(size)), [float('inf'), float('inf')])
                best[:] = min(best[0], float(median)), min(best[1], float(tenth))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--before', nargs='+', required=True, metavar='FILE')
    parser.add_argument('--after', nargs='+', required=True, metavar='FILE')
    options = parser.parse_args()
    before, after = times(options.before), times(options.after)
    print(f'{"layout":25} {"bytes":>9} {"median":>10} {"":>10} {"ratio":>6} {"tenth":>10} {"":>10} {"ratio":>6}')
    for key in sorted(before.keys() & after.keys(), key=lambda key: (key[0], key[1])):
        columns = [f'{a:10.2f} {b:10.2f} {a / b:6.2f}' for a, b in zip(before[key], after[key])]
        print(f'{key[0]:25} {key[1]:9} {" ".join(columns)}')


if __name__ == '__main__':
    main()
