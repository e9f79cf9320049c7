"""Runs the commands that the documents show, and compares their output: shown_output.py BUILD SOURCE

A block that begins with ```console has commands after "$ " with what they print below them. Commands run in a directory of
their own with the programs of examples/shown. Numbers that differ from run to run (times, addresses) may be any, and a line
"..." stands for any number of lines.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

build, source = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])

# Blocks that are not run, by a part of a command in them, with the reason.
SKIPPED = {
    "rx6900xt --stats -- build/examples/mandelbrot": "run by `make demo`, in the source's directory",
    "./nbody": "takes a minute in a debug build",
    "gfx1310": "Debian's hipcc does not know the processor",
    "all_reduce": "any program",
    "mpirun": "a test of its own (programs.mpi)",
    "./fault": "the program's address is its own",
    "atoll gpus": "the list is compared by tests/tools/gpus_test.cpp",
    "atoll cache": "depends on what was run before",
    "atoll disasm saxpy": "depends on the compiler",
    "atoll inspect saxpy": "depends on the compiler",
    "old.co": "needs clang 15",
    "stray.co": "tests/tools/inspect_test.cpp has one",
    "differ.co": "LaunchCommand.ComparesEngines in tests/tools/launch_test.cpp has one",
    "atoll diff": "tests/codegen/command_test.cpp runs it; counts change with the code generator",
    "atoll link a.o": "tests/object/link_test.cpp has it",
    "atoll bundle list ./scale": "depends on the compiler",
    "litmus --run": "counts differ from run to run",
}
TABLE_ROW = re.compile(r"^(.*\S +\d+ +\d+ +\d+) +\d+ +[\d.]+ +[\d.]+%$")  # interpreted, seconds and share are any


def blocks(text):
    """Yields lists of (command, lines shown)."""
    for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        commands = []
        for line in block.splitlines():
            if line.startswith("$ "):
                commands.append([line[2:], []])
            elif commands and not commands[-1][1] and commands[-1][0].endswith("\\"):
                commands[-1][0] += "\n" + line
            elif commands:
                commands[-1][1].append(line)
        yield commands


def pattern_of(shown):
    """The regular expression that the output has to match."""
    parts = []
    for line in shown:
        if line == "...":
            parts.append(r"(?:.*\n)*?")
            continue
        if line.startswith(("compiled: ", "  longest: ")):  # there may be nothing to compile
            parts.append(r"(?:compiled: .*\n(?:  .*\n)*)?" if line.startswith("compiled: ") else "")
            continue
        row = TABLE_ROW.match(line)
        pattern = ""
        plain = row[1] if row else line
        for piece in re.split(r"(0x[0-9a-f]{9,}|\d+\.\d+%?| +)", plain):
            if re.fullmatch(r"0x[0-9a-f]{9,}", piece):
                pattern += r"0x[0-9a-f]+"
            elif re.fullmatch(r" +", piece):
                pattern += " +"
            elif re.fullmatch(r"\w+\.(?:hip|cl):.*", piece):  # the directory is any
                pattern += r"(?:\S*/)?" + re.escape(piece)
            elif "host time" in plain and re.fullmatch(r"\d+\.\d+", piece):
                pattern += r"[\d.]+"
            else:
                pattern += re.escape(piece)
        parts.append(pattern + (r" +\d+ +[\d.]+ +[\d.]+%\n" if row else r" *\n"))
    return "".join(parts)


def run(document, directory):
    failures, count = [], 0
    for commands in blocks((source / document).read_text()):
        if any(part in command for part in SKIPPED for command, _ in commands):
            continue
        for command, shown in commands:
            done = subprocess.run(["bash", "-c", command.replace("build/bin/atoll", "atoll")], cwd=directory, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            count += 1
            # On a terminal the program's output comes first, or the runtime's reports do.
            outputs = [done.stdout + done.stderr, done.stderr + done.stdout]
            if not any(re.fullmatch(pattern_of(shown), output) for output in outputs):
                failures.append(f"{document}: $ {command}\n--- shown\n" + "\n".join(shown) + f"\n--- printed\n{outputs[0]}")
    return failures, count


os.environ["PATH"] = f"{build / 'bin'}:{os.environ['PATH']}"
failures, count = [], 0
with tempfile.TemporaryDirectory() as name:
    directory = pathlib.Path(name)
    for file in (source / "examples/shown").iterdir():
        shutil.copy(file, directory)
    shutil.copytree(source / "examples/litmus", directory / "examples/litmus")
    # Commands that the documents take as done.
    for command in ("hipcc --offload-arch=gfx900 --offload-arch=gfx90a -O2 saxpy.hip -o saxpy",
                    "hipcc --offload-arch=gfx90a -O2 -g scale.hip -o scale"):
        subprocess.run(["bash", "-c", command], cwd=directory, check=True, stderr=subprocess.DEVNULL)
    for document in ("README.md", "docs/tools.md"):
        more, ran = run(document, directory)
        failures += more
        count += ran
print("\n".join(failures))
print(f"{count} commands, {len(failures)} with another output")
sys.exit(1 if failures or count < 20 else 0)
