"""Turns the contract's source text into the stub that programs are checked against, its hash, its text."""

import ast
import hashlib
import inspect
import json
from collections.abc import Iterator, Mapping, Sequence

_FROZEN = "@dataclass(frozen=True, init=False)"
_LIMIT = 110
MODULES = (
    "bisect",
    "collections",
    "copy",
    "dataclasses",
    "functools",
    "itertools",
    "json",
    "math",
    "random",
    "re",
    "typing",
)
_PREAMBLE = """\
Robot operations, version {version}. A program is Python text. It is type-checked against the declarations
below before anything moves; the parameters of its own functions must be annotated. Types without __init__ are
only returned by operations. Of the standard library it can import {modules}.
There are no files, no network, no generators, no del, no async, no map, filter or getattr.
Names that a program defines are kept for the next program of the episode. Shown to you afterwards are the
value of its last expression, what it prints, and the failed results whose ok or reason it never looked at.
"""


def render_stub(source: str, groups: Mapping[str, Sequence[str]]) -> str:
    """The type stub of a contract module: its aliases, its dataclasses with their public fields, and the
    methods of its class `Operations` as functions under their group's name."""
    module = ast.parse(source)
    head = _docstring(module).partition("\n\n")[2].partition("\n\n")[0]
    parts = ["\n".join(f"# {line}" for line in head.splitlines())]
    parts.append("from dataclasses import dataclass\nfrom typing import Literal")
    classes = {node.name: node for node in module.body if isinstance(node, ast.ClassDef)}
    parts.append("\n".join(_wrap(text) for text in _aliases(module, classes)))
    parts.extend(_dataclass(node) for node in classes.values() if _is_dataclass(node))
    methods = {node.name: node for node in classes["Operations"].body if isinstance(node, ast.FunctionDef)}
    if list(methods) != [name for names in groups.values() for name in names]:
        raise ValueError("the methods of Operations and the names in the groups differ")
    for group, names in groups.items():
        parts.append("\n".join([f"# {group}", *(_function(methods[name]) for name in names)]))
    return "\n\n".join(parts) + "\n"


def fingerprint(stub: str) -> str:
    """SHA-256 in hex over every name, signature and docstring of a stub; its layout does not count."""
    canonical = json.dumps(list(_declarations(ast.parse(stub))), ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def documentation(stub: str, version: str) -> str:
    """The contract as a model reads it: how programs run, then the stub."""
    return _PREAMBLE.format(version=version, modules=", ".join(MODULES)) + "\n" + stub


def _docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef) -> str:
    return inspect.cleandoc(ast.get_docstring(node, clean=False) or "")


def _is_dataclass(node: ast.ClassDef) -> bool:
    return any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list)


def _aliases(module: ast.Module, classes: Mapping[str, ast.ClassDef]) -> Iterator[str]:
    """Assignments that stand before the first class: the type aliases."""
    first = min(node.lineno for node in classes.values())
    for node in module.body:
        if isinstance(node, ast.Assign) and node.lineno < first:
            yield ast.unparse(node)


def _dataclass(node: ast.ClassDef) -> str:
    shown = [
        item
        for item in node.body
        if isinstance(item, ast.AnnAssign)
        and isinstance(item.target, ast.Name)
        and not item.target.id.startswith("_")
    ]
    lines = [_FROZEN, f"class {node.name}:", *_quoted(_docstring(node))]
    # ok and reason come first wherever a type has them, in whatever order the host's constructor wants them
    ordered = sorted(shown, key=lambda item: ast.unparse(item.target) not in ("ok", "reason"))
    lines += [f"    {ast.unparse(item.target)}: {ast.unparse(item.annotation)}" for item in ordered]
    given = [
        f"{ast.unparse(item.target)}: {ast.unparse(item.annotation)}" for item in shown if item.value is None
    ]
    if given:
        lines.append(f"    def __init__(self, {', '.join(given)}) -> None: ...")
    return "\n".join(lines)


def _function(node: ast.FunctionDef) -> str:
    arguments = ast.unparse(node.args).removeprefix("self").removeprefix(", ").replace("=", " = ")
    returns = ast.unparse(node.returns) if node.returns else "None"
    return "\n".join(
        [f"def {node.name}({arguments}) -> {returns}:", *(_quoted(_docstring(node)) or ["    ..."])]
    )


def _quoted(text: str) -> list[str]:
    """A docstring's lines, quoted and indented by four."""
    return [f"    {line}" for line in f'"""{text}"""'.splitlines()] if text else []


def _wrap(text: str) -> str:
    """One long alias broken after commas, inside its brackets."""
    lines, line = [], ""
    for word in text.split(" "):
        if line and len(line) + len(word) + 1 > _LIMIT:
            lines.append(line)
            line = "    " + word
        else:
            line = f"{line} {word}" if line else word
    return "\n".join([*lines, line])


def _declarations(module: ast.Module) -> Iterator[list[object]]:
    def words(node: ast.ClassDef | ast.FunctionDef) -> str:
        return " ".join(_docstring(node).split())

    for node in module.body:
        if isinstance(node, ast.Assign):
            yield ["alias", ast.unparse(node)]
        elif isinstance(node, ast.FunctionDef):
            returns = ast.unparse(node.returns) if node.returns else ""
            yield ["operation", node.name, ast.unparse(node.args), returns, words(node)]
        elif isinstance(node, ast.ClassDef):
            members = [
                ast.unparse(item) for item in node.body if isinstance(item, ast.AnnAssign | ast.FunctionDef)
            ]
            yield ["type", node.name, members, words(node)]
