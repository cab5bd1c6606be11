"""Questions that are parts of others, whatever is done to the list."""

from hypothesis import given
from hypothesis import strategies as st

from nuggets.editing import MAX_LEVELS, NuggetList

_STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "add", "deeper", "deeper", "move", "delete", "split"]), st.integers(0, 20)),
    max_size=40,
)


@given(_STEPS, st.data())
def test_what_is_under_another_follows_it_and_is_at_most_three_levels_deep(
    steps: list[tuple[str, int]], data: st.DataObject
):
    outline = NuggetList()
    for number, (verb, at) in enumerate(steps):
        name = str(number)
        if verb == "add":
            outline.items[name] = {"under": None}
            outline.order.append(name)
        if not outline.order:
            continue
        uid = outline.order[at % len(outline.order)]
        before, block = outline.copy(), outline.block(uid)
        if verb == "deeper":
            outline.nest(outline.levels() | {uid: outline.levels()[uid] + 1})
        elif verb == "move":
            outline.move(uid, data.draw(st.integers(0, len(outline.order))))
            moved = outline.order.index(uid)
            assert outline.order[moved : moved + len(block)] == block
            others = [one for one in outline.order if one not in block]
            assert {one: outline.items[one] for one in others} == {one: before.items[one] for one in others}
        elif verb == "delete":
            outline.replace(uid, [])
            for one in outline.order:
                under = before.items[one]["under"]
                assert outline.items[one]["under"] == (before.items[uid]["under"] if under == uid else under)
        elif verb == "split":
            outline.replace(uid, [f"{name}a", f"{name}b"])
            for one in outline.order:
                under = before.items.get(one, before.items[uid])["under"]
                assert outline.items[one]["under"] == (f"{name}b" if under == uid else under)
        levels = outline.levels()
        above: list[str] = []
        for one in outline.order:
            del above[levels[one] - 1 :]
            assert outline.items[one]["under"] == (above[-1] if above else None)
            above.append(one)
        assert max(levels.values(), default=0) <= MAX_LEVELS
