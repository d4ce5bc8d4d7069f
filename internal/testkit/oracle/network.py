"""Makes a PyTorch module of a graph that oracle.DumpNetwork wrote: one function
that makes the calls in order, each by the operator's expression."""
import ast
import json
import os
import sys

import torch
import torch.nn.functional as F

import helpers
import oracle


class Bind(ast.NodeTransformer):
    """Puts operands and attributes into an expression in place of their names, and
    helpers' results in place of their calls where all arguments are known."""

    def __init__(self, values):
        self.values = values

    def visit_Name(self, node):
        return self.values.get(node.id, node)

    def visit_Call(self, node):
        node = self.generic_visit(node)
        if not isinstance(node.func, ast.Name) or node.keywords or not callable(getattr(helpers, node.func.id, None)):
            return node
        try:
            return literal(getattr(helpers, node.func.id)(*map(ast.literal_eval, node.args)))
        except (ValueError, TypeError, AttributeError):  # an argument is a tensor
            return node


def literal(v):
    """The expression of a value; infinities have none but a call."""
    if isinstance(v, torch.dtype):
        return ast.parse(str(v), mode="eval").body
    if isinstance(v, float):
        return ast.parse("float(%r)" % repr(v), mode="eval").body
    if v is not None and not isinstance(v, (bool, int, str, list, tuple)):
        raise ValueError("no literal")
    return ast.parse(repr(v), mode="eval").body


def operand(v):
    if isinstance(v, list):
        return ast.List([operand(x) for x in v], ast.Load())
    return ast.Name(v, ast.Load())


def expression(call):
    """The Python expression of one call."""
    if call["Op"] == "getitem":
        return "%s[%d]" % (call["In"][0], call["Attrs"]["index"])
    if call["Op"] == "assign":
        return call["In"][1]
    names = oracle.names_of(call)
    attrs = {k: oracle.attribute(v) for k, v in call["Attrs"].items()}
    values = oracle.bound(call["Operands"], attrs, call["In"])
    operands = {n for n in names if attrs.get(n) is None}
    values = {k: operand(v) if k in operands and v is not None else literal(v) for k, v in values.items()}
    text = call["Torch"]
    if not text:
        text = "%s.%s(%s)" % ("torch" if hasattr(torch, call["Op"]) else "F", call["Op"], ", ".join(names))
    return ast.unparse(ast.fix_missing_locations(Bind(values).visit(ast.parse(text, mode="eval"))))


class Network(torch.nn.Module):
    """The graph in a folder as a module, its weights as buffers; instead has functions
    for some of helpers'."""

    def __init__(self, folder, instead={}):
        super().__init__()
        with open(os.path.join(folder, "network.json")) as f:
            net = json.load(f)
        tensors = oracle.read(os.path.join(folder, "tensors.safetensors"))
        self.inputs = [tensors[n] for n in net["Inputs"] or []]
        for n in net["Weights"] or []:
            self.register_buffer(n, tensors[n])
        lines = ["def forward(%s):" % ", ".join(["self"] + (net["Inputs"] or []))]
        lines += ["    %s = self.%s" % (n, n) for n in net["Weights"] or []]
        lines += ["    %s = %s" % (c["Key"], expression(c)) for c in net["Calls"]]
        lines += ["    return (%s,)" % ", ".join(net["Outputs"])]
        self.text = "\n".join(lines)
        self.calls, self.wrt = net["Calls"], net.get("Wrt") or []
        names = {}
        exec(self.text, {**vars(helpers), "torch": torch, "F": F, **instead}, names)
        self.run = names["forward"]
        self.eval()

    def forward(self, *inputs):
        return self.run(self, *inputs)

    def weights_of(self, op):
        """The weights that calls of an operator have as second operand and nothing else uses."""
        uses = [n for c in self.calls for n in c["In"]]
        names = {c["In"][1] for c in self.calls if c["Op"] == op}
        return sorted(n for n in names if n in self._buffers and uses.count(n) == 1)


def gradient(net, inputs):
    """The results, and the derivatives of the first by the weights that are asked for."""
    weights = [net._buffers[n].requires_grad_() for n in net.wrt]
    with torch.set_grad_enabled(bool(weights)):
        out = net(*inputs)
    if not weights:
        return out, []
    found = torch.autograd.grad(out[0], weights, allow_unused=True)
    return out, [torch.zeros_like(w) if d is None else d for w, d in zip(weights, found)]


def main():
    """Computes the network in a folder and stores its results there, and the gradient of
    the first by the weights that are asked for."""
    net = Network(sys.argv[1])
    out, found = gradient(net, net.inputs)
    all = [("network/%d" % i, oracle.encode(x)) for i, x in enumerate(out)]
    all += [("gradient/%d" % i, oracle.encode(d)) for i, d in enumerate(found)]
    if net.wrt:
        with torch.no_grad():
            net.double()
        _, found = gradient(net, [x.double() if oracle.floats(x, oracle.FLOATS) else x for x in net.inputs])
        all += [("exact/%d" % i, oracle.encode(d)) for i, d in enumerate(found)]
    oracle.write(os.path.join(sys.argv[1], "results.safetensors"), all, {})


if __name__ == "__main__":
    main()
