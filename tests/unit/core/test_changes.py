from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tuning import NODE, machine, profile_tier

from tunectl.core.actual import Actual
from tunectl.core.changes import ChangePlanner, all_changes, plan_changes
from tunectl.core.comparison import wanted_text
from tunectl.core.desire import desire
from tunectl.core.desired import Area, DesiredState, Impact, Partition, Platform, Setting
from tunectl.core.difference import needed_actions, setting_changes
from tunectl.core.observed import ObservedState, observe
from tunectl.core.owned_settings import settings_in
from tunectl.core.plan import Change, ChangeKind, NodeFile
from tunectl.core.plan_files import FilesNow, areas_of, changed_paths, files_now
from tunectl.core.snapshot import Snapshot
from tunectl.core.tier import HugepageRequest, HugepagesSpec, IrqSpec, KernelSpec, KubeletSpec, MemorySpec, Tier

SYSCTL_FILE = "/etc/sysctl.d/99-tunectl.conf"
GRUB_FILE = "/etc/default/grub.d/99-tunectl.cfg"
KUBELET_FILE = "/etc/kubernetes/kubelet.conf.d/99-tunectl.conf"
TMPFILES_FILE = "/etc/tmpfiles.d/tunectl.conf"
MODPROBE_FILE = "/etc/modprobe.d/tunectl.conf"
UNIT_FILE = "/etc/systemd/system/tunectl-hugepages.service"


def sysctl(name: str, value: str) -> Setting:
    return Setting(f"sysctl.{name}", Area.SYSCTL, name, value, Impact.LIVE)


def argument(name: str, value: str | None) -> Setting:
    return Setting(f"cmdline.{name}", Area.CMDLINE, name, value, Impact.REBOOT)


def kubelet(name: str, value: Any, impact: Impact = Impact.RESTART) -> Setting:
    return Setting(f"kubelet.{name}", Area.KUBELET, name, value, impact)


def state(*settings: Setting) -> DesiredState:
    return DesiredState("t", "t", Platform.KUBEADM, Partition(), settings)


KUBELET_MAIN = {"/var/lib/kubelet/config.yaml": "kind: KubeletConfiguration\n"}


def observed(
    files: Mapping[str, str] | None = None, owned: Mapping[str, str] | None = None, *, has_kubelet: bool = True
) -> ObservedState:
    kubelet = KUBELET_MAIN if has_kubelet else {}
    texts = {"/proc/cmdline": "quiet", "/proc/sys/kernel/osrelease": "6.8.0\n", **kubelet, **(files or {})}
    listings: dict[str, tuple[str, ...]] = {}
    if owned is not None:
        listings["/var/lib/tunectl/generations"] = ("0001",)
        texts["/var/lib/tunectl/generations/0001/manifest.json"] = manifest(owned)
    absent = frozenset(("/proc/sys/vm/gone",))
    return observe(
        Snapshot("n", texts, listings={**listings, "/proc/sys": ("kernel", "vm")}, absent=absent),
        {path: {"kind": "KubeletConfiguration"} for path in kubelet},
    )


def manifest(owned: Mapping[str, str], outcome: str = "committed") -> str:
    digests = {path: hashlib.sha256(text.encode()).hexdigest() for path, text in owned.items()}
    return json.dumps({"state": outcome, "files": [{"path": path, "sha256": sha} for path, sha in digests.items()]})


def ids(changes: tuple[Change, ...]) -> list[tuple[str, str]]:
    return [(change.kind.value, change.setting) for change in changes]


class TestSettings:
    def test_only_what_differs_by_meaning_is_a_change(self) -> None:
        desired = state(sysctl("vm.swappiness", "10"), sysctl("net.ipv4.tcp_rmem", "1 2 3"), sysctl("vm.gone", "1"))
        now = observed({"/proc/sys/vm/swappiness": "60\n", "/proc/sys/net/ipv4/tcp_rmem": "1\t2\t3\n"})
        found = all_changes(desired, now)
        assert ids(found.changes) == [("change", "sysctl.vm.swappiness"), ("add", "sysctl.vm.gone")]
        assert (found.changes[0].now, found.changes[0].wanted, found.changes[0].impact) == ("60", "10", Impact.LIVE)
        assert found.changes[1].now is None
        assert found.matching == 1
        assert found.observed == {
            "sysctl.vm.swappiness": "60",
            "sysctl.net.ipv4.tcp_rmem": "1 2 3",
            "sysctl.vm.gone": None,
        }

    def test_what_nobody_could_look_at_is_no_change_and_no_match(self) -> None:
        found = all_changes(state(kubelet("maxPods", 10)), observed())
        assert (found.changes, found.matching, found.observed) == ((), 0, {})

    def test_kernel_arguments_compare_with_the_running_kernel(self) -> None:
        desired = state(argument("nohz_full", "2-3"), argument("quiet", None), argument("idle", "poll"))
        now = observed({"/proc/cmdline": "quiet nohz_full=2,3 idle=nomwait\n"})
        changes = plan_changes(desired, now)
        assert ids(changes) == [("change", "cmdline.idle")]
        assert changes[0].now == "nomwait"

    def test_texts_of_the_kubelet_are_shown_without_quotes(self) -> None:
        desired = state(kubelet("cpuManagerPolicy", "static"), kubelet("kubeReserved", {"cpu": "1"}))
        values = {"cpuManagerPolicy": Actual('"none"'), "kubeReserved": Actual('{"cpu":"2"}')}
        changes = setting_changes(desired, lambda setting: values[setting.name]).changes
        assert [(change.now, change.wanted) for change in changes] == [
            ("none", "static"),
            ('{"cpu":"2"}', '{"cpu":"1"}'),
        ]


class TestFiles:
    def test_a_file_that_carries_a_change_is_not_listed_again(self) -> None:
        desired = state(sysctl("vm.swappiness", "10"))
        file = NodeFile(SYSCTL_FILE, "vm.swappiness = 10\n")
        assert ids(plan_changes(desired, observed({"/proc/sys/vm/swappiness": "60"}), [file])) == [
            ("change", "sysctl.vm.swappiness")
        ]

    def test_a_file_whose_values_are_right_already_is_a_cheap_change(self) -> None:
        desired = state(argument("quiet", None))
        file = NodeFile(GRUB_FILE, "text\n")
        found = all_changes(desired, observed(), [file])
        assert ids(found.changes) == [("add", f"file.{GRUB_FILE}")]
        assert found.changes[0].impact is Impact.LIVE
        assert found.actions == ("update-grub",)
        again = all_changes(desired, observed({GRUB_FILE: "text\n"}), [file])
        assert (again.changes, again.actions) == ((), ())
        other = all_changes(desired, observed({GRUB_FILE: "text"}), [file])
        assert ids(other.changes) == [("change", f"file.{GRUB_FILE}")]

    def test_a_file_whose_settings_nobody_could_look_at_costs_what_they_cost(self) -> None:
        desired = state(kubelet("cpuManagerPolicy", "static", Impact.DRAIN))
        found = all_changes(desired, observed(), [NodeFile(KUBELET_FILE, "text\n")])
        assert ids(found.changes) == [("add", f"file.{KUBELET_FILE}")]
        assert found.changes[0].impact is Impact.DRAIN
        assert found.actions == ("kubelet-checkpoints", "kubelet-restart")

    def test_files_that_were_not_read_are_known_from_the_record(self) -> None:
        file = NodeFile(UNIT_FILE, "[Unit]\n")
        assert plan_changes(state(), observed(owned={UNIT_FILE: "[Unit]\n"}), [file]) == ()
        assert ids(plan_changes(state(), observed(owned={UNIT_FILE: "old\n"}), [file])) == [
            ("change", f"file.{UNIT_FILE}")
        ]

    def test_owned_files_that_nobody_wants_go_at_the_price_of_their_area(self) -> None:
        owned = {UNIT_FILE: "x\n", KUBELET_FILE: "{}\n"}
        found = all_changes(state(), observed({KUBELET_FILE: "{}\n"}, owned))
        assert ids(found.changes) == [("remove", f"file.{KUBELET_FILE}"), ("remove", f"file.{UNIT_FILE}")]
        assert [change.impact for change in found.changes] == [Impact.DRAIN, Impact.LIVE]
        assert all(change.wanted is None for change in found.changes)
        assert found.actions == ("daemon-reload", "units", "kubelet-checkpoints", "kubelet-restart")

    def test_a_file_that_went_by_itself_is_no_removal(self) -> None:
        snapshot = Snapshot(
            "n",
            {"/var/lib/tunectl/generations/0001/manifest.json": manifest({SYSCTL_FILE: "a\n"})},
            listings={"/var/lib/tunectl/generations": ("0001",)},
            absent=frozenset((SYSCTL_FILE,)),
        )
        assert plan_changes(state(), observe(snapshot, {})) == ()

    def test_the_newest_committed_generation_counts(self) -> None:
        numbers = ("0001", "0002", "0010", "0011", "0012")
        texts = {
            "0001": manifest({"/etc/a": "1"}),
            "0002": manifest({"/etc/b": "1"}),
            "0010": manifest({"/etc/c": "1"}),
            "0011": manifest({"/etc/d": "1"}, "undone"),
            "0012": "{",
        }
        files = {f"/var/lib/tunectl/generations/{number}/manifest.json": texts[number] for number in numbers}
        snapshot = Snapshot("n", files, listings={"/var/lib/tunectl/generations": numbers})
        assert set(files_now(snapshot).owned) == {"/etc/c"}
        assert files_now(Snapshot("n", {})).owned == {}

    def test_paths_that_change(self) -> None:
        now = FilesNow({"/etc/a": "1", "/etc/b": "1", "/etc/old": "x"}, owned={"/etc/old": "sha"})
        items = [NodeFile("/etc/a", "1"), NodeFile("/etc/b", "2"), NodeFile("/etc/c", "3")]
        assert changed_paths(items, now) == ("/etc/b", "/etc/c", "/etc/old")

    def test_nodes_share_an_answer_only_when_the_same_was_found(self) -> None:
        desired = state(argument("quiet", None))
        planner = ChangePlanner(desired, (NodeFile(GRUB_FILE, "text\n"),))
        nodes = [
            observed({GRUB_FILE: "text\n"}),
            observed(),
            observed({GRUB_FILE: "text\n"}, {UNIT_FILE: "x\n"}),
            observed({GRUB_FILE: "text\n"}),
        ]
        found = [planner.changes_of(one) for one in nodes]
        assert [[change.kind.value for change in one.changes] for one in found] == [[], ["add"], ["remove"], []]
        assert found[0] is found[3]


class TestRemovedSettings:
    TEXTS = {  # noqa: RUF012  read only
        SYSCTL_FILE: "# made by tunectl\n-vm.swappiness = 10\nnet.ipv4.tcp_rmem = 1 2 3\n",
        GRUB_FILE: '# x\nGRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX quiet hugepagesz=1G hugepages=4 nohz_full=2-3"\n',
        TMPFILES_FILE: "w /sys/kernel/mm/ksm/run - - - - 0\n",
        MODPROBE_FILE: "options kvm nx_huge_pages=0 ple_gap=0\n",
        KUBELET_FILE: (
            "apiVersion: kubelet.config.k8s.io/v1beta1\ncpuManagerPolicy: static\nevictionHard:\n  a: 1\n"
            "kind: KubeletConfiguration\nmaxPods: 10\n"
        ),
    }

    @pytest.mark.parametrize(
        ("path", "expected"),
        [
            (SYSCTL_FILE, {"sysctl.vm.swappiness": "10", "sysctl.net.ipv4.tcp_rmem": "1 2 3"}),
            (
                GRUB_FILE,
                {
                    "cmdline.quiet": "",
                    "cmdline.hugepagesz.1G": "1G",
                    "cmdline.hugepages.1G": "4",
                    "cmdline.nohz_full": "2-3",
                },
            ),
            (TMPFILES_FILE, {"runtime./sys/kernel/mm/ksm/run": "0"}),
            (MODPROBE_FILE, {"module.kvm.nx_huge_pages": "0", "module.kvm.ple_gap": "0"}),
            (KUBELET_FILE, {"kubelet.cpuManagerPolicy": "static", "kubelet.evictionHard": "", "kubelet.maxPods": "10"}),
        ],
    )
    def test_own_files_tell_their_settings(self, path: str, expected: dict[str, str]) -> None:
        assert settings_in(path, self.TEXTS[path]) == expected

    def test_repeated_arguments_keep_their_number(self) -> None:
        text = 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX console=tty0 console=ttyS0"\n'
        assert settings_in(GRUB_FILE, text) == {"cmdline.console": "tty0", "cmdline.console#2": "ttyS0"}

    def test_what_an_owned_file_holds_and_nobody_wants_is_removed_at_its_price(self) -> None:
        found = all_changes(state(), observed(self.TEXTS, self.TEXTS))
        prices = {change.setting: change.impact for change in found.changes if not change.setting.startswith("file.")}
        assert prices == {
            "cmdline.quiet": Impact.REBOOT,
            "cmdline.hugepagesz.1G": Impact.REBOOT,
            "cmdline.hugepages.1G": Impact.REBOOT,
            "cmdline.nohz_full": Impact.REBOOT,
            "kubelet.cpuManagerPolicy": Impact.DRAIN,
            "kubelet.evictionHard": Impact.RESTART,
            "kubelet.maxPods": Impact.RESTART,
            "module.kvm.nx_huge_pages": Impact.REBOOT,
            "module.kvm.ple_gap": Impact.REBOOT,
            "runtime./sys/kernel/mm/ksm/run": Impact.LIVE,
            "sysctl.vm.swappiness": Impact.LIVE,
            "sysctl.net.ipv4.tcp_rmem": Impact.LIVE,
        }
        assert {change.kind for change in found.changes} == {ChangeKind.REMOVE}
        assert found.actions == ("update-grub", "kubelet-checkpoints", "kubelet-restart", "reboot")

    def test_a_removed_setting_explains_the_change_of_its_file(self) -> None:
        desired = state(sysctl("net.ipv4.tcp_rmem", "1 2 3"))
        now = observed({SYSCTL_FILE: self.TEXTS[SYSCTL_FILE], "/proc/sys/net/ipv4/tcp_rmem": "1 2 3"}, self.TEXTS)
        changes = plan_changes(desired, now, [NodeFile(SYSCTL_FILE, "net.ipv4.tcp_rmem = 1 2 3\n")])
        assert ("remove", "sysctl.vm.swappiness") in ids(changes)
        assert ("remove", "sysctl.net.ipv4.tcp_rmem") not in ids(changes)
        assert not any(change.setting == f"file.{SYSCTL_FILE}" for change in changes)

    def test_foreign_files_are_nobodys(self) -> None:
        assert plan_changes(state(), observed(self.TEXTS)) == ()


class TestActions:
    @pytest.mark.parametrize(
        ("setting", "paths", "actions"),
        [
            (sysctl("vm.swappiness", "10"), (SYSCTL_FILE,), ()),
            (argument("quiet", None), (GRUB_FILE,), ("update-grub", "reboot")),
            (argument("quiet", None), (), ("reboot",)),
            (kubelet("maxPods", 10), (KUBELET_FILE,), ("kubelet-restart",)),
            (
                kubelet("cpuManagerPolicy", "static", Impact.DRAIN),
                (KUBELET_FILE,),
                ("kubelet-checkpoints", "kubelet-restart"),
            ),
            (kubelet("topologyManagerPolicy", "restricted", Impact.DRAIN), (KUBELET_FILE,), ("kubelet-restart",)),
            (sysctl("vm.swappiness", "10"), (SYSCTL_FILE, UNIT_FILE), ("daemon-reload", "units")),
        ],
    )
    def test_nothing_is_done_that_the_changes_do_not_need(
        self, setting: Setting, paths: tuple[str, ...], actions: tuple[str, ...]
    ) -> None:
        change = Change(setting.id, ChangeKind.ADD, None, "x", setting.impact)
        assert needed_actions([change], paths, state(setting)) == actions

    def test_areas_of_files(self) -> None:
        assert areas_of(SYSCTL_FILE) == (Area.SYSCTL,)
        assert areas_of(UNIT_FILE)[0] is Area.SERVICE
        assert areas_of("/opt/kubelet/99-tunectl.conf") == (Area.KUBELET,)


TIERS = st.builds(
    profile_tier,
    kubelet=st.sampled_from(["", "restricted", "single-numa-node"]).map(
        lambda policy: KubeletSpec(topology_manager_policy=policy)
    ),
    sysctl=st.dictionaries(
        st.sampled_from(["vm.swappiness", "kernel.sched_min_granularity_ns", "vm.stat_interval"]),
        st.sampled_from(["1", "10"]),
    ),
    memory=st.builds(
        MemorySpec, transparent_hugepages=st.sampled_from(["", "never"]), ksm=st.sampled_from([None, True])
    ),
    irq=st.builds(IrqSpec, balance_isolated=st.booleans()),
    kernel=st.builds(KernelSpec, args=st.sampled_from([(), ("audit=0", "quiet")])),
    hugepages=st.sampled_from(
        [HugepagesSpec(), HugepagesSpec("1G", (HugepageRequest("1G", 2), HugepageRequest("2M", 8, 1)))]
    ),
)


@given(TIERS, st.randoms(use_true_random=False))
def test_after_every_wanted_value_is_there_nothing_is_left_to_do(tier: Tier, random: Any) -> None:
    desired = desire(tier, machine(), NODE, Platform.KUBEADM).desired
    state_of = {one.id: Actual(wanted_text(one) if random.random() < 0.5 else None) for one in desired.settings}
    before = setting_changes(desired, lambda setting: state_of[setting.id])
    assert [change.setting for change in before.changes] == [
        one.id for one in desired.settings if state_of[one.id].value is None
    ]
    for change in before.changes:
        wanted = desired.get(change.setting)
        assert wanted is not None
        state_of[change.setting] = Actual(wanted_text(wanted))
    after = setting_changes(desired, lambda setting: state_of[setting.id])
    assert (after.changes, after.matching) == ((), len(desired.settings))


def test_a_node_without_a_kubelet_has_none_to_drain_or_to_restart() -> None:
    desired = state(kubelet("cpuManagerPolicy", "static", Impact.DRAIN), sysctl("vm.swappiness", "10"))
    files = (NodeFile(KUBELET_FILE, "cpuManagerPolicy: static\n"),)
    with_one = all_changes(desired, observed(), files)
    without = all_changes(desired, observed(has_kubelet=False), files)
    assert "kubelet-restart" in with_one.actions
    assert without.actions == ()
    assert {change.impact for change in without.changes} == {Impact.LIVE}
    assert f"file.{KUBELET_FILE}" in [change.setting for change in without.changes]


@given(TIERS, st.sets(st.integers(0, 40)), st.sets(st.integers(0, 40)))
def test_more_differences_never_cost_less(tier: Tier, some: set[int], more: set[int]) -> None:
    desired = desire(tier, machine(), NODE, Platform.KUBEADM).desired

    def price(missing: set[int]) -> tuple[int, set[str]]:
        values = {
            one.id: Actual(None if index in missing else wanted_text(one)) for index, one in enumerate(desired.settings)
        }
        changes = setting_changes(desired, lambda setting: values[setting.id]).changes
        dearest = max((change.impact.rank for change in changes), default=0)
        return dearest, set(needed_actions(changes, (), desired))

    less, all_of_them = price(some), price(some | more)
    assert less[0] <= all_of_them[0]
    assert less[1] <= all_of_them[1]
