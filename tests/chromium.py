"""The Chromium that tests and benchmarks drive; tests/chromium.sh installs one."""

import os
import shutil

# The shell is the same browser without windows and menus, which take more of a processor than the pages in them.
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell") or shutil.which("chromium")
