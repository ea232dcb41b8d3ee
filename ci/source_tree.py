"""What the check_* scripts share: the files of the tree, C++ text without comments, and how an error is reported."""

import re
import subprocess
import sys
from pathlib import Path

LAYERS = ("oracle", "fixtures", "kernels", "props", "tests")
SOURCE_SUFFIXES = (".h", ".c", ".cpp", ".hip")

_LEXEMES = re.compile(
    r"""//[^\n]*|/\*.*?\*/                          # comments
      | R"(?P<delimiter>[^\s()\\]{0,16})\(.*?\)(?P=delimiter)"
      | (?P<separator>(?<=[0-9a-fA-F])'(?=[0-9a-fA-F]))
      | (?P<literal>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')""",
    re.DOTALL | re.VERBOSE,
)


class Tree:
    """The files that git knows or would add below one folder, and the errors found in them."""

    def __init__(self, root):
        self.root = Path(root).resolve()
        listing = subprocess.run(
            ["git", "-C", str(self.root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True, text=True, check=False)
        if listing.returncode != 0:
            sys.exit(f"{self.root}: error: git cannot list the files: {listing.stderr.strip()}")
        names = sorted(set(listing.stdout.split("\0")) - {""})
        self.files = [name for name in names if (self.root / name).is_file()]
        self.sources = [name for name in self.files if name.endswith(SOURCE_SUFFIXES)]
        self.errors = 0

    def text(self, name):
        return (self.root / name).read_bytes().decode("utf-8", errors="replace")

    def error(self, name, line, message):
        self.errors += 1
        print(f"{name}:{line}: error: {message}")

    def finish(self, what, checked):
        """Prints the closing line and exits. Nothing checked is a failure: the check would prove nothing."""
        if not checked:
            sys.exit(f"{self.root}: error: no file to check for {what}")
        print(f"{what}: {checked} files, {self.errors} errors")
        sys.exit(1 if self.errors else 0)


def tree_of_command_line():
    """The tree named by the one optional argument; by default the one that this script lies in."""
    if len(sys.argv) > 2 or (len(sys.argv) == 2 and sys.argv[1].startswith("-")):
        print(f"usage: {Path(sys.argv[0]).name} [ROOT]", file=sys.stderr)
        sys.exit(2)
    return Tree(sys.argv[1] if len(sys.argv) == 2 else Path(__file__).resolve().parent.parent)


def without_comments(text, keep_literals):
    """C++ text with the same line numbers, comments and raw strings blanked; other literals only if asked."""

    def blank(match):
        if match.group("separator") or (keep_literals and match.group("literal")):
            return match.group()
        return " " + "\n" * match.group().count("\n")

    return _LEXEMES.sub(blank, text)
