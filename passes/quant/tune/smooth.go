package tune

import (
	"context"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
)

// SmoothOptions are the choices of Smooth.
type SmoothOptions struct {
	// Strength says how much of the range of values goes to the weights, from 0 to 1;
	// 0 stands for 0.5.
	Strength float64
	// Engine makes engines of graphs; nil interprets them.
	Engine EngineFor
}

// Smooth returns the pass quant-smooth, which runs the graph on batches of inputs,
// and divides channels of layer norms, and of products in front of linear layers, that
// have large values by a factor that the linear layers after them are multiplied by. A
// few channels of transformers are far larger than the others, so that one scale
// for all loses the others. Results change by rounding alone. It belongs before
// quant-prepare, or before quant-convert in mode dynamic.
// Ref: Xiao et al., SmoothQuant: Accurate and Efficient Post-Training Quantization for
// Large Language Models, ICML 2023, section 4.
func Smooth(batches iter.Seq2[[]*array.Array, error], o SmoothOptions) passes.Pass {
	return passes.Pass{
		Name: "quant-smooth", Doc: "Moves large ranges of a few channels from layer norms to the weights of linear layers.",
		Whole: true, Order: []passes.Before{
			{First: "quant-smooth", Then: "quant-prepare", Why: "observers must see smoothed channels"},
			{First: "quant-smooth", Then: "quant-convert", Why: "weights are smoothed before they are quantised"},
		},
		Requires: []passes.Fact{passes.Functional, passes.Flat},
		Run: func(ctx *passes.Ctx, g *graph.Graph) (bool, error) {
			if !(o.Strength >= 0 && o.Strength <= 1) {
				return false, diag.New(quant.BadConfig, "strength "+strconv.FormatFloat(o.Strength, 'g', -1, 64)+", expected a number from 0 to 1").
					WithHint("0.5 shares ranges evenly between values and weights")
			}
			e := &scaler{ctx: ctx, params: passes.NewParams(ctx.Module, g), weights: map[string]*array.Array{}}
			var norms []*graph.Node
			for n := range g.All() {
				if n.Op() != std.LayerNorm {
					continue
				}
				switch why := e.unsmooth(n); why {
				case "":
					norms = append(norms, n)
				default:
					ctx.Refuse(n, why)
				}
			}
			if len(norms) == 0 {
				return false, nil
			}
			most, err := channelRanges(ctx.Context, g, norms, batches, o.Engine)
			if err != nil {
				return false, err
			}
			for i, n := range norms {
				e.smooth(n, most[i], o.Strength)
				ctx.Rewrote(n, nil, "channels divided by a factor, the linear layers after them multiplied by it")
			}
			e.store("_smoothed")
			return true, nil
		},
	}
}

// unsmooth says why a layer norm cannot be scaled, "" when it can: it has a weight and
// a bias, and linear layers alone take its result.
func (e *scaler) unsmooth(n *graph.Node) string {
	if path, _, why := e.params.Constant(n, 1); path == "" || why != "" {
		return "the layer norm has no weight that can be changed: " + why
	}
	check := func(n *graph.Node, arg int) string {
		path, value, why := e.params.Constant(n, arg)
		switch {
		case path == "" && why == "":
			return ""
		case why != "":
			return why
		case value.DType() != array.F32 || arg == 1 && n.Op() == std.LayerNorm && value.Rank() != 1:
			return "parameter " + path + " is no vector of f32"
		}
		return e.params.Shared(n, arg)
	}
	for arg := 1; arg <= 2; arg++ {
		if why := check(n, arg); why != "" {
			return why
		}
	}
	for u := range n.Users() {
		if u.Op() != std.Linear || slices.Index(u.Args(), n) != 0 || slices.Contains(u.Args()[1:], n) {
			return "its result is also used by " + passes.Where(u)
		}
		if why := check(u, 1); why != "" {
			return why
		}
	}
	if n.NumUses() == 0 {
		return "nothing uses its result"
	}
	return ""
}

// smooth scales one layer norm, most being the largest magnitude of each channel.
func (e *scaler) smooth(n *graph.Node, most []float64, strength float64) {
	if strength == 0 {
		strength = 0.5
	}
	weights := make([]float64, len(most))
	for u := range n.Users() {
		for c, v := range largest(array.Data[float32](array.Contiguous(e.value(u, 1))), len(most), e.column(u)) {
			weights[c] = max(weights[c], v)
		}
	}
	factor := make([]float64, len(most))
	for c := range factor {
		f := math.Pow(most[c], strength) / math.Pow(weights[c], 1-strength)
		if !(f > 0) || math.IsInf(f, 0) {
			f = 1
		}
		factor[c] = f
	}
	for arg := 1; arg <= 2; arg++ {
		if e.params.Path(n, arg) == "" {
			continue
		}
		data := e.own(n, arg)
		for c := range data {
			data[c] = float32(float64(data[c]) / factor[c])
		}
	}
	for u := range n.Users() {
		e.multiply(u, factor)
	}
}

// channelRanges runs a graph and returns, for each node, the largest magnitude of each
// index of its last dimension.
func channelRanges(ctx context.Context, g *graph.Graph, nodes []*graph.Node, batches iter.Seq2[[]*array.Array, error], engine EngineFor) ([][]float64, error) {
	m, err := graph.Extract(g.Inputs(), nodes)
	if err != nil {
		return nil, err
	}
	e, err := engine.engine(m)
	if err != nil {
		return nil, err
	}
	most := make([][]float64, len(nodes))
	err = runAll(ctx, e, batches, func(_, out []*array.Array) error {
		for i, a := range out {
			n := a.Dim(-1)
			seen := largest(array.Data[float32](array.Contiguous(a)), n, func(i int) int { return i % n })
			if most[i] == nil {
				most[i] = make([]float64, n)
			}
			for c, v := range seen {
				most[i][c] = max(most[i][c], v)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(most) > 0 && most[0] == nil {
		return nil, diag.New(quant.NoBatches, "there are no batches to smooth with").WithHint("give inputs that are like those of use")
	}
	return most, nil
}

// CorrectBias adds to the biases of linear layers and convolutions of a quantised
// graph what rounding shifts each channel by on average, layer by layer, so that each
// is measured after those that are corrected. float is the graph that quant-convert
// has made quantised of. It runs both as often as there are layers, and returns how many
// biases it has changed or added.
// Ref: Nagel et al., Data-Free Quantization Through Weight Equalization and Bias
// Correction, ICCV 2019, section 4.2, with data.
func CorrectBias(ctx context.Context, float, quantised *graph.Module, batches iter.Seq2[[]*array.Array, error], engine EngineFor) (int, error) {
	pairs, _, err := correspond(float.Graph, quantised.Graph)
	if err != nil {
		return 0, err
	}
	done := 0
	for _, p := range pairs {
		n := quantised.Graph.Find(p.float.Name())
		if !layered(n) || !layered(p.float) || !changed(p.float, n) {
			continue
		}
		params := passes.NewParams(quantised, quantised.Graph)
		path, bias, why := params.Constant(n, 2)
		if why != "" || bias != nil && bias.DType() != array.F32 {
			continue
		}
		shift, err := meanShift(ctx, p.float, n, batches, engine)
		if err != nil {
			return done, err
		}
		if path == "" {
			path = p.float.Arg(1).Target() + "_bias"
		}
		if bias == nil {
			bias = array.New(array.F32, len(shift))
		}
		bias = array.Clone(bias)
		for c, v := range array.Data[float32](bias) {
			array.Data[float32](bias)[c] = float32(float64(v) + shift[c])
		}
		path = quantised.FreshPath(path + "_corrected")
		quantised.SetParam(graph.Param{Path: path, Value: bias})
		n.SetArgs(n.Arg(0), n.Arg(1), n.Graph().Before(n).GetAttr(path))
		done++
	}
	quantised.DropUnused()
	return done, nil
}

// changed reports whether a layer reads a quantised weight.
func changed(float, n *graph.Node) bool {
	return float.Arg(1).Opcode() == graph.GetAttr && n.Arg(1).Opcode() != graph.GetAttr
}

// meanShift returns how far the channels of a layer are below those of the float one,
// on average over the batches.
func meanShift(ctx context.Context, float, n *graph.Node, batches iter.Seq2[[]*array.Array, error], engine EngineFor) ([]float64, error) {
	all := []pair{{float, n}}
	var sum []float64
	count := 0
	err := runPairs(ctx, float.Graph(), n.Graph(), all, batches, engine, func(want, got []*array.Array) error {
		// Channels stand before the spatial dimensions, which the weight has as well.
		axis := want[0].Rank() + 1 - n.Arg(1).Type().Rank()
		channels, inner := want[0].Dim(axis), 1
		for d := axis + 1; d < want[0].Rank(); d++ {
			inner *= want[0].Dim(d)
		}
		if sum == nil {
			sum = make([]float64, channels)
		}
		x, y := array.Data[float32](array.Contiguous(want[0])), array.Data[float32](array.Contiguous(got[0]))
		for i := range x {
			sum[i/inner%channels] += float64(x[i]) - float64(y[i])
		}
		count += len(x) / max(channels, 1)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if count == 0 {
		return nil, diag.New(quant.NoBatches, "there are no batches to correct with").WithHint("give inputs that are like those of use")
	}
	for c := range sum {
		sum[c] /= float64(count)
	}
	return sum, nil
}
