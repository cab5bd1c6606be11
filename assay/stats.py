"""Statistics in a notebook: the modules of metaeval.stats, each loaded when it is first asked for."""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

import metaeval.stats

__all__ = sorted(module.name for module in iter_modules(metaeval.stats.__path__))


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return import_module(f"metaeval.stats.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
