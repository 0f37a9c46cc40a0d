"""What QEMU is asked to build, and whose processes it is that are ended."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunectl.adapters.vm.acceleration import EMULATION, HARDWARE, accelerator_for
from tunectl.adapters.vm.image import Image
from tunectl.adapters.vm.machines import available_mib, free_ports, hardware_of
from tunectl.adapters.vm.qemu import Hardware, Wiring, cut_power, machine_arguments, not_up, running_pid
from tunectl.core.cpuset import CpuSet
from tunectl.core.errors import InputError
from tunectl.lab.machines import parse_shape

counts = st.integers(1, 4)


def wiring(directory: Path) -> Wiring:
    return Wiring(
        directory / "disk.qcow2", directory / "identity", directory / "console.log", directory / "pid", 2222, 3333
    )


def nodes_of(arguments: list[str]) -> list[CpuSet]:
    found = [re.fullmatch(r"node,nodeid=(\d+),cpus=([-\d]+),memdev=mem\1", one) for one in arguments]
    return [CpuSet.parse(match.group(2)) for match in found if match]


@given(st.builds(Hardware, counts, counts, st.sampled_from([1, 2]), st.just(1), st.sampled_from([256, 1024])))
def test_numa_nodes_share_out_all_cpus_and_all_memory(hardware: Hardware) -> None:
    arguments = machine_arguments(hardware, wiring(Path("/lab")), accelerator=EMULATION)
    smp = arguments[arguments.index("-smp") + 1]
    assert smp == f"{hardware.cpus},sockets={hardware.sockets},cores={hardware.cores},threads={hardware.threads}"
    assert arguments[arguments.index("-m") + 1] == str(hardware.memory_mib * hardware.numa_nodes)
    nodes = nodes_of(arguments)
    if hardware.numa_nodes == 1:
        assert nodes == []
        return
    assert sorted(cpu for node in nodes for cpu in node) == list(range(hardware.cpus))
    assert {len(node) for node in nodes} == {hardware.cpus // hardware.numa_nodes}
    assert arguments.count(f"memory-backend-ram,id=mem0,size={hardware.memory_mib}M") == 1
    distances = [one for one in arguments if one.startswith("dist,")]
    assert len(distances) == hardware.numa_nodes**2
    assert "dist,src=0,dst=0,val=10" in distances
    assert "dist,src=0,dst=1,val=21" in distances


def test_the_machine_is_reached_on_loopback_only_and_flushes_to_its_disk() -> None:
    arguments = machine_arguments(Hardware(2, 2, 2), wiring(Path("/lab,1")), accelerator=EMULATION)
    text = " ".join(arguments)
    assert "hostfwd=tcp:127.0.0.1:2222-:22" in text
    assert "localaddr=127.0.0.1" in text
    # A cut of power must lose no more than it would on a disk: what the guest has flushed is there.
    assert "file=/lab,,1/disk.qcow2,if=virtio,format=qcow2,cache=writeback" in text
    assert "-cpu Skylake-Server" in text
    assert "-cpu host" in " ".join(machine_arguments(Hardware(1, 1, 1), wiring(Path("/lab")), accelerator=HARDWARE))


def test_a_shape_becomes_the_machine_that_it_describes() -> None:
    assert hardware_of(parse_shape("2s2c2t"), 512) == Hardware(2, 2, 2, 1, 512)
    assert hardware_of(parse_shape("1s4c1t2n"), 256) == Hardware(1, 4, 1, 2, 256)


@pytest.mark.parametrize("shape", ["2s32c2t", "1s65c1t"])
def test_a_machine_that_emulation_cannot_carry_is_refused(shape: str) -> None:
    with pytest.raises(InputError, match="TUN-1621"):
        hardware_of(parse_shape(shape), 1024)


def test_only_the_process_of_the_machine_is_ended(tmp_path: Path) -> None:
    disk = tmp_path / "disk.qcow2"
    ours = subprocess.Popen(["sleep", "60"], executable="/bin/sleep")
    pidfile = tmp_path / "pid"
    pidfile.write_text(f"{ours.pid}\n")
    try:
        assert running_pid(pidfile, disk) == 0
        assert cut_power(pidfile, disk) is False
        assert ours.poll() is None
    finally:
        ours.kill()
        ours.wait()
    machine = subprocess.Popen(["sh", "-c", "sleep 60; true", f"file={disk}"], start_new_session=True)
    try:
        pidfile.write_text(str(machine.pid))
        assert running_pid(pidfile, disk) == machine.pid
        assert cut_power(pidfile, disk, patience_s=0.1) is True
        assert machine.wait(10) == -signal.SIGKILL
        assert not pidfile.exists()
    finally:
        # What the shell had started may have ended with it.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(machine.pid, signal.SIGKILL)


@pytest.mark.parametrize("text", ["", "x", "-1", "999999999"])
def test_a_damaged_or_stale_number_is_a_machine_that_is_off(tmp_path: Path, text: str) -> None:
    (tmp_path / "pid").write_text(text)
    assert running_pid(tmp_path / "pid", tmp_path / "disk") == 0
    assert running_pid(tmp_path / "none", tmp_path / "disk") == 0


def test_a_machine_that_is_not_up_is_told_with_its_last_words(tmp_path: Path) -> None:
    console = tmp_path / "console.log"
    console.write_text("\n".join(f"line {number}" for number in range(20)) + "\nKernel panic\n\n")
    error = not_up("lab-1", "it did not answer", console)
    assert "Kernel panic" in error.problems[0].why
    assert "line 1\n" not in error.problems[0].why
    assert "--timeout" in error.problems[0].fix


def test_ports_are_different_and_free() -> None:
    ports = free_ports(5)
    assert len(set(ports)) == 5
    assert all(1024 < port < 65536 for port in ports)


def test_memory_that_is_left() -> None:
    assert available_mib("MemTotal: 8 kB\nMemAvailable:   2097152 kB\n") == 2048
    assert available_mib("MemTotal: 8 kB\n") is None


def test_a_device_node_alone_proves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    device = tmp_path / "kvm"
    image = Image(tmp_path / "disk", tmp_path / "vmlinuz", tmp_path / "initrd")
    monkeypatch.setattr("tunectl.adapters.vm.acceleration._DEVICE", device)
    assert accelerator_for(image, tmp_path / "cache") == EMULATION
    device.touch()
    asked: list[Image] = []

    def boots(one: Image) -> bool:
        asked.append(one)
        return len(asked) > 1

    monkeypatch.setattr("tunectl.adapters.vm.acceleration.boots", boots)
    assert accelerator_for(image, tmp_path / "cache") == EMULATION
    assert accelerator_for(image, tmp_path / "cache") == EMULATION
    assert len(asked) == 1
    (tmp_path / "cache" / "acceleration.json").write_text("damaged")
    assert accelerator_for(image, tmp_path / "cache") == HARDWARE
