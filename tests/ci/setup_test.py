"""ci/setup on imagined machines: stub commands in a PATH of their own play dpkg, apt-get, sudo and the user's identity."""

import shutil
import unittest

import scratch

REAL_TOOLS = ("bash", "cat", "cut", "dirname", "env", "grep", "head", "mktemp", "rm", "sed", "sort", "tail")
DPKG_QUERY = """#!/bin/sh
# Called as: dpkg-query -W -f FORMAT PACKAGE
if grep -qx "$4" "$STUBS/installed"; then echo installed
elif grep -qx "$4" "$STUBS/removed"; then cat "$STUBS/removed_status"
else echo "no packages found matching $4" >&2; exit 1; fi
"""
APT_GET = """#!/bin/sh
echo "$DEBIAN_FRONTEND apt-get $*" >>"$STUBS/calls"
if [ -e "$STUBS/offline" ]; then echo "E: Failed to fetch"; exit 100; fi
case " $* " in
  *" install "*) for word; do echo "$word"; done >>"$STUBS/installed" ;;
esac
"""
SUDO = """#!/bin/sh
echo sudo >>"$STUBS/calls"
if [ "$1" = -n ]; then shift; fi
exec "$@"
"""


class Setup(scratch.ScratchCase):
    def setUp(self):
        super().setUp()
        self.copy("ci/setup")
        self.write("ci/packages.txt", "# a comment\nalpha   # why\n\nbeta\ngamma # why\n")
        self.stub("dpkg-query", DPKG_QUERY)
        self.stub("apt-get", APT_GET)
        self.stub("true", "#!/bin/sh\n")
        self.machine()
        for tool in REAL_TOOLS:
            (self.root / "stubs" / tool).symlink_to(shutil.which(tool))

    def stub(self, name, text):
        self.write(f"stubs/{name}", text, executable=True)

    def machine(self, installed=(), removed=(), user=0, cmake="3.25.1", sudo=False):
        self.write("stubs/installed", "".join(f"{name}\n" for name in installed))
        self.write("stubs/removed", "".join(f"{name}\n" for name in removed))
        self.write("stubs/removed_status", "config-files\n")
        self.write("stubs/calls", "")
        self.stub("id", f"#!/bin/sh\necho {user}\n")
        self.stub("cmake", f"#!/bin/sh\necho cmake version {cmake}\necho\n")
        if sudo:
            self.stub("sudo", SUDO)

    def setup_script(self, *words):
        stubs = self.root / "stubs"
        return self.command(shutil.which("bash"), self.root / "ci/setup", *words, PATH=str(stubs), STUBS=str(stubs),
                            DEBIAN_FRONTEND="dialog")

    def calls(self):
        return (self.root / "stubs/calls").read_text(encoding="utf-8").splitlines()

    def test_says_in_one_line_that_nothing_was_missing(self):
        self.machine(installed=("alpha", "beta", "gamma"), user=1000)
        got = self.setup_script()
        self.assertEqual((0, "ci/setup: nothing was missing of 3 packages\n", ""),
                         (got.returncode, got.stdout, got.stderr))
        self.assertEqual([], self.calls())

    def test_installs_as_root_only_what_is_missing(self):
        self.machine(installed=("beta",))
        got = self.setup_script()
        self.assertEqual((0, "ci/setup: installed alpha gamma\n", ""), (got.returncode, got.stdout, got.stderr))
        update, install = self.calls()
        self.assertTrue(update.startswith("noninteractive apt-get") and update.endswith(" update"), update)
        self.assertTrue(install.startswith("noninteractive apt-get") and " -y " in install, install)
        self.assertTrue(install.endswith(" alpha gamma"), install)

    def test_counts_a_package_that_dpkg_merely_remembers_as_missing(self):
        for status in ("config-files", "not-installed", "half-installed"):
            with self.subTest(status):
                self.machine(installed=("alpha", "beta"), removed=("gamma",))
                self.write("stubs/removed_status", status + "\n")
                self.assertEqual("ci/setup: installed gamma\n", self.setup_script().stdout)

    def test_installs_through_sudo_for_another_user(self):
        self.machine(installed=("beta", "gamma"), user=1000, sudo=True)
        got = self.setup_script()
        self.assertEqual((0, "ci/setup: installed alpha\n"), (got.returncode, got.stdout), got.stderr)
        self.assertIn("sudo", self.calls())

    def test_gives_one_sentence_with_the_command_without_root_and_sudo(self):
        self.machine(installed=("beta",), user=1000)
        got = self.setup_script()
        self.assertEqual((1, "", 1), (got.returncode, got.stdout, got.stderr.count("\n")), got.stderr)
        self.assertTrue(got.stderr.endswith("run: apt-get update && apt-get install -y alpha gamma\n"), got.stderr)
        self.assertEqual([], self.calls())

    def test_refuses_sudo_that_would_ask_for_a_password_where_nobody_can_answer(self):
        self.machine(user=1000)
        self.stub("sudo", '#!/bin/sh\necho "sudo: a password is required" >&2\nexit 1\n')
        got = self.setup_script()
        self.assertEqual((1, 1), (got.returncode, got.stderr.count("\n")), got.stderr)
        self.assertEqual([], self.calls())

    def test_fails_with_the_last_words_of_apt_get(self):
        self.write("stubs/offline", "")
        got = self.setup_script()
        self.assertEqual((1, ""), (got.returncode, got.stdout))
        self.assertIn("E: Failed to fetch", got.stderr)
        self.assertIn("could not install: alpha beta gamma", got.stderr)

    def test_fails_when_a_package_is_missing_after_a_successful_install(self):
        self.stub("apt-get", "#!/bin/sh\nexit 0\n")
        got = self.setup_script()
        self.assertEqual((1, ""), (got.returncode, got.stdout))
        self.assertIn("still missing: alpha beta gamma", got.stderr)

    def test_refuses_cmake_older_than_the_presets_need(self):
        self.machine(installed=("alpha", "beta", "gamma"), cmake="3.9.6")
        got = self.setup_script()
        self.assertEqual((1, "", 1), (got.returncode, got.stdout, got.stderr.count("\n")), got.stderr)
        self.assertIn("cmake 3.9.6", got.stderr)

    def test_accepts_a_newer_cmake(self):
        for version in ("3.25", "3.28.3", "4.0.1-dirty"):
            with self.subTest(version):
                self.machine(installed=("alpha", "beta", "gamma"), cmake=version)
                self.assertEqual(0, self.setup_script().returncode)

    def test_installs_the_packages_for_hip_only_when_asked(self):
        self.write("ci/packages-hip.txt", "delta  # why\n")
        self.machine(installed=("alpha", "beta", "gamma"))
        self.assertEqual("ci/setup: nothing was missing of 3 packages\n", self.setup_script().stdout)
        got = self.setup_script("--with", "hip")
        self.assertEqual((0, "ci/setup: installed delta\n", ""), (got.returncode, got.stdout, got.stderr))

    def test_refuses_an_unknown_list(self):
        got = self.setup_script("--with", "warp")
        self.assertEqual((2, 1), (got.returncode, got.stderr.count("\n")), got.stderr)
        self.assertIn("'warp'", got.stderr)

    def test_refuses_an_unknown_argument(self):
        got = self.setup_script("--fast")
        self.assertEqual((2, 1), (got.returncode, got.stderr.count("\n")), got.stderr)
        self.assertIn("'--fast'", got.stderr)


if __name__ == "__main__":
    unittest.main()
