# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The files, runtime values and actions that make a node what its tier wants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..core.boot_arguments import ARGUMENTS_FILE
from ..core.desired import Area, DesiredState, Impact, Platform, Setting
from ..core.environment import NodeEnvironment
from ..core.kubelet_config_dir import DEFAULT_KUBELET_DIR, OWN_UNIT_FILE, WITHOUT_VARIABLE_SINCE, extended
from ..core.plan import NodeFile, RuntimeValue
from ..core.sysctl import sysctl_path
from .grammar_gate import argument, module_option, refuse_unwritable
from .jinja_env import render_template
from .kubelet_settings import kubelet_fields
from .units import is_late, render_units

KUBELET_API_VERSION = "kubelet.config.k8s.io/v1beta1"
KUBELET_FILE = "99-tunectl.conf"
SYSCTL_PATH = "/etc/sysctl.d/99-tunectl.conf"
GRUB_PATH = "/etc/default/grub.d/99-tunectl.cfg"
TMPFILES_PATH = "/etc/tmpfiles.d/tunectl.conf"
MODPROBE_PATH = "/etc/modprobe.d/tunectl.conf"

# Their arguments stand in entries of their own, not in what a drop-in can add to.
_WITHOUT_DROP_INS = ("bls", "ostree")
_DEBUGFS = "/sys/kernel/debug/"


@dataclass(frozen=True)
class NodeArtefacts:
    """What a desired state means on a node.

    Shape: `files` and `runtime` are everything that tunectl shall own there, in a fixed order; `actions` are the
    names, in order, of what makes all of them effective: daemon-reload, update-grub, kubelet-restart, reboot.
    """

    files: tuple[NodeFile, ...] = ()
    runtime: tuple[RuntimeValue, ...] = ()
    actions: tuple[str, ...] = ()


def render_node(desired: DesiredState, environment: NodeEnvironment) -> NodeArtefacts:
    """Return files, runtime values and actions; equal arguments give equal bytes.

    Shape: empty for the OpenShift platform, where operators own the node's files.
    Where the node would not read a file (a kubelet without drop-ins, a boot loader without grub.d), the findings of
    the desired state say so; the file is what it would read.
    Sad paths: `InputError` TUN-2201 to TUN-2205 for values that cannot stand in their file.
    """
    if desired.platform is Platform.OPENSHIFT:
        return NodeArtefacts()
    refuse_unwritable(desired)
    units = tuple(render_units(desired, environment))
    files = (
        *_kubelet(desired, environment),
        *_config_dir(desired, environment),
        *_sysctl(desired, environment),
        *_boot(desired, environment),
        *_tmpfiles(desired),
        *modprobe_files(desired),
        *units,
    )
    return NodeArtefacts(
        files, tuple(_runtime(desired, environment)), tuple(_actions(desired, environment, bool(units)))
    )


def kubelet_document(desired: DesiredState) -> dict[str, object]:
    """Return the managed KubeletConfiguration fields, sorted, below apiVersion and kind."""
    return {
        "apiVersion": KUBELET_API_VERSION,
        "kind": "KubeletConfiguration",
        **kubelet_fields(desired),
    }


def _kubelet(desired: DesiredState, environment: NodeEnvironment) -> Iterator[NodeFile]:
    if not any(desired.of(Area.KUBELET)):
        return
    directory = environment.kubelet_config_dir.rstrip("/") or DEFAULT_KUBELET_DIR
    yield NodeFile(
        path=f"{directory}/{KUBELET_FILE}",
        content=render_template(
            "node/kubelet.conf.j2",
            tier=desired.tier,
            what="kubelet settings",
            document=kubelet_document(desired),
        ),
        why="the kubelet merges it over its main configuration when it starts",
    )


def _config_dir(desired: DesiredState, environment: NodeEnvironment) -> Iterator[NodeFile]:
    if not environment.kubelet_config_args or not any(desired.of(Area.KUBELET)):
        return
    variables = [f"KUBELET_CONFIG_ARGS={extended(environment.kubelet_config_args)}"]
    if environment.kubelet_version < WITHOUT_VARIABLE_SINCE:
        variables.append("KUBELET_CONFIG_DROPIN_DIR_ALPHA=1")
    yield NodeFile(
        path=OWN_UNIT_FILE,
        content=render_template(
            "node/environment.conf.j2", tier=desired.tier, what="where the kubelet looks for drop-ins", values=variables
        ),
        why="the kubelet of this node reads no drop-ins by itself; kubeadm leaves this file alone",
    )


def _sysctl(desired: DesiredState, environment: NodeEnvironment) -> Iterator[NodeFile]:
    lines = [
        {"prefix": "" if _is_known(setting, environment) else "-", "name": setting.name, "value": _text(setting)}
        for setting in _by_name(desired, Area.SYSCTL)
    ]
    if lines:
        yield NodeFile(
            path=SYSCTL_PATH,
            content=render_template("node/sysctl.conf.j2", tier=desired.tier, what="kernel parameters", lines=lines),
            why="systemd-sysctl sets these kernel parameters at each boot",
        )


def _boot(desired: DesiredState, environment: NodeEnvironment) -> Iterator[NodeFile]:
    # The order counts: hugepages= belongs to the hugepagesz= before it.
    arguments = [argument(setting) for setting in desired.of(Area.CMDLINE)]
    if not arguments:
        return
    if environment.boot_loader in _WITHOUT_DROP_INS:
        yield NodeFile(
            path=ARGUMENTS_FILE,
            content=render_template(
                "node/kernel-arguments.j2", tier=desired.tier, what="kernel arguments", arguments=arguments
            ),
            why="these arguments are put into the loader entries, and remembered so that they can be taken out again",
        )
        return
    yield NodeFile(
        path=GRUB_PATH,
        content=render_template("node/grub.cfg.j2", tier=desired.tier, what="kernel arguments", arguments=arguments),
        why="update-grub appends these arguments to those of /etc/default/grub",
    )


def _tmpfiles(desired: DesiredState) -> Iterator[NodeFile]:
    values = [
        {"path": setting.name, "value": str(setting.value)}
        for setting in _by_name(desired, Area.RUNTIME)
        if not is_late(setting)
    ]
    if values:
        yield NodeFile(
            path=TMPFILES_PATH,
            content=render_template(
                "node/tmpfiles.conf.j2", tier=desired.tier, what="values of the running kernel", values=values
            ),
            why="systemd-tmpfiles writes these values of the running kernel at each boot",
        )


def modprobe_files(desired: DesiredState) -> Iterator[NodeFile]:
    """Yield the file of module options, sorted by module and option; nothing without any."""
    options: dict[str, list[str]] = {}
    for setting in _by_name(desired, Area.MODULE):
        module, option = module_option(setting)
        options.setdefault(module, []).append(f"{option}={setting.value}")
    if options:
        lines = [{"module": module, "options": options[module]} for module in sorted(options)]
        yield NodeFile(
            path=MODPROBE_PATH,
            content=render_template("node/modprobe.conf.j2", tier=desired.tier, what="module options", lines=lines),
            why="modprobe gives these options to the modules when it loads them",
        )


def _runtime(desired: DesiredState, environment: NodeEnvironment) -> Iterator[RuntimeValue]:
    for setting in _by_name(desired, Area.SYSCTL):
        if setting.impact is not Impact.REBOOT:
            yield RuntimeValue(sysctl_path(setting.name), _text(setting), optional=not _is_known(setting, environment))
    for setting in _by_name(desired, Area.RUNTIME):
        # What costs a reboot cannot be had from the running kernel: its file takes care of it at boot.
        if setting.impact is not Impact.REBOOT:
            unsure = setting.name.startswith(_DEBUGFS) and environment.debugfs is not True
            yield RuntimeValue(setting.name, str(setting.value), optional=unsure)


def _actions(desired: DesiredState, environment: NodeEnvironment, has_units: bool) -> Iterator[str]:  # noqa: FBT001  a plain fact
    if has_units or environment.kubelet_config_args:
        yield "daemon-reload"
    if any(desired.of(Area.CMDLINE)):
        yield "boot-arguments" if environment.boot_loader in _WITHOUT_DROP_INS else "update-grub"
    if any(desired.of(Area.KUBELET)) or any(desired.of(Area.SWAP)):
        yield "kubelet-restart"
    if any(setting.impact is Impact.REBOOT for setting in desired.settings):
        yield "reboot"


def _by_name(desired: DesiredState, area: Area) -> list[Setting]:
    return sorted(desired.of(area), key=lambda setting: setting.name)


def _is_known(setting: Setting, environment: NodeEnvironment) -> bool:
    """Whether the running kernel is known to have the parameter; modules bring some only later."""
    return environment.sysctls is not None and setting.name in environment.sysctls


def _text(setting: Setting) -> str:
    return str(setting.value).strip(" \t")
