package train

import (
	"context"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// functional is what a graph needs so that each read of a tensor is a node.
var functional = []passes.Pass{simplify.Inline, simplify.FunctionalizeAll}

// Where the state of the optimiser lies, below a prefix.
const (
	updatesPath = "updates" // i64[]: how many there were
	batchesPath = "batches" // i64[]: how many are accumulated
	scalePath   = "scale"   // f64[]: of the learning rates
	gradSlot    = "grad"    // of the batches that are accumulated
	averageSlot = "average" // of the parameters
)

// update adds the update of the parameters to a graph that gives results and gradients.
type update struct {
	ctx        context.Context
	gm         *fx.GraphModule
	rule       optim.Rule
	params     []string
	optimisers []optim.Optimiser // of params

	prefix  string
	grads   []*graph.Node
	writes  []write
	step    *graph.Node // f64[]: the number of the update, from 1 on
	factor  *graph.Node // f64[]: of the learning rates
	updates *graph.Node // i64[]
	next    *graph.Node // i64[]: updates after this one
	scale   string      // the path of the loss's scale, "" where it has none
	apply   *graph.Node // bool[]: the update is made with this batch; nil: with each
}

// write is a value for a tensor of the state.
type write struct {
	to, value *graph.Node
}

// build adds the update and leaves the results alone for the output.
func (b *update) build(results int, s *graph.Structure) (err error) {
	defer diag.Catch(&err)
	m := b.gm.Module
	if b.prefix == "" {
		b.prefix = freshPrefix(m)
	}
	b.grads = b.gm.Graph.Output().Args()[results:]
	if b.scale != "" {
		b.grads = b.grads[1:] // the scaled loss
	}
	for _, add := range []func() error{b.unscale, b.counters, b.accumulate, b.finite, b.count, b.clip} {
		if err := add(); err != nil {
			return err
		}
	}
	for i, path := range b.params {
		if err := b.param(path, b.optimisers[i], b.grads[i]); err != nil {
			return err
		}
	}
	b.finish(results, s)
	if _, err := b.gm.Apply(b.ctx, []passes.Pass{simplify.DCE}, fx.PassOptions{}); err != nil {
		return err
	}
	return nil
}

// freshPrefix returns what no path of the module begins with.
func freshPrefix(m *graph.Module) string {
	prefix := "optim"
	for i := 0; i < len(m.Params()); i++ {
		if p := m.Params()[i].Path; p == prefix || len(p) > len(prefix) && p[:len(prefix)+1] == prefix+"." {
			prefix, i = prefix+"_", -1
		}
	}
	return prefix + "."
}

// at returns a cursor before the output, in the scope of the update of a parameter.
func (b *update) at(path string) *graph.Cursor {
	c := b.gm.Graph.Before(b.gm.Graph.Output())
	if path != "" {
		path = "." + path
	}
	c.SetScope(b.gm.Graph.Scope(graph.Scope{Path: b.prefix[:len(b.prefix)-1] + path, Type: "optim"}))
	return c
}

// slot adds a tensor to the state and reads it.
func (b *update) slot(path string, value *array.Array) *graph.Node {
	b.gm.SetParam(graph.Param{Path: b.prefix + path, Value: value, Buffer: true})
	n := b.at("").GetAttr(b.prefix + path)
	n.SetLive(true)
	return n
}

// read returns a read of a tensor of the state that is written.
func (b *update) read(path string) *graph.Node {
	var found *graph.Node
	for n := range b.gm.Graph.Nodes() {
		if n.Opcode() == graph.GetAttr && n.Target() == path {
			n.SetLive(true)
			if found == nil {
				found = n
			}
		}
	}
	if found == nil {
		found = b.at("").GetAttr(path)
		found.SetLive(true)
	}
	p := *b.gm.Param(path)
	p.Buffer = true
	b.gm.SetParam(p)
	return found
}

// record records tensor code for a parameter, "" for what all share.
func (b *update) record(path string, fn func(in ...*tensor.Tensor) []*tensor.Tensor, args ...*graph.Node) ([]*graph.Node, error) {
	t := tracer.Tracer{Name: "update", Frames: -1}
	return t.Record(b.ctx, b.at(path), fn, args...)
}

// write writes a value at the end of the step.
func (b *update) write(to, value *graph.Node) {
	if to != value {
		b.writes = append(b.writes, write{to, value})
	}
}

// counters counts updates and finds the factor of the learning rates.
func (b *update) counters() error {
	b.updates = b.slot(updatesPath, array.New(array.I64))
	scale := b.slot(scalePath, array.Scalar(1.0))
	out, err := b.record("", func(in ...*tensor.Tensor) []*tensor.Tensor {
		n := in[0].Cast(array.F64)
		return []*tensor.Tensor{n.AddScalar(1), b.rule.Factor(n, in[1]), in[0].AddScalar(1)}
	}, b.updates, scale)
	if err != nil {
		return err
	}
	b.step, b.factor, b.next = out[0], out[1], out[2]
	if b.rule.Accumulate < 2 {
		return nil
	}
	batches := b.slot(batchesPath, array.New(array.I64))
	out, err = b.record("", func(in ...*tensor.Tensor) []*tensor.Tensor {
		n := in[0].AddScalar(1)
		apply := n.GeScalar(b.rule.Accumulate)
		return []*tensor.Tensor{apply, n.MaskedFill(apply, 0)}
	}, batches)
	if err != nil {
		return err
	}
	b.apply = out[0]
	b.write(batches, out[1])
	return nil
}

// count writes the number of updates.
func (b *update) count() error {
	if b.apply == nil {
		b.write(b.updates, b.next)
		return nil
	}
	out, err := b.record("", func(in ...*tensor.Tensor) []*tensor.Tensor {
		return []*tensor.Tensor{tensor.Where(in[0], in[1], in[2])}
	}, b.apply, b.next, b.updates)
	if err == nil {
		b.write(b.updates, out[0])
	}
	return err
}

// accumulate makes the gradients those of several batches.
func (b *update) accumulate() error {
	if b.apply == nil {
		return nil
	}
	for i, path := range b.params {
		sum := b.slot(gradSlot+"."+path, zeros(b.gm, path))
		out, err := b.record(path, func(in ...*tensor.Tensor) []*tensor.Tensor {
			s := in[0].Add(in[1])
			return []*tensor.Tensor{s.DivScalar(b.rule.Accumulate), tensor.Where(in[2], s.ZerosLike(), s)}
		}, sum, b.grads[i], b.apply)
		if err != nil {
			return err
		}
		b.grads[i] = out[0]
		b.write(sum, out[1])
	}
	return nil
}

func (b *update) clip() (err error) {
	if b.rule.ClipNorm > 0 || b.rule.ClipValue > 0 {
		b.grads, err = b.record("", func(in ...*tensor.Tensor) []*tensor.Tensor { return b.rule.Clip(in) }, b.grads...)
	}
	return err
}

// param adds the update of one parameter.
func (b *update) param(path string, o optim.Optimiser, g *graph.Node) error {
	names := o.Slots()
	state := []*graph.Node{b.read(path)}
	for _, name := range names {
		state = append(state, b.slot(name+"."+path, zeros(b.gm, path)))
	}
	if b.rule.Average > 0 {
		state = append(state, b.slot(averageSlot+"."+path, array.Clone(b.gm.Param(path).Value)))
	}
	args := append([]*graph.Node{state[0], g, b.step, b.factor}, state[1:]...)
	if b.apply != nil {
		args = append(args, b.apply)
	}
	out, err := b.record(path, func(in ...*tensor.Tensor) []*tensor.Tensor { return b.updated(o, names, in) }, args...)
	if err != nil {
		return err
	}
	for i, to := range state {
		b.write(to, out[i])
	}
	return nil
}

// updated computes a parameter, its slots and its average after the step.
func (b *update) updated(o optim.Optimiser, names []string, in []*tensor.Tensor) []*tensor.Tensor {
	slots := map[string]*tensor.Tensor{}
	for i, name := range names {
		slots[name] = in[4+i]
	}
	u := optim.NewUpdate(in[0], in[1], in[2], in[3], slots)
	out := []*tensor.Tensor{o.Update(u)}
	for _, name := range names {
		out = append(out, u.Slot(name))
	}
	old := append([]*tensor.Tensor{in[0]}, in[4:4+len(names)]...)
	if b.rule.Average > 0 {
		average := in[4+len(names)]
		next := average.MulScalar(b.rule.Average).Add(out[0].MulScalar(1 - b.rule.Average))
		out = append(out, tensor.Where(in[2].EqScalar(1), out[0], next))
		old = append(old, average)
	}
	if b.apply != nil {
		apply := in[len(in)-1]
		for i := range out {
			out[i] = tensor.Where(apply, out[i], old[i])
		}
	}
	return out
}

func zeros(gm *fx.GraphModule, path string) *array.Array {
	v := gm.Param(path).Value
	return array.New(v.DType(), v.Shape()...)
}

// finish writes the state and leaves the results for the output.
func (b *update) finish(results int, s *graph.Structure) {
	g := b.gm.Graph
	out := g.Output()
	args := out.Args()[:results:results]
	written := map[string]bool{}
	for _, w := range b.writes {
		written[w.to.Target()] = true
	}
	// A value that lies in the state is taken before that is written.
	apart := func(n *graph.Node) *graph.Node {
		if n == nil || !written[n.Place().Path] {
			return n
		}
		return b.at("").Function(std.Clone, nil, n)
	}
	for i, a := range args {
		args[i] = apart(a)
	}
	for i, w := range b.writes {
		b.writes[i].value = apart(w.value)
	}
	c := b.at("")
	for _, w := range b.writes {
		c.Function(op.Assign, nil, w.to, w.value)
	}
	if err := g.Erase(out); err != nil {
		panic(err)
	}
	g.At().Output(s, args...)
}
