package importer

import (
	"slices"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// A Loop that appends to a carried value changes the value's size in each round, which
// no region can express. If a round does nothing else with the value, the rows are
// results of the rounds, and are appended to the initial value after the last round.

// appended is a value that a Loop appends to.
type appended struct {
	carry int         // its index among the carried values
	first *graph.Node // its initial value
}

// takeAppended makes results of the rounds of the values that they append.
func takeAppended(c *control, l *loopBody) (list []appended) {
	for i := len(l.carried) - 1; i >= 0; i-- {
		rows := l.rowsOf(i)
		if rows == nil {
			continue
		}
		v := &rule.Datum{Node: rows[0]}
		if len(rows) > 1 {
			in := make([]op.Value, len(rows))
			for k, r := range rows {
				in[k] = r
			}
			v.Node = l.s.cur.Call(std.Cat, std.DimAttrs{}, in...).(*graph.Node)
		}
		cat, in := l.outs[1+i].Node, l.carried[i].Node
		b := l.s.cur.Graph()
		// Sizes that a round finds are those of the appended value: the guards of cat say so.
		t := in.Type()
		t = t.WithDims(t.Dims().With(0, v.Node.Type().Dim(0)))
		if dims, ok := rule.DimsOf(t); !ok || rule.OwnSymbols(b, &rule.Sizes{Dims: dims}) {
			continue
		}
		if !v.Node.Type().Same(t) {
			v.Node = l.s.cur.Function(std.Reshape, std.ReshapeAttrs{Shape: t.Dims()}, v.Node)
		}
		list = append(list, appended{i, l.args[i]})
		if err := b.Erase(cat); err != nil {
			panic(err)
		}
		if err := b.Erase(in); err != nil {
			panic(err)
		}
		l.args = slices.Delete(l.args, i, i+1)
		l.carried = slices.Delete(l.carried, i, i+1)
		l.outs = append(slices.Delete(l.outs, 1+i, 2+i), v)
	}
	return list
}

// rowsOf returns the rows that a round appends to carried value i, nil if it does
// something else with it.
func (l *loopBody) rowsOf(i int) []*graph.Node {
	cat, in := l.outs[1+i].Node, l.carried[i].Node
	if cat == nil || cat.Op() != std.Cat || cat.Graph() != in.Graph() || cat.NumUses() > 0 || in.NumUses() != 1 {
		return nil
	}
	for k, v := range l.outs {
		if k != 1+i && (v.Node == cat || v.Node == in) {
			return nil
		}
	}
	rows := cat.Args()
	if axis := cat.Attrs().(std.DimAttrs).Dim; len(rows) < 2 || rows[0] != in || axis != 0 && axis != -in.Type().Rank() {
		return nil
	}
	return rows[1:]
}

// appendLists appends the rows of all rounds to the initial values, and puts the results
// into the order of the Loop: carried values first, then those of the rounds.
func appendLists(c *control, outs []*rule.Datum, list []appended) []*rule.Datum {
	n := len(outs) - len(list)
	rows := outs[n:]
	outs = slices.Clone(outs[:n])
	for k, a := range slices.Backward(list) { // they were taken from the last on
		flat := c.Cursor.Function(std.Flatten, std.FlattenAttrs{EndDim: 1}, rows[k].Node)
		all := c.Cursor.Function(std.Cat, std.DimAttrs{}, a.first, flat)
		outs = slices.Insert(outs, a.carry, &rule.Datum{Node: all})
	}
	return outs
}
