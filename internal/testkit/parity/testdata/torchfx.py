"""What torch.fx does in situations of the behaviours: a line of JSON for each, with its number, its
input and the outcome. A number is that of the behaviour; a letter tells several of one apart. An
outcome is a value, or the class of the error."""

import copy
import dataclasses
import io
import json
import math
import operator
import os
import pickle
import sys
import tempfile
import warnings
from collections import namedtuple

import torch
import torch.fx as fx
from torch import nn
from torch.fx import subgraph_rewriter
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupport, OperatorSupportBase
from torch.fx.passes.shape_prop import ShapeProp
from torch.fx.passes.split_module import split_module

warnings.filterwarnings("ignore")
ROWS = []


def row(number, text):
    def add(f):
        ROWS.append((number, text, f))
        return f
    return add


def outcome(f):
    try:
        v = f()
    except RecursionError:
        return "RecursionError"
    except BaseException as e:  # a panic of compiled code is one, too
        return type(e).__name__
    return v if isinstance(v, str) else repr(v)


def ops(gm):
    """The calls of a graph."""
    return " ".join(n.name for n in gm.graph.nodes if n.op.startswith("call"))


def forms(gm):
    return " ".join(n.op + ":" + (n.target if isinstance(n.target, str) else getattr(n.target, "__name__", str(n.target))) for n in gm.graph.nodes)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = nn.Parameter(torch.ones(3))
        self.l = nn.Linear(3, 3)
        self.register_buffer("b", torch.arange(3.0))

    def forward(self, x, s: float = 2.0):
        return torch.relu(self.l(x + self.p)) * s + self.b


def chain(n):
    def f(x):
        for _ in range(n):
            x = torch.relu(x)
        return x
    return f


@fx.wrap
def opaque(x):
    return x + 1


@fx.wrap
def broken(x):
    return x + 1


X = torch.tensor([1.0, -2.0, 3.0])
Pair = namedtuple("Pair", "a b")


@dataclasses.dataclass
class Data:
    a: torch.Tensor
    b: int


@row("1", "a module with a parameter, a layer and operators")
def _():
    m = Net()
    gm = fx.symbolic_trace(m)
    return forms(gm) + " %s" % torch.equal(gm(X), m(X))


@row("2", "a default, then a call by keyword")
def _():
    gm = fx.symbolic_trace(Net())
    return "%s %s" % ([n.args for n in gm.graph.nodes if n.op == "placeholder"], torch.equal(gm(x=X, s=3.0), gm(X, 3.0)))


@row("3", "star and double-star parameters")
def _():
    def f(*a, **k):
        return a[0] + k["y"]
    return forms(fx.symbolic_trace(f))


@row("4", "a method whose self would be one of *args")
def _():
    class M(nn.Module):
        def forward(*args):
            return args[1]
    return forms(fx.symbolic_trace(M()))


@row("5", "3 - x, 3 / x, a matrix times x")
def _():
    return [str(n.args) for n in fx.symbolic_trace(lambda x: (3 - x, 3 / x)).graph.nodes if n.op == "call_function"]


@row("6", "x & y, x << 1, x // 2, x ** 2, x >= y, ~x")
def _():
    return ops(fx.symbolic_trace(lambda x, y: (x & y, x << 1, x // 2, x ** 2, x >= y, ~x)))


@row("7a", "a namedtuple and a dictionary of tensors as results")
def _():
    gm = fx.symbolic_trace(lambda x: {"p": Pair(x, x + 1)})
    return type(gm(X)["p"]).__name__


@row("7b", "a dataclass as argument of a wrapped call")
def _():
    return forms(fx.symbolic_trace(lambda x: opaque(Data(x, 1))))


@row("9", "a tracer without leaves")
def _():
    class T(fx.Tracer):
        def is_leaf_module(self, m, q):
            return False
    return " ".join(n.op for n in T().trace(Net()).nodes)


@row("10a", "wrap inside a function")
def _():
    return repr(fx.wrap("len"))


@row("10b", "a wrapped function after a trace that failed")
def _():
    def f(x):
        broken(x)
        return 1 / 0
    try:
        fx.symbolic_trace(f)
    except ZeroDivisionError:
        pass
    return "%s" % broken(1)


@row("11", "a wrapped function, traced twice")
def _():
    return forms(fx.symbolic_trace(fx.symbolic_trace(lambda x: opaque(x))))


@row("12a", "len of a traced value")
def _():
    return repr(fx.symbolic_trace(lambda x: x + len(x)))


@row("12b", "math.sqrt and float of a traced size")
def _():
    return ops(fx.symbolic_trace(lambda x: math.sqrt(x.size(0))))


@row("12c", "float of a traced size")
def _():
    return ops(fx.symbolic_trace(lambda x: x * float(x.size(0))))


@row("14", "a finished graph extended by Proxy objects")
def _():
    gm = fx.symbolic_trace(lambda x: x + 1)
    out = next(n for n in gm.graph.nodes if n.op == "output")
    with gm.graph.inserting_before(out):
        y = torch.relu(fx.Proxy(out.args[0]))
    out.args = (y.node,)
    gm.recompile()
    return ops(gm)


@row("15", "a deep copy of a traced value")
def _():
    return ops(fx.symbolic_trace(lambda x: copy.deepcopy(x) + 1))


@row("16", "None given concretely, then a call with a tensor")
def _():
    gm = fx.symbolic_trace(lambda x, y: x if y is None else x + y, concrete_args={"y": None})
    return repr(gm(X, X))


@row("17", "a method that is not there")
def _():
    class T(fx.Tracer):
        traced_func_name = "nothing"
    return repr(T().trace(Net()))


@row("18", "a tensor of a closure, used twice")
def _():
    c = torch.ones(3)
    return forms(fx.symbolic_trace(lambda x: x + c + c))


@row("18b", "a layer that is no field of the module")
def _():
    other = nn.Linear(3, 3)

    class M(nn.Module):
        def forward(self, x):
            return other(x)
    return forms(fx.symbolic_trace(M()))


@row("20", "a buffer indexed by a traced tensor")
def _():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("t", torch.arange(5))

        def forward(self, i):
            return self.t[i]
    return forms(fx.symbolic_trace(M()))


@row("22a", "a, b = x.split(2)")
def _():
    def f(x):
        a, b = x.split(2)
        return a + b
    return ops(fx.symbolic_trace(f))


@row("22b", "[a, b] = x.split(2)")
def _():
    def f(x):
        [a, b] = x.split(2)
        return a + b
    return ops(fx.symbolic_trace(f))


@row("22c", "a loop over a traced value")
def _():
    def f(x):
        return [y + 1 for y in x]
    return ops(fx.symbolic_trace(f))


@row("22d", "f(*x)")
def _():
    def f(x):
        return torch.add(*x)
    return ops(fx.symbolic_trace(f))


@row("23", "x + y, x.add(y), torch.add, torch.ops.aten.add.Tensor")
def _():
    return forms(fx.symbolic_trace(lambda x, y: (x + y, x.add(y), torch.add(x, y), torch.ops.aten.add.Tensor(x, y))))


@row("26", "infinity, NaN, element type, device, Ellipsis as arguments")
def _():
    gm = fx.symbolic_trace(lambda x: torch.clamp(x[..., 0], max=float("inf")).to(torch.float64))
    return "%s %s" % (ops(gm), gm(torch.ones(2, 2)).dtype)


@row("27", "a traced value as key of a dictionary")
def _():
    return ops(fx.symbolic_trace(lambda x: opaque({x: 1})))


@row("28", "assert on a traced value")
def _():
    def f(x):
        assert x.sum() > 0
        return x
    return ops(fx.symbolic_trace(f))


@row("29", "a flag given concretely, then the other value")
def _():
    gm = fx.symbolic_trace(lambda x, flag: x + 1 if flag else x - 1, concrete_args={"flag": True})
    return repr(gm(X, False))


@row("30", "a nested argument given concretely, with PH")
def _():
    gm = fx.symbolic_trace(lambda d: d["a"] + d["b"][0], concrete_args={"d": {"a": fx.PH, "b": [fx.PH]}})
    return "%s" % gm({"a": X, "b": [X]}).tolist()


@row("31a", "a branch on the size of a parameter")
def _():
    class M(Net):
        def forward(self, x):
            return x if self.p.shape[0] == 3 else x + 1
    return forms(fx.symbolic_trace(M()))


@row("31b", "a branch on the size of an input")
def _():
    return forms(fx.symbolic_trace(lambda x: x if x.shape[0] == 3 else x + 1))


@row("33a", "y = x + 1; y.add_(1); return y after dead-code elimination, on 0")
def _():
    def f(x):
        y = x + 1
        y.add_(1)
        return y
    gm = fx.symbolic_trace(f)
    gm.graph.eliminate_dead_code()
    gm.recompile()
    return "%g" % gm(torch.zeros([]))


@row("33b", "x += y on an input: what the caller's tensor holds")
def _():
    def f(x, y):
        x += y
        return x
    x = torch.zeros([])
    fx.symbolic_trace(f)(x, torch.ones([]))
    return "%g" % x


@row("33c", "x[0] = 1")
def _():
    def f(x):
        x[0] = 1
        return x
    return ops(fx.symbolic_trace(f))


@row("33d", "add_ where writes are checked")
def _():
    class T(fx.Tracer):
        def __init__(self):
            super().__init__()
            self.check_mutable_operations = True
    return " ".join(n.name for n in T().trace(lambda x: torch.relu_(x)).nodes)


@row("34", "the stack of a call, where a tracer records it")
def _():
    t = fx.Tracer()
    t.record_stack_traces = True
    g = t.trace(lambda x: torch.relu(x))
    n = next(n for n in g.nodes if n.op == "call_function")
    return "there" if n.stack_trace else "none"


@row("35", "the path and type of the module of a call")
def _():
    gm = fx.symbolic_trace(nn.Sequential(Net()))
    n = next(n for n in gm.graph.nodes if n.op == "call_module")
    stack = n.meta.get("nn_module_stack")
    return "none" if stack is None else " ".join(stack)


@row("36", "torch.cond with traced values")
def _():
    cond = getattr(torch, "cond", None)
    if cond is None:
        return "there is none"
    return forms(fx.symbolic_trace(lambda x: cond(x.sum() > 0, lambda v: v + 1, lambda v: v - 1, (x,))))


@row("37", "a trace in a traced function, with a value of the outer one")
def _():
    def f(x):
        return fx.symbolic_trace(lambda y: y + x)(x)
    return forms(fx.symbolic_trace(f))


@row("38", "a deep copy of a tracer")
def _():
    return type(copy.deepcopy(fx.Tracer())).__name__


@row("39", "a function that returns a string; nothing")
def _():
    return "%s %s" % (fx.symbolic_trace(lambda x: "text")(X), fx.symbolic_trace(lambda x: None)(X))


@row("41", "a graph made by hand")
def _():
    g = fx.Graph()
    x = g.placeholder("x")
    g.output(g.call_function(torch.neg, (x,)))
    return "%s" % fx.GraphModule({}, g)(X).tolist()


@row("42", "nodes called for a keyword, a builtin and getattr")
def _():
    g = fx.Graph()
    return " ".join(g.create_node("placeholder", n, name=n).name for n in ("for", "len", "getattr", "a b", "7"))


@row("43", "operands of add(x, x)")
def _():
    return "%d" % len(list(fx.symbolic_trace(lambda x: x + x).graph.nodes)[1].all_input_nodes)


@row("47a", "erasing a node that has users")
def _():
    gm = fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    gm.graph.erase_node(list(gm.graph.nodes)[1])
    return "erased"


@row("47b", "erasing a node twice")
def _():
    g = fx.Graph()
    n = g.call_function(torch.neg, ())
    g.erase_node(n)
    g.erase_node(n)
    return "a warning"


@row("48a", "a node moved before its operand, then lint")
def _():
    gm = fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    n = list(gm.graph.nodes)
    n[1].prepend(n[2])
    gm.graph.lint()
    return "passes"


@row("48b", "a node before itself")
def _():
    n = list(fx.symbolic_trace(lambda x: x + 1).graph.nodes)[1]
    n.prepend(n)
    return "nothing"


@row("51", "a write to the list of a node's arguments")
def _():
    n = list(fx.symbolic_trace(lambda x: torch.cat([x, x])).graph.nodes)[1]
    n.args[0][0] = None
    return "written"


@row("52a", "a deep copy of a graph of 5,000 nodes")
def _():
    return "%d" % len(copy.deepcopy(fx.symbolic_trace(chain(5000)).graph).nodes)


@row("52b", "an argument nested 2,000 lists deep")
def _():
    def f(x):
        v = x
        for _ in range(2000):
            v = [v]
        return opaque(v)
    return "%d" % len(fx.symbolic_trace(f).graph.nodes)


@row("53", "a deep copy keeps the class of the tracer")
def _():
    class T(fx.Tracer):
        pass
    g = T().trace(lambda x: x + 1)
    return "%s" % (getattr(copy.deepcopy(g), "_tracer_cls", None) is getattr(g, "_tracer_cls", None))


@row("54", "nodes found by operator and target")
def _():
    return "%d" % len(fx.symbolic_trace(lambda x: torch.relu(torch.relu(x))).graph.find_nodes(op="call_function", target=torch.relu))


def lint_of(edit):
    def f():
        gm = fx.symbolic_trace(lambda x: torch.relu(x) + 1)
        edit(gm.graph, list(gm.graph.nodes))
        gm.graph.lint()
        return "passes"
    return f


row("55a", "lint of a graph whose node has lost its users")(lint_of(lambda g, n: n[1].users.clear()))
row("55b", "lint of a node after the output")(lint_of(lambda g, n: n[3].append(n[2])))
row("55c", "lint of a placeholder after a call")(lint_of(lambda g, n: g.inserting_after(n[1]).__enter__() and None or g.placeholder("late")))
row("55d", "lint of two outputs")(lint_of(lambda g, n: g.output(n[1])))
row("55e", "lint of an argument of another graph")(lint_of(lambda g, n: n[2].update_arg(0, list(fx.symbolic_trace(lambda x: x).graph.nodes)[0])))
row("55f", "lint of a call whose target is a number")(lint_of(lambda g, n: setattr(n[1], "target", 3)))
row("55g", "lint of two nodes of one name")(lint_of(lambda g, n: setattr(n[1], "name", "x")))


@row("56", "a call whose target is a string")
def _():
    return str(fx.Graph().call_function("relu", ()))


@row("58", "an attribute of the user's on a node, and its deep copy")
def _():
    gm = fx.symbolic_trace(lambda x: x + 1)
    n = list(gm.graph.nodes)[1]
    n.tag = "mine"
    return getattr(list(copy.deepcopy(gm.graph).nodes)[1], "tag", "lost")


@row("59", "the text of a graph")
def _():
    return str(fx.symbolic_trace(lambda x: torch.relu(x)).graph).strip().replace("\n", "; ")


@row("60", "a node before another in order, after many insertions")
def _():
    g = fx.Graph()
    first = g.placeholder("x")
    last = g.call_function(torch.neg, (first,))
    for _ in range(500):
        with g.inserting_after(first):
            g.call_function(torch.neg, (first,))
    return "%s" % (first < last)


@row("62", "a pickled module with a key in each node's meta")
def _():
    gm = fx.symbolic_trace(lambda x: torch.relu(x))
    for n in gm.graph.nodes:
        n.meta["mine"] = 1
    again = pickle.loads(pickle.dumps(gm))
    return "%d of 3 nodes have it" % sum("mine" in n.meta for n in again.graph.nodes)


@row("63", "a node as the operand of its user twice")
def _():
    n = list(fx.symbolic_trace(lambda x: x + 1).graph.nodes)
    n[1].insert_arg(1, n[0])
    return "%d user, arguments %s" % (len(n[0].users), n[1].args)


@row("66", "the last statement's values are freed in the code")
def _():
    return "%s" % ("= None" in fx.symbolic_trace(lambda x: torch.relu(x) + 1).code)


@row("70", "the code of an in-place multiplication")
def _():
    g = fx.Graph()
    x = g.placeholder("x")
    g.output(g.call_function(operator.imul, (x, 2)))
    return fx.GraphModule({}, g).code.strip().split("\n")[-2].strip()


@row("72", "a module from a dictionary without the parameter that it reads")
def _():
    g = fx.Graph()
    g.output(g.get_attr("p"))
    return type(fx.GraphModule({}, g)).__name__


@row("73", "a module whose graph has no output")
def _():
    g = fx.Graph()
    g.placeholder("x")
    return repr(fx.GraphModule({}, g)(X))


@row("74a", "the layers that a graph does not use")
def _():
    gm = fx.symbolic_trace(Net())
    gm.add_submodule("extra.deep", nn.Linear(1, 1))
    gm.delete_all_unused_submodules()
    return " ".join(n for n, _ in gm.named_modules() if n)


@row("74b", "a target edited without recompiling: the module and the interpreter on -1")
def _():
    gm = fx.symbolic_trace(lambda x: torch.neg(x))
    list(gm.graph.nodes)[1].target = torch.relu
    x = torch.tensor(-1.0)
    return "%g and %g" % (gm(x), fx.Interpreter(gm).run(x))


@row("75", "a pickled module with a write in place")
def _():
    g = fx.Graph()
    x = g.placeholder("x")
    y = g.call_method("add_", (x, 1))
    g.output(y)
    return ops(pickle.loads(pickle.dumps(fx.GraphModule({}, g))))


@row("76", "to_folder")
def _():
    with tempfile.TemporaryDirectory() as d:
        fx.symbolic_trace(Net()).to_folder(d, "Written")
        return " ".join(sorted(f for f in os.listdir(d) if not f.startswith("__py")))


@row("79", "a deep copy keeps the meta of a module")
def _():
    gm = fx.symbolic_trace(lambda x: x)
    gm.meta["k"] = 1
    return repr(copy.deepcopy(gm).meta.get("k"))


@row("82a", "an interpreter with one argument too many")
def _():
    return repr(fx.Interpreter(fx.symbolic_trace(lambda x: x + 1)).run(X, X))


@row("82b", "an interpreter with one argument too few")
def _():
    return repr(fx.Interpreter(fx.symbolic_trace(lambda x: x + 1)).run())


@row("85", "what an interpreter keeps after a run")
def _():
    i = fx.Interpreter(fx.symbolic_trace(lambda x: torch.relu(x) + 1))
    i.run(X)
    return " ".join(n.name for n in i.env) or "nothing"


@row("86", "boxed_run with too many arguments")
def _():
    return repr(fx.Interpreter(fx.symbolic_trace(lambda x: x + 1)).boxed_run([X, X]))


@row("88", "the error of a node says which one")
def _():
    gm = fx.symbolic_trace(lambda x: torch.mm(x, x))
    try:
        fx.Interpreter(gm).run(X)
    except Exception as e:
        return "%s" % ("mm" in str(e) and "While executing" in str(e))


@row("89", "a Transformer keeps a key of the meta")
def _():
    gm = fx.symbolic_trace(lambda x: torch.relu(x))
    list(gm.graph.nodes)[1].meta["k"] = 1
    new = fx.Transformer(gm).transform()
    return repr(next(n for n in new.graph.nodes if n.op == "call_function").meta.get("k"))


def rewritten(f, pattern, replacement, **kw):
    gm = fx.symbolic_trace(f)
    found = subgraph_rewriter.replace_pattern(gm, pattern, replacement)
    return "%d match: %s" % (len(found), ops(gm))


@row("91a", "a pattern that is there twice, one after the other")
def _():
    return rewritten(lambda x: torch.relu(torch.relu(x)), lambda x: torch.relu(x), lambda x: torch.neg(x))


@row("91b", "overlapping matches of relu(relu(x)) in a chain of three")
def _():
    return rewritten(chain(3), lambda x: torch.relu(torch.relu(x)), lambda x: torch.neg(x))


@row("93", "a value inside of a match that others use")
def _():
    def f(x):
        y = torch.relu(x)
        return torch.neg(y), y
    return rewritten(f, lambda x: torch.neg(torch.relu(x)), lambda x: torch.abs(x))


@row("94a", "pattern x + y on a + 3")
def _():
    return rewritten(lambda a: a + 3, lambda x, y: x + y, lambda x, y: x - y)


@row("94b", "pattern x + x on a + b")
def _():
    return rewritten(lambda a, b: a + b, lambda x: x + x, lambda x: torch.neg(x))


@row("94c", "pattern torch.add(x, y) on a + b and a.add(b)")
def _():
    return rewritten(lambda a, b: (a + b, a.add(b)), lambda x, y: torch.add(x, y), lambda x, y: x - y)


@row("96a", "keywords in another order")
def _():
    return rewritten(lambda a: torch.sum(a, keepdim=True, dim=0), lambda x: torch.sum(x, dim=0, keepdim=True), lambda x: torch.neg(x))


@row("96b", "a default written out")
def _():
    return rewritten(lambda a: torch.add(a, a, alpha=1), lambda x, y: torch.add(x, y), lambda x, y: x - y)


@row("98", "what a replacement's nodes have of the meta")
def _():
    gm = fx.symbolic_trace(lambda x: torch.relu(x))
    list(gm.graph.nodes)[1].meta["k"] = 1
    subgraph_rewriter.replace_pattern(gm, lambda x: torch.relu(x), lambda x: torch.neg(x))
    return repr(list(gm.graph.nodes)[1].meta.get("k"))


@row("99", "a pattern of a list of another length")
def _():
    return rewritten(lambda a: torch.cat([a, a, a]), lambda x, y: torch.cat([x, y]), lambda x, y: x)


def kept(f):
    def g():
        gm = fx.symbolic_trace(f)
        gm.graph.eliminate_dead_code()
        return ops(gm) or "nothing"
    return g


def unused(call):
    def f(x):
        call(x)
        return x
    return kept(f)


row("104a", "dead-code elimination keeps: add_ as a method")(unused(lambda x: x.add_(1)))
row("104b", "dead-code elimination keeps: torch.relu_")(unused(lambda x: torch.relu_(x)))
row("104c", "dead-code elimination keeps: torch.add with out=")(unused(lambda x: torch.add(x, 1, out=x)))
row("104d", "dead-code elimination keeps: torch.rand")(unused(lambda x: torch.rand_like(x)))
row("104e", "dead-code elimination keeps: torch._assert")(unused(lambda x: torch._assert(x, "no")))
row("104f", "dead-code elimination keeps: aten.relu_.default")(unused(lambda x: torch.ops.aten.relu_.default(x)))
row("104g", "dead-code elimination keeps: print of a wrapped function")(unused(lambda x: opaque(x)))


@row("105a", "common sub-expressions of torch.rand_like, twice")
def _():
    from torch.fx.passes.dialect.common.cse_pass import CSEPass
    gm = fx.symbolic_trace(lambda x: torch.rand_like(x) + torch.rand_like(x))
    CSEPass()(gm)
    return ops(gm)


@row("105b", "common sub-expressions of relu, twice")
def _():
    from torch.fx.passes.dialect.common.cse_pass import CSEPass
    gm = fx.symbolic_trace(lambda x: torch.relu(x) + torch.relu(x))
    r = CSEPass()(gm)
    return ops(r.graph_module)


@row("106", "constants folded")
def _():
    from torch.fx.experimental.const_fold import split_const_subgraphs

    class M(Net):
        def forward(self, x):
            return x + (self.p * 2)
    return forms(split_const_subgraphs(M()))


@row("107", "shapes propagated; where they do not fit")
def _():
    gm = fx.symbolic_trace(lambda x, y: torch.mm(x, y))
    ShapeProp(gm).propagate(torch.ones(2, 3), torch.ones(4, 5))
    return "passes"


@row("110", "products of one operand merged")
def _():
    from torch.fx.experimental.merge_matmul import merge_matmul
    return ops(merge_matmul(lambda_module(lambda a, b, c: torch.matmul(a, b) + torch.matmul(a, c))))


def lambda_module(f):
    class M(nn.Module):
        def forward(self, a, b, c):
            return f(a, b, c)
    return M()


@row("111", "convolution and batch norm fused")
def _():
    from torch.fx.experimental.optimization import fuse
    return forms(fuse(nn.Sequential(nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1)).eval()))


@row("113", "passes in a circle of constraints")
def _():
    from torch.fx.passes.infra.pass_manager import PassManager, this_before_that_pass_constraint

    def a(g): return g
    def b(g): return g
    pm = PassManager(passes=[a, b], constraints=[this_before_that_pass_constraint(a, b), this_before_that_pass_constraint(b, a)])
    return repr(pm(fx.symbolic_trace(lambda x: x)))


@row("118a", "a graph split in three")
def _():
    gm = fx.symbolic_trace(chain(3))
    parts = iter(range(3))
    number = {}
    s = split_module(gm, gm, lambda n: number.setdefault(n, next(parts)))
    return forms(s)


@row("118b", "a split into parts that need each other")
def _():
    gm = fx.symbolic_trace(chain(3))
    s = split_module(gm, gm, lambda n: int(n.name == "relu_1"))
    return forms(s)


class Some(OperatorSupportBase):
    def is_node_supported(self, modules, node):
        return node.op == "call_function" and node.target is torch.relu


@row("121", "parts of relu around a neg")
def _():
    gm = fx.symbolic_trace(lambda x: torch.relu(torch.relu(x)) + torch.relu(torch.neg(torch.relu(x))))
    p = CapabilityBasedPartitioner(gm, Some(), allows_single_node_partition=True)
    return "%d parts" % len(p.propose_partitions())


@row("125", "operator support by element type")
def _():
    s = OperatorSupport({"torch.relu": None})
    n = list(fx.symbolic_trace(lambda x: torch.relu(x)).graph.nodes)[1]
    return "%s" % s.is_node_supported({}, n)


@row("129", "sizes that stay open, by make_fx")
def _():
    from torch.fx.experimental.proxy_tensor import make_fx
    gm = make_fx(lambda x: x.view(x.shape[0] * 2), tracing_mode="symbolic")(torch.ones(4, 2))
    return " ".join(getattr(n.target, "__name__", str(n.target)) for n in gm.graph.nodes)


@row("131", "a branch on an open size, by make_fx")
def _():
    from torch.fx.experimental.proxy_tensor import make_fx
    gm = make_fx(lambda x: x + 1 if x.shape[0] > 3 else x - 1, tracing_mode="symbolic")(torch.ones(4))
    return " ".join(n.name for n in gm.graph.nodes)


@row("136", "torch.ao.quantization: prepare_fx")
def _():
    from torch.ao.quantization import get_default_qconfig_mapping
    from torch.ao.quantization.quantize_fx import prepare_fx
    m = prepare_fx(nn.Sequential(nn.Linear(3, 3)).eval(), get_default_qconfig_mapping("onednn"), (torch.ones(1, 3),))
    return forms(m)


@row("139", "torch.ao.quantization: convert_fx")
def _():
    from torch.ao.quantization import get_default_qconfig_mapping
    from torch.ao.quantization.quantize_fx import convert_fx, prepare_fx
    torch.backends.quantized.engine = "onednn"
    m = prepare_fx(nn.Sequential(nn.Linear(3, 3)).eval(), get_default_qconfig_mapping("onednn"), (torch.ones(1, 3),))
    m(torch.ones(1, 3))
    return " ".join(n.op for n in convert_fx(m).graph.nodes)


def main():
    saved, sys.stdout = sys.stdout, io.StringIO()
    lines = [json.dumps({"id": n, "input": text, "outcome": outcome(f)}) for n, text, f in ROWS]
    sys.stdout = saved
    print(json.dumps({"version": torch.__version__.split("+")[0]}))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
