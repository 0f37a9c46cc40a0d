"""Kernel arguments through each boot loader, on file trees, with the programs of the distributions stood in for."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from ansible_collections.tunectl.node.plugins.module_utils.core.errors import InputError, RefusedError, UndoneError
from ansible_collections.tunectl.node.plugins.module_utils.generation_actions import CommandResult, Commands
from ansible_collections.tunectl.node.plugins.module_utils.node_arguments import DROP_IN, STATE, NodeArguments
from support.node_trees import build, picture

ARGUMENTS = ["isolcpus=managed_irq,2-3", "hugepagesz=1G", "hugepages=4", "hugepagesz=2M", "hugepages=8"]
TEXT = " ".join(ARGUMENTS)
ENTRY = "title L {0}\nversion {0}\nlinux /vmlinuz-{0}\ninitrd /initramfs-{0}.img\noptions {1}\ngrub_class kernel\n"
OPTIONS = "root=UUID=1 ro hugepagesz=2M hugepages=1 quiet"
DEBIAN = {
    "/etc/default/grub": (b'GRUB_DEFAULT=0\nGRUB_CMDLINE_LINUX_DEFAULT="quiet"\nGRUB_CMDLINE_LINUX=""\n', 0o644),
    # As cloud images of Ubuntu have it: this one replaces what the main file says.
    "/etc/default/grub.d/50-cloudimg-settings.cfg": (b'GRUB_CMDLINE_LINUX_DEFAULT="console=tty1"\n', 0o644),
    "/boot/grub/grub.cfg": (b"set default=\"0\"\nmenuentry 'L' {\n\tlinux /vmlinuz-6.1 ro quiet\n}\n", 0o600),
    "/proc/cmdline": (b"BOOT_IMAGE=/vmlinuz-6.1 ro quiet\n", 0o444),
}
RHEL9 = {
    "/etc/default/grub": (b'GRUB_CMDLINE_LINUX="crashkernel=1G"\nGRUB_ENABLE_BLSCFG=true\n', 0o644),
    "/boot/grub2/grub.cfg": (b"# blscfg\n", 0o600),
    "/boot/grub2/grubenv": (b"# GRUB Environment Block\nsaved_entry=m-5.14.0-2.el9\n", 0o600),
    "/boot/loader/entries/m-5.14.0-1.el9.conf": (ENTRY.format("5.14.0-1.el9", OPTIONS).encode(), 0o644),
    "/boot/loader/entries/m-5.14.0-2.el9.conf": (ENTRY.format("5.14.0-2.el9", OPTIONS).encode(), 0o644),
    "/boot/loader/entries/m-0-rescue.conf": (ENTRY.format("0-rescue", OPTIONS).encode(), 0o644),
    "/etc/kernel/cmdline": (f"{OPTIONS}\n".encode(), 0o644),
    "/proc/cmdline": (f"BOOT_IMAGE=(hd0)/vmlinuz-5.14.0-2.el9 {OPTIONS}\n".encode(), 0o444),
}
_KERNELOPTS = b"# GRUB Environment Block\nsaved_entry=m-4.18\nkernelopts=root=UUID=1 ro \n"
RHEL8 = {
    "/etc/default/grub": (b'GRUB_CMDLINE_LINUX="crashkernel=auto"\nGRUB_ENABLE_BLSCFG=true\n', 0o644),
    "/boot/grub2/grub.cfg": (b"# blscfg\n", 0o600),
    "/boot/grub2/grubenv": (_KERNELOPTS + b"#" * (1024 - len(_KERNELOPTS)), 0o600),
    "/boot/loader/entries/m-4.18.conf": (ENTRY.format("4.18", "$kernelopts $tuned_params").encode(), 0o644),
}
OSTREE = {"/run/ostree-booted": (b"", 0o644)}


@dataclass
class Programs:
    """What a node's programs do to its tree; `broken` makes update-grub forget drop-ins."""

    root: Path
    kargs: list[str] = field(default_factory=lambda: ["root=UUID=1", "rw", "quiet"])
    broken: bool = False
    ran: list[list[str]] = field(default_factory=list)

    def __call__(self, command: Sequence[str], _timeout_s: float) -> CommandResult:
        self.ran.append(list(command))
        if command[0] == "update-grub":
            return self._update_grub()
        assert command[:2] == ("rpm-ostree", "kargs")
        for flag in command[2:]:
            name, _equals, value = flag.partition("=")
            if name == "--delete":
                if value not in self.kargs:
                    return CommandResult(1, f"error: No karg '{value}' found")
                self.kargs.remove(value)
            else:
                assert name == "--append"
                self.kargs.append(value)
        return CommandResult(0, " ".join(self.kargs))

    def _update_grub(self) -> CommandResult:
        files = [self.root / "etc/default/grub", *sorted((self.root / "etc/default/grub.d").glob("*.cfg"))]
        script = "".join(
            f". {shlex.quote(str(file))}\n" for file in files if not self.broken or "tunectl" not in file.name
        )
        import subprocess  # noqa: PLC0415

        script += 'printf %s "$GRUB_CMDLINE_LINUX $GRUB_CMDLINE_LINUX_DEFAULT"'
        line = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=True).stdout
        menu = f"set default=\"0\"\nmenuentry 'L' {{\n\tlinux /vmlinuz-6.1 ro {line}\n}}\n"
        (self.root / "boot/grub/grub.cfg").write_text(menu)
        return CommandResult(0)


def node(tmp_path: Path, files: dict[str, tuple[bytes, int]]) -> tuple[Path, Programs, NodeArguments]:
    root = build(tmp_path / "node", files)
    programs = Programs(root)
    commands = Commands(runner=programs, which=lambda name: f"/sbin/{name}", unit_directory=Path("/nonexistent"))
    return root, programs, NodeArguments(str(root), commands)


def text(root: Path, path: str) -> str:
    return (root / path.lstrip("/")).read_text()


def without_state(root: Path) -> dict[str, object]:
    return {
        path: what for path, what in picture(root).items() if "/var" not in str(path) and "var" not in str(path)[:4]
    }


def test_debian_appends_behind_every_other_drop_in_and_gets_its_bytes_back(tmp_path: Path) -> None:
    root, programs, it = node(tmp_path, DEBIAN)
    menu = text(root, "/boot/grub/grub.cfg")
    preview = it.make(ARGUMENTS, check=True)
    assert (preview.change.changed, text(root, "/boot/grub/grub.cfg"), programs.ran) == (True, menu, [])
    done = it.make(ARGUMENTS)
    assert (done.loader, sorted(done.change.files), programs.ran) == ("grub", [DROP_IN], [["update-grub"]])
    assert TEXT in text(root, "/boot/grub/grub.cfg")
    assert done.needs_reboot
    assert done.entry is not None
    assert done.to_json()["next_boot"].startswith(f"ro {TEXT}")
    again = it.make(ARGUMENTS)
    assert (again.change.changed, len(programs.ran)) == (False, 1)
    it.make([])
    assert not (root / DROP_IN[1:]).exists()
    assert TEXT not in text(root, "/boot/grub/grub.cfg")


def test_arguments_that_did_not_arrive_are_undone(tmp_path: Path) -> None:
    root, programs, it = node(tmp_path, DEBIAN)
    programs.broken = True
    with pytest.raises(UndoneError, match="TUN-4404") as caught:
        it.make(ARGUMENTS)
    assert "lacks isolcpus" in caught.value.problems[0].why
    assert not (root / DROP_IN[1:]).exists()


def test_defaults_that_are_no_shell_are_refused_untouched(tmp_path: Path) -> None:
    files = {**DEBIAN, "/etc/default/grub": (b'GRUB_CMDLINE_LINUX="unclosed\n', 0o644)}
    root, programs, it = node(tmp_path, files)
    before = picture(root)
    with pytest.raises(RefusedError, match="TUN-3422") as caught:
        it.make(ARGUMENTS)
    assert caught.value.problems[0].where.endswith("/etc/default/grub")
    assert programs.ran == []
    assert {path: what for path, what in picture(root).items() if path in before} == before


def test_loader_entries_of_all_kernels_and_what_new_ones_inherit(tmp_path: Path) -> None:
    root, programs, it = node(tmp_path, RHEL9)
    done = it.make(ARGUMENTS)
    assert done.loader == "bls"
    assert sorted(done.change.files) == [
        "/boot/loader/entries/m-5.14.0-1.el9.conf",
        "/boot/loader/entries/m-5.14.0-2.el9.conf",
        "/etc/default/grub",
        "/etc/kernel/cmdline",
    ]
    for release in ("1", "2"):
        entry = text(root, f"/boot/loader/entries/m-5.14.0-{release}.el9.conf")
        assert f"options {OPTIONS} {TEXT}\n" in entry
    assert text(root, "/etc/kernel/cmdline") == f"{OPTIONS} {TEXT}\n"
    assert f'"crashkernel=1G {TEXT}"' in text(root, "/etc/default/grub")
    assert (
        text(root, "/boot/loader/entries/m-0-rescue.conf") == RHEL9["/boot/loader/entries/m-0-rescue.conf"][0].decode()
    )
    assert programs.ran == []
    assert not it.make(ARGUMENTS).change.changed


def test_a_kernel_that_came_meanwhile_loses_them_too(tmp_path: Path) -> None:
    root, _programs, it = node(tmp_path, RHEL9)
    it.make(ARGUMENTS)
    newer = root / "boot/loader/entries/m-5.14.0-3.el9.conf"
    newer.write_text(ENTRY.format("5.14.0-3.el9", f"{OPTIONS} {TEXT}"))
    plain = root / "boot/loader/entries/m-5.14.0-4.el9.conf"
    plain.write_text(ENTRY.format("5.14.0-4.el9", OPTIONS))
    assert it.make(ARGUMENTS).change.files.keys() == {"/boot/loader/entries/m-5.14.0-4.el9.conf"}
    it.make([])
    for path, (content, _mode) in RHEL9.items():
        assert text(root, path) == content.decode()
    for entry in (newer, plain):
        assert f"options {OPTIONS}\n" in entry.read_text()
    assert text(root, STATE) == '{"blocks": []}\n'


def test_other_arguments_replace_those_before(tmp_path: Path) -> None:
    root, _programs, it = node(tmp_path, RHEL9)
    it.make(ARGUMENTS)
    it.make(["nosmt"])
    assert text(root, "/etc/kernel/cmdline") == f"{OPTIONS} nosmt\n"


def test_rhel_8_keeps_them_in_grubs_environment(tmp_path: Path) -> None:
    root, _programs, it = node(tmp_path, RHEL8)
    done = it.make(ARGUMENTS)
    assert sorted(done.change.files) == ["/boot/grub2/grubenv", "/etc/default/grub"]
    assert f"kernelopts=root=UUID=1 ro {TEXT}\n" in text(root, "/boot/grub2/grubenv")
    assert (root / "boot/grub2/grubenv").stat().st_size == 1024
    assert done.entry is not None
    assert done.to_json()["next_boot"] == f"root=UUID=1 ro {TEXT}"
    it.make([])
    assert "kernelopts=root=UUID=1 ro\n" in text(root, "/boot/grub2/grubenv")


def test_ostree_makes_one_deployment_and_none_when_nothing_changes(tmp_path: Path) -> None:
    _root, programs, it = node(tmp_path, OSTREE)
    it.make(ARGUMENTS)
    assert programs.kargs == ["root=UUID=1", "rw", "quiet", *ARGUMENTS]
    changes = [command for command in programs.ran if len(command) > 2]
    assert changes == [["rpm-ostree", "kargs", *(f"--append={one}" for one in ARGUMENTS)]]
    programs.ran.clear()
    assert not it.make(ARGUMENTS).change.changed
    assert programs.ran == [["rpm-ostree", "kargs"]]
    it.make(["nosmt"])
    assert programs.kargs == ["root=UUID=1", "rw", "quiet", "nosmt"]
    it.make([])
    assert programs.kargs == ["root=UUID=1", "rw", "quiet"]


def test_an_interrupted_change_is_finished_or_taken_out_by_the_next(tmp_path: Path) -> None:
    root, _programs, it = node(tmp_path, RHEL9)
    first = "/boot/loader/entries/m-5.14.0-1.el9.conf"
    before = text(root, first)
    it.make(ARGUMENTS)
    # As if the process had died after it had written the first of the files.
    (root / "etc/kernel/cmdline").write_text(f"{OPTIONS}\n")
    (root / STATE[1:]).write_text(f'{{"blocks": ["{TEXT}", "nosmt"]}}\n')
    it.make([])
    assert text(root, first) == before
    assert text(root, "/etc/kernel/cmdline") == f"{OPTIONS}\n"


@pytest.mark.parametrize("bad", ["a b", "quiet\nx", 'x="', "a;b", ""])
def test_what_is_not_one_argument_is_refused(tmp_path: Path, bad: str) -> None:
    root, _programs, it = node(tmp_path, RHEL9)
    before = picture(root)
    with pytest.raises(InputError):
        it.make([bad])
    assert picture(root) == before


def test_a_loader_that_takes_no_arguments_from_files_is_refused_with_the_way(tmp_path: Path) -> None:
    _root, _programs, it = node(tmp_path, {"/efi/loader/loader.conf": (b"timeout 3\n", 0o644)})
    with pytest.raises(RefusedError, match="TUN-3420") as caught:
        it.make(ARGUMENTS)
    assert "unified kernel image" in caught.value.problems[0].fix
