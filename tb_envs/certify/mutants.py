"""Mutants of a domain's `policy.py`: each constant and each comparison changed once, to prove that something notices.

A number becomes the next one, a word another word, ``<`` becomes ``<=``, ``==`` becomes ``!=``, and so on. A mutant
that no decision cell and no task notices marks a rule that nothing holds in place.
"""

from __future__ import annotations

import ast
import copy
import sys
import types
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

_SWAPS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change of the policy's source."""

    name: str
    source: str


def mutants_of(source: str, *, skip_calls: frozenset[str] = frozenset({"Literal"})) -> Iterator[Mutant]:
    """Every mutant of a module's source, each differing in one place; types, docstrings and imports are left alone."""
    tree = ast.parse(source)
    places = [(node, path) for node, path in _walk(tree, ()) if isinstance(node, ast.Constant | ast.Compare)]
    docs = {id(doc) for doc in _docstrings(tree)}
    for node, path in places:
        if isinstance(node, ast.Constant):
            if id(node) in docs or isinstance(node.value, bool) or node.value is None or _is_type(path, skip_calls):
                continue
            changed: Any = node.value + 1 if isinstance(node.value, int | float) else f"not_{node.value}"
            yield _mutate(tree, path, f"line {node.lineno}: {node.value!r} → {changed!r}", value=changed)
        else:
            for place, operator in enumerate(node.ops):
                if type(operator) in _SWAPS:
                    ops = list(node.ops)
                    ops[place] = _SWAPS[type(operator)]()
                    words = f"{type(operator).__name__} → {type(ops[place]).__name__}"
                    yield _mutate(tree, path, f"line {node.lineno}: {ast.unparse(node)}: {words}", ops=ops)


Path = tuple[tuple[str, int | None], ...]


def _walk(node: ast.AST, path: Path) -> Iterator[tuple[ast.AST, Path]]:
    yield node, path
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            for place, item in enumerate(cast("list[Any]", value)):
                if isinstance(item, ast.AST):
                    yield from _walk(item, (*path, (name, place)))
        elif isinstance(value, ast.AST):
            yield from _walk(value, (*path, (name, None)))


def _docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value


def _is_type(path: Path, skip: frozenset[str]) -> bool:
    """Inside an annotation, a return type or a subscript of types."""
    return any(name in ("annotation", "returns", "slice") for name, _ in path)


def _mutate(tree: ast.Module, path: Path, name: str, **fields: Any) -> Mutant:
    changed = copy.deepcopy(tree)
    node: Any = changed
    for attribute, place in path:
        node = getattr(node, attribute) if place is None else getattr(node, attribute)[place]
    for attribute, value in fields.items():
        setattr(node, attribute, value)
    return Mutant(name, ast.unparse(changed))


def load(module: types.ModuleType, source: str) -> dict[str, Any]:
    """The names a changed source of `module` defines."""
    twin = types.ModuleType(module.__name__)
    twin.__package__ = module.__package__
    twin.__file__ = module.__file__
    exec(compile(source, module.__file__ or module.__name__, "exec"), twin.__dict__)
    return {name: value for name, value in vars(twin).items() if not name.startswith("__")}


@contextmanager
def installed(module: types.ModuleType, names: dict[str, Any]) -> Generator[None]:
    """Put other definitions in place of a module's own, for a while."""
    kept = dict(vars(module))
    vars(module).update(names)
    try:
        yield
    finally:
        vars(module).clear()
        vars(module).update(kept)
        sys.modules[module.__name__] = module
