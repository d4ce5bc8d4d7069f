package tune

import (
	"context"
	"iter"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/debug"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/internal/form"
	"github.com/gofx-dev/gofx/shape"
)

// Decibels is a ratio of powers, ten times its logarithm to base ten.
type Decibels = debug.Decibels

// Layer tells how far a value of a quantised graph is from that of the float graph.
type Layer struct {
	Node  string `json:"node"`
	Op    string `json:"op"`
	Scope string `json:"scope,omitempty"`
	// SQNR is the power of the float values over that of the differences.
	SQNR Decibels `json:"sqnr_db"`
	// Largest is the largest difference, in magnitude.
	Largest float64 `json:"largest_error"`
}

// Quality is what quantisation costs in accuracy: of each value, in the order of the
// graph, and of the results. Errors of a value include those of everything before it.
type Quality struct {
	Batches int     `json:"batches"`
	Layers  []Layer `json:"layers"`
	Results []Layer `json:"results"`
}

// Total returns the signal over the noise of all results together.
func (q *Quality) Total() Decibels {
	least := Decibels(math.Inf(1))
	for _, l := range q.Results {
		least = min(least, l.SQNR)
	}
	return least
}

// String returns a table, a line for each value.
func (q *Quality) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	line := func(kind string, l Layer) {
		_, _ = w.Write([]byte("%" + l.Node + "\t" + l.Op + "\t" + l.SQNR.String() + "\tlargest error " + // a Builder does not fail
			strconv.FormatFloat(l.Largest, 'g', 4, 64) + "\t" + kind + l.Scope + "\n"))
	}
	for _, l := range q.Layers {
		line("", l)
	}
	for _, l := range q.Results {
		line("result ", l)
	}
	_ = w.Flush()
	return b.String()
}

// EngineFor makes an engine of a graph; nil stands for interpretation.
type EngineFor func(m *graph.Module) (quant.Engine, error)

func (f EngineFor) engine(m *graph.Module) (quant.Engine, error) {
	if f == nil {
		return quant.NewInterpreter(m), nil
	}
	return f(m)
}

// Compare runs a float graph and the graph that quant-convert has made of it, before
// any other pass, on batches of inputs, and measures how far values are apart: those
// of f32 that have the same name in both graphs, after the rounding to 8 bits where
// there is one, and the results.
func Compare(ctx context.Context, float, quantised *graph.Module, batches iter.Seq2[[]*array.Array, error], engine EngineFor) (*Quality, error) {
	pairs, results, err := correspond(float.Graph, quantised.Graph)
	if err != nil {
		return nil, err
	}
	all := append(pairs, results...)
	noise := make([]debug.Distance, len(all))
	q := &Quality{}
	err = runPairs(ctx, float.Graph, quantised.Graph, all, batches, engine, func(want, got []*array.Array) error {
		if e := sameShapes(want, got, func(i int) string { return all[i].float.String() }); e != nil {
			return e
		}
		for i := range all {
			noise[i].Add(want[i], got[i])
		}
		q.Batches++
		return nil
	})
	if err != nil {
		return nil, err
	}
	if q.Batches == 0 {
		return nil, diag.New(quant.NoBatches, "there are no batches to compare with").WithHint("give inputs that are like those of use")
	}
	for i, p := range all {
		l := Layer{Node: p.float.Name(), Op: form.OpName(p.float), Scope: p.float.Scope().Path, SQNR: noise[i].SQNR(), Largest: noise[i].Largest}
		if i < len(pairs) {
			q.Layers = append(q.Layers, l)
		} else {
			q.Results = append(q.Results, l)
		}
	}
	return q, nil
}

// sameShapes refuses values of two graphs that do not correspond; name says what is
// compared.
func sameShapes(want, got []*array.Array, name func(i int) string) *diag.Error {
	for i := range max(len(want), len(got)) {
		a, b := typeText(want, i), typeText(got, i)
		if a == b {
			continue
		}
		return diag.New(NotComparable, name(i)+" is "+a+" in the float graph and "+b+" in the other").WithHint("compare a graph with what quant-convert has made of it")
	}
	return nil
}

// typeText is the shape of a value, for comparison and for people.
func typeText(list []*array.Array, i int) string {
	if i >= len(list) {
		return "missing"
	}
	return shape.ConstDims(list[i].Shape()...).String()
}

// pair are two nodes whose values correspond.
type pair struct{ float, quantised *graph.Node }

// correspond pairs calls by name, and results.
func correspond(float, quantised *graph.Graph) (pairs, results []pair, err error) {
	names := map[string]*graph.Node{}
	for n := range quantised.Nodes() {
		names[n.Name()] = n
	}
	for n := range float.Nodes() {
		if q := names[n.Name()]; q != nil && n.Opcode().IsCall() && q.Opcode() == n.Opcode() && isFloat(n) && isFloat(q) {
			pairs = append(pairs, pair{n, rounded(q)})
		}
	}
	a, b := float.Output(), quantised.Output()
	if a == nil || b == nil || a.NumArgs() != b.NumArgs() || len(float.Inputs()) != len(quantised.Inputs()) {
		return nil, nil, diag.New(NotComparable, "graphs "+float.Name+" and "+quantised.Name+" have different inputs or results").
			WithHint("compare a graph with what quant-convert has made of it")
	}
	for i, n := range a.Args() {
		if q := b.Arg(i); n != nil && q != nil && isFloat(n) && isFloat(q) {
			results = append(results, pair{n, q})
		}
	}
	if len(results) == 0 {
		return nil, nil, diag.New(NotComparable, "graph "+float.Name+" has no result of f32").WithHint("compare graphs whose results are floats")
	}
	return pairs, results, nil
}

func isFloat(n *graph.Node) bool {
	return n.Type().Kind() == shape.Tensor && n.Type().DType() == array.F32
}

// rounded returns what users of a value see: dequantize of quantize of it, where they do.
func rounded(n *graph.Node) *graph.Node {
	for q := range n.Users() {
		if q.Op() != std.Quantize || q.Arg(0) != n {
			continue
		}
		for d := range q.Users() {
			if d.Op() == std.Dequantize && d.Arg(0) == q {
				return d
			}
		}
	}
	return n
}

// runPairs runs both graphs on every batch, and calls visit with the values of the pairs' nodes
// in each.
func runPairs(ctx context.Context, float, quantised *graph.Graph, all []pair, batches iter.Seq2[[]*array.Array, error], engine EngineFor, visit func(want, got []*array.Array) error) error {
	a, err := tapped(float, all, func(p pair) *graph.Node { return p.float }, engine)
	if err != nil {
		return err
	}
	b, err := tapped(quantised, all, func(p pair) *graph.Node { return p.quantised }, engine)
	if err != nil {
		return err
	}
	return runAll(ctx, a, batches, func(in, want []*array.Array) error {
		got, err := b.Run(ctx, in)
		if err != nil {
			return err
		}
		return visit(want, got)
	})
}

// runAll runs an engine on every batch, and calls visit with inputs and results.
func runAll(ctx context.Context, e quant.Engine, batches iter.Seq2[[]*array.Array, error], visit func(in, out []*array.Array) error) error {
	for in, err := range batches {
		if err != nil {
			return err
		}
		out, err := e.Run(ctx, in)
		if err != nil {
			return err
		}
		if err := visit(in, out); err != nil {
			return err
		}
	}
	return nil
}

// tapped makes an engine whose results are one side of the pairs.
func tapped(g *graph.Graph, all []pair, side func(pair) *graph.Node, engine EngineFor) (quant.Engine, error) {
	taps := make([]*graph.Node, len(all))
	for i, p := range all {
		taps[i] = side(p)
	}
	m, err := graph.Extract(g.Inputs(), taps)
	if err != nil {
		return nil, err
	}
	return engine.engine(m)
}
