"""The settings as type checking and linting see them: nothing secret, nothing left behind."""

import tests.environment  # noqa: F401
from assessor.settings import *  # noqa: F403
