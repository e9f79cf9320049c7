"""The project of docs/ci.md, built and tested both ways: ci_example.py BUILD SOURCE

Each way's results are read as a CI service reads them, from JUnit files.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

build, source = map(pathlib.Path, sys.argv[1:])
os.environ["PATH"] = f"{build / 'bin'}:{os.environ['PATH']}"
TESTS = ["saxpy.1", "saxpy.1000", "saxpy.100000"]


def run(*command):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"{command} ended with {done.returncode}:\n{done.stdout}")


def expect(what, value, expected):
    if value != expected:
        sys.exit(f"{what}: {value!r}, not {expected!r}")


def check_results(file, gpu):
    tests = ElementTree.parse(file).getroot().findall("testcase")
    expect("tests", [each.get("name") for each in tests], TESTS)
    for each in tests:
        expect(each.get("name"), each.get("status"), "run")
        count = each.get("name").split(".")[1]
        expect("output", each.find("system-out").text.strip(), f"{gpu}: 0 of {count} are wrong")


with tempfile.TemporaryDirectory() as name:
    directory = pathlib.Path(name)
    project = directory / "build"
    run("cmake", "-S", source, "-B", project, "-DCMAKE_CXX_COMPILER=hipcc", "-DHIP_ARCHS=gfx90a;gfx1030",
        "-DATOLL_GPU=mi250x")
    run("cmake", "--build", project)
    run("ctest", "--test-dir", project, "--output-junit", directory / "emulator.xml")
    check_results(directory / "emulator.xml", "gfx90a:sramecc+:xnack-")

    run("cmake", "-S", source, "-B", project, "-DATOLL_GPU=")
    run("atoll", "run", "--gpu", "rx6900xt", f"--stats={directory}/stats.%p.json", "--", "ctest", "--test-dir", project,
        "--output-junit", directory / "whole.xml")
    check_results(directory / "whole.xml", "gfx1030")

    # A file of statistics for each of the three programs.
    work_groups = []
    for file in directory.glob("stats.*.json"):
        gpu, = json.loads(file.read_text())["gpus"]
        expect("target", gpu["target"], "gfx1030")
        kernel, = [each for each in gpu["kernels"] if "saxpy" in each["name"]]
        expect("signature", kernel["signature"], "(anonymous namespace)::saxpy(int, float, float const*, float*)")
        expect("calls", kernel["calls"], 1)
        work_groups.append(kernel["work_groups"])
    expect("work-groups", sorted(work_groups), [1, 4, 391])
