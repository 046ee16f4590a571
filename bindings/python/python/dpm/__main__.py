"""``python -m dpm ..`` is the ``dpm`` command, where that is not on the path."""

import subprocess
import sys

from ._command import Error, command

if __name__ == "__main__":
    try:
        sys.exit(subprocess.call([command(), *sys.argv[1:]]))
    except KeyboardInterrupt:
        sys.exit(130)
    except Error as error:
        sys.exit(f"error: {error}")
