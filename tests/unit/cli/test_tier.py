"""`tunectl tier` and `tunectl schema` as users run them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.tiers import write_tier

from tunectl.cli.main import run
from tunectl.planning.tier_file import load_tier, tier_files

Capture = pytest.CaptureFixture[str]

BROKEN = """\
kubelet:
  cpu_manager_policy: statik
  reserved_cpus: "0-3"
  max_pods: lots
cpu: {reserved: 0-x}
"""


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TUNECTL_INVENTORY", raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    return tmp_path


def document(capture: Capture) -> dict[str, Any]:
    loaded = json.loads(capture.readouterr().out)
    assert isinstance(loaded, dict)
    return loaded


def test_list_shows_the_built_in_tiers(capsys: Capture) -> None:
    assert run(["tier", "list"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].split() == ["TIER", "WHAT", "FOR"]
    assert [line.split()[0] for line in lines[1:]] == sorted(tier_files())
    assert max(map(len, lines)) <= 80
    assert "…" not in out
    assert err == "Next: tunectl tier show NAME\n"


def test_list_tells_files_bases_and_mistakes_where_there_are_some(folder: Path, capsys: Capture) -> None:
    (folder / "tiers").mkdir()
    write_tier(folder / "tiers", "extends: batch\npool: other\n", "mine")
    write_tier(folder / "tiers", "irqs: {}\n", "broken")
    assert run(["tier", "list", "--color", "never"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0].split() == ["TIER", "POOL", "EXTENDS", "FILE", "WHAT", "FOR"]
    assert "1 error: tunectl tier check broken" in " ".join(out.split()) or "1 error" in out
    assert run(["tier", "list", "-o", "json"]) == 0
    items = {item["name"]: item for item in document(capsys)["items"]}
    assert (items["mine"]["extends"], items["mine"]["pool"], items["broken"]["problems"]) == (["batch"], "other", 1)


def test_show_prints_a_tier_file_that_loads_again(folder: Path, capsys: Capture) -> None:
    for flags in ([], ["--effective"]):
        assert run(["tier", "show", "hpc-massive", *flags]) == 0
        copy = folder / "copy.yaml"
        copy.write_text(capsys.readouterr().out, encoding="utf-8")
        assert load_tier(str(copy)) == load_tier("hpc-massive")
    assert "# tiers/hpc-massive.yaml:11" in copy.read_text(encoding="utf-8")


def test_show_effective_has_the_values_of_both_files_with_their_places(folder: Path, capsys: Capture) -> None:
    path = write_tier(folder, "extends: batch\nirq: {rps: true}\n")
    assert run(["tier", "show", str(path), "--effective", "-o", "json"]) == 0
    item = document(capsys)["items"][0]
    assert (item["irq"], item["placement"]["labels"]) == ({"rps": True}, {"pool": "batch"})
    assert item["origins"]["irq.rps"] == f"{path}:5:12"
    assert item["origins"]["placement.labels.pool"].startswith("tiers/batch.yaml:")


def test_check_takes_a_right_file(folder: Path, capsys: Capture) -> None:
    path = write_tier(folder, "irq: {rps: true}\n")
    assert run(["tier", "check", str(path)]) == 0
    assert capsys.readouterr().out == "✓ tier mine for pool mine has no mistakes\n"


def test_check_tells_all_mistakes_in_one_list(folder: Path, capsys: Capture) -> None:
    write_tier(folder, BROKEN)
    assert run(["tier", "check", "mine.yaml"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "mine.yaml has 4 errors.\n"
        "\n"
        "  5:23   kubelet.cpu_manager_policy                                     TUN-1102\n"
        "         'statik' is not a CPU manager policy. One of: none, static. Did you\n"
        "         mean 'static'?\n"
        "  6:3    kubelet.reserved_cpus                                          TUN-1104\n"
        "         Unknown key 'reserved_cpus'. It belongs there: cpu.reserved.\n"
        "  7:13   kubelet.max_pods                                               TUN-1103\n"
        "         'lots' is not a whole number. Allowed: 0 or more.\n"
        "  8:17   cpu.reserved                                                   TUN-1201\n"
        "         '0-x' is not a CPU list. '0-x' in '0-x' is not a CPU list item. Write\n"
        "         like 0-3,8 (kernel numbering).\n"
        "\n"
        "More: tunectl explain TUN-1102\n"
        "Nothing was contacted.\n"
    )


def test_mistakes_are_data_too(folder: Path, capsys: Capture) -> None:
    write_tier(folder, BROKEN)
    assert run(["tier", "check", "mine.yaml", "-o", "json"]) == 2
    loaded = document(capsys)
    assert (loaded["kind"], loaded["status"], loaded["exitCode"]) == ("TierCheck", "usage", 2)
    assert loaded["errors"][0] == {
        "code": "TUN-1102",
        "message": "'statik' is not a CPU manager policy",
        "location": "mine.yaml:5:23",
        "why": "one of: none, static",
        "hint": "did you mean 'static'?",
        "path": "kubelet.cpu_manager_policy",
    }


def test_short_mistakes_stand_on_one_line(folder: Path, capsys: Capture) -> None:
    write_tier(folder, "irq: {rps: 1}\n")
    assert run(["tier", "check", "mine.yaml"]) == 2
    line = "  4:12   irq.rps   '1' is not true or false.   TUN-1103\n"
    assert line in capsys.readouterr().err


def test_a_missing_file_is_no_list(capsys: Capture) -> None:
    assert run(["tier", "check", "nosuch.yaml"]) == 2
    err = capsys.readouterr().err
    assert "[TUN-1101]" in err
    assert "No such file or directory" in err


def test_diff_exits_3_when_tiers_differ(capsys: Capture) -> None:
    assert run(["tier", "diff", "batch", "shared"]) == 3
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == ["FIELD", "BATCH", "SHARED"]
    assert rows[1:] == [
        ["pool", "batch", "shared"],
        ["placement.labels.pool", "batch", "shared"],
        ["placement.taints", "workload=batch:NoSchedule", "-"],
    ]
    assert run(["tier", "diff", "batch", "batch"]) == 0
    assert capsys.readouterr().out == "batch and batch mean the same\n"
    assert run(["tier", "diff", "batch", "shared", "-o", "yaml"]) == 3
    assert yaml.safe_load(capsys.readouterr().out)["items"][0] == {"path": "pool", "before": "batch", "after": "shared"}


def test_new_writes_a_tier_that_is_found_by_its_name(folder: Path, capsys: Capture) -> None:
    assert run(["tier", "new", "mine", "--extends", "hpc-standard"]) == 0
    assert capsys.readouterr().out == "wrote tiers/mine.yaml\n"
    assert run(["tier", "check", "mine"]) == 0
    before = (folder / "tiers" / "mine.yaml").read_bytes()
    assert run(["tier", "new", "mine"]) == 2
    assert (folder / "tiers" / "mine.yaml").read_bytes() == before


def test_tiers_beside_an_inventory_are_found(folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "site" / "tiers").mkdir(parents=True)
    write_tier(folder / "site" / "tiers", "", "local")
    assert run(["tier", "check", "local"]) == 2
    assert run(["tier", "check", "local", "-i", "site"]) == 0
    monkeypatch.setenv("TUNECTL_INVENTORY", "site/hosts.yaml")
    assert run(["tier", "check", "local"]) == 0
    (folder / "inventories").mkdir()
    (folder / "inventories" / "hosts.yaml").touch()
    (folder / "site" / "tiers").rename(folder / "inventories" / "tiers")
    monkeypatch.delenv("TUNECTL_INVENTORY")
    assert run(["tier", "check", "local"]) == 0
    capsys.readouterr()


def test_schema_prints_a_schema_or_the_names(capsys: Capture) -> None:
    assert run(["schema"]) == 0
    assert "tier" in capsys.readouterr().out.splitlines()
    assert run(["schema", "tier"]) == 0
    assert document(capsys)["title"] == "Tier"
    assert run(["schema", "teir"]) == 2
    assert "did you mean 'tier'?" in capsys.readouterr().err
