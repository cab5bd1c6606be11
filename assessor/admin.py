"""Django's admin site, for administrators."""

from functools import reduce, wraps
from operator import or_
from typing import Any

from django.contrib.admin import AdminSite, ModelAdmin
from django.contrib.admin.utils import lookup_spawns_duplicates
from django.contrib.admin.views.main import ChangeList
from django.db.models import Model, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import urlencode
from django.utils.text import smart_split, unescape_string_literal


class AssayAdminSite(AdminSite):
    site_header = "Assay administration"
    site_title = "Assay administration"
    index_title = "Everything in the database"
    enable_nav_sidebar = False

    def has_permission(self, request: HttpRequest) -> bool:
        return request.user.is_active and request.user.is_superuser

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """Answer 404 to signed-in people of other roles: what isn't theirs gives no hint that it exists."""
        inner = super().admin_view(view, cacheable)

        @wraps(inner)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            if request.user.is_authenticated and not self.has_permission(request):
                raise Http404
            return inner(request, *args, **kwargs)

        return guarded

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Send people to the one login page, which is throttled."""
        if request.user.is_authenticated:
            raise Http404
        return redirect(f"/login/?{urlencode({'next': request.get_full_path()})}")


class RecordList(ChangeList):
    """A page of records whose keys are found first, so that the database sorts and skips keys, not whole records."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        keys = self._keys() if self.result_count else []
        records = self.apply_select_related(self.root_queryset).in_bulk(keys)
        self.result_list = [records[key] for key in keys if key in records]

    def _keys(self) -> list[Any]:
        """Return the keys on the page, which the database counts from the nearer end of the list."""
        page = self.result_list.query
        if page.low_mark <= self.result_count / 2:
            return list(self.result_list.values_list("pk", flat=True))
        from_end = slice(self.result_count - page.high_mark, self.result_count - page.low_mark)
        return list(self.queryset.reverse().values_list("pk", flat=True)[from_end])[::-1]


class RecordAdmin(ModelAdmin):  # type: ignore[type-arg]
    """For models of which there may be a million records."""

    list_per_page = 50
    show_full_result_count = False

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return RecordList

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find what has each word in one of the search fields, as Django does, but without a join."""
        lookups = [f"{name}__icontains" for name in self.get_search_fields(request)]
        words = list(smart_split(search_term))
        for word in words:
            is_quoted = word[0] in "\"'" and word[0] == word[-1]
            said = unescape_string_literal(word) if is_quoted else word
            queryset = queryset.filter(reduce(or_, (_look_up(self.model, lookup, said) for lookup in lookups)))
        return queryset, bool(words) and any(lookup_spawns_duplicates(self.opts, lookup) for lookup in lookups)


def _look_up(model: type[Model], lookup: str, value: str) -> Q:
    """Return what a lookup asks, by keys of related records: a topic is compared once, not with each of its labels."""
    name, _, rest = lookup.partition("__")
    related = model._meta.get_field(name).related_model
    if related is None:
        return Q((lookup, value))
    assert not isinstance(related, str)
    return Q((f"{name}__in", related._base_manager.filter(_look_up(related, rest, value)).values("pk")))
