#!/usr/bin/env python3
"""Runs a wrong program, and its mended twin, and compares what the checkers find with what the source says.

    check_case.py --atoll ATOLL --gpu GPU SOURCE PROGRAM

The source has a comment on the line of the mistake, `FINDING: CHECKER KIND`, and may say at its beginning which checkers
are wanted (`CHECK: memory,leak`); without that it is the FINDINGs' checker. A finding of the host's, which is at no line of
a kernel, is at the line of its call stack's first frame.

A .hip or .cpp program runs under `atoll run` and is told `mended` for the twin. A file in assembly or OpenCL C has kernels
`wrong` and `mended`, which `atoll launch` runs with the options that the comment `RUN: OPTIONS` gives.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile


def expectations(source):
    """The set of (checker, kind, line) of a source, the checkers, and the options of `atoll launch`."""
    expected, checkers, options = set(), None, []
    with open(source, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if found := re.search(r"FINDING: (\S+) (\S+)", line):
                expected.add((found[1], found[2], number))
            if found := re.search(r"CHECK: (\S+)", line):
                checkers = found[1]
            if found := re.search(r"RUN: (.*)", line):
                options = found[1].split()
    return expected, checkers or ",".join(sorted({checker for checker, _, _ in expected})), options


def line_of(finding, source):
    """The line in the source that a finding is at; 0 if it is at none."""
    name = os.path.basename(source)
    if os.path.basename(finding.get("file", "")) == name:
        return finding["line"]
    for frames in finding.get("stacks", {}).values():
        for frame in frames:
            if found := re.search(re.escape(name) + r":(\d+)", frame):
                return int(found[1])
    return 0


def findings_of(command, report):
    """What a run finds, and all that it prints."""
    if os.path.exists(report):
        os.remove(report)
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=280)
    try:
        with open(report, encoding="utf-8") as file:
            findings = json.load(file)["findings"]
    except (OSError, ValueError) as error:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode} and left no report: {error}\n{done.stdout}{done.stderr}")
    return [finding for finding in findings if finding["severity"] == "error"], done


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--atoll", required=True)
    parser.add_argument("--gpu", required=True)
    parser.add_argument("source")
    parser.add_argument("program")
    arguments = parser.parse_args()
    expected, checkers, options = expectations(arguments.source)
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        check = [f"--check={checkers}", "--check-report", report]

        def command(variant):
            if arguments.source.endswith((".s", ".cl")):
                return [arguments.atoll, "launch", arguments.program, "--gpu", arguments.gpu, *check, "--kernel", variant, *options]
            return [arguments.atoll, "run", "--gpu", arguments.gpu, *check, "--", arguments.program, variant]

        findings, done = findings_of(command("wrong"), report)
        found = {(finding["checker"], finding["kind"], line_of(finding, arguments.source)) for finding in findings}
        for checker, kind, line in sorted(expected - found):
            print(f"not found: {checker} {kind} at line {line}")
            failed = True
        for checker, kind, line in sorted(found - expected):
            print(f"found, and not expected: {checker} {kind} at line {line}")
            failed = True
        print(done.stdout + done.stderr)

        findings, done = findings_of(command("mended"), report)
        for finding in findings:
            print(f"found in the mended twin: {finding['checker']} {finding['kind']}: {finding['message']}")
            failed = True
        if done.returncode != 0:
            print(f"the mended twin ended with {done.returncode}")
            failed = True
        if failed:
            print(done.stdout + done.stderr)
    sys.exit(failed)


main()
