"""The largest sizes that are promised: MiB, stripped, by the compiler."""

import re
import subprocess

# GCC 13 is Ubuntu 24.04's, which hardens by default; GCC 14 is Debian 13's. Conversions are 0.42 of both.
LIBUCD = {'12': 4.75, '13': 4.8, 'clang': 4.8}
CORE = {'12': 4.8, '13': 4.8, '14': 4.9, 'clang': 4.8}


def limit_of(limits, library):
    """In bytes; None if there is none for the compiler that made the library."""
    comment = subprocess.run(['readelf', '-p', '.comment', library], capture_output=True, text=True, check=True).stdout
    # Startup files of GCC are in what clang makes, too.
    versions = ['clang'] if 'clang version' in comment else re.findall(r'GCC: .* (\d+)\.\d+\.\d+', comment)
    limit = limits.get(max(versions, default=''))
    return None if limit is None else limit * 2**20
