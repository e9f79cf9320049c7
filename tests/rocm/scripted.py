"""What the suites that are scripts of this folder have in common: their command line, and what they write.

    tests/rocm/SUITE --rocm VERSION --gpu GPU [--results FILE] [--cases N]

FILE gets a JSON object for each case as soon as it has an outcome: `program`, `case`, `outcome` (passed, failed or skipped),
`seconds` and, of one that failed, `message`; and an object with how many cases were `available`, where some are left out.
The last line that is printed has the sums; the status is 1 if a case failed.
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import threading

TOP = pathlib.Path(__file__).resolve().parent.parent.parent


class Suite:
    def __init__(self, name, rocm, gpu, packages, *more_options):
        self.name = name
        parser = argparse.ArgumentParser(description=f"Runs {name} under Atoll.")
        parser.add_argument("--rocm", default=rocm, help="the ROCm (default: %(default)s)")
        parser.add_argument("--gpu", default=gpu, help="the GPU (default: %(default)s)")
        parser.add_argument("--results", help="the file for the cases' outcomes")
        parser.add_argument("--cases", type=int, help="how many cases to take (default: all)")
        for option, what in more_options:
            parser.add_argument(option, help=what)
        self.options = parser.parse_args()
        subprocess.run([TOP / "scripts/rocm-root", self.options.rocm, *packages], check=True)
        self.results = open(self.options.results, "w") if self.options.results else None
        self.counts = collections.Counter()
        self.lock = threading.Lock()

    def start(self, command, atoll=True, **options):
        """Starts a command in the ROCm root, under Atoll on the GPU."""
        run = [TOP / "build/bin/atoll", "run", "--gpu", self.options.gpu, "--"] if atoll else []
        return subprocess.Popen([TOP / "scripts/in-rocm", self.options.rocm, "--", *run, *command],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace", **options)

    def sample(self, cases):
        """As many of the cases as are asked for, in their order."""
        if self.results:
            print(json.dumps({"available": len(cases)}), file=self.results, flush=True)
        taken = set(first(cases, self.options.cases))
        return [case for case in cases if case in taken]

    def note(self, program, case, outcome, seconds, message=""):
        with self.lock:
            self.counts[outcome] += 1
            if outcome == "failed":
                print(f"failed: {case}: {message}", flush=True)
            if self.results:
                record = {"program": program, "case": case, "outcome": outcome, "seconds": round(seconds, 3)}
                if outcome == "failed":
                    record["message"] = message
                print(json.dumps(record), file=self.results, flush=True)

    def end(self):
        print(f"{self.name}, ROCm {self.options.rocm}, {self.options.gpu}: "
              + ", ".join(f"{self.counts[outcome]} {outcome}" for outcome in ("passed", "failed", "skipped")))
        sys.exit(1 if self.counts["failed"] or not self.counts["passed"] else 0)


def first(cases, count):
    """So many of the cases, spread evenly over them and the same each time."""
    return sorted(cases, key=lambda case: hashlib.sha256(case.encode()).digest())[:count]


def work_on(pieces, do):
    """Does the pieces, on as many threads as the host has processors; each has programs on one thread of their own."""
    os.environ.setdefault("ATOLL_THREADS", "1")
    lock = threading.Lock()

    def work():
        while True:
            with lock:
                if not pieces:
                    return
                piece = pieces.pop(0)
            do(piece)

    workers = [threading.Thread(target=work) for _ in range(os.cpu_count() or 1)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
