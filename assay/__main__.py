"""python -m assay: the same as the command `assay`."""

import sys

from assay.cli import main

if __name__ == "__main__":
    sys.argv[0] = "assay"
    main()
