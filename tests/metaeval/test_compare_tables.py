"""The command on two files, without a database."""

import csv
import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from scipy.stats import kendalltau

from tests.metaeval.matrices import Scores, two_sides

ROOT = Path(__file__).resolve().parents[2]
TASKS = ("RAG", "AG")


def table(path: Path, scores: Scores, measures: tuple[str, ...], *, by_topic: bool = True) -> str:
    """Write a score table of (runs, topics, measures); return its path."""
    rows = [",".join(("run_id", "task", *(["topic"] if by_topic else []), *measures))]
    for run in range(scores.shape[0]):
        told = [f"r{run}", TASKS[run % 2]]
        if by_topic:
            for topic in range(scores.shape[1]):
                rows.append(",".join((*told, f"t{topic}", *map(repr, scores[run, topic].tolist()))))
        else:
            rows.append(",".join((*told, *map(repr, scores[run].mean(axis=0).tolist()))))
    path.write_text("\n".join(rows) + "\n")
    return str(path)


@pytest.fixture
def sides() -> tuple[Scores, Scores]:
    return two_sides(3, 12, 8, measures=2)


def compared(capsys: pytest.CaptureFixture[str], *given: str, **options: object) -> str:
    call_command("compare_tables", *given, **options)
    return capsys.readouterr().out


def test_it_needs_neither_a_key_nor_a_database(tmp_path: Path, sides):
    env = {"ASSAY_DATA_DIR": str(tmp_path / "data")}  # nothing but where the rest goes
    paths = [table(tmp_path / f"{at}.csv", one, ("v", "length")) for at, one in enumerate(sides)]
    command = [sys.executable, "manage.py", "compare_tables", *paths, "--out", str(tmp_path / "out"), "--draws", "20"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "0.csv and 1.csv: 12 runs (6 AG, 6 RAG)\n8 topics\n" in done.stdout
    assert (tmp_path / "out/comparison.json").is_file()
    assert not list(tmp_path.rglob("*.sqlite3"))


def test_tables_by_topic_have_all_three_levels(tmp_path: Path, sides, capsys):
    first, second = sides
    paths = [table(tmp_path / f"{at}.csv", one, ("v", "length")) for at, one in enumerate(sides)]
    out = compared(capsys, *paths, out=tmp_path / "out", draws=50, seed=4, hours=1.5, names=["people", "model"])
    assert "people and model: 12 runs (6 AG, 6 RAG)\n8 topics\n" in out
    found = json.loads((tmp_path / "out/comparison.json").read_text())
    assert (found["seed"], found["draws"], found["first"]) == (4, 50, "people")
    assert [one["file"] for one in found["inputs"]] == ["0.csv", "1.csv"]
    assert {len(one["sha256"]) for one in found["inputs"]} == {64}
    statistics = found["measures"]["v"]["statistics"]
    x, y = first[..., 0], second[..., 0]
    expected = kendalltau(x.mean(axis=1).round(10), y.mean(axis=1).round(10)).statistic
    assert statistics["tau_run"]["value"] == pytest.approx(expected, abs=1e-9)
    assert statistics["tau_cell"]["value"] == pytest.approx(kendalltau(x.ravel(), y.ravel()).statistic, abs=1e-9)
    assert (statistics["tau_topic"]["n"], statistics["topics_without_tau"]["value"]) == (7, 1)
    bounds = statistics["tau_run"]["interval"]
    assert bounds["low"] < bounds["mean"] < bounds["high"]
    assert bounds["draws"] == 50
    assert f"{expected:.4f} [{bounds['low']:.3f}, {bounds['high']:.3f}] (12 runs)" in out
    corrected = bounds["bca"]
    assert "BCa intervals of tau-b" in out
    assert f"[{corrected['low']:.3f}, {corrected['high']:.3f}]" in out
    rows = list(csv.DictReader((tmp_path / "out/statistics.csv").open()))
    assert [row["statistic"] for row in rows[:3]] == ["tau_run", "tau_topic", "tau_cell"]
    assert float(rows[0]["bca_low"]) == corrected["low"] != bounds["low"]
    assert list(rows[0])[-4:] == ["why", "bca_low", "bca_high", "bca_why"]
    assert float(rows[0]["value"]) == pytest.approx(expected, abs=1e-9)
    assert (rows[0]["measure"], rows[0]["statistic"], rows[0]["n"]) == ("v", "tau_run", "12")
    assert f"{expected:.4f} [" in (tmp_path / "out/taus.tex").read_text()
    names = {path.name for path in (tmp_path / "out").iterdir()}
    figures = {"scatter-1-v", "top-1-v", "topics-1-v", "needed-1-v", "length-first", "length-second"}
    assert names == {"comparison.json", "statistics.csv", "runs.csv", "taus.tex", "top.csv", "top.tex"} | {
        f"{name}.{ending}" for name in figures for ending in ("svg", "pdf", "png")
    }
    assert "12 topics" not in (tmp_path / "out/scatter-1-v.svg").read_text()
    assert (tmp_path / "out/scatter-1-v.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "out/scatter-1-v.png").read_bytes().startswith(b"\x89PNG")


def test_tables_of_means_alone_have_runs_alone(tmp_path: Path, sides, capsys):
    paths = [table(tmp_path / f"{at}.csv", one, ("v", "w"), by_topic=False) for at, one in enumerate(sides)]
    out = compared(capsys, *paths, out=tmp_path / "out")
    assert "no topics in common: means over each side's own alone" in out
    assert "tau_topic: no scores by topic" in out
    statistics = json.loads((tmp_path / "out/comparison.json").read_text())["measures"]["w"]["statistics"]
    means = [one[..., 1].mean(axis=1).round(10) for one in sides]
    assert statistics["tau_run"] == {"value": pytest.approx(kendalltau(*means).statistic, abs=1e-9), "n": 12}
    assert statistics["tau_cell"] == {"value": None, "n": 0, "why": "no scores by topic"}
    runs = list(csv.reader((tmp_path / "out/runs.csv").open()))
    assert runs[0] == ["run_id", "task", "v 0.csv", "v 1.csv", "w 0.csv", "w 1.csv"]
    assert [float(cell) for cell in runs[1][2:]] == pytest.approx(
        [sides[at][0, :, measure].mean() for measure in range(2) for at in range(2)]
    )


def test_the_best_runs_stand_in_the_terminal_and_in_files(tmp_path: Path, sides, capsys):
    paths = [table(tmp_path / f"{at}.csv", one, ("v", "length")) for at, one in enumerate(sides)]
    out = compared(capsys, *paths, out=tmp_path / "out", draws=50, names=["people", "model"])
    x, y = (one[..., 0].mean(axis=1).round(10) for one in sides)
    found = json.loads((tmp_path / "out/comparison.json").read_text())["measures"]
    assert "top" not in found["length"]
    rows = list(csv.DictReader((tmp_path / "out/top.csv").open()))
    assert [(row["chosen_by"], row["k"]) for row in rows] == [
        (side, k) for side in ("people", "model") for k in ("5", "10", "12")
    ]
    for row, by in zip(rows, [x, x, x, y, y, y], strict=True):
        best = np.flatnonzero(by >= np.sort(by)[-int(row["k"])])
        assert (int(row["runs"]), int(row["pairs"])) == (len(best), len(best) * (len(best) - 1) // 2)
        assert float(row["tau"]) == pytest.approx(kendalltau(x[best], y[best]).statistic, abs=1e-9)
        assert (row["low"] == "") == (row["k"] == "5")
        assert f"{float(row['tau']):.3f} ({float(row['equal_noise']):.3f})" in out
        assert f"{float(row['tau']):.3f} ({float(row['equal_noise']):.3f})" in (tmp_path / "out/top.tex").read_text()
    top, statistics = found["v"]["top"], found["v"]["statistics"]
    assert [str(point["tau"]) for point in top["first"]] == [row["tau"] for row in rows[:3]]
    assert top["best"] == {"first": [f"r{x.argmax()}"], "second": [f"r{y.argmax()}"]}
    assert statistics["best_run_loss"]["value"] == pytest.approx(x.max() - x[y.argmax()], abs=1e-9)
    percent = f"{100 * statistics['best_run_found']['value']:.0f} % of 50 draws"
    assert f"v, best run by people: r{x.argmax()}; by model: r{y.argmax()}; loss" in out
    assert f"found in {percent}" in out


def test_the_best_runs_of_means_alone_have_neither_band_nor_draws(tmp_path: Path, sides, capsys):
    paths = [table(tmp_path / f"{at}.csv", one[..., :1], ("v",), by_topic=False) for at, one in enumerate(sides)]
    out = compared(capsys, *paths, out=tmp_path / "out")
    rows = list(csv.DictReader((tmp_path / "out/top.csv").open()))
    assert [(bool(row["equal_noise"]), row["low"], row["high"]) for row in rows] == [(True, "", "")] * 6
    statistics = json.loads((tmp_path / "out/comparison.json").read_text())["measures"]["v"]["statistics"]
    assert statistics["best_run_found"] == {"value": None, "n": 0, "why": "no scores by topic"}
    assert "interval" not in statistics["best_run_loss"]
    assert "outside its band" not in out
    assert "BCa" not in out


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path, sides, capsys):
    paths = [table(tmp_path / f"{at}.csv", one[..., :1], ("v",)) for at, one in enumerate(sides)]
    for name in ("one", "two"):
        compared(capsys, *paths, out=tmp_path / name, draws=20, seed=9)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name


def test_what_only_one_table_has_is_told(tmp_path: Path, sides, capsys):
    first = table(tmp_path / "a.csv", sides[0], ("v", "w"))
    second = table(tmp_path / "b.csv", sides[1][:9, :6], ("v", "other"))
    out = compared(capsys, first, second, draws=5)
    assert "left out, runs of a.csv alone: 3 (r10, r11, r9)" in out
    assert "left out, topics of a.csv alone: 2 (t6, t7)" in out
    assert "left out, measures of b.csv alone: 1 (other)" in out


@pytest.mark.parametrize("measure", ["v", "w"])
def test_an_empty_overlap_is_a_message(tmp_path: Path, sides, capsys, measure: str):
    first = table(tmp_path / "a.csv", sides[0][..., :1], ("v",))
    (tmp_path / "b.csv").write_text(f"run_id,topic,{measure}\nr{0 if measure == 'w' else 99},t1,0.5\n")
    out = compared(capsys, first, str(tmp_path / "b.csv"), out=tmp_path / "out", draws=5)
    assert f"Nothing to compare: no {'runs' if measure == 'v' else 'measures'} in common." in out
    if measure == "v":
        assert "No run has a score on both sides." in (tmp_path / "out/scatter-1-v.svg").read_text()


def test_a_wrong_table_ends_the_command_with_file_line_and_field(tmp_path: Path, sides):
    first = table(tmp_path / "a.csv", sides[0], ("v", "w"))
    wrong = tmp_path / "b.csv"
    wrong.write_text("run_id,v\nr0,high\n")
    with pytest.raises(CommandError, match=r"b\.csv, line 2: v: found high; expected a finite number"):
        call_command("compare_tables", first, str(wrong), out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(CommandError, match="There is no file"):
        call_command("compare_tables", first, str(tmp_path / "c.csv"))
    with pytest.raises(CommandError, match="at least one draw"):
        call_command("compare_tables", first, first, draws=0)


@pytest.mark.parametrize(
    ("file", "keys", "run"),
    [
        ("buw.v1.2.jsonl", {}, "buw.v1.2"),
        ("buw.v1.2.jsonl.gz", {}, "buw.v1.2"),
        ("buw", {}, "buw"),
        ("buw.v1.2.jsonl", {"run_id": "webis.x"}, "webis.x"),
    ],
)
def test_a_table_of_one_run_is_that_of_the_file_or_its_name(tmp_path: Path, capsys, file: str, keys: dict, run: str):
    scores = "".join(json.dumps({"qid": qid, "v": 0.5} | keys) + "\n" for qid in ("t1", "t2"))
    path = tmp_path / file
    path.write_bytes(gzip.compress(scores.encode()) if file.endswith(".gz") else scores.encode())
    (tmp_path / "other.csv").write_text(f"run_id,topic,v\n{run},t1,0.5\nnone,t1,1\n")
    out = compared(capsys, str(path), str(tmp_path / "other.csv"), out=tmp_path / "out", draws=5)
    assert "left out, runs of other.csv alone: 1 (none)" in out
    assert [row[0] for row in csv.reader((tmp_path / "out/runs.csv").open())] == ["run_id", run]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (
            "run measure topic value\nr0 v all 0.5\n",
            "line 1: header: found run measure topic value; expected no header",
        ),
        ("run topic metric score\nr0 all v 0.5\n", "line 1: header: found run topic metric score; expected no header"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "line 1: found a Git LFS pointer; expected"),
    ],
)
def test_a_header_and_a_git_lfs_pointer_are_called_so(tmp_path: Path, content: str, found: str):
    (tmp_path / "a.txt").write_text(content)
    with pytest.raises(CommandError, match=re.escape(found)):
        call_command("compare_tables", str(tmp_path / "a.txt"), str(tmp_path / "a.txt"))


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path, sides):
    first = table(tmp_path / "a.csv", sides[0], ("v", "w"), by_topic=False)
    with pytest.raises(CommandError, match="could not be written"):
        call_command("compare_tables", first, first, out=Path(first))


def test_support_has_a_figure_of_precision_and_recall(tmp_path: Path, sides, capsys):
    measures = ("weighted_precision", "weighted_recall")
    paths = [table(tmp_path / f"{at}.csv", np.clip(one, 0, 1), measures) for at, one in enumerate(sides)]
    compared(capsys, *paths, out=tmp_path / "out", draws=5)
    assert {"support-first.svg", "support-second.pdf"} <= {path.name for path in (tmp_path / "out").iterdir()}
