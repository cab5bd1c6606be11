"""All that can be exported, from each app's exportables.py: the one list.

Pages, addresses, commands, manifests, freezing and releases are made from it.
"""

from collections.abc import Iterator
from importlib import import_module

from django.apps import apps
from django.utils.module_loading import module_has_submodule

from assessor.exportables import Exportable


def _listed() -> Iterator[Exportable]:
    for app in apps.get_app_configs():
        if module_has_submodule(app.module, "exportables"):
            yield from import_module(f"{app.name}.exportables").EXPORTABLES


EXPORTABLES: tuple[Exportable, ...] = tuple(sorted(_listed(), key=lambda one: one.order))
BY_NAME = {one.name: one for one in EXPORTABLES}
