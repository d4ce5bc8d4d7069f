package tune

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
)

// Equalise is the pass quant-equalise: where a channel goes from one linear layer or
// convolution to the next one through nothing but operators that commute with positive
// factors, it is scaled by a factor that gives its weights on both sides equal
// ranges. One scale for a whole weight then loses less. Results change by rounding
// alone. It belongs after the folding of batch norms and before quant-prepare.
// Ref: Nagel et al., Data-Free Quantization Through Weight Equalization and Bias
// Correction, ICCV 2019, section 4.1.
var Equalise = passes.Pass{
	Name: "quant-equalise", Doc: "Scales channels so that the weights that write and read them have equal ranges.",
	Whole: true, Order: []passes.Before{
		{First: "quant-equalise", Then: "quant-prepare", Why: "observers must see equalised channels"},
		{First: "quant-equalise", Then: "quant-convert", Why: "weights are equalised before they are quantised"},
	},
	Requires: []passes.Fact{passes.Functional, passes.Flat},
	Run: func(ctx *passes.Ctx, g *graph.Graph) (bool, error) {
		e := &scaler{ctx: ctx, params: passes.NewParams(ctx.Module, g), weights: map[string]*array.Array{}}
		var pairs [][2]*graph.Node
		for n := range g.All() {
			if layered(n) {
				if next := e.next(n); next != nil {
					pairs = append(pairs, [2]*graph.Node{n, next})
				}
			}
		}
		// A layer in the middle of a chain is changed from both sides: rounds settle it.
		for round := range 20 {
			change := 0.0
			for _, p := range pairs {
				change = max(change, e.equalise(p[0], p[1]))
			}
			if change < 1e-3 && round == 0 {
				return false, nil
			}
			if change < 1e-3 {
				break
			}
		}
		for _, p := range pairs {
			ctx.Rewrote(p[0], nil, "channels have equal ranges in the weights of "+p[0].String()+" and "+p[1].String())
		}
		e.store("_equalised")
		return len(pairs) > 0, nil
	},
}

// homogeneous are the operators f with f(s·x) = s·f(x), channel by channel, for s > 0:
// pools after the layer whose channels lie where theirs do, the others, which have no
// such, after every one.
var homogeneous = map[*op.Op]*op.Op{std.Relu: nil, std.LeakyRelu: nil,
	std.MaxPool1d: std.Conv1d, std.AvgPool1d: std.Conv1d, std.AdaptiveAvgPool1d: std.Conv1d,
	std.MaxPool2d: std.Conv2d, std.AvgPool2d: std.Conv2d, std.AdaptiveAvgPool2d: std.Conv2d,
	std.MaxPool3d: std.Conv3d, std.AvgPool3d: std.Conv3d, std.AdaptiveAvgPool3d: std.Conv3d}

// layered reports whether a call multiplies channels by a weight [out, in, ...].
func layered(n *graph.Node) bool {
	switch n.Op() {
	case std.Linear, std.Conv1d, std.Conv2d, std.Conv3d:
		return true
	}
	return false
}

// scaler changes weights of layers; each is copied once.
type scaler struct {
	ctx     *passes.Ctx
	params  *passes.Params
	weights map[string]*array.Array // by the path that they are read from
	order   []read
}

// read is an operand that reads a changed weight.
type read struct {
	node *graph.Node
	arg  int
	path string
}

// next returns the layer that alone takes the channels of n, nil where there is none
// or a weight cannot be changed.
func (e *scaler) next(n *graph.Node) *graph.Node {
	for at := n; ; {
		if at.NumUses() != 1 {
			return nil
		}
		var user *graph.Node
		for u := range at.Users() {
			user = u
		}
		switch {
		case layered(user) && user.Arg(0) == at:
			if why := e.refusal(n, user); why != "" {
				e.ctx.Refuse(user, why)
				return nil
			}
			return user
		default:
			behind, ok := homogeneous[user.Op()]
			if !ok || user.Arg(0) != at || behind != nil && behind != n.Op() {
				return nil
			}
		}
		at = user
	}
}

// refusal says why the channels between two layers cannot be scaled, "" when they can.
func (e *scaler) refusal(a, b *graph.Node) string {
	if a.Op() != b.Op() {
		return "it reads channels along another dimension than " + a.String() + " writes them"
	}
	for _, o := range []struct {
		n   *graph.Node
		arg int
	}{{a, 1}, {a, 2}, {b, 1}} {
		path, value, why := e.params.Constant(o.n, o.arg)
		switch {
		case why != "":
			return why
		case path == "" && o.arg == 2:
			continue
		case value.DType() != array.F32:
			return "parameter " + path + " is " + value.DType().String() + ", expected f32"
		}
		if why := e.params.Shared(o.n, o.arg); why != "" {
			return why
		}
	}
	rows := e.value(a, 1).Dim(0)
	if cols := e.columns(b); cols != rows {
		return a.String() + " has " + strconv.Itoa(rows) + " channels, and " + b.String() + " reads them as " + strconv.Itoa(cols)
	}
	return ""
}

func (e *scaler) value(n *graph.Node, arg int) *array.Array {
	path := e.params.Path(n, arg)
	if v := e.weights[path]; v != nil {
		return v
	}
	return e.ctx.Module.Param(path).Value
}

// columns returns how many channels a layer reads by a column, or a filter, of its own;
// 0 for groups of several.
func (e *scaler) columns(n *graph.Node) int {
	w := e.value(n, 1)
	if g := groups(n); g > 1 {
		if w.Dim(0) == g && w.Dim(1) == 1 {
			return g
		}
		return 0
	}
	return w.Dim(1)
}

func groups(n *graph.Node) int {
	if a, ok := n.Attrs().(std.ConvAttrs); ok {
		return max(a.Groups, 1)
	}
	return 1
}

// own returns a copy of a parameter, to be changed.
func (e *scaler) own(n *graph.Node, arg int) []float32 {
	path := e.params.Path(n, arg)
	if e.weights[path] == nil {
		e.weights[path] = array.Clone(e.ctx.Module.Param(path).Value)
		e.order = append(e.order, read{n, arg, path})
	}
	return array.Data[float32](e.weights[path])
}

// column returns what finds the channel that an element of a layer's weight reads.
func (e *scaler) column(n *graph.Node) func(i int) int {
	w := e.value(n, 1)
	taps := w.Len() / max(w.Dim(0)*w.Dim(1), 1)
	if groups(n) > 1 {
		return func(i int) int { return i / taps }
	}
	cols := w.Dim(1)
	return func(i int) int { return i / taps % cols }
}

// largest returns the largest magnitude of the elements of each channel.
func largest(data []float32, channels int, channel func(i int) int) []float64 {
	most := make([]float64, channels)
	for i, v := range data {
		c := channel(i)
		most[c] = max(most[c], math.Abs(float64(v)))
	}
	return most
}

// equalise scales the channels between two layers and returns the largest change, as
// the logarithm of a factor.
func (e *scaler) equalise(a, b *graph.Node) (change float64) {
	first, second := e.own(a, 1), e.own(b, 1)
	n := e.value(a, 1).Dim(0)
	row := len(first) / max(n, 1)
	column := e.column(b)
	r1, r2 := largest(first, n, func(i int) int { return i / row }), largest(second, n, column)
	factor := make([]float64, n)
	for c := range factor {
		// Channels that one side never uses, or not finitely, stay.
		if factor[c] = math.Sqrt(r1[c] / r2[c]); !(factor[c] > 0) || math.IsInf(factor[c], 0) {
			factor[c] = 1
		}
		change = max(change, math.Abs(math.Log(factor[c])))
	}
	e.divide(a, factor)
	e.multiply(b, factor)
	return change
}

// divide divides what a layer computes for each channel.
func (e *scaler) divide(n *graph.Node, factor []float64) {
	w := e.own(n, 1)
	row := len(w) / max(len(factor), 1)
	for i := range w {
		w[i] = float32(float64(w[i]) / factor[i/row])
	}
	if e.params.Path(n, 2) != "" {
		bias := e.own(n, 2)
		for c := range bias {
			bias[c] = float32(float64(bias[c]) / factor[c])
		}
	}
}

// multiply multiplies what a layer makes of each channel.
func (e *scaler) multiply(n *graph.Node, factor []float64) {
	w, column := e.own(n, 1), e.column(n)
	for i := range w {
		w[i] = float32(float64(w[i]) * factor[column(i)])
	}
}

// store lets the layers read the changed weights.
func (e *scaler) store(suffix string) {
	m := e.ctx.Module
	for _, r := range e.order {
		path := m.FreshPath(r.path + suffix)
		m.SetParam(graph.Param{Path: path, Value: e.weights[r.path]})
		old := r.node.Arg(r.arg)
		r.node.SetArg(r.arg, r.node.Graph().Before(r.node).GetAttr(path))
		if old.NumUses() == 0 && len(r.node.Graph().SymbolsOf(old)) == 0 {
			_ = r.node.Graph().Erase(old) // nothing uses it
		}
	}
	if len(e.order) > 0 {
		m.DropUnused()
	}
}
