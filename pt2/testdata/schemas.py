"""Compares the arguments of operators, one a line as NAME<tab>ARGS with ARGS as gofx writes them, with PyTorch's schemas."""
import sys

import torch

try:
    import torchvision  # noqa: F401, which registers operators
except ImportError:
    pass


def same(ours, theirs):
    if ours in ("", "None"):
        return theirs is None
    if isinstance(theirs, (list, tuple)):
        return ours == "[]" and not theirs or all(same(ours, t) for t in theirs) and len(theirs) > 0
    if isinstance(theirs, bool) or ours in ("True", "False"):
        return str(theirs) == ours
    if isinstance(theirs, str):
        return theirs == ours
    return theirs is not None and float(ours) == float(theirs)


for line in sys.stdin:
    name, args = line.rstrip("\n").split("\t")
    maybe, name = name.startswith("?"), name.lstrip("?")
    space, op = ("torchvision", name.split(".", 1)[1]) if name.startswith("torchvision.") else ("aten", name)
    op, _, overload = op.partition(".")
    try:
        schema = getattr(getattr(getattr(torch.ops, space), op), overload or "default")._schema
    except AttributeError:
        if not maybe:
            print(name, "is no operator of PyTorch")
        continue
    known, _, free = args.partition("|")
    ours = {}
    for word in known.split():
        arg, has, default = word.partition("=")
        ours[arg] = default if has else ""
        if has and arg not in [a.name for a in schema.arguments]:
            pass  # an argument of another overload
    for a in schema.arguments:
        if a.name in free.split():
            continue
        if a.name not in ours:
            print(name, "has an argument", a.name, "that is not known")
        elif a.has_default_value() and not same(ours[a.name], a.default_value):
            print(name, "has", a.name, "=", a.default_value, "by default, not", ours[a.name])
