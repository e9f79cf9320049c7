#!/usr/bin/env python3
"""Fails if a GoogleTest program in a folder lists a parameter by its bytes or its address.

    test_names.py FOLDER

Such names change from one build or run to the next.
"""

import pathlib
import re
import subprocess
import sys

unstable = re.compile(r"-byte object <|GetParam\(\) = .*\b0x[0-9a-f]{8,}\b")
programs = sorted(path for path in pathlib.Path(sys.argv[1]).glob("test_*") if path.is_file())
bad = []
for program in programs:
    listed = subprocess.run([program, "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout
    suite = ""
    for line in listed.splitlines():
        if not line.startswith(" "):
            suite = line.split()[0]
        elif unstable.search(line):
            bad.append(f"{program.name}: {suite}{line.strip()}")
print("\n".join(bad))
sys.exit(1 if bad or not programs else 0)
