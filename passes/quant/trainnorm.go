package quant

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/tensor"
)

// fold is a batch norm that is folded into the layer before it: the plan sees the folded weight and
// bias as parameters, which computations of the layer's and the norm's own parameters replace.
type fold struct {
	layer *graph.Node
	from  [6]string // paths; "" for what is absent
	to    [2]string // paths of the folded weight and bias
	eps   float64
}

// What from has.
const (
	layerWeight = iota
	layerBias
	normMean
	normVariance
	normWeight
	normBias
)

// foldable are the layers that norms are folded into.
var foldable = []*op.Op{std.Conv1d, std.Conv2d, std.Conv3d, std.Linear}

// fold folds the batch norms of a graph.
func (t *trainee) fold(m *graph.Module) error {
	params := passes.NewParams(m, m.Graph)
	for n := range m.Graph.Nodes() {
		if mean, _ := runningStats(n); mean == "" {
			continue
		}
		f, why := foldOf(m, params, n)
		if why != "" {
			t.ctx.Refuse(n, "it is trained as a norm of its own: "+why)
			continue
		}
		weight, bias := f.folded(f.tensors(m))
		for i, v := range []*tensor.Tensor{weight, bias} {
			f.to[i] = m.FreshPath(f.from[layerWeight] + [...]string{"_folded", "_bias_folded"}[i])
			m.SetParam(graph.Param{Path: f.to[i], Value: array.Contiguous(v.Array())})
		}
		c := m.Graph.Before(f.layer)
		old := append(f.layer.Args(), n.Args()...)
		f.layer.SetArgs(f.layer.Arg(0), c.GetAttr(f.to[0]), c.GetAttr(f.to[1]))
		n.ReplaceUses(f.layer, nil)
		if err := m.Graph.Erase(n); err != nil {
			return err
		}
		passes.SweepUnused(slices.DeleteFunc(old, func(n *graph.Node) bool { return n == nil || n.Erased() || n.Opcode() != graph.GetAttr }))
		t.folds = append(t.folds, f)
	}
	return nil
}

// runningStats returns the paths of the statistics of a batch norm in evaluation mode, "" for other calls.
func runningStats(n *graph.Node) (mean, variance string) {
	if n.Op() != std.BatchNorm && n.Op() != std.BatchNormInference || n.Arg(1) == nil || n.Arg(2) == nil ||
		n.Arg(1).Opcode() != graph.GetAttr || n.Arg(2).Opcode() != graph.GetAttr {
		return "", ""
	}
	return n.Arg(1).Target(), n.Arg(2).Target()
}

// foldOf returns how a norm is folded into the layer before it, or why it is not.
func foldOf(m *graph.Module, params *passes.Params, n *graph.Node) (*fold, string) {
	layer := n.Arg(0)
	if layer == nil || !slices.Contains(foldable, layer.Op()) {
		return nil, "there is no convolution or linear layer before it"
	}
	if layer.NumUses() != 1 {
		return nil, "the result of " + layer.String() + " is used by others, too"
	}
	if layer.Op() == std.Linear && layer.Type().Rank() != 2 || layer.Type().Rank() < 2 {
		return nil, "the channels of " + layer.String() + " are not axis 1"
	}
	f := &fold{layer: layer, eps: epsilonOf(n)}
	read := func(from *graph.Node, arg, at int) string {
		path, value, why := params.Constant(from, arg)
		switch {
		case why != "":
			return why
		case path == "":
			return ""
		case value.DType() != array.F32 || at != layerWeight && value.Rank() != 1:
			return path + " is no f32 vector"
		}
		f.from[at] = path
		return ""
	}
	for _, r := range []struct {
		of      *graph.Node
		arg, at int
	}{{layer, 1, layerWeight}, {layer, 2, layerBias}, {n, 1, normMean}, {n, 2, normVariance}, {n, 3, normWeight}, {n, 4, normBias}} {
		if r.arg >= r.of.NumArgs() {
			continue
		}
		if why := read(r.of, r.arg, r.at); why != "" {
			return nil, why
		}
	}
	if f.from[layerWeight] == "" {
		return nil, "the weight is missing"
	}
	return f, ""
}

func epsilonOf(n *graph.Node) float64 {
	switch a := n.Attrs().(type) {
	case std.BatchNormAttrs:
		return a.Eps
	case std.EpsAttrs:
		return a.Eps
	}
	return 0
}

// paths are the parameters that there are, in order.
func (f *fold) paths() []string {
	return slices.DeleteFunc(slices.Clone(f.from[:]), func(p string) bool { return p == "" })
}

// tensors are the values of from.
func (f *fold) tensors(m *graph.Module) (in [6]*tensor.Tensor) {
	for i, path := range f.from {
		if path != "" {
			in[i] = tensor.New(m.Param(path).Value)
		}
	}
	return in
}

// spread lays tensors that stand for paths out as from.
func (f *fold) spread(list []*tensor.Tensor) (in [6]*tensor.Tensor) {
	for i, path := range f.from {
		if path != "" {
			in[i], list = list[0], list[1:]
		}
	}
	return in
}

// folded computes the weight and the bias of the layer with the norm in them, by statistics in.
func (f *fold) folded(in [6]*tensor.Tensor) (weight, bias *tensor.Tensor) {
	factor := f.factor(in, in[normVariance])
	return in[layerWeight].Mul(trailing(factor, in[layerWeight].Rank()-1)), f.shift(in, factor, in[normMean])
}

// factor is what the norm multiplies a channel by.
func (f *fold) factor(in [6]*tensor.Tensor, variance *tensor.Tensor) *tensor.Tensor {
	by := variance.AddScalar(f.eps).Sqrt()
	if in[normWeight] == nil {
		return by.Reciprocal()
	}
	return in[normWeight].Div(by)
}

// shift is what the norm adds to a channel of the layer without its bias.
func (f *fold) shift(in [6]*tensor.Tensor, factor, mean *tensor.Tensor) *tensor.Tensor {
	off := mean.Neg()
	if in[layerBias] != nil {
		off = in[layerBias].Sub(mean)
	}
	if off = off.Mul(factor); in[normBias] == nil {
		return off
	}
	return in[normBias].Add(off)
}

// trailing appends n axes of one.
func trailing(x *tensor.Tensor, n int) *tensor.Tensor {
	for range n {
		x = x.Unsqueeze(-1)
	}
	return x
}

// unfold computes the folded weight and bias of the parameters. In training the weight has the
// running statistics in it and no bias: the result is corrected to the statistics
// of the batch, which are those of the layer with its own weight.
func (t *trainee) unfold(f *fold) error {
	args := make([]*graph.Node, 0, len(f.from))
	for _, path := range f.paths() {
		args = append(args, t.param(path))
	}
	c := t.g.After(t.last)
	made, err := t.record(c, func(list ...*tensor.Tensor) []*tensor.Tensor {
		w, b := f.folded(f.spread(list))
		return []*tensor.Tensor{w, b}
	}, args...)
	if err != nil {
		return err
	}
	var reads []*graph.Node
	for n := range t.g.Nodes() {
		if i := slices.Index(f.to[:], n.Target()); n.Opcode() == graph.GetAttr && i >= 0 {
			n.ReplaceUses(made[i], nil)
			reads = append(reads, n)
		}
	}
	passes.SweepUnused(reads)
	t.last = made[1]
	if t.last.Precedes(made[0]) {
		t.last = made[0]
	}
	if t.settings == nil {
		return nil
	}
	return t.correct(f, args)
}

// correct gives the result of a layer, into which a norm is folded, the statistics of the batch.
func (t *trainee) correct(f *fold, params []*graph.Node) error {
	n := f.layer
	c := t.g.After(n)
	own := []*graph.Node{n.Arg(0), t.param(f.from[layerWeight]), nil}
	if f.from[layerBias] != "" {
		own[2] = t.param(f.from[layerBias])
	}
	plain := c.Function(n.Op(), n.Attrs(), own...)
	mean, variance, err := t.statistics(c, plain, f.from[normMean], f.from[normVariance])
	if err != nil {
		return err
	}
	n.SetArg(2, nil)
	y, err := t.one(c, func(list ...*tensor.Tensor) *tensor.Tensor {
		in, y, mean, variance := f.spread(list[3:]), list[0], list[1], list[2]
		rest := y.Rank() - 2
		running, now := in[normVariance].AddScalar(f.eps).Sqrt(), variance.AddScalar(f.eps).Sqrt()
		shift := f.shift(in, f.factor(in, variance), mean)
		return y.Mul(trailing(running.Div(now), rest)).Add(trailing(shift, rest))
	}, append([]*graph.Node{n, mean, variance}, params...)...)
	if err != nil {
		return err
	}
	n.ReplaceUses(y, y.Precedes)
	return nil
}

// statistics returns the mean and the variance that a norm in training uses, and lets the
// running ones follow.
func (t *trainee) statistics(c *graph.Cursor, x *graph.Node, meanPath, variancePath string) (mean, variance *graph.Node, err error) {
	momentum := 0.1
	if t.settings.Momentum != nil {
		momentum = t.settings.Momentum(meanPath)
	}
	runningMean, runningVariance := t.param(meanPath), t.param(variancePath)
	// A norm that is called twice follows what the first call has left.
	args := []*graph.Node{x, t.now[":"+meanPath], t.now[":"+variancePath], runningMean, runningVariance, t.count}
	if t.frozen != nil {
		args = append(args, t.frozen)
	}
	out, err := t.record(c, func(in ...*tensor.Tensor) []*tensor.Tensor {
		x := in[0]
		mean, variance := tensor.BatchNormStats(x)
		axes := []int{0}
		for i := 2; i < x.Rank(); i++ {
			axes = append(axes, i)
		}
		unbiased := x.Detach().VarWith(tensor.Ints(axes...), tensor.VarAttrs{})
		follow := func(old, next *tensor.Tensor) *tensor.Tensor {
			if momentum == 0 {
				return old.Add(next.Sub(old).Div(in[5].AddScalar(1).Cast(array.F32)))
			}
			return old.MulScalar(1 - momentum).Add(next.MulScalar(momentum))
		}
		nextMean, nextVariance := follow(in[1], mean.Detach()), follow(in[2], unbiased)
		if len(in) > 6 {
			frozen := in[6]
			nextMean, nextVariance = tensor.Where(frozen, in[1], nextMean), tensor.Where(frozen, in[2], nextVariance)
			mean, variance = tensor.Where(frozen, in[3], mean), tensor.Where(frozen, in[4], variance)
		}
		return []*tensor.Tensor{mean, variance, nextMean, nextVariance}
	}, args...)
	if err != nil {
		return nil, nil, err
	}
	t.now[":"+meanPath], t.now[":"+variancePath] = out[2], out[3]
	return out[0], out[1], nil
}

// normOfItsOwn brings a norm that is not folded into training mode.
func (t *trainee) normOfItsOwn(n *graph.Node) error {
	meanPath, variancePath := runningStats(n)
	if meanPath == "" {
		return nil
	}
	c := t.g.Before(n)
	mean, variance, err := t.statistics(c, n.Arg(0), meanPath, variancePath)
	if err != nil {
		return err
	}
	args := append([]*graph.Node{n.Arg(0), mean, variance}, n.Args()[3:]...)
	y := c.Function(std.BatchNormInference, std.EpsAttrs{Eps: epsilonOf(n)}, args...)
	n.ReplaceUses(y, nil)
	return t.g.Erase(n)
}
