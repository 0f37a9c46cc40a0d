"""What is simulated is used where labs are made, and nowhere else."""

import ast
from collections.abc import Iterator
from pathlib import Path

_REPOSITORY = Path(__file__).resolve().parents[3]
_FACTS = ("machines", "inventory", "profiles")
_USERS = {"plugins/action/lab_reboot.py", "src/tunectl/adapters/lab_sim.py"}


def _imports(path: Path) -> Iterator[str]:
    """Yield the absolute names that a file imports; relative ones from the collection's module_utils."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _uses_the_lab(path: Path) -> bool:
    # Descriptions of machines and labs are facts: nothing about them is simulated.
    names = {name for name in _imports(path) if not name.partition(".lab.")[2].startswith(_FACTS)}
    return any(name.startswith(("tunectl.lab.", ".lab", "..lab")) or ".module_utils.lab." in name for name in names)


def test_only_the_lab_itself_imports_what_is_simulated() -> None:
    files = [*(_REPOSITORY / "plugins").rglob("*.py"), *(_REPOSITORY / "src" / "tunectl").rglob("*.py")]
    users = {
        str(path.relative_to(_REPOSITORY))
        for path in files
        if not any(parent.name == "lab" for parent in path.parents) and _uses_the_lab(path)
    }
    assert users == _USERS
