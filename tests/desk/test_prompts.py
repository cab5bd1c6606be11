"""What would be sent to a model, on a page and by command."""

import json
import re
from hashlib import sha256
from html import unescape
from io import StringIO
from pathlib import Path
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import change_protocol
from assessor.campaigns.models import Campaign
from assessor.llm.job_kind import job_prompts
from assessor.llm.preview import preview
from assessor.llm.prompt_sets import prompt_set
from assessor.llm.prompts import Preview, PreviewError, PreviewSubject
from nuggets.actions import create_manual_nuggets
from nuggets.models import NuggetBank
from tests.conftest import client_of
from tests.nuggets.conftest import fill

OWN = prompt_set("assay-1")
RUN = {
    "run_id": "r1",
    "topic_id": "t1",
    "references": ["d1", "d3", "d4"],
    "answer": [
        {"text": "Cats purr when content.", "citations": [1, 0]},
        {"text": "So it is.", "citations": []},
        {"text": "Or in pain.", "citations": [2]},
    ],
}


@pytest.fixture
def loaded(campaign: Campaign, bank: NuggetBank, import_file) -> Campaign:
    """The campaign with an answer, aliases of its run, and nuggets in Anna's bank."""
    assert import_file(campaign, "runs", [RUN, RUN | {"topic_id": "t2", "answer": []}]).state == "done"
    assert import_file(campaign, "run_list", "tag,team,task,type,priority,aliases\nr1,,,,,one\n").state == "done"
    assert import_file(campaign, "segments", [{"docid": "d4", "segment": "Cats purr\nin pain."}]).state == "done"
    fill(bank, *((uuid4(), f"nugget {number}", "vital") for number in range(1, 13)))
    return campaign


def render(campaign: Campaign, question: str, **choice: str | int) -> Preview:
    return preview(campaign, question, OWN, PreviewSubject(**{"topic": "t1"} | choice))  # type: ignore[arg-type]


def user_part(found: Preview) -> str:
    return found.request.messages[1]["content"]


def test_creation_is_the_first_window_of_relevant_passages(loaded: Campaign, olga: Person, import_file):
    found = render(loaded, "creation", qrels="NIST")
    assert (
        "[1] Cats purr when content. Some purr when in pain.\n[2] Cats have many voices.\n[3] Cats purr in pain.\n"
    ) in user_part(found)
    assert "Dogs" not in user_part(found)  # grade 0
    assert "Present list of 0 nuggets: []" in user_part(found)
    assert found.made_from == "The first window, of 3 relevant passages: d1, d2, d4."
    settings = {"window_segments": 1, "min_relevant_grade": 2, "max_drafts": 7, "advised_words": 5}
    change_protocol(campaign=loaded, settings=settings, acting_user=olga)
    found = render(loaded, "creation", qrels="NIST")
    assert found.made_from == "The first window, of 2 relevant passages: d1."
    assert "at most 7 nuggets" in user_part(found)
    assert "1 to 5 words" in user_part(found)


def test_creation_goes_by_the_threshold_and_the_grades_of_a_named_condition(loaded: Campaign):
    source = loaded.qrels_sources.get(name="NIST")
    create_manual_nuggets(campaign=loaded, name="Strict", qrels_source=source, min_relevant_grade=2, acting_user=None)
    assert render(loaded, "creation", qrels="NIST").made_from == "The first window, of 3 relevant passages: d1, d2, d4."
    for qrels in ({}, {"qrels": "NIST"}):
        found = render(loaded, "creation", condition="Strict", **qrels)
        assert found.made_from == "The first window, of 2 relevant passages: d1, d4."
    with pytest.raises(PreviewError, match="There are no nuggets called Loose"):
        render(loaded, "creation", condition="Loose")


def test_windows_go_by_the_bytes_of_docids(loaded: Campaign, import_file):
    qrels = "t2 0 b 1\nt2 0 B 1\nt2 0 a10 1\nt2 0 a9 1\n"
    assert import_file(loaded, "qrels", qrels, source="Other", by="model").state == "done"
    import_file(loaded, "segments", [{"docid": docid, "segment": docid} for docid in ("b", "B", "a10", "a9")])
    assert render(loaded, "creation", topic="t2", qrels="Other").made_from.endswith(": B, a10, a9, b.")


def test_labels_are_asked_for_the_first_batch_of_a_bank(loaded: Campaign):
    found = render(loaded, "importance", condition="ManualNuggets")
    assert 'List of 10 nuggets: ["nugget 1", ' in user_part(found)
    assert '"nugget 10"]' in user_part(found)
    assert found.made_from == "The first 10 of 12 nuggets of anna under ManualNuggets."
    assert found.request.schema["properties"]["labels"]["minItems"] == 10
    found = render(loaded, "assignment", condition="ManualNuggets", run="one")
    assert "Answer: Cats purr when content. So it is. Or in pain.\nList of 10 nuggets:" in user_part(found)


def test_relevance_is_asked_of_a_passage(loaded: Campaign):
    found = render(loaded, "relevance", docid="d3")
    assert "Query: why do cats purr\nPassage: Dogs bark.\n" in user_part(found)


def test_support_is_asked_of_a_sentence_and_what_it_cites_first(loaded: Campaign):
    found = render(loaded, "support", run="r1")
    assert "Sentence: Cats purr when content.\nPassage: Dogs bark.\n" in user_part(found)
    assert found.made_from == "Sentence 1 of 3 and the passage it cites first, d3."
    found = render(loaded, "support", run="r1", sentence=3)
    assert "Sentence: Or in pain.\nPassage: Cats purr\nin pain.\n" in user_part(found)


@pytest.mark.parametrize(
    ("question", "choice", "problem"),
    [
        ("creation", {"topic": "t9", "qrels": "NIST"}, "There is no topic t9."),
        ("creation", {}, "Name the qrels"),
        ("creation", {"qrels": "none"}, "Name the qrels"),
        ("importance", {}, "There is no bank of nuggets on t1 under no condition."),
        ("importance", {"topic": "t2", "condition": "ManualNuggets"}, "There is no bank of nuggets on t2"),
        ("assignment", {"condition": "ManualNuggets"}, "Name the run"),
        ("assignment", {"condition": "ManualNuggets", "run": "r9"}, "There is no run r9."),
        ("relevance", {}, "The text of passage (name one) is not loaded."),
        ("relevance", {"docid": "d9"}, "The text of passage d9 is not loaded."),
        ("support", {"run": "r1", "sentence": 4}, "The answer has 3 sentences; there is none of number 4."),
        ("support", {"run": "r1", "sentence": 0}, "there is none of number 0."),
        ("support", {"run": "r1", "sentence": 2}, "Sentence 2 cites nothing"),
        ("support", {"run": "r1", "topic": "t2"}, "The answer has 0 sentences"),
    ],
)
def test_what_is_lacking_is_said(loaded: Campaign, question: str, choice: dict[str, str], problem: str):
    with pytest.raises(PreviewError, match=re.escape(problem)):
        render(loaded, question, **choice)


def test_an_empty_answer_an_empty_bank_and_no_answer_are_told_apart(campaign: Campaign, bank: NuggetBank, import_file):
    import_file(campaign, "runs", [RUN | {"answer": []}])
    with pytest.raises(PreviewError, match="The bank of anna under ManualNuggets has no nuggets yet"):
        render(campaign, "importance", condition="ManualNuggets")
    fill(bank, (uuid4(), "nugget", "vital"))
    with pytest.raises(PreviewError, match="The answer is empty: no model is asked about it"):
        render(campaign, "assignment", condition="ManualNuggets", run="r1")
    with pytest.raises(PreviewError, match="r1 has no answer to t2"):
        render(campaign, "support", topic="t2", run="r1")


def test_nothing_of_another_campaign_is_shown(loaded: Campaign, otto: Person, import_file):
    from assessor.campaigns.actions import create_campaign

    other = create_campaign(name="Other", slug="other", acting_user=otto)
    assert import_file(other, "topics", "t1\tother\n").state == "done"
    for question, choice in (
        ("creation", {"qrels": "NIST"}),
        ("importance", {"condition": "ManualNuggets"}),
        ("relevance", {"docid": "d1"}),
        ("support", {"run": "r1"}),
    ):
        with pytest.raises(PreviewError):
            render(other, question, **choice)


# --- The page

FORM = {"prompt_set": "assay-1", "topic": "t1", "qrels": "", "condition": "", "run": "", "docid": "", "sentence": ""}


@pytest.fixture
def as_olga(olga: Person) -> Client:
    return client_of(olga)


def page(client: Client, **form: str) -> str:
    response = client.get("/campaigns/study/prompts/", (FORM | form) if form else {})
    assert response.status_code == 200
    return unescape(response.content.decode())


def test_the_page_lists_sets_with_their_hashes(loaded: Campaign, as_olga: Client):
    html = page(as_olga)
    assert all(sha256(text.encode()).hexdigest() in html for text in OWN.texts.values())
    assert "As sent" not in html
    assert "message error" not in html


@pytest.mark.parametrize(
    ("question", "more"),
    [
        ("creation", {"qrels": "NIST"}),
        ("importance", {"condition": "ManualNuggets"}),
        ("assignment", {"condition": "ManualNuggets", "run": "r1"}),
        ("relevance", {"docid": "d1"}),
        ("support", {"run": "r1", "sentence": "3"}),
    ],
)
def test_the_page_and_the_command_show_what_would_be_sent(
    loaded: Campaign, as_olga: Client, question: str, more: dict[str, str]
):
    html = page(as_olga, prompt=question, **more)
    choice = {name: int(value) if name == "sentence" else value for name, value in more.items()}
    expected = render(loaded, question, **choice)
    out = StringIO()
    options = ["--nuggets" if name == "condition" else f"--{name}" for name in more]
    words = [word for pair in zip(options, more.values(), strict=True) for word in pair]
    call_command("render_prompt", "study", "t1", question, *words, stdout=out)
    for text in (*(message["content"] for message in expected.request.messages), expected.made_from):
        assert text in html
        assert text in out.getvalue()
    schema = json.dumps(expected.request.schema, indent=2)
    assert schema in html
    assert schema in out.getvalue()
    assert sha256(OWN.texts[question].encode()).hexdigest() in out.getvalue()


def test_what_is_lacking_stands_above_the_form(loaded: Campaign, as_olga: Client):
    html = page(as_olga, prompt="relevance", docid="d9")
    assert "The text of passage d9 is not loaded." in html
    assert "As sent" not in html


@pytest.mark.parametrize(
    "odd",
    [
        {"topic": ""},
        {"topic": "t\x00"},
        {"docid": "\x00"},
        {"prompt": "other"},
        {"prompt_set": "../other"},
        {"sentence": "0"},
        {"sentence": "x"},
        {"qrels": "of another campaign"},
    ],
)
def test_odd_requests_are_refused_in_words(loaded: Campaign, as_olga: Client, odd: dict[str, str]):
    html = page(as_olga, **{"prompt": "relevance", "docid": "d1"} | odd)
    assert "message error" in html
    assert "As sent" not in html


def test_what_is_shown_is_escaped(loaded: Campaign, as_olga: Client, import_file):
    import_file(loaded, "segments", [{"docid": "x", "segment": "</pre><script>alert(1)</script>"}])
    response = as_olga.get("/campaigns/study/prompts/", FORM | {"prompt": "relevance", "docid": "x"})
    assert "&lt;/pre&gt;&lt;script&gt;" in response.content.decode()
    assert "<script>alert" not in response.content.decode()


def test_a_broken_set_is_shown_by_name(loaded: Campaign, as_olga: Client, settings, tmp_path: Path):
    settings.PROMPT_SETS = tmp_path
    (tmp_path / "broken").mkdir()
    html = page(as_olga)
    assert "The prompt set broken has no prompt. Add one or more of creation.md, " in html
    assert all(sha256(text.encode()).hexdigest() in html for text in OWN.texts.values())
    html = page(as_olga, prompt="relevance", docid="d1", prompt_set="broken")
    assert '<div class="message error" role="alert">' in html
    assert "As sent" not in html
    with pytest.raises(CommandError, match="The prompt set broken has no prompt"):
        call_command("render_prompt", "study", "t1", "relevance", "--prompt-set", "broken")


def test_a_set_that_lacks_prompts_is_shown_with_those_it_has(loaded: Campaign, as_olga: Client, settings, tmp_path):
    settings.PROMPT_SETS = tmp_path
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "relevance.md").write_text("# system\n# user\n${query} ${passage}")
    html = page(as_olga, prompt="relevance", docid="d3", prompt_set="part")
    assert ">why do cats purr Dogs bark.</pre>" in html
    assert html.count("not in the set") == len(job_prompts()) - 1
    html = page(as_olga, prompt="support", run="r1", prompt_set="part")
    assert "The prompt set part lacks support.md, which the preview needs." in html
    assert "As sent" not in html


def test_a_dropped_in_set_is_shown_as_it_reads(loaded: Campaign, as_olga: Client, settings, tmp_path: Path):
    settings.PROMPT_SETS = tmp_path
    (tmp_path / "other").mkdir()
    for question, prompt in job_prompts().items():
        text = "# system\n# user\nOther words: " + " ".join(f"${{{name}}}" for name in sorted(prompt.needed))
        (tmp_path / "other" / f"{question}.md").write_text(text)
    html = page(as_olga, prompt="relevance", docid="d3", prompt_set="other")
    assert ">Other words: Dogs bark. why do cats purr</pre>" in html
    assert "<h3>system</h3>" not in html
    assert sha256((tmp_path / "other" / "relevance.md").read_bytes()).hexdigest() in html


def test_the_command_says_what_is_lacking(loaded: Campaign):
    with pytest.raises(CommandError, match="There is no topic t9"):
        call_command("render_prompt", "study", "t9", "creation")
    with pytest.raises(CommandError, match="There is no campaign other"):
        call_command("render_prompt", "other", "t1", "creation")


def test_a_rendered_prompt_costs_the_same_queries_however_large_the_campaign(
    loaded: Campaign, as_olga: Client, import_file, django_assert_max_num_queries
):
    more = range(50)
    import_file(loaded, "topics", "".join(f"x{number}\twhat\n" for number in more))
    import_file(loaded, "qrels", "".join(f"t1 0 s{number} 2\n" for number in more), source="NIST", by="people")
    import_file(loaded, "segments", [{"docid": f"s{number}", "segment": "text"} for number in more])
    with django_assert_max_num_queries(28):  # some of them the frame's
        assert "of 53 relevant passages" in page(as_olga, prompt="creation", qrels="NIST")
    with django_assert_max_num_queries(28):  # some of them the frame's
        page(as_olga, prompt="assignment", condition="ManualNuggets", run="r1")
