#!/usr/bin/env python3
"""Runs a wrong program, and its mended twin, and compares what the checkers find with what the source says.

    check_case.py --atoll ATOLL --gpu GPU [--engine ENGINE] SOURCE PROGRAM

The source has a comment on the line of the mistake, `FINDING: CHECKER KIND`, and may say at its beginning which checkers
are wanted (`CHECK: memory,leak`); without that it is the FINDINGs' checker. A finding of the host's, which is at no line of
a kernel, is at the line of its call stack's first frame. Where the two sides of a race run at the same time, each has the
comment as `FINDING EITHER: CHECKER KIND`, and one of them is to be found: that of the side that came second. What is
found on one GPU only is a `FINDING ON GPU: CHECKER KIND`; a `NOTE ON GPU: ...` is to be told there as a note. Other notes
are left alone. `FRAME: allocated` is at the line that the first frame of each finding's call stack of that name has to be at.

Checkers that watch compiled code have to find the same there as in the interpreter, of the same lanes and as often. With
--engine, only that engine runs, unless a wanted checker watches the interpreter only.

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


# Those that watch compiled code, and of them those whose findings do not depend on which wave comes first.
COMPILED = {"memory", "init", "race", "sync", "wait", "leak"}
DETERMINED = {"memory", "sync", "wait", "leak"}


def expectations(source, gpu):
    """What is to be found in a source on a GPU, and the notes; the checkers; and the options of `atoll launch`.

    What is to be found is a list of sets of (checker, kind, line): one of each set.
    """
    expected, notes, either, checkers, options = [], set(), {}, None, []
    with open(source, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            for found in re.finditer(r"(FINDING|NOTE)(?: ON (\w+))?: (\w+) ([\w-]+)", line):
                place = (found[3], found[4], number)
                if found[2] not in (None, gpu):
                    continue
                if found[1] == "NOTE":
                    notes.add(place)
                else:
                    expected.append({place})
            if found := re.search(r"FINDING EITHER: (\S+) (\S+)", line):
                either.setdefault((found[1], found[2]), set()).add((found[1], found[2], number))
            if found := re.search(r"CHECK: (\S+)", line):
                checkers = found[1]
            if found := re.search(r"RUN: (.*)", line):
                options = found[1].split()
    expected += either.values()
    named = {checker for one_of in [*expected, notes] for checker, _, _ in one_of}
    return expected, notes, checkers or ",".join(sorted(named)), options


def frames(source):
    """The lines that first frames of call stacks have to be at, by the stacks' names."""
    with open(source, encoding="utf-8") as file:
        return {found[1]: number for number, line in enumerate(file, 1) for found in re.finditer(r"FRAME: (\w+)", line)}


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
    """What a run finds, its notes, and all that it prints."""
    if os.path.exists(report):
        os.remove(report)
    environment = os.environ | {"ATOLL_COMPILE": "wait"}
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=140, env=environment)
    try:
        with open(report, encoding="utf-8") as file:
            findings = json.load(file)["findings"]
    except (OSError, ValueError) as error:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode} and left no report: {error}\n{done.stdout}{done.stderr}")
    errors = [finding for finding in findings if finding["severity"] == "error"]
    return errors, [finding for finding in findings if finding["severity"] == "note"], done


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--atoll", required=True)
    parser.add_argument("--gpu", required=True)
    parser.add_argument("--engine", choices=["interpreter", "compiled"])
    parser.add_argument("source")
    parser.add_argument("program")
    arguments = parser.parse_args()
    expected, expected_notes, checkers, options = expectations(arguments.source, arguments.gpu)
    engines = ["interpreter", "compiled"] if set(checkers.split(",")) <= COMPILED else ["interpreter"]
    if arguments.engine in engines:
        engines = [arguments.engine]
    failed = False
    found_by = {}
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")

        def command(engine, variant):
            check = [f"--check={checkers}", "--check-report", report, "--engine", engine, "--threads", "1"]
            if arguments.source.endswith((".s", ".cl")):
                return [arguments.atoll, "launch", arguments.program, "--gpu", arguments.gpu, *check, "--kernel", variant, *options]
            return [arguments.atoll, "run", "--gpu", arguments.gpu, *check, "--", arguments.program, variant]

        for engine in engines:
            def places_of(findings):
                return {(finding["checker"], finding["kind"], line_of(finding, arguments.source)) for finding in findings}

            findings, notes, done = findings_of(command(engine, "wrong"), report)
            found = places_of(findings)
            for checker, kind, line in sorted(expected_notes - places_of(notes)):
                print(f"{engine}: not told as a note: {checker} {kind} at line {line}")
                failed = True
            for one_of in expected:
                if not one_of & found:
                    places = " or ".join(f"{checker} {kind} at line {line}" for checker, kind, line in sorted(one_of))
                    print(f"{engine}: not found: {places}")
                    failed = True
            for checker, kind, line in sorted(found - set().union(*expected)):
                print(f"{engine}: found, and not expected: {checker} {kind} at line {line}")
                failed = True
            for stack, line in frames(arguments.source).items():
                wanted = f"{os.path.basename(arguments.source)}:{line}"
                for finding in findings:
                    first = finding.get("stacks", {}).get(stack, [""])[0]
                    if not re.search(re.escape(wanted) + r"\b", first):
                        print(f"{engine}: '{stack}' is not at {wanted} but: {first}")
                        failed = True
            print(done.stdout + done.stderr)
            found_by[engine] = sorted(
                (finding["checker"], finding["kind"], line_of(finding, arguments.source), finding.get("work_group", []),
                 finding.get("wave", 0), finding.get("lane", 0), finding["count"])
                for finding in findings if finding["checker"] in DETERMINED)

            findings, _, done = findings_of(command(engine, "mended"), report)
            for finding in findings:
                print(f"{engine}: found in the mended twin: {finding['checker']} {finding['kind']}: {finding['message']}")
                failed = True
            if done.returncode != 0:
                print(f"{engine}: the mended twin ended with {done.returncode}")
                failed = True
            if failed:
                print(done.stdout + done.stderr)
    if len(engines) > 1 and found_by["interpreter"] != found_by["compiled"]:
        print(f"found by the interpreter: {found_by['interpreter']}\nand in compiled code: {found_by['compiled']}")
        failed = True
    sys.exit(failed)


main()
