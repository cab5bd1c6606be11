#!/usr/bin/env python
"""The command `assay` in the source tree."""

from assay.cli import main

if __name__ == "__main__":
    main()
