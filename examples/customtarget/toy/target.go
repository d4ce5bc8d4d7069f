package toy

import (
	"context"
	"sync/atomic"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
)

// Target lowers graphs to a machine. Use it as the first target of a lowering.Split,
// followed by one that runs everything.
type Target struct{ Machine *Machine }

// Name implements lowering.Target.
func (Target) Name() string { return "toy" }

// Supports implements lowering.Target: one instruction computes the call, or several
// compute its parts.
func (Target) Supports(n *graph.Node) (bool, string) {
	ok, why := direct(n)
	if ok || n.Op() == nil || !n.Op().Composite() {
		return ok, why
	}
	trial := lowering.IsolateCall(n)
	if trial == nil {
		return false, "an operand is a tuple"
	}
	if err := lowering.Legalize(trial.Graph, "toy", direct); err != nil {
		var l diag.List
		l.Add(err)
		return false, "what it is composed of: " + l[0].Msg // reasons are one line, without cures
	}
	return true, ""
}

// Compile implements lowering.Target: it makes a program and copies the weights into the
// machine.
func (t Target) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	ready, err := lowering.Prepare(m, o)
	if err != nil {
		return nil, err
	}
	if err := lowering.Legalize(ready.Graph, t.Name(), direct); err != nil {
		return nil, err
	}
	e := &executable{machine: t.Machine, entry: lowering.NewEntry(ready.Graph), program: program{weights: map[int]register{}}}
	_, err = graph.Fold(context.Background(), ready.Graph, func(n *graph.Node, in []int) (int, error) { return e.assemble(ready, n, in) })
	if err != nil {
		return nil, err
	}
	return e, nil
}

// executable is a program with its machine.
type executable struct {
	machine *Machine
	entry   *lowering.Entry
	program program
	closed  atomic.Bool
}

// assemble gives a node a register: in are those of its operands.
func (e *executable) assemble(m *graph.Module, n *graph.Node, in []int) (int, error) {
	p := &e.program
	to := p.registers
	p.registers++
	switch n.Opcode() {
	case graph.Placeholder:
	case graph.GetAttr:
		w := m.Param(n.Target())
		if w == nil || w.Value == nil {
			return 0, n.Error(interp.NoParam, "the module has no data for tensor "+n.Target()).WithHint("load the weights first")
		}
		if w.Value.DType() != array.F32 {
			return 0, lowering.Refuse(n, "toy", "the machine stores f32")
		}
		p.weights[to] = copied(registerOf(w.Value), &e.machine.resident)
	case graph.Output:
		p.results = append(p.results, in...)
	default:
		r, _ := rules.Find(n)
		number, _ := r.operand(n.Attrs())
		i := instruction{do: r.do, to: to, a: in[0], b: -1, c: -1}
		if n.Arg(1) != nil {
			i.b = in[1]
		}
		if n.Arg(2) != nil {
			i.c = in[2]
		}
		if number.Present() {
			i.number = float32(number.Float64())
		}
		p.code = append(p.code, i)
	}
	return to, nil
}

// Run implements lowering.Executable.
func (e *executable) Run(ctx context.Context, in []*array.Array) ([]*array.Array, error) {
	if e.closed.Load() {
		return nil, diag.New(lowering.Closed, "the executable is closed, expected an open one")
	}
	if err := ctx.Err(); err != nil {
		return nil, diag.Stop(err)
	}
	values, err := e.entry.Check(lowering.Hosts(in))
	if err != nil {
		return nil, err
	}
	operands := make([]register, len(values))
	for i, v := range values {
		a, err := v.Array(ctx)
		if err != nil {
			return nil, err
		}
		operands[i] = registerOf(a)
	}
	results, err := e.machine.run(&e.program, operands)
	if err != nil {
		return nil, diag.New(interp.GuardFailed, err.Error())
	}
	out := make([]*array.Array, len(results))
	for i, r := range results {
		out[i] = array.New(array.F32, r.dims...)
		copy(array.Data[float32](out[i]), r.data)
	}
	return out, nil
}

// Close implements lowering.Executable.
func (e *executable) Close() error {
	e.closed.Store(true)
	return nil
}

func registerOf(a *array.Array) register {
	a = array.Contiguous(a)
	return register{a.Shape(), array.Data[float32](a)}
}
