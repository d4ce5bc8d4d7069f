package quant

import (
	"math"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/quant/internal/form"
)

// An observer is ordinary nodes, a reduction (std.Observe) of the value into a buffer
// and the write of it, in a scope of its own: "quant.NAME" of this type, NAME being the
// node observed. The buffer has the scope's path and this name.
const (
	observerType = "quant.Observer"
	statePath    = "quant"
	batchesPath  = statePath + ".batches" // i64[]: runs that are complete
	seenState    = "seen"
)

// The buffer of an observer, f64: the extremes and, of a histogram, the end of its range
// and the counts. That end is a power of two, so that when it grows bins merge as a
// whole: counts do not depend on how the data came in batches.
const (
	bins        = 2048
	leastLimit  = -30 // the logarithm of the least limit
	extremesLen = 2
	countsAt    = extremesLen + 1
)

// observes reports whether a node belongs to an observer.
func observes(n *graph.Node) bool { return n.Scope().Type == observerType }

// histograms reports whether observers of a kind take histograms.
func (k ObserverKind) histograms() bool { return k != MinMax && k != MovingAverage }

// nothingSeen returns the buffer of an observer that has seen nothing.
func (k ObserverKind) nothingSeen() *array.Array {
	n := extremesLen
	if k.histograms() {
		n = countsAt + bins
	}
	seen := make([]float64, n)
	seen[0], seen[1] = math.Inf(1), math.Inf(-1)
	if k.histograms() {
		seen[extremesLen] = math.Ldexp(1, leastLimit)
	}
	return array.FromSlice(seen)
}

// cursorBehind returns a cursor after a value, after all inputs for an input.
func cursorBehind(n *graph.Node) *graph.Cursor {
	if n.Opcode() != graph.Placeholder {
		return n.Graph().After(n)
	}
	last := n
	for next := last.Next(); next != nil && next.Opcode() == graph.Placeholder; next = next.Next() {
		last = next
	}
	return n.Graph().After(last).From(n)
}

// observe adds the observer of a value.
func observe(m *graph.Module, q *ranged) {
	scope := statePath + "." + q.node.Name()
	path := scope + "." + seenState
	c := cursorBehind(q.node)
	c.SetScope(m.Graph.Scope(graph.Scope{Path: scope, Type: observerType}))
	m.SetParam(graph.Param{Path: path, Value: q.observe.Kind.nothingSeen(), Buffer: true})
	var a std.ObserveAttrs
	if q.observe.Kind == MovingAverage {
		a.Averaging = q.observe.Averaging
	}
	seen := c.GetAttr(path)
	c.Function(op.Assign, nil, seen, c.Function(std.Observe, a, q.node, seen))
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
	lo, hi float64
	limit  float64
	counts []float64 // none without a histogram
}

// observations reads the observers of a prepared graph, in the graph's order, from
// the buffers that state returns.
func observations(g *graph.Graph, state func(path string) *array.Array) []*observation {
	var all []*observation
	for n := range g.Nodes() {
		if n.Op() != std.Observe || !observes(n) {
			continue
		}
		buffer := n.Arg(1)
		if buffer.Opcode() != graph.GetAttr {
			continue
		}
		a := state(buffer.Target())
		if a == nil || a.DType() != array.F64 || a.Rank() != 1 || a.Len() != extremesLen && a.Len() != countsAt+bins {
			continue
		}
		seen := array.Data[float64](array.Contiguous(a))
		o := &observation{node: n.Arg(0), lo: seen[0], hi: seen[1]}
		if len(seen) > countsAt {
			o.limit, o.counts = seen[extremesLen], seen[countsAt:]
		}
		all = append(all, o)
	}
	return all
}

// empty reports whether the observer has seen nothing.
func (o *observation) empty() bool { return math.IsInf(o.lo, 1) && math.IsInf(o.hi, -1) }

// What bad says.
const (
	notANumber = "NaN"
	infinity   = "an infinity"
)

// bad says what the observer has seen that has no range, "" for nothing.
func (o *observation) bad() string {
	switch {
	case o.empty():
		return ""
	case math.IsNaN(o.lo) || math.IsNaN(o.hi):
		return notANumber
	case math.IsInf(o.lo, 0) || math.IsInf(o.hi, 0):
		return infinity
	}
	return ""
}

// infinite returns the values that have been seen infinite.
func infinite(seen []*observation) map[*graph.Node]bool {
	set := map[*graph.Node]bool{}
	for _, o := range seen {
		if o.bad() == infinity {
			set[o.node] = true
		}
	}
	return set
}

// nonFinite returns an error for each value that has been seen NaN or infinite, in
// the graph's order: the first one is where to look. A model makes infinities on purpose,
// for masks and around what it takes the maximum of: without a NaN, and with inputs that are finite, they
// are no error. Such values stay in floats.
func nonFinite(seen []*observation, when string) diag.List {
	if !slices.ContainsFunc(seen, func(o *observation) bool {
		return o.bad() == notANumber || o.bad() == infinity && o.node.Opcode() == graph.Placeholder
	}) {
		return nil
	}
	var errs diag.List
	for _, o := range seen {
		if what := o.bad(); what != "" {
			e := o.node.Error(NonFinite, "the value has "+what+when)
			e.Op = form.OpName(o.node)
			if s := o.node.Scope().Path; s != "" {
				e.Msg = "layer " + strconv.Quote(s) + ": " + e.Msg
			}
			errs = append(errs, e.WithHint("of several the first in the order of the graph is the origin; mend the input or the model, or exclude the layer"))
		}
	}
	return errs
}

// Strip removes the observers of a prepared graph, which then computes what it computed
// before Prepare; what they have seen is lost.
func Strip(m *graph.Module) error {
	if _, err := strip(m); err != nil {
		return err
	}
	m.DropUnused()
	return nil
}

// strip removes the observers of a graph and returns what they have seen.
func strip(m *graph.Module) ([]*observation, error) {
	seen := observations(m.Graph, func(path string) *array.Array { return m.Param(path).Value })
	var nodes []*graph.Node
	for n := range m.Graph.Nodes() {
		if observes(n) {
			nodes = append(nodes, n)
		}
	}
	for i := len(nodes) - 1; i >= 0; i-- {
		if err := m.Graph.Erase(nodes[i]); err != nil {
			return nil, err
		}
	}
	return seen, nil
}
