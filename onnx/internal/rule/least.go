package rule

import (
	"strings"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/shape"
)

// The graph's conditions on its sizes hold wherever the graph is run: a convolution has guards that
// its input is as large as its kernel. Nodes that come before it and compute with sizes may rely on
// it, and their results then have a simpler form. ONNX rounds quotients of integers towards zero,
// for instance, which is to round down for dividends that are not negative, and exporters mean
// these: (L//10 - 3)//2 is as many places as a convolution leaves.

// LeastSizes are the least that sizes of inputs are in every run of the graph, as its guards say.
func (dr *Draft) LeastSizes() map[string]int {
	least, relations := map[string]int{}, dr.Module.Graph.Relations()
	for _, s := range dr.Module.Graph.Symbols() {
		if n := relations.Of(s.Name).Least; n > 0 && s.Node.Opcode() == graph.Placeholder {
			least[s.Name] = n
		}
	}
	return least
}

// Needs reports whether the graph requires the assumed conditions of sizes.
func (dr *Draft) Needs(least map[string]int) bool {
	have := dr.LeastSizes()
	for name, n := range least {
		if have[name] < n {
			return false
		}
	}
	return true
}

// Above writes a size in letters that stand for the excess of each size over its least
// value.
func (dr *Draft) Above(d shape.Dim) shape.Dim { return dr.shift(d, 1) }

// Back is the inverse of above; it notes sizes that more knowledge could make plainer.
func (dr *Draft) Back(d shape.Dim) shape.Dim {
	dr.Unproved = dr.Unproved || strings.Contains(d.String(), "min(")
	return dr.shift(d, -1)
}

func (dr *Draft) shift(d shape.Dim, sign int) shape.Dim {
	if len(dr.Least) == 0 {
		return d
	}
	return d.Bind(func(name string) shape.Dim { return shape.Sym(name).AddInt(sign * dr.Least[name]) })
}

// Bounds finds the bounds of a slice of size by the facts that least sizes prove.
func (dr *Draft) Bounds(find func(size, start, stop shape.Dim) (from, to shape.Dim), size, start, stop shape.Dim) (from, to shape.Dim) {
	from, to = find(dr.Above(size), dr.Above(start), dr.Above(stop))
	return dr.Back(from), dr.Back(to)
}
