package quant

import (
	"math"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// An observer is ordinary nodes, reductions of the value and writes of buffers, in a
// scope of its own: "quant.NAME" of this type, NAME being the node observed. Its
// buffers have the scope's path and these names.
const (
	observerType = "quant.Observer"
	statePath    = "quant"
	batchesPath  = statePath + ".batches" // i64[]: runs that are complete
	limitsPath   = statePath + ".limits"  // f32: the powers of two that histograms end at

	lowState    = "min"
	highState   = "max"
	limitState  = "limit"  // f32[1]: a histogram goes from -limit to limit
	countsState = "counts" // i64[bins]
)

// Bins of a histogram. Its limit is a power of two, so that when it grows bins merge
// as a whole: counts do not depend on how the data came in batches.
const (
	bins         = 2048
	leastLimit   = -30 // the logarithm of the least limit
	limitsLength = 127
)

// observes reports whether a node belongs to an observer.
func observes(n *graph.Node) bool { return n.Scope().Type == observerType }

// limits returns the powers of two that limits are taken from.
func limits() *array.Array {
	v := make([]float32, limitsLength)
	for i := range v {
		v[i] = float32(math.Ldexp(1, leastLimit+i))
	}
	return array.FromSlice(v)
}

// observer adds the nodes of one observer.
type observer struct {
	m      *graph.Module
	c      *graph.Cursor
	path   string
	shared *constants
}

// constants are nodes that all histograms of a graph read.
type constants struct{ powers, places, none *graph.Node }

// constantsOf adds them, behind the inputs.
func constantsOf(m *graph.Module) *constants {
	first := m.Graph.First()
	c := m.Graph.Before(first)
	if first.Opcode() == graph.Placeholder {
		c = cursorBehind(first)
	}
	c.SetScope(m.Graph.Scope(graph.Scope{Path: statePath, Type: observerType}))
	m.SetParam(graph.Param{Path: limitsPath, Value: limits(), Buffer: true})
	return &constants{
		powers: c.GetAttr(limitsPath),
		places: c.Function(std.Arange, std.ArangeAttrs{Start: -bins / 2, End: shape.Const(bins / 2), DType: array.F32}),
		none:   c.Function(std.Full, std.FullAttrs{Size: shape.Ints(bins), Value: op.Int(0), DType: array.I64}),
	}
}

// histograms reports whether observers of a kind take histograms.
func (k ObserverKind) histograms() bool { return k != MinMax && k != MovingAverage }

// shares reports whether a node belongs to all observers.
func shares(n *graph.Node) bool { return observes(n) && n.Scope().Path == statePath }

// cursorBehind returns a cursor behind a value, behind all inputs, and the constants of
// observers, for an input.
func cursorBehind(n *graph.Node) *graph.Cursor {
	if n.Opcode() != graph.Placeholder {
		return n.Graph().After(n)
	}
	last := n
	for next := last.Next(); next != nil && (next.Opcode() == graph.Placeholder || shares(next)); next = next.Next() {
		last = next
	}
	return n.Graph().After(last).From(n)
}

// observe adds the observer of a value; shared is of histograms.
func observe(m *graph.Module, q *ranged, shared *constants) {
	c := cursorBehind(q.node)
	path := statePath + "." + q.node.Name()
	c.SetScope(m.Graph.Scope(graph.Scope{Path: path, Type: observerType}))
	o := &observer{m, c, path, shared}
	flat := o.call(std.Reshape, std.ReshapeAttrs{Shape: shape.Ints(-1)}, q.node)
	lo := o.extreme(lowState, std.Amin, math.Inf(1), flat, q.observe)
	hi := o.extreme(highState, std.Amax, math.Inf(-1), flat, q.observe)
	if q.observe.Kind.histograms() {
		o.histogram(flat, lo, hi)
	}
}

func (o *observer) call(f *op.Op, attrs any, args ...*graph.Node) *graph.Node {
	return o.c.Function(f, attrs, args...)
}

// buffer enters a buffer and returns a node that reads it.
func (o *observer) buffer(name string, value *array.Array) *graph.Node {
	o.m.SetParam(graph.Param{Path: o.path + "." + name, Value: value, Buffer: true})
	return o.c.GetAttr(o.path + "." + name)
}

func (o *observer) assign(buffer, value *graph.Node) { o.call(op.Assign, nil, buffer, value) }

// extreme keeps the least or greatest element of all batches, or their average, and
// returns it. start is what no batch gives: the buffer has seen nothing as long as it
// holds it. A batch without elements changes nothing: what was kept, or start, is
// chosen from as well.
func (o *observer) extreme(name string, choose *op.Op, start float64, x *graph.Node, kind Observer) *graph.Node {
	old := o.buffer(name, array.FromSlice([]float32{float32(start)}))
	of := func(x ...*graph.Node) *graph.Node {
		return o.call(choose, std.ReduceAttrs{KeepDim: true}, o.call(std.Cat, std.DimAttrs{}, x...))
	}
	next := of(x, old)
	if kind.Kind == MovingAverage {
		none := o.call(std.FullLike, std.FullLikeAttrs{Value: op.Float(start)}, old)
		batch := of(x, none)
		average := o.call(std.Lerp, std.LerpAttrs{Weight: op.Float(kind.Averaging)}, old, batch)
		average = o.call(std.Where, std.WhereAttrs{}, o.call(std.Eq, nil, batch, none), old, average)
		next = o.call(std.Where, std.WhereAttrs{}, o.call(std.Eq, nil, old, none), batch, average)
	}
	o.assign(old, next)
	return next
}

// histogram counts the elements of x, whose extremes are kept, in bins of [-limit, limit).
func (o *observer) histogram(x, lo, hi *graph.Node) {
	half := op.Int(bins / 2)
	counts := o.buffer(countsState, array.New(array.I64, bins))
	old := o.buffer(limitState, array.FromSlice([]float32{float32(math.Ldexp(1, leastLimit))}))
	powers, places, none := o.shared.powers, o.shared.places, o.shared.none
	most := o.call(std.Maximum, std.BinaryAttrs{}, o.call(std.Neg, nil, lo), hi)
	at := o.call(std.Searchsorted, std.SearchsortedAttrs{}, powers, most)
	at = o.call(std.Clamp, std.ClampAttrs{Min: op.Int(0), Max: op.Int(limitsLength - 1)}, at) // NaN, infinity
	limit := o.call(std.IndexSelect, std.DimAttrs{}, powers, at)
	// Where the limit has grown, several old bins fall into one.
	moved := o.bin(o.call(std.Mul, std.BinaryAttrs{}, places, o.call(std.Div, std.DivAttrs{}, old, limit)))
	before := o.call(std.ScatterAdd, std.DimAttrs{}, none, moved, counts)
	width := o.call(std.Div, std.DivAttrs{Other: half}, limit)
	bin := o.bin(o.call(std.Div, std.DivAttrs{}, x, width))
	ones := o.call(std.FullLike, std.FullLikeAttrs{Value: op.Int(1)}, bin)
	o.assign(counts, o.call(std.ScatterAdd, std.DimAttrs{}, before, bin, ones))
	o.assign(old, limit)
}

// bin returns the bins of places counted from the middle.
func (o *observer) bin(place *graph.Node) *graph.Node {
	at := o.call(std.Add, std.AddAttrs{Other: op.Int(bins / 2)}, o.call(std.Cast, std.CastAttrs{DType: array.I64}, o.call(std.Floor, nil, place)))
	return o.call(std.Clamp, std.ClampAttrs{Min: op.Int(0), Max: op.Int(bins - 1)}, at)
}

// countBatches adds what counts complete runs.
func countBatches(m *graph.Module) {
	c := m.Graph.Before(m.Graph.Output())
	c.SetScope(m.Graph.Scope(graph.Scope{Path: statePath, Type: observerType}))
	m.SetParam(graph.Param{Path: batchesPath, Value: array.Scalar(int64(0)), Buffer: true})
	old := c.GetAttr(batchesPath)
	c.Function(op.Assign, nil, old, c.Function(std.Add, std.AddAttrs{Other: op.Int(1)}, old))
}

// observation is what the observer of a value has seen.
type observation struct {
	node   *graph.Node
	state  map[string]*array.Array
	lo, hi float64
}

// observations reads the observers of a prepared graph, in the graph's order, from
// the buffers that state returns.
func observations(g *graph.Graph, state func(path string) *array.Array) []*observation {
	byScope := map[string]*observation{}
	var all []*observation
	for n := range g.Nodes() {
		at := n.Scope()
		if at.Type != observerType || at.Path == statePath {
			continue
		}
		o := byScope[at.Path]
		if o == nil {
			o = &observation{state: map[string]*array.Array{}}
			byScope[at.Path] = o
			all = append(all, o)
		}
		for a := range n.Inputs() {
			if !observes(a) {
				o.node = a
			}
		}
		if n.Opcode() == graph.GetAttr {
			o.state[n.Target()[strings.LastIndexByte(n.Target(), '.')+1:]] = state(n.Target())
		}
	}
	out := all[:0]
	for _, o := range all {
		lo, hi := o.state[lowState], o.state[highState]
		if o.node == nil || lo == nil || hi == nil || lo.Len() != 1 || hi.Len() != 1 {
			continue
		}
		o.lo, o.hi = array.Float64At(lo, 0), array.Float64At(hi, 0)
		out = append(out, o)
	}
	return out
}

// empty reports whether the observer has seen nothing.
func (o *observation) empty() bool { return math.IsInf(o.lo, 1) && math.IsInf(o.hi, -1) }

// bad says what the observer has seen that has no range, "" for nothing.
func (o *observation) bad() string {
	switch {
	case o.empty():
		return ""
	case math.IsNaN(o.lo) || math.IsNaN(o.hi):
		return "NaN"
	case math.IsInf(o.lo, 0) || math.IsInf(o.hi, 0):
		return "an infinity"
	}
	return ""
}

// nonFinite returns an error for each value that has been seen NaN or infinite, in
// the graph's order: the first one is where to look.
func nonFinite(seen []*observation, when string) diag.List {
	var errs diag.List
	for _, o := range seen {
		if what := o.bad(); what != "" {
			e := o.node.Error(NonFinite, "the value has "+what+when)
			e.Op = opName(o.node)
			if s := o.node.Scope().Path; s != "" {
				e.Msg = "layer " + strconv.Quote(s) + ": " + e.Msg
			}
			errs = append(errs, e.WithHint("of several the first in the order of the graph is the origin; mend the input or the model, or exclude the layer"))
		}
	}
	return errs
}
