"""Commands of the npm package, which has a program of the same name, are handed on to npx."""

import os
import subprocess
import sys
import tempfile
import unittest

from foldatlas.cli import GATEWAY_COMMANDS

NPX = """#!/bin/sh
printf '%s|' "$@"
/bin/cat
exit 3
"""


@unittest.skipUnless(os.name == "posix", "needs a shell")
class GatewayCommands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_command(self, *words):
        return subprocess.run(
            [sys.executable, "-B", "-m", "foldatlas", *words],
            input="to the agent",
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": self.folder},
        )

    def add_npx(self):
        path = os.path.join(self.folder, "npx")
        with open(path, "w") as file:
            file.write(NPX)
        os.chmod(path, 0o755)

    def test_hands_every_command_on_with_its_input_and_exit_code(self):
        self.add_npx()
        for command in GATEWAY_COMMANDS:
            ran = self.run_command(command, "--url", "http://a b")
            self.assertEqual(ran.returncode, 3)
            self.assertEqual(ran.stdout, "-y|foldatlas|%s|--url|http://a b|to the agent" % command)

    def test_says_what_to_run_where_there_is_no_npx(self):
        ran = self.run_command("mcp", "--url", "x")
        self.assertEqual(ran.returncode, 64)
        self.assertIn("npx -y foldatlas mcp --url x", ran.stderr)

    def test_keeps_its_own_commands(self):
        self.add_npx()
        ran = self.run_command("query", "--help")
        self.assertEqual(ran.returncode, 0)
        self.assertNotIn("-y|foldatlas", ran.stdout)


if __name__ == "__main__":
    unittest.main()
