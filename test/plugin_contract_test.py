"""Compares the layout and the values of what crosses the boundary between libucd and its plugins with the record.

Usage: plugin_contract_test.py PROGRAM abi/plugin-contract.txt [--write]

After a change: raise contract_version in src/backend/contract/plugin.h, if a release has had this version, unless the change
is one of those that plugin.h allows within a version. Then write the record anew with --write.
"""

import difflib
import pathlib
import subprocess
import sys


def main():
    program, record = sys.argv[1], pathlib.Path(sys.argv[2])
    found = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    if sys.argv[3:] == ['--write']:
        record.write_text(found, encoding='ascii')
        return
    recorded = record.read_text(encoding='ascii')
    if found != recorded:
        sys.exit(__doc__ + '\n' + ''.join(difflib.unified_diff(
            recorded.splitlines(True), found.splitlines(True), str(record), 'this build')))


if __name__ == '__main__':
    main()
