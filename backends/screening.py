"""What is refused from a program's text alone, before the type checker and long before anything moves.

The sandbox holds without this: it is here so that a mistake or an attempt is named at once, in words that
help.
"""

import ast
import re
import warnings
from collections.abc import Iterator
from typing import Final

from .api import OPERATIONS
from .arguments import BadArgument, check_range, signature
from .stub import MODULES
from .trace import Rejection

_DYNAMIC: Final = ("eval", "exec", "compile", "globals", "locals", "vars", "__import__", "open", "input")
_SUPPRESSION: Final = re.compile(r"#\s*(type|ty|pyright|mypy)\s*:\s*ignore|no_type_check")
_UNSUPPORTED: Final = {
    ast.Yield: "yield (generators)",
    ast.YieldFrom: "yield (generators)",
    ast.Delete: "del",
    ast.Await: "await",
    ast.AsyncFunctionDef: "async",
    ast.AsyncFor: "async",
    ast.AsyncWith: "async",
}


def screen(source: str, longest: int) -> Rejection | None:
    """None for a program that may go on to the type check. longest: characters allowed."""
    if len(source) > longest:
        return Rejection(
            "limits", f"The program has {len(source)} characters; at most {longest} are allowed."
        )
    try:
        source.encode()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except SyntaxError as error:
        return Rejection("syntax", f"line {error.lineno or 1}: {error.msg}")
    except ValueError:
        return Rejection("syntax", "The program contains characters that no source text may have.")
    except (RecursionError, MemoryError):
        return Rejection("syntax", "The program is nested too deeply.")
    if found := _SUPPRESSION.search(source):
        return Rejection(
            "types", f"line {_line(source, found.start())}: the type check cannot be switched off."
        )
    complaints = [(line, stage, text) for node in ast.walk(tree) for line, stage, text in _complaints(node)]
    if not complaints:
        return None
    complaints.sort()
    stage: Final = "syntax" if any(stage == "syntax" for _, stage, _ in complaints) else "types"
    return Rejection(stage, "\n".join(f"line {line}: {text}" for line, _, text in complaints[:10]))


def _complaints(node: ast.AST) -> Iterator[tuple[int, str, str]]:
    line = getattr(node, "lineno", 0)
    if name := _UNSUPPORTED.get(type(node)):
        yield line, "syntax", f"{name} is not supported in programs."
    elif isinstance(node, ast.Import | ast.ImportFrom):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or "."]
        for module in names:
            if module.split(".")[0] not in MODULES:
                yield line, "types", f"module {module} is not available; there are {', '.join(MODULES)}."
    elif isinstance(node, ast.Attribute) and node.attr.startswith("__"):
        yield line, "types", f"{node.attr} is not available to programs."
    elif isinstance(node, ast.Name) and (node.id in _DYNAMIC or _dunder(node.id)):
        yield line, "types", f"{node.id} is not available to programs."
    elif isinstance(node, ast.FunctionDef):
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        bare = [a.arg for a in arguments if a.annotation is None and a.arg not in ("self", "cls")]
        if bare:
            yield line, "types", f"annotate the parameters of {node.name}: {', '.join(bare)}."
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in OPERATIONS:
        yield from _out_of_range(node, node.func.id)


def _out_of_range(node: ast.Call, operation: str) -> Iterator[tuple[int, str, str]]:
    """Literal arguments that have the right type and cannot have the right unit."""
    names = list(signature(operation).parameters)
    given = [*zip(names, node.args, strict=False), *((k.arg, k.value) for k in node.keywords if k.arg)]
    for name, value in given:
        try:
            literal = ast.literal_eval(value)
            check_range(operation, name, literal)
        except BadArgument as error:
            yield node.lineno, "types", f"{error}."
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            continue  # no literal, or one that the type checker will refuse


def _dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name != "__name__"


def _line(source: str, position: int) -> int:
    return source.count("\n", 0, position) + 1
