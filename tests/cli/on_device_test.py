"""Judges a case file on a GPU, a plugin on it with --plugin, or every planted fault with --mutants. Where the device is
not there, checks that the tool says so with exit code 4 and one sentence, and skips with exit code 77.

usage: on_device_test.py TOOL DEVICE CASES [--mutants | --plugin LIB]
"""

import re
import subprocess
import sys

SKIPPED = 77
TOOL, DEVICE, CASES = sys.argv[1:4]


def tool(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def check(holds, done, want):
    if not holds:
        sys.exit(f"want {want}, got exit code {done.returncode}\n{done.stdout}{done.stderr}")


def passes(*arguments):
    done = tool("run", *arguments, "--device", DEVICE)
    check(done.returncode == 0 and "passed " in done.stdout.splitlines()[-1], done, "exit code 0 and totals")
    print(done.stdout.splitlines()[-1])


def every_mutant_fails():
    """In the case file or at its recorded case; but for those that show for certain elsewhere alone."""
    listed = tool("list", "mutants").stdout
    found = re.findall(r"^(mutant\.\S+) (.*)\n +reached by: (.*)$", listed, re.MULTILINE)
    if not found:
        sys.exit("the tool lists no planted fault")
    for name, description, case in found:
        if description.endswith(" alone)"):
            continue
        done = tool("run", case, "--cases", CASES, "--kernel", name, "--device", DEVICE)
        check(done.returncode == 1 and f"FAILED  {name}" in done.stdout, done, f"{name} to fail")
        print(name, done.stdout.splitlines()[-1])


present = tool("list", "devices")
check(present.returncode == 0, present, "exit code 0 from `list devices`")
if not any(line.startswith(DEVICE + ":") for line in present.stdout.splitlines()):
    refused = tool("run", "--cases", CASES, "--device", DEVICE)
    one_sentence = len(refused.stderr.splitlines()) == 1 and refused.stderr.startswith(f"exactk: device '{DEVICE}'")
    check(refused.returncode == 4 and one_sentence, refused, "exit code 4 and one sentence")
    print(f"skipped: {refused.stderr}", end="")
    sys.exit(SKIPPED)
if sys.argv[4:] == ["--mutants"]:
    every_mutant_fails()
else:
    passes("--cases", CASES, *sys.argv[4:])
