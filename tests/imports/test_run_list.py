"""runs.csv: team, task, type, priority, aliases and generators of runs."""

import pytest

from assessor.campaigns.models import Event, Import, RunAlias
from tests.imports.conftest import told, warned

HEADER = "tag,team,task,type,priority,aliases"
GOOD = [HEADER, "buw,BUW,RAG,automatic,1,buw.buw", 'webis-manual,"Webis, Weimar",AG,manual,,webis.webis-manual w-m']


def runs(campaign):
    """Return the runs by tag, each with its details and aliases."""
    return {
        run.tag: (run.team, run.task, run.type, run.priority, [alias.name for alias in run.aliases.all()])
        for run in campaign.runs.all()
    }


def test_a_list_of_runs(empty_campaign, import_file):
    done = import_file(empty_campaign, "run_list", "\n".join([*GOOD, "plain,,,,,"]))
    assert (done.state, told(done), warned(done)) == (Import.State.DONE, [], {})
    assert done.report["counts"] == {"runs added": 3, "lines": 4}
    assert runs(empty_campaign) == {
        "buw": ("BUW", "RAG", "automatic", 1, ["buw.buw"]),
        "webis-manual": ("Webis, Weimar", "AG", "manual", None, ["webis.webis-manual", "w-m"]),
        "plain": ("", "", "", None, []),
    }


def test_columns_may_come_in_any_order(empty_campaign, import_file):
    content = "\ufeffaliases, priority,type,task,team,tag\r\nb a,3,manual,AG,T,r1\r\n"
    assert import_file(empty_campaign, "run_list", content).state == Import.State.DONE
    assert runs(empty_campaign) == {"r1": ("T", "AG", "manual", 3, ["b", "a"])}


HEADERS = [
    pytest.param("tag,team,task,type,priority", id="column-lacking"),
    pytest.param(HEADER + ",note", id="column-too-many"),
    pytest.param("tag,team,task,type,priority,priority", id="column-twice"),
    pytest.param("Tag,team,task,type,priority,aliases", id="capital"),
    pytest.param(HEADER + ",generator,generator", id="optional-column-twice"),
    pytest.param("tag;team;task;type;priority;aliases", id="semicolons"),
    pytest.param("buw,BUW,RAG,automatic,1,buw.buw", id="no-header"),
]


@pytest.mark.parametrize("header", HEADERS)
def test_the_first_line_names_the_columns(empty_campaign, import_file, rows, header):
    refused = import_file(empty_campaign, "run_list", "\n".join([header, *GOOD[1:]]))
    assert told(refused) == [(1, "header", header, f"the columns {HEADER},generator; generator may be left out")]
    assert set(rows().values()) == {0}
    assert import_file(empty_campaign, "run_list", "\n".join(GOOD)).state == Import.State.DONE


def test_a_list_with_nothing_but_its_header_has_no_record(empty_campaign, import_file):
    assert told(import_file(empty_campaign, "run_list", HEADER)) == [(0, "", "no record", "at least one record")]


ONCE = "a name of one run only; {} has it"
BAD = [
    pytest.param("r3,,,,", "", "5 columns: r3,,,,", "6 columns", id="five-columns"),
    pytest.param("r3,,,,,,", "", "7 columns: r3,,,,,,", "6 columns", id="seven-columns"),
    pytest.param(',,,,,"', "", 'unexpected end of data: ,,,,,"', "one row of CSV", id="open-quote"),
    pytest.param('"r3"x,,,,,', "", "',' expected after '\"': \"r3\"x,,,,,", "one row of CSV", id="behind-a-quote"),
    pytest.param(
        "r3," + "x" * 140_000 + ",,,,",
        "",
        "field larger than field limit (131072): r3," + "x" * 77 + "…",
        "one row of CSV",
        id="140,000-characters",
    ),
    pytest.param(",T,,,,", "tag", "", "an id that is not empty", id="no-tag"),
    pytest.param("r 3,,,,,", "tag", "r 3", "an id without blanks inside", id="blank-in-tag"),
    pytest.param(
        "r3,,,,,a\u202eb", "aliases", "a\\u202eb", "an id without control or invisible characters", id="bidi-in-alias"
    ),
    pytest.param("buw,X,,,,", "tag", "buw", "each once; it stands on line 2 already", id="tag-twice"),
    pytest.param("r3,,,,,w-m", "aliases", "w-m", ONCE.format("webis-manual"), id="alias-of-two-runs"),
    pytest.param("r3,,,,,buw", "aliases", "buw", ONCE.format("buw"), id="alias-is-another-tag"),
    pytest.param("w-m,,,,,", "tag", "w-m", ONCE.format("webis-manual"), id="tag-is-another-alias"),
    pytest.param("r3,,,auto,,", "type", "auto", "automatic, manual or nothing", id="type"),
    pytest.param("r3,,,Manual,,", "type", "Manual", "automatic, manual or nothing", id="type-capital"),
    *(
        pytest.param(f"r3,,,,{priority},", "priority", priority, "a whole number or nothing", id=f"priority-{priority}")
        for priority in ["-1", "1.0", "one", "²", "1234567890"]
    ),
    pytest.param("r3," + "T" * 121 + ",,,,", "team", "T" * 120 + "…", "at most 120 characters", id="team"),
    pytest.param("r3,,G" + "A" * 40 + ",,,", "task", "G" + "A" * 40, "at most 40 characters", id="task"),
    pytest.param("r3,a\x00b,,,,", "team", "a\\u0000b", "text without NUL characters", id="nul-in-team"),
]


@pytest.mark.parametrize(("line", "field", "found", "expected"), BAD)
def test_bad_rows(empty_campaign, refuses, line, field, found, expected):
    refuses(empty_campaign, "run_list", GOOD, line, (field, found, expected))


def test_a_name_that_a_loaded_run_has_is_refused_for_another(empty_campaign, import_file, rows):
    import_file(empty_campaign, "run_list", "\n".join(GOOD))
    before, there = rows(), runs(empty_campaign)
    refused = import_file(empty_campaign, "run_list", f"{HEADER}\nr3,,,,,buw.buw\nr4,,,,,r4 x\n")
    assert told(refused) == [(2, "aliases", "buw.buw", ONCE.format("buw"))]
    assert (rows(), runs(empty_campaign)) == (before, there)


def test_a_run_may_repeat_its_own_names(empty_campaign, import_file):
    assert import_file(empty_campaign, "run_list", f"{HEADER}\nr1,,,,,r1 a a\n").state == Import.State.DONE
    assert runs(empty_campaign) == {"r1": ("", "", "", None, ["r1", "a"])}


def test_blanks_around_a_tag_go_with_a_warning(empty_campaign, import_file):
    done = import_file(empty_campaign, "run_list", f"{HEADER}\n r1 ,,,, 2 , a  b \n")
    assert warned(done) == {"blanks around an id": [(2, "tag", " r1 ", "stripped to r1")]}
    assert runs(empty_campaign) == {"r1": ("", "", "", 2, ["a", "b"])}


def test_importing_twice_changes_nothing(empty_campaign, import_file, rows):
    import_file(empty_campaign, "run_list", "\n".join(GOOD))
    before, there, aliases = rows(), runs(empty_campaign), set(RunAlias.objects.values_list("pk", "name"))
    again = import_file(empty_campaign, "run_list", "\n".join(GOOD))
    assert (again.state, again.report["counts"]) == (Import.State.DONE, {"runs already so": 2, "lines": 3})
    assert (rows(), runs(empty_campaign)) == (before, there)
    assert set(RunAlias.objects.values_list("pk", "name")) == aliases
    assert not Event.objects.filter(verb="run details changed").exists()


def test_a_changed_run_is_on_record_with_what_stood_there_before(empty_campaign, import_file):
    import_file(empty_campaign, "run_list", "\n".join(GOOD))
    changed = import_file(empty_campaign, "run_list", f"{HEADER}\nbuw,Bauhaus,AG,manual,,other buw.buw\n{GOOD[2]}\n")
    assert changed.report["counts"] == {"runs already so": 1, "runs changed": 1, "lines": 3}
    assert runs(empty_campaign)["buw"] == ("Bauhaus", "AG", "manual", None, ["buw.buw", "other"])
    event = Event.objects.get(verb="run details changed")
    assert (event.campaign, event.subject) == (empty_campaign, "buw")
    before = {"team": "BUW", "task": "RAG", "type": "automatic", "priority": 1, "generator": ""}
    after = {"team": "Bauhaus", "task": "AG", "type": "manual", "priority": None, "generator": ""}
    assert event.details == {
        "before": before | {"aliases": ["buw.buw"]},
        "after": after | {"aliases": ["buw.buw", "other"]},
    }


def generators(campaign):
    """Return the families of the models behind each run, by tag."""
    return {run.tag: run.generator for run in campaign.runs.all()}


def test_generators_are_stored_in_one_order_and_shown_by_their_names(empty_campaign, import_file):
    rows = [f"{HEADER},generator", "r1,,,,,,meta openai meta", "r2,,,,,,unknown", "r3,,,,,,", "r4,,,,,,other unknown"]
    assert import_file(empty_campaign, "run_list", "\n".join(rows)).state == Import.State.DONE
    assert generators(empty_campaign) == {"r1": "openai meta", "r2": "", "r3": "", "r4": "other"}
    run = empty_campaign.runs.get(tag="r1")
    assert (run.families, run.generator_in_words) == (["openai", "meta"], "OpenAI, Meta")


@pytest.mark.parametrize("generator", ["gpt-4o", "OpenAI", "openai,meta"])
def test_a_generator_is_a_family_by_its_word(empty_campaign, import_file, generator):
    refused = import_file(empty_campaign, "run_list", f'{HEADER},generator\nr1,,,,,,"{generator}"\n')
    expected = "openai, anthropic, google, meta, qwen, mistral, other or unknown, separated by blanks"
    assert told(refused) == [(2, "generator", generator, expected)]


def test_a_list_without_generators_says_nothing_of_them(empty_campaign, import_file):
    import_file(empty_campaign, "run_list", f"generator,{HEADER}\nqwen,r1,T,,,,\n")
    again = import_file(empty_campaign, "run_list", f"{HEADER}\nr1,T,,,,\nr2,,,,,\n")
    assert again.report["counts"] == {"runs already so": 1, "runs added": 1, "lines": 3}
    import_file(empty_campaign, "run_list", f"{HEADER}\nr1,U,,,,\n")
    assert generators(empty_campaign) == {"r1": "qwen", "r2": ""}
    import_file(empty_campaign, "run_list", f"{HEADER},generator\nr1,U,,,,,\n")
    assert generators(empty_campaign) == {"r1": "", "r2": ""}
    events = Event.objects.filter(verb="run details changed").order_by("pk")
    changes = [(event.details["before"]["generator"], event.details["after"]["generator"]) for event in events]
    assert changes == [("qwen", "qwen"), ("qwen", "")]


def test_an_alias_can_be_taken_from_a_run(empty_campaign, import_file):
    import_file(empty_campaign, "run_list", "\n".join(GOOD))
    import_file(empty_campaign, "run_list", f"{HEADER}\nbuw,BUW,RAG,automatic,1,\n")
    assert runs(empty_campaign)["buw"] == ("BUW", "RAG", "automatic", 1, [])
    assert import_file(empty_campaign, "run_list", f"{HEADER}\nr3,,,,,buw.buw\n").state == Import.State.DONE


def test_checking_a_list_changes_nothing(empty_campaign, import_file, rows):
    import_file(empty_campaign, "run_list", "\n".join(GOOD))
    before, there, events = rows(), runs(empty_campaign), Event.objects.count()
    content = f"{HEADER}\nbuw,Bauhaus,,,,\nr9,,,,,nine\n"
    assert import_file(empty_campaign, "run_list", content, check_only=True).state == Import.State.CHECKED
    assert (rows(), runs(empty_campaign), Event.objects.count()) == (before, there, events)


def test_a_refused_list_changes_no_run(empty_campaign, import_file):
    import_file(empty_campaign, "run_list", "\n".join(GOOD))
    there = runs(empty_campaign)
    refused = import_file(empty_campaign, "run_list", f"{HEADER}\nbuw,Bauhaus,,,,\nr9,,,wrong,,\n")
    assert refused.state == Import.State.REFUSED
    assert runs(empty_campaign) == there
    assert not Event.objects.filter(verb="run details changed").exists()
