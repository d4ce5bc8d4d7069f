package shard

import (
	"maps"
	"slices"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/shape"
)

// Check reports what is wrong with a layout of a module whatever sizes its symbols have, those that
// Options.Shapes does not pin: names that mesh and graph do not have, splits of another rank, dimensions of known
// sizes without equal parts (BadLayout), and calls of which the author lays out two operands, or operand and result,
// as they cannot both be (Conflict). What follows from layouts further away, and from sizes, Propagate tells.
func Check(m *graph.Module, o lowering.Options, l Layout) error {
	p, errs := l.enter(m, o)
	if p == nil {
		return errs
	}
	p.open = true
	if errs = append(errs, p.read()...); len(errs) > 0 {
		errs.Sort()
		return errs
	}
	var open []string
	for _, s := range p.module.Graph.Symbols() {
		if s.Node.Opcode() == graph.Placeholder && s.Open() {
			open = append(open, s.Name)
		}
	}
	return l.clashes(m, o, open)
}

// clashes reports the calls at which layouts that the author gives contradict each other for any sizes: without
// those that follow, which sizes decide, for two choices of sizes that have equal parts along all axes.
func (l Layout) clashes(m *graph.Module, o lowering.Options, open []string) error {
	var all diag.List
	for i, factor := range []int{2, 7} {
		if o.Shapes = l.sizes(o.Shapes, open, factor); o.Shapes == nil {
			return nil
		}
		p, errs := l.enter(m, o)
		if len(errs) > 0 || len(p.read()) > 0 {
			return nil // the graph does not take these sizes, or they have no such parts, and others may do
		}
		p.compute()
		errs.Add(p.conflicts())
		if i > 0 {
			errs = slices.DeleteFunc(all, func(e *diag.Error) bool {
				return !slices.ContainsFunc(errs, func(f *diag.Error) bool { return e.Node == f.Node && e.Msg == f.Msg })
			})
		}
		all = errs
	}
	return all.Err()
}

// sizes gives open symbols sizes that differ, and are multiples of all axes; nil where these would be huge.
func (l Layout) sizes(pinned map[string]int, open []string, factor int) map[string]int {
	const most = 1 << 20
	sizes := map[string]int{}
	maps.Copy(sizes, pinned)
	for i, name := range open {
		if sizes[name] = l.Mesh.Partitions() * (factor + i); sizes[name] > most {
			return nil
		}
	}
	return sizes
}

// sizesOf returns those of a type, -1 for each that is not known, nil where the rank is not.
func sizesOf(t shape.Type) []int {
	if !t.Ranked() {
		return nil
	}
	dims := make([]int, t.Rank())
	for i := range dims {
		n, known := t.Dim(i).Int()
		if dims[i] = n; !known {
			dims[i] = -1
		}
	}
	return dims
}
