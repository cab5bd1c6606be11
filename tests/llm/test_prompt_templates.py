"""Published prompt templates: read as they are published, mapped, and made a prompt set. The wording is our own."""

import re
import time
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from assessor.accounts.models import Person
from assessor.campaigns.actions import create_campaign
from assessor.campaigns.models import Campaign, Event
from assessor.llm import gateway
from assessor.llm.job_kind import job_prompts
from assessor.llm.models import CampaignPromptSet
from assessor.llm.prompt_sets import names, prompt_set
from assessor.llm.prompt_templates import TemplateError, read_templates
from assessor.llm.prompts import PromptRequest, PromptSetError
from assessor.llm.replies import WrongAnswer
from assessor.relevance.umbrela import RELEVANCE_PROMPT
from assignment.auto_assign import ASSIGNMENT_PROMPT
from nuggets.prompts import CREATION_PROMPT, IMPORTANCE_PROMPT
from support.auto_support import SUPPORT_PROMPT
from tests.conftest import client_of

CREATOR = """method: "nugget_creation"
system_message: "You keep a list, worth $5 {a brace}."
prefix_user: |-
  Bring the list up to date, {creator_max_nuggets} at most.

  Query: {query}
  Context:
  {context}
  List: {nuggets}
  Length: {nuggets_length}
  Write it as ["a", "b"]; no {{braces}}, no $.
"""
SCORER = """method: nugget_scoring
system_message: You weigh.
prefix_user: |-
  Weigh the {num_nuggets}: {nuggets}
  For {query}
"""
ASSIGNER = """method: "nugget_assignment"
system_message: "You compare."
prefix_user: |-
  Which of the {num_nuggets} has {context}?
  {query}: {nuggets}
"""
ASSIGNER_2 = ASSIGNER.replace("nugget_assignment", "nugget_assignment_2grade")
GRADER = "How good is it?\n\nQuery: {query}\nPassage: {passage}\nEnd with ##final score: a number."
GRADER_YAML = 'method: "qrel_zeroshot_bing"\nsystem_message: ""\nprefix_user: |-\n  Good? {query} {passage}\n'
SUPPORTER = "\nIs it so?\nStatement: {statement}\nCitation: {citation}\n"
ALL = {
    "creator_template.yaml": CREATOR,
    "scorer_template.yml": SCORER,
    "assigner_template.yaml": ASSIGNER,
    "qrel_zeroshot_bing.txt": GRADER,
    "support.TXT": SUPPORTER,
}
OF_REPORTS = "attest, answers_question, needs_citation, first_instance, negative"
PARAMETERS = {"model": "m", "max_tokens": 9, "limit_name": "max_tokens", "temperature": 0, "structured": True}


def sha(text: str) -> str:
    return sha256(text.encode()).hexdigest()


@pytest.fixture
def write(tmp_path: Path):
    """Write files and return their paths."""

    def do(files: dict[str, str | bytes]) -> list[str]:
        for name, text in files.items():
            (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return [str(tmp_path / name) for name in files]

    return do


@pytest.fixture
def imported(campaign: Campaign, write):
    """Import files by command; return what it prints."""

    def do(files: dict[str, str | bytes], *options: str) -> str:
        out = StringIO()
        call_command("import_prompts", "study", *write(files), *options, stdout=out)
        return out.getvalue()

    return do


def sent(question: PromptRequest[Any]) -> list[str]:
    return [message["content"] for message in question.messages]


# --- What is understood, and what is then sent


def test_published_files_become_a_prompt_set(campaign: Campaign, imported) -> None:
    told = imported(ALL, "--name", "published")
    made = prompt_set("published", campaign)
    assert f"creation: creator_template.yaml, nugget_creation, sha256 {sha(CREATOR)}\n" in told
    assert "  {context} is ${raw_passages}\n" in told
    assert "  replies are read as a list of nuggets\n" in told
    assert f"relevance: qrel_zeroshot_bing.txt, sha256 {sha(GRADER)}\n" in told
    assert told.count("from assay-1") == 1
    others = "query_questions, question_creation, contrast, grounded_questions, grading"
    assert f"{others}, {OF_REPORTS}, preference, report, matching, candidates: from assay-1" in told
    assert "Prompt set published. Choose it in a judge's settings.\n" in told
    assert f"  creation: sha256 {sha(made.texts['creation'])}\n" in told
    creation = CREATION_PROMPT.request(
        made, query="why", passages=["A  b\nc.", "D {query} $query"], nuggets=["it's", 'so "called"'], most=7, words=5
    )
    assert sent(creation) == [
        "You keep a list, worth $5 {a brace}.",
        "Bring the list up to date, 7 at most.\n\nQuery: why\nContext:\n[1] A  b\nc.\n[2] D {query} $query\n"
        'List: ["it\'s", \'so "called"\']\nLength: 2\nWrite it as ["a", "b"]; no {braces}, no $.',
    ]
    importance = IMPORTANCE_PROMPT.request(made, query="why", nuggets=["a"])
    assert sent(importance) == ["You weigh.", "Weigh the 1: ['a']\nFor why"]
    assignment = ASSIGNMENT_PROMPT.request(made, query="why", answer="Because.", nuggets=["a", "b"])
    assert sent(assignment) == ["You compare.", "Which of the 2 has Because.?\nwhy: ['a', 'b']"]
    relevance = RELEVANCE_PROMPT.request(made, query="why", passage="P")
    assert sent(relevance) == ["How good is it?\n\nQuery: why\nPassage: P\nEnd with ##final score: a number."]
    support = SUPPORT_PROMPT.request(made, sentence="S.", passage="P.")
    assert sent(support) == ["Is it so?\nStatement: S.\nCitation: P."]
    assert importance.read("['okay']") == ["okay"]
    assert assignment.read('["support", "partial_support"]') == ["support", "partial_support"]
    assert relevance.read("##final score: 2") == 2
    assert support.read("Partial Support") == "partial support"
    for question in (creation, importance, assignment, relevance, support):
        assert "response_format" not in gateway.request_body(question, question.messages, PARAMETERS)


def test_what_files_lack_comes_from_the_projects_own_set(campaign: Campaign, imported) -> None:
    told = imported({"a.yaml": ASSIGNER_2}, "--name", "mine")
    lacking = "creation, importance, query_questions, question_creation, contrast, grounded_questions, grading"
    assert (
        f"{lacking}, {OF_REPORTS}, support, relevance, preference, report, matching, candidates: from assay-1" in told
    )
    own, made = prompt_set("assay-1"), prompt_set("mine", campaign)
    assert {question for question in job_prompts() if made.texts[question] != own.texts[question]} == {"assignment"}
    two = ASSIGNMENT_PROMPT.request(made, query="q", answer="a", nuggets=["n"])
    assert two.read("['not_support']") == ["not_support"]
    with pytest.raises(WrongAnswer, match="it must be one of support, not_support"):
        two.read("['partial_support']")
    relevance = RELEVANCE_PROMPT.request(made, query="q", passage="p")
    assert "response_format" in gateway.request_body(relevance, relevance.messages, PARAMETERS)
    provenance = CampaignPromptSet.objects.get().provenance
    assert provenance["assignment"] == {
        "file": "a.yaml",
        "sha256": sha(ASSIGNER_2),
        "method": "nugget_assignment_2grade",
    }
    assert provenance["support"] == {"prompt_set": "assay-1", "sha256": sha(own.texts["support"])}


def test_a_set_is_named_by_its_content_and_made_once(campaign: Campaign, imported) -> None:
    first = imported({"a.yaml": GRADER_YAML})
    assert imported({"a.yaml": GRADER_YAML}) == first
    made = CampaignPromptSet.objects.get()
    assert re.fullmatch("published-[0-9a-f]{8}", made.name)
    [event] = Event.objects.filter(verb="prompts imported")
    assert event.details["sha256"] == {prompt: sha(text) for prompt, text in made.texts.items()}
    assert event.details["provenance"] == made.provenance
    with pytest.raises(CommandError, match=r"There is another prompt set called .+\. Choose another name\.\nNothing"):
        imported({"a.txt": GRADER + " Now."}, "--name", made.name)
    assert CampaignPromptSet.objects.count() == 1


def test_lines_of_windows_and_marks_at_the_beginning_change_nothing_but_the_sum(campaign: Campaign, imported) -> None:
    odd = b"\xef\xbb\xbf" + GRADER.replace("\n", "\r\n").encode()
    imported({"a.txt": odd}, "--name", "odd")
    imported({"a.txt": GRADER}, "--name", "plain")
    assert prompt_set("odd", campaign).texts == prompt_set("plain", campaign).texts
    assert CampaignPromptSet.objects.get(name="odd").provenance["relevance"]["sha256"] == sha256(odd).hexdigest()


def test_a_set_belongs_to_its_campaign(campaign: Campaign, imported, otto: Person) -> None:
    imported({"a.txt": GRADER}, "--name", "mine")
    other = create_campaign(name="Other", slug="other", acting_user=otto)
    assert names(campaign) == ["assay-1", "mine"]
    assert names(other) == names() == ["assay-1"]
    for of in (other, None):
        with pytest.raises(PromptSetError, match="There is no prompt set called mine"):
            prompt_set("mine", of)


@pytest.mark.parametrize("name", ["assay-1", "../x", "a b", "x" * 61, "-x"])
def test_names_that_are_taken_or_odd_are_refused(campaign: Campaign, imported, name: str) -> None:
    with pytest.raises(CommandError, match="Nothing was written"):
        imported({"a.txt": GRADER}, f"--name={name}")
    assert not CampaignPromptSet.objects.exists()


def test_a_folder_may_name_the_reader_of_replies_too(settings, tmp_path: Path) -> None:
    settings.PROMPT_SETS = tmp_path
    (tmp_path / "other").mkdir()
    for question, text in prompt_set("assay-1").texts.items():
        (tmp_path / "other" / f"{question}.md").write_text(text)
    file = tmp_path / "other" / "assignment.md"
    file.write_text("# reply: list of two labels\n" + file.read_text())
    asked = ASSIGNMENT_PROMPT.request(prompt_set("other"), query="q", answer="a", nuggets=["n"])
    assert asked.schema == {}
    with pytest.raises(WrongAnswer):
        asked.read('["partial_support"]')
    file.write_text(file.read_text().replace("list of two labels", "score"))
    with pytest.raises(PromptSetError, match="write list of labels or list of two labels"):
        prompt_set("other")


# --- What is wrong


def changed(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


WRONG: list[tuple[str, str | bytes, str]] = [
    ("a.md", GRADER, "a.md: found the ending .md; expected .yaml, .yml or .txt. Give the file the ending"),
    ("a", GRADER, "a: found no ending; expected .yaml"),
    ("a.txt", GRADER + "x" * 100_000, "a.txt: found 100,001 bytes; expected at most 100,000. A template is"),
    ("a.txt", b"one\n\xff {query}", "a.txt, line 2: found the byte 0xff; expected UTF-8. Save the file as UTF-8."),
    ("a.txt", "x\n\0{query}{passage}", "a.txt, line 2: found \\u0000; expected text."),
    ("a.txt", "", "a.txt: found no placeholders; expected {statement} and {citation} or {query} and {passage}."),
    ("a.txt", "{query}", "a.txt: found {query}; expected {statement} and {citation} or {query} and {passage}."),
    ("a.txt", GRADER + "\n{examples}", "a.txt, line 6: found {examples}; expected placeholders of {query}, {passage}."),
    ("a.txt", GRADER + "\n{examples}", "Assay draws no examples: write them in its place"),
    ("a.txt", GRADER + "\n{reason}", "a.txt, line 6: found {reason}; expected placeholders of {query}, {passage}."),
    ("a.txt", GRADER + '\n{"o": 1}', 'a.txt, line 6: found {"o": 1}; expected a name in braces, such as {query}.'),
    ("a.txt", GRADER + "\n{query!r}", "a.txt, line 6: found {query!r}; expected a name in braces"),
    ("a.txt", GRADER + "\n{}", "a.txt, line 6: found {}; expected a name in braces"),
    ("a.txt", GRADER + "\n}", "Write {{ and }} for braces that are part of the prompt."),
    (
        "a.yaml",
        changed(CREATOR, "nugget_creation", "listwise_ranking"),
        "a.yaml, line 1: method: found listwise_ranking; expected one of nugget_creation, nugget_scoring, ",
    ),
    (
        "a.yaml",
        changed(SCORER, "method:", "kind:"),
        "a.yaml, line 1: kind: found a key that is not known; expected one",
    ),
    ("a.yaml", SCORER + "suffix: x\n", "a.yaml, line 6: suffix: found a key that is not known; expected one of method"),
    ("a.yaml", SCORER + "method: x\n", "a.yaml, line 6: method: found the key once more; expected each key once."),
    ("a.yaml", "system_message: x\nprefix_user: y\n", "a.yaml: method: found no such key; expected a text. Take the"),
    ("a.yaml", "method: nugget_scoring\n", "a.yaml: prefix_user: found no such key; expected a text."),
    ("a.yaml", changed(SCORER, "You weigh.", "5"), "a.yaml, line 2: system_message: found 5; expected a text. Put it"),
    (
        "a.yaml",
        changed(SCORER, "You weigh.", "!!python/object/apply:os.system [ls]"),
        "a.yaml, line 2: found lists, mappings or anchors inside; expected texts alone.",
    ),
    ("a.yaml", "a: &a [x]\nb: *a\n", "a.yaml, line 1: found lists, mappings or anchors inside"),
    ("a.yaml", "a: &a x\nb: *a\n", "a.yaml, line 1: found lists, mappings or anchors inside"),
    ("a.yaml", "[" * 50_000, "a.yaml, line 1: found lists, mappings or anchors inside"),
    ("a.yaml", "{a: " * 20_000, "a.yaml, line 1: found lists, mappings or anchors inside"),
    ("a.yaml", "- a\n- b\n", "a.yaml, line 1: found no keys; expected the keys method, system_message, prefix_user."),
    ("a.yaml", "", "a.yaml, line 1: found no keys"),
    ("a.yaml", 'method: "x\n', "a.yaml, line 2: found found unexpected end of stream; expected YAML."),
    ("a.yaml", "method: a\x07b\n", "expected YAML."),
    ("a.yaml", SCORER + "---\n" + SCORER, "expected YAML."),
    (
        "a.yaml",
        changed(SCORER, "You weigh.", '"You\\0weigh."'),
        "a.yaml, line 2: system_message: found \\u0000; expected text. Take the character out.",
    ),
    (
        "a.yaml",
        changed(SCORER, "You weigh.", '"You \\ud83d\\ude00 weigh."'),
        "a.yaml, line 2: system_message: found \\ud83d; expected text. Take the character out.",
    ),
    (
        "a.yaml",
        changed(SCORER, "You weigh.", '"\\UFFFFFFFF"'),
        "a.yaml: found a number that is too large; expected YAML.",
    ),
    ("a.yaml", f"%YAML 1.{'1' * 5_000}\n---\n{SCORER}", "a.yaml: found a number that is too large; expected YAML."),
    (
        "a.yaml",
        changed(SCORER, "For {query}", "Go."),
        "a.yaml: prefix_user: found {num_nuggets}, {nuggets}; expected {query}. The prompt importance needs it",
    ),
    (
        "a.yaml",
        changed(SCORER, "{query}", "{context}"),
        "a.yaml, line 5: prefix_user: found {context}; expected",
    ),
    (
        "a.yaml",
        changed(SCORER, "You weigh.", '"You\\n# user\\nweigh."'),
        "a.yaml: prefix_user: found a prompt that can't be kept; expected a user message. Write something",
    ),
]


@pytest.mark.parametrize(("name", "content", "problem"), WRONG)
def test_what_is_wrong_is_told_and_nothing_is_written(
    campaign: Campaign, imported, name: str, content: str | bytes, problem: str
) -> None:
    with pytest.raises(CommandError, match=re.escape(problem)) as caught:
        imported({"good.yaml": CREATOR, name: content})
    assert str(caught.value).endswith("\nNothing was written.")
    assert "good.yaml" not in str(caught.value)
    assert not CampaignPromptSet.objects.exists()


def test_all_files_that_are_wrong_are_named_and_two_for_one_question_are() -> None:
    files = [("a.yaml", ASSIGNER), ("b.yaml", ASSIGNER_2), ("c.doc", ""), ("\x1b[2J" + "d" * 300, "")]
    with pytest.raises(TemplateError) as caught:
        read_templates([(name, text.encode()) for name, text in files])
    second, third, fourth = caught.value.messages
    assert second == (
        "b.yaml: found another one; expected one file for the prompt assignment, which a.yaml is for already. "
        "Leave one of the two out."
    )
    assert third.startswith("c.doc: found the ending .doc")
    assert "\x1b" not in fourth
    assert len(fourth) < 300


@pytest.mark.parametrize("piece", ["{{", "{query}", "}}\n"])
def test_many_braces_take_linear_time(piece: str) -> None:
    """Ten times the text takes about ten times the time; where it grows with the square, a hundred times."""

    def seconds(size: int) -> float:
        begun = time.process_time()
        read_templates([("a.txt", ("{query}{passage}" + piece * (size // len(piece))).encode())])
        return time.process_time() - begun

    # The least of three: a busy machine makes single ones longer.
    long, short = (min(seconds(size) for _ in range(3)) for size in (99_000, 9_900))
    assert long < 30 * short + 0.01


def test_where_the_grade_stands_is_the_templates_to_say(campaign: Campaign, imported) -> None:
    """UMBRELA's basic templates ask for an explanation, and for the grade alone on the last line."""
    basic = changed(GRADER_YAML, "bing", "basic")
    reply = "It answers a part.\n2"
    for file, content, reader in (
        ("a.yaml", basic, "score on the last line"),
        ("qrel_zeroshot_basic.txt", GRADER, "score on the last line"),
        ("a.yml", GRADER_YAML, "score"),
        ("nugget_creation.txt", GRADER, "score"),
    ):
        made = f"of-{file}"
        assert f"replies are read as a {reader}\n" in imported({file: content}, "--name", made)
        asked = RELEVANCE_PROMPT.request(prompt_set(made, campaign), query="q", passage="p")
        assert asked.schema == {}
        if reader == "score":
            with pytest.raises(WrongAnswer):
                asked.read(reply)
        else:
            assert asked.read(reply) == 2


def test_files_that_are_not_there_are_named(campaign: Campaign, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.yaml", Path("/dev/zero")):
        with pytest.raises(CommandError, match=f"There is no file {path}"):
            call_command("import_prompts", "study", str(path))


# --- The page

PAGE = "/campaigns/study/prompts/import/"


@pytest.fixture
def as_olga(campaign: Campaign, olga: Person) -> Client:
    return client_of(olga)


def preview(client: Client, files: dict[str, str], name: str = "") -> str:
    uploads = [SimpleUploadedFile(file, text.encode()) for file, text in files.items()]
    return client.post(PAGE, {"uploads": uploads, "name": name}).content.decode()


def token(page: str) -> str:
    found = re.search(r'name="confirmed" value="([^"]+)"', page)
    assert found is not None, page
    return found[1]


def test_the_page_shows_what_was_understood_before_it_makes_a_set(as_olga: Client, campaign: Campaign, olga) -> None:
    page = preview(as_olga, {"a.yaml": CREATOR, "b.txt": GRADER}, "published")
    for text in (
        f"<bdi>a.yaml</bdi>, nugget_creation, sha256 <code>{sha(CREATOR)}</code>",
        "<code>{creator_max_nuggets}</code> is <code>${most}</code>",
        "<td>list of nuggets</td>",
        "<td>assay-1, as no file has it</td>",
        "How good is it?",
    ):
        assert text in page
    assert not CampaignPromptSet.objects.exists()
    response = as_olga.post(PAGE, {"confirmed": token(page)})
    assert response["Location"] == "/campaigns/study/prompts/"
    made = CampaignPromptSet.objects.get()
    assert (made.name, made.created_by) == ("published", olga)
    page = as_olga.get("/campaigns/study/prompts/").content.decode()
    own, made = prompt_set("assay-1"), prompt_set("published", campaign)
    assert all(sha(text) in page for text in made.texts.values())
    assert f"From <bdi>a.yaml</bdi>, nugget_creation, sha256 <code>{sha(CREATOR)}</code>" in page
    assert page.count(">From assay-1<") == 17
    assert page.count(sha(own.texts["support"])) == 2
    assert "Prompt set published created." in page


def test_a_judge_can_use_it(as_olga: Client, campaign: Campaign, imported) -> None:
    imported({"a.txt": GRADER}, "--name", "published")
    assert '<option value="published">' in as_olga.get("/campaigns/study/judges/new/").content.decode()
    found = {"prompt": "relevance", "topic": "t1", "docid": "d1", "prompt_set": "published"}
    page = as_olga.get("/campaigns/study/prompts/", found).content.decode()
    assert "How good is it?\n\nQuery: why do cats purr\nPassage: Cats purr when content." in page
    assert "the prompt itself says that its reply is read as a score." in page
    out = StringIO()
    options = {"prompt_set": "published", "docid": "d1", "stdout": out}
    call_command("render_prompt", "study", "t1", "relevance", **options)
    assert "--- No JSON schema: the reply is read as a score" in out.getvalue()


def test_the_page_tells_what_is_wrong(as_olga: Client) -> None:
    page = preview(as_olga, {"a.yaml": "method: none\nprefix_user: x\n", "b.txt": "<script>"}, "a b")
    assert "a.yaml, line 1: method: found none; expected one of nugget_creation" in page
    assert "<script>" not in page.split("<main")[1]
    assert "A prompt set&#x27;s name has letters" in page
    assert 'name="confirmed"' not in page
    assert "No file came with the form." in as_olga.post(PAGE, {}).content.decode()
    assert not CampaignPromptSet.objects.exists()


def test_only_what_this_campaign_was_shown_is_confirmed(as_olga: Client, olga: Person) -> None:
    confirmed = token(preview(as_olga, {"b.txt": GRADER}))
    create_campaign(name="Other", slug="other", acting_user=olga)
    for path, sent in (("other", confirmed), ("study", "x" + confirmed), ("study", "")):
        page = as_olga.post(f"/campaigns/{path}/prompts/import/", {"confirmed": sent}, follow=True)
        assert "Nothing was created: this check is over an hour old." in page.content.decode()
    assert not CampaignPromptSet.objects.exists()
    as_olga.post(PAGE, {"confirmed": confirmed})
    as_olga.post(PAGE, {"confirmed": confirmed})
    assert CampaignPromptSet.objects.count() == 1


def test_a_name_that_was_taken_meanwhile_is_told(as_olga: Client, imported) -> None:
    confirmed = token(preview(as_olga, {"b.txt": GRADER}, "mine"))
    imported({"a.yaml": CREATOR}, "--name", "mine")
    page = as_olga.post(PAGE, {"confirmed": confirmed}, follow=True).content.decode()
    assert "Nothing was created. There is another prompt set called mine." in page


def test_the_page_of_prompts_costs_the_same_queries_with_many_sets(
    as_olga: Client, imported, django_assert_max_num_queries
) -> None:
    for number in range(12):
        imported({"a.txt": GRADER}, "--name", f"set-{number}")
    with django_assert_max_num_queries(22):
        assert "set-11" in as_olga.get("/campaigns/study/prompts/").content.decode()
