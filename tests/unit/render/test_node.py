"""What a desired state becomes on a node: paths, bytes, order, actions."""

import random
import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from support.oracles import missing

from tunectl.core.desired import Area, DesiredState, Impact, Partition, Platform, Setting
from tunectl.core.environment import NodeEnvironment
from tunectl.core.errors import InputError
from tunectl.core.plan import NodeFile, RuntimeValue
from tunectl.render.node import (
    GRUB_PATH,
    MODPROBE_PATH,
    SYSCTL_PATH,
    TMPFILES_PATH,
    kubelet_document,
    render_node,
)

THP = "/sys/kernel/mm/transparent_hugepage/enabled"
PAGES = "/sys/devices/system/node/node1/hugepages/hugepages-1048576kB/nr_hugepages"
SLICE = "/sys/kernel/debug/sched/base_slice_ns"
FREQUENCY = "/sys/devices/system/cpu/cpu3/cpufreq/scaling_max_freq"
NODE = NodeEnvironment(
    boot_loader="grub",
    kubelet_config_dir="/etc/kubernetes/kubelet.conf.d",
    has_kubelet=True,
    debugfs=True,
    sysctls=frozenset({"vm.swappiness", "kernel.numa_balancing", "net.ipv4.conf.eth0/5.rp_filter"}),
)


def setting(area: Area, name: str, value: object, impact: Impact = Impact.LIVE) -> Setting:
    return Setting(f"{area.value}.{name}", area, name, value, impact)


FULL = (
    setting(Area.KUBELET, "cpuManagerPolicy", "static", Impact.DRAIN),
    setting(Area.KUBELET, "reservedSystemCPUs", "0-1,64-65", Impact.DRAIN),
    setting(Area.KUBELET, "cpuManagerPolicyOptions", {"full-pcpus-only": "true"}, Impact.DRAIN),
    setting(Area.KUBELET, "systemReserved", {"memory": "8Gi", "cpu": "4"}, Impact.RESTART),
    setting(Area.CMDLINE, "nohz_full", "2-63,66-127", Impact.REBOOT),
    setting(Area.CMDLINE, "nosoftlockup", None, Impact.REBOOT),
    setting(Area.CMDLINE, "hugepagesz", "1G", Impact.REBOOT),
    setting(Area.CMDLINE, "hugepages", "4", Impact.REBOOT),
    setting(Area.SYSCTL, "vm.swappiness", "10"),
    setting(Area.SYSCTL, "kernel.numa_balancing", "0"),
    setting(Area.SYSCTL, "net.ipv4.conf.eth0/5.rp_filter", "2"),
    setting(Area.SYSCTL, "net.netfilter.nf_conntrack_max", "1048576"),
    setting(Area.RUNTIME, THP, "never"),
    setting(Area.RUNTIME, SLICE, "3000000"),
    setting(Area.RUNTIME, FREQUENCY, "2500000"),
    setting(Area.RUNTIME, PAGES, "16", Impact.REBOOT),
    setting(Area.MODULE, "kvm.nx_huge_pages", "0", Impact.REBOOT),
    setting(Area.MODULE, "kvm_intel.ple_gap", "0", Impact.REBOOT),
    setting(Area.MODULE, "kvm.halt_poll_ns", "0", Impact.REBOOT),
    setting(Area.SWAP, "devices", "off", Impact.RESTART),
)


def desired(*settings: Setting) -> DesiredState:
    return DesiredState("hpc-massive", "hpc", Platform.KUBEADM, Partition(), settings)


def files_by_path(*settings: Setting, environment: NodeEnvironment = NODE) -> dict[str, NodeFile]:
    return {file.path: file for file in render_node(desired(*settings), environment).files}


def test_a_full_state_is_written_as_it_always_was(golden: Callable[[str, str], str]) -> None:
    text = "".join(
        f"=== {file.path} {file.mode:o}: {file.why}\n{file.content}" for file in render_node(desired(*FULL), NODE).files
    )
    assert text == golden("node-full.txt", text)


def test_nothing_is_rendered_for_areas_without_settings() -> None:
    assert render_node(desired(), NODE).files == ()
    assert render_node(desired(), NODE).runtime == ()
    assert render_node(desired(), NODE).actions == ()
    assert list(files_by_path(setting(Area.RUNTIME, THP, "never"))) == [TMPFILES_PATH]


def test_openshift_owns_the_files_of_its_nodes() -> None:
    state = replace(desired(*FULL), platform=Platform.OPENSHIFT)
    assert render_node(state, NODE).files == ()


def test_bytes_do_not_depend_on_the_order_of_dictionaries_or_of_independent_settings() -> None:
    ordered = [one for one in FULL if one.area is Area.CMDLINE]
    rest = [one for one in FULL if one.area is not Area.CMDLINE]
    random.Random(7).shuffle(rest)  # noqa: S311  a fixed shuffle
    turned = [
        replace(one, value=dict(reversed(one.value.items()))) if isinstance(one.value, dict) else one for one in rest
    ]
    assert render_node(desired(*turned, *ordered), NODE) == render_node(desired(*FULL), NODE)


def test_kernel_arguments_keep_their_order_and_foreign_ones() -> None:
    content = files_by_path(*FULL)[GRUB_PATH].content
    done = subprocess.run(
        ["sh", "-eu"],
        input=f'GRUB_CMDLINE_LINUX="quiet splash"\n{content}printf %s "$GRUB_CMDLINE_LINUX"',
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "quiet splash nohz_full=2-63,66-127 nosoftlockup hugepagesz=1G hugepages=4"


def test_the_drop_in_holds_the_managed_fields_only() -> None:
    file = files_by_path(*FULL)["/etc/kubernetes/kubelet.conf.d/99-tunectl.conf"]
    assert yaml.safe_load(file.content) == {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "cpuManagerPolicy": "static",
        "cpuManagerPolicyOptions": {"full-pcpus-only": "true"},
        "reservedSystemCPUs": "0-1,64-65",
        "systemReserved": {"cpu": "4", "memory": "8Gi"},
    }
    assert list(kubelet_document(desired(*FULL)))[:2] == ["apiVersion", "kind"]


def test_a_node_without_a_drop_in_directory_gets_the_usual_one() -> None:
    usual = "/etc/kubernetes/kubelet.conf.d/99-tunectl.conf"
    assert list(files_by_path(FULL[0], environment=replace(NODE, kubelet_config_dir=""))) == [usual]
    other = replace(NODE, kubelet_config_dir="/etc/kubelet.d/")
    assert list(files_by_path(FULL[0], environment=other)) == ["/etc/kubelet.d/99-tunectl.conf"]


def test_parameters_that_nobody_saw_are_optional() -> None:
    content = files_by_path(*FULL)[SYSCTL_PATH].content
    assert "\n-net.netfilter.nf_conntrack_max = 1048576\n" in content
    assert "\nvm.swappiness = 10\n" in content
    unseen = replace(NODE, sysctls=None)
    assert "\n-vm.swappiness = 10\n" in files_by_path(*FULL, environment=unseen)[SYSCTL_PATH].content


def test_running_values_are_all_but_those_that_need_a_boot() -> None:
    assert render_node(desired(*FULL), NODE).runtime == (
        RuntimeValue("/proc/sys/kernel/numa_balancing", "0"),
        RuntimeValue("/proc/sys/net/ipv4/conf/eth0.5/rp_filter", "2"),
        RuntimeValue("/proc/sys/net/netfilter/nf_conntrack_max", "1048576", optional=True),
        RuntimeValue("/proc/sys/vm/swappiness", "10"),
        RuntimeValue(FREQUENCY, "2500000"),
        RuntimeValue(SLICE, "3000000"),
        RuntimeValue(THP, "never"),
    )
    at_boot = setting(Area.SYSCTL, "kernel.x", "1", Impact.REBOOT)
    assert render_node(desired(at_boot), NODE).runtime == ()
    hidden = render_node(desired(setting(Area.RUNTIME, SLICE, "1")), replace(NODE, debugfs=None))
    assert hidden.runtime == (RuntimeValue(SLICE, "1", optional=True),)


def test_module_options_stand_on_one_line_a_module() -> None:
    lines = [line for line in files_by_path(*FULL)[MODPROBE_PATH].content.splitlines() if line.startswith("options")]
    assert lines == ["options kvm halt_poll_ns=0 nx_huge_pages=0", "options kvm_intel ple_gap=0"]


@pytest.mark.parametrize(
    ("settings", "actions"),
    [
        (FULL, ("daemon-reload", "update-grub", "kubelet-restart", "reboot")),
        ((FULL[3],), ("kubelet-restart",)),
        ((setting(Area.SYSCTL, "vm.swappiness", "10"),), ()),
        ((setting(Area.RUNTIME, SLICE, "1"),), ("daemon-reload",)),
        ((FULL[4],), ("update-grub", "reboot")),
        ((setting(Area.SWAP, "devices", "off"),), ("daemon-reload", "kubelet-restart")),
    ],
)
def test_actions_come_in_the_order_in_which_they_work(settings: tuple[Setting, ...], actions: tuple[str, ...]) -> None:
    assert render_node(desired(*settings), NODE).actions == actions


def test_all_values_that_cannot_be_written_are_named_at_once() -> None:
    with pytest.raises(InputError) as caught:
        render_node(
            desired(
                setting(Area.CMDLINE, "a", "$(x)"),
                setting(Area.SYSCTL, "vm.swappiness", "1\n2"),
                setting(Area.RUNTIME, THP, "a\nb"),
                setting(Area.MODULE, "kvm.x", "a b"),
                setting(Area.KUBELET, "config", "anything $(x)\n"),
            ),
            NODE,
        )
    assert [one.code for one in caught.value.problems] == ["TUN-2201", "TUN-2202", "TUN-2204", "TUN-2205"]


def test_late_values_have_units_that_the_kubelet_wants() -> None:
    files = files_by_path(*FULL)
    units = [path for path in files if path.startswith("/etc/systemd/system/tunectl-")]
    assert [Path(path).name for path in units] == [
        "tunectl-hugepages.service",
        "tunectl-runtime.service",
        "tunectl-swap.service",
    ]
    wants = files["/etc/systemd/system/kubelet.service.d/20-tunectl.conf"].content
    for path in units:
        assert f"\nWants={Path(path).name}\nAfter={Path(path).name}\n" in wants
    for path in (PAGES, SLICE, FREQUENCY):
        assert path not in files[TMPFILES_PATH].content
    bare = files_by_path(*FULL[4:], environment=replace(NODE, has_kubelet=False))
    assert "/etc/systemd/system/multi-user.target.d/20-tunectl.conf" in bare


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        missing("systemd-analyze is not installed")
    units = [file for file in render_node(desired(*FULL), NODE).files if file.path.endswith(".service")]
    paths = []
    for file in units:
        paths.append(tmp_path / Path(file.path).name)
        paths[-1].write_text(file.content)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *map(str, paths)], capture_output=True, text=True, check=False
    )
    assert len(units) == 3
    complaints = [line for line in done.stderr.splitlines() if "tunectl" in line]
    assert complaints == []
    assert done.returncode == 0, done.stderr


def command_of(unit: str) -> list[str]:
    """Return the words of a unit's command, after undoing what systemd undoes."""
    content = files_by_path(*FULL)[f"/etc/systemd/system/{unit}"].content
    (line,) = [line for line in content.splitlines() if line.startswith("ExecStart=")]
    return [word.replace("$$", "$").replace("%%", "%") for word in shlex.split(line.removeprefix("ExecStart="))]


def test_the_hugepage_unit_tries_until_the_pages_are_there(tmp_path: Path) -> None:
    command = command_of("tunectl-hugepages.service")
    assert command[4:] == ["16", PAGES]
    pages = tmp_path / "nr_hugepages"
    pages.write_text("3\n")
    assert subprocess.run([*command[:5], str(pages)], check=False).returncode == 0
    assert pages.read_text() == "16\n"
    # A file that never shows the count: after the last try the unit fails, for everybody to see.
    script = command[2].replace("sleep 1", "sleep 0")
    given_up = subprocess.run([*command[:2], script, "x", "16", "/dev/null"], check=False, capture_output=True)
    assert given_up.returncode == 1


def test_the_runtime_unit_writes_all_that_it_can(tmp_path: Path) -> None:
    command = command_of("tunectl-runtime.service")
    assert command[4:] == ["2500000", FREQUENCY, "3000000", SLICE]
    there = tmp_path / "base_slice_ns"
    absent = tmp_path / "no" / "file"
    assert subprocess.run([*command[:4], "5", str(there)], check=False).returncode == 0
    assert there.read_text() == "5\n"
    partly = subprocess.run([*command[:4], "1", str(absent), "7", str(there)], check=False, capture_output=True)
    assert partly.returncode == 1
    assert there.read_text() == "7\n"
