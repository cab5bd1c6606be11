"""What people are called in a release: the same in each of a campaign's, and by no order that tells who is who."""

import random
import re
import secrets
from collections import defaultdict

from django.db import transaction
from django.db.models import Max

from assessor.accounts.models import Person
from assessor.campaigns.condition_kind import kind_choices, method_choices
from assessor.campaigns.models import Campaign, Judge
from assessor.exports.models import Pseudonym
from assessor.llm.job_kind import job_prompts

SOMEBODY = "somebody"
# From how many letters on a name is one within a word: of what the project itself named, and of other people's texts.
_IN_A_TITLE, _IN_A_TEXT = 3, 5
# Where a word begins and ends: _ and digits are none of it, and neither is the next one in camelCase.
_BEGINS = r"(?:(?<![^\W\d_])|(?<=[a-z])(?=[A-Z]))"
_ENDS = r"(?:(?![^\W\d_])|(?<=[a-z])(?=[A-Z]))"
# The field's words, in names of conditions and in what identifies them.
_METHODS = " ".join(value for value, _ in (*kind_choices(), *method_choices()))
_WORDS = {
    *(word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", _METHODS)),
    *("kind", "creation", "qrels", "drafting", "method", "judge", "people", "shown", "prompts", "replicate", "sample"),
    *("file", "invalid", "labels", "protocol", "rehearsal", "relevant", "from", "scale", "of", "passages"),
    *("batch", "order", "bank", "reversed", "shuffled"),
}


@transaction.atomic
def pseudonyms(campaign: Campaign) -> dict[int, str]:
    """Return what the campaign's people are called, by their keys; who has no number yet gets one, by chance."""
    Campaign.objects.select_for_update(of=("self",)).get(pk=campaign.pk)
    people = Person.objects.filter(tasks__campaign=campaign).order_by("username").distinct()
    new = list(people.exclude(pseudonyms__campaign=campaign))
    if new:
        seed = secrets.randbits(62)
        random.Random(seed).shuffle(new)  # noqa: S311  # an order, no secret: the seed is kept
        last = campaign.pseudonyms.aggregate(last=Max("number"))["last"] or 0
        Pseudonym.objects.bulk_create(
            Pseudonym(campaign=campaign, person=person, number=number, seed=seed)
            for number, person in enumerate(new, start=last + 1)
        )
    return {one.person_id: f"assessor-{one.number}" for one in campaign.pseudonyms.all()}


def judge_names(called: dict[int, str]) -> dict[str, str]:
    """Return what the judges that people are stand for in a file, by the names that exports give them."""
    judges = Judge.objects.filter(person__in=called)
    return {judge.name: called[judge.person_id] for judge in judges if judge.person_id}


class Names:
    """The names of all people: by sign-in, full name, parts of it, and e-mail address."""

    def __init__(self, called: dict[int, str]) -> None:
        self._stands_for: dict[str, str] = {}
        spelt: dict[str, set[str]] = defaultdict(set)
        for person in Person.objects.order_by("pk"):
            pseudonym = called.get(person.pk, SOMEBODY)
            names = (person.username, person.get_full_name(), person.first_name, person.last_name, person.email)
            for name in filter(None, map(str.strip, names)):
                folded = name.casefold()
                spelt[folded] |= {name, folded}
                # What two people are called says of neither that it was them.
                other = self._stands_for.setdefault(folded, pseudonym)
                self._stands_for[folded] = pseudonym if other == pseudonym else SOMEBODY
        anywhere = {name: f"(?i:{'|'.join(map(re.escape, sorted(spelt[name])))})" for name in spelt}
        self._as_words = {name: re.compile(_BEGINS + anywhere[name] + _ENDS) for name in spelt}
        longest_first = sorted(spelt, key=len, reverse=True)
        found = (
            *(self._as_words[name].pattern for name in longest_first),
            rf"{_BEGINS}(?P<word>(?i:{'|'.join(sorted({*_WORDS, *job_prompts()}))}))s?{_ENDS}",
            *(anywhere[name] for name in longest_first if len(name) >= _IN_A_TITLE),
        )
        self._in_titles = re.compile("|".join(found))

    def masked(self, title: str) -> str:
        """Return what somebody called a condition, a source of grades or a campaign, with pseudonyms in it.

        Names are found as words, and from three letters on within words, such as in judgedbyzora; but not within the
        field's own: a condition is no less manual where a Manu works.
        """
        return self._in_titles.sub(self._pseudonym, title)

    def _pseudonym(self, found: re.Match[str]) -> str:
        return found[0] if found["word"] else self._stands_for.get(found[0].casefold(), SOMEBODY)

    def are_in(self, text: str) -> bool:
        """Say whether somebody's name is in a text: as a word, or one of five letters or more anywhere.

        Shorter ones are within too many words that mean nobody, such as an Ann in planning.
        """
        folded = text.casefold()
        return any(
            name in folded and (len(name) >= _IN_A_TEXT or is_word.search(text) is not None)
            for name, is_word in self._as_words.items()
        )
