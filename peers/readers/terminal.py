"""Runs a command on a terminal: `terminal.py QUESTION SCRIPT ANSWER COMMAND…`.

When the command asks QUESTION, runs SCRIPT in a shell and then types ANSWER. Prints what the terminal showed, and ends as the
command does.
"""

import os
import pty
import subprocess
import sys

question, script, answer, *command = sys.argv[1:]
process, terminal = pty.fork()
if process == 0:
    os.execvp(command[0], command)
shown = b""
asked = False
while True:
    try:
        data = os.read(terminal, 4096)
    except OSError:  # The command has ended.
        break
    if not data:
        break
    shown += data
    if not asked and question.encode() in shown:
        asked = True
        subprocess.run(["sh", "-c", script], check=True)
        os.write(terminal, f"{answer}\n".encode())
sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n"))
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
