"""Writes what UCD was built with as SPDX 2.3: sbom.py OUTPUT VERSION PART[@ITS_VERSION][:NAME:VERSION:LICENCE] ...

PART is a library or a program, which uses NAME if that is given. Meson and tools/make-core run it. The time is SOURCE_DATE_EPOCH's, if that is set.
"""

import datetime
import json
import os
import re
import sys
import time


def identifier(*names):
    return 'SPDXRef-' + re.sub(r'[^A-Za-z0-9.]+', '-', '-'.join(names))


def package(name, version, licence):
    return {
        'SPDXID': identifier(name, version),
        'name': name,
        'versionInfo': version,
        'downloadLocation': 'NOASSERTION',
        'filesAnalyzed': False,
        'licenseConcluded': licence,
        'licenseDeclared': licence,
        'copyrightText': 'NOASSERTION',
    }


def document(version, needs):
    seconds = int(os.environ.get('SOURCE_DATE_EPOCH', time.time()))
    created = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    own = package('ucd', version, 'BSD-3-Clause')
    packages = {own['SPDXID']: own}
    relations = [{'spdxElementId': 'SPDXRef-DOCUMENT', 'relationshipType': 'DESCRIBES',
                  'relatedSpdxElement': own['SPDXID']}]
    for part, *used in needs:
        part, _, part_version = part.partition('@')
        library = package(part, part_version or version, 'BSD-3-Clause')
        if library['SPDXID'] not in packages:
            relations.append({'spdxElementId': own['SPDXID'], 'relationshipType': 'CONTAINS',
                              'relatedSpdxElement': library['SPDXID']})
        packages[library['SPDXID']] = library
        if not used:
            continue
        needed = package(*used)
        packages[needed['SPDXID']] = needed
        relations.append({'spdxElementId': library['SPDXID'], 'relationshipType': 'DEPENDS_ON',
                          'relatedSpdxElement': needed['SPDXID']})
    return {
        'spdxVersion': 'SPDX-2.3',
        'dataLicense': 'CC0-1.0',
        'SPDXID': 'SPDXRef-DOCUMENT',
        'name': f'ucd-{version}',
        'documentNamespace': f'https://spdx.org/spdxdocs/ucd-{version}-{seconds}',
        'creationInfo': {'created': f'{created:%Y-%m-%dT%H:%M:%SZ}',
                         'creators': [f'Tool: ucd-make-sbom-{version}']},
        'packages': list(packages.values()),
        'relationships': relations,
        'hasExtractedLicensingInfos': [
            {'licenseId': 'LicenseRef-' + name, 'name': text, 'extractedText': text}
            for name, text in (('NVIDIA-CUDA-EULA', "NVIDIA's licence of the CUDA toolkit: https://docs.nvidia.com/cuda/eula/"),
                               ('MPICH', "MPICH's licence: https://github.com/pmodels/mpich/blob/main/COPYRIGHT"))
            if any(licence == 'LicenseRef-' + name for *_, licence in needs)],
    }


def main():
    output, version, *needs = sys.argv[1:]
    with open(output, 'w', encoding='utf-8') as file:
        json.dump(document(version, [need.split(':') for need in needs]), file, indent=1)
        file.write('\n')


if __name__ == '__main__':
    main()
