"""A session at the prompt, played in a terminal of 80 columns and written as HTML: `terminal.py DPM FOLDER OUT.html`."""

import html
import os
import pty
import select
import sys
import time

import pyte

COLUMNS, ROWS = 80, 130
LINES = [
    "budget rdp(order = 8, eps = 0.5)",
    "private staff[n >= 100] { smoker: bool }",
    "param p ~ beta(6, 18)",
    "observe smoker ~ bernoulli(p)",
    "release p_hat = draw(p) using direct",
    ":data staff=staff.csv",
    "release p_hat = draw(p) using diffuse",
    "y",
    "100 * p_hat",
    ":budget",
    ":plot",
    ":plot tradeoff p_hat",
    ":plot error p_hat",
    ":plot posterior p_hat",
]
COLOURS = {"default": "#e6e6e6", "brown": "#d7ba5d", "red": "#ff8d8d", "green": "#8fd18f", "blue": "#8ab4f8", "cyan": "#7fd4d4", "magenta": "#dba0e0"}


def played(dpm: str, folder: str) -> pyte.Screen:
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.environ.update(TERM="xterm-256color", COLUMNS=str(COLUMNS), LINES=str(ROWS))
        os.execv(dpm, [dpm, "repl", "--no-history"])
    import fcntl, struct, termios

    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))

    def until_quiet() -> None:
        """Reads until the prompt, or a question, stands in the last line and nothing more comes."""
        quiet = 0.0
        while quiet < 60:
            if select.select([terminal], [], [], 0.3)[0]:
                try:
                    stream.feed(os.read(terminal, 65536))
                except OSError:
                    return
                quiet = 0.0
                continue
            quiet += 0.3
            line = screen.display[screen.cursor.y].rstrip()
            if line.endswith("dpm>") or line.endswith("[y/N]"):
                return

    until_quiet()
    for line in LINES:
        os.write(terminal, line.encode() + b"\r")
        time.sleep(0.1)
        until_quiet()
    os.write(terminal, b"\x04")
    return screen


def shown(screen: pyte.Screen) -> str:
    rows = []
    for y in range(ROWS):
        row = ""
        for x in range(COLUMNS):
            cell = screen.buffer[y][x]
            colour = COLOURS.get(cell.fg, f"#{cell.fg}" if len(cell.fg) == 6 else COLOURS["default"])
            weight = ";font-weight:bold" if cell.bold else ""
            row += f'<span style="color:{colour}{weight}">{html.escape(cell.data)}</span>'
        rows.append(row)
    while rows and not screen.display[len(rows) - 1].strip():
        rows.pop()
    style = "margin:0;padding:1rem;background:#16181d;font:14px/1.35 'DejaVu Sans Mono',monospace"
    return f'<!doctype html><meta charset="utf-8"><title>dpm repl</title><body style="margin:0;background:#16181d"><pre style="{style}">' + "\n".join(rows) + "</pre></body>"


if __name__ == "__main__":
    dpm, folder, out = sys.argv[1:]
    with open(out, "w") as file:
        file.write(shown(played(os.path.abspath(dpm), folder)))
