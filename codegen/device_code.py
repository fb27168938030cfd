#!/usr/bin/env python3
"""Makes ucd_device_code.h, the device code of ucd_device.h, from the headers of the library's kernels.

Usage: device_code.py OUTPUT DEPFILE VERSION HEADER ROOT [FOLDER...]

The header is ROOT with everything that it includes, found in the FOLDERs: includes of <...> come first, each once. Its
names are in an inline namespace of VERSION, and its macros end with it. HEADER is ucd_device.h.
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r'#include "([^"]+)"$')
SYSTEM = re.compile(r'#include <([^>]+)>$')
MACRO = re.compile(r'#define (UCD_DEVICE_CODE_\w+)')
NAMESPACE = re.compile(r'^namespace ucd(?:::(\w+))? \{$')
END = re.compile(r'^\} // namespace ucd(?:::\w+)?$')


class Amalgam:
    def __init__(self, version, folders):
        self.version = version
        self.folders = folders
        self.seen = set()
        self.system = []
        self.files = []
        self.lines = []

    def find(self, name):
        for folder in self.folders:
            if (folder / name).is_file():
                return folder / name
        sys.exit(f'device_code: {name} is in none of the folders')

    def add(self, path):
        if path in self.seen:
            return
        self.seen.add(path)
        self.files.append(path)
        conditions = 0  # system headers under a condition stay there
        for line in path.read_text(encoding='utf-8').splitlines():
            if re.match(r'#if', line):
                conditions += 1
            elif re.match(r'#endif', line):
                conditions -= 1
            if line == '#pragma once':
                continue
            if found := INCLUDE.match(line):
                self.add(self.find(found[1]))
            elif (found := SYSTEM.match(line)) and not conditions:
                if found[1] != 'ucd_device.h' and found[1] not in self.system:
                    self.system.append(found[1])
            elif found := NAMESPACE.match(line):
                inner = 'device' if found[1] == 'device' else 'device_code'
                self.lines.append(f'namespace ucd {{ inline namespace v{self.version} {{ namespace {inner} {{')
            elif END.match(line):
                self.lines.append('}}} // namespace ucd')
            elif line != 'using namespace gpu;':
                self.lines.append(line.replace('UCD_GPU_', 'UCD_DEVICE_CODE_'))

    def text(self, header):
        body = re.sub(r'\n{3,}', '\n\n', '\n'.join(self.lines))
        macros = [name for name in dict.fromkeys(MACRO.findall(body)) if name != 'UCD_DEVICE_CODE_VENDOR']
        plan_version, = re.findall(r'UCD_DEVICE_PLAN__VERSION (\d+)$', header, re.M)
        return '\n'.join([
            '// Device code for ucd_device.h, which includes this file. Generated from the kernels of UCD.',
            '#ifndef UCD_DEVICE_CODE_H_INCLUDED',
            '#define UCD_DEVICE_CODE_H_INCLUDED',
            '',
            f'#if !defined(UCD_DEVICE_H_INCLUDED) || UCD_DEVICE_PLAN__VERSION != {plan_version}',
            '#error "ucd_device_code.h is not of the same version of UCD as ucd_device.h"',
            '#endif',
            '',
            *(f'#include <{name}>' for name in sorted(self.system)),
            '',
            body.strip(),
            '',
            *(f'#undef {name}' for name in macros),
            '',
            '#endif // UCD_DEVICE_CODE_H_INCLUDED',
            ''])


def main():
    output, depfile, version, header, root, *folders = sys.argv[1:]
    amalgam = Amalgam(version.replace('.', '_'), [pathlib.Path(folder) for folder in folders])
    amalgam.add(pathlib.Path(root))
    text = amalgam.text(pathlib.Path(header).read_text(encoding='utf-8'))
    pathlib.Path(output).write_text(text, encoding='utf-8')
    pathlib.Path(depfile).write_text(f'{output}: {" ".join(map(str, amalgam.files))}\n', encoding='utf-8')


if __name__ == '__main__':
    main()
