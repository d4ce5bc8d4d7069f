package onnx

import (
	"strings"

	"github.com/gofx-dev/gofx/graph"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/shape"
)

// The graph's conditions on its sizes hold wherever the graph is run: a convolution has guards that
// its input is as large as its kernel. Nodes that come before it and compute with sizes may rely on
// it, and their results then have a simpler form. ONNX rounds quotients of integers towards zero,
// for instance, which is to round down for dividends that are not negative, and exporters mean
// these: (L//10 - 3)//2 is as many places as a convolution leaves.

// importForm is Import that also returns the decisions that the given sizes made.
func (f *File) importForm(o Options) (*graph.Module, *form, error) {
	first := f.newImporter(o)
	m, form, err := first.run(o)
	if least := first.leastSizes(); first.unproved && len(least) > 0 { // conditions of later nodes on sizes may simplify them
		again := f.newImporter(o)
		again.least = least
		if m, form, err := again.run(o); err == nil && again.needs(least) {
			return m, form, nil
		}
	}
	return m, form, err
}

func (f *File) newImporter(o Options) *importer {
	return &importer{File: f, values: o.Values, lengths: o.Lengths, ranks: o.Ranks, sizes: o.Sizes, mod: graph.NewModule(graph.New(graphName(f.model.Graph.Name))),
		late: map[string]bool{}, symbolValues: map[string]*value{}, opsets: map[string]int{}, functions: map[string]*pb.Function{},
		placed: map[placed]*graph.Node{}, inputs: map[*graph.Node]string{}, bodies: map[*graph.Graph]*body{}, paths: map[*value]string{}, workspace: &kernel.Workspace{}}
}

// leastSizes are the least that sizes of inputs are in every run of the graph, as its guards say.
func (im *importer) leastSizes() map[string]int {
	least, relations := map[string]int{}, im.mod.Graph.Relations()
	for _, s := range im.mod.Graph.Symbols() {
		if n := relations.Of(s.Name).Least; n > 0 && s.Node.Opcode() == graph.Placeholder {
			least[s.Name] = n
		}
	}
	return least
}

// needs reports whether the graph requires the assumed conditions of sizes.
func (im *importer) needs(least map[string]int) bool {
	have := im.leastSizes()
	for name, n := range least {
		if have[name] < n {
			return false
		}
	}
	return true
}

// above writes a size in letters that stand for the excess of each size over its least
// value.
func (im *importer) above(d shape.Dim) shape.Dim { return im.shift(d, 1) }

// back is the inverse of above; it notes sizes that more knowledge could make plainer.
func (im *importer) back(d shape.Dim) shape.Dim {
	im.unproved = im.unproved || strings.Contains(d.String(), "min(")
	return im.shift(d, -1)
}

func (im *importer) shift(d shape.Dim, sign int) shape.Dim {
	if len(im.least) == 0 {
		return d
	}
	return d.Bind(func(name string) shape.Dim { return shape.Sym(name).AddInt(sign * im.least[name]) })
}

// bounds finds the bounds of a slice of size by the facts that least sizes prove.
func (im *importer) bounds(find func(size, start, stop shape.Dim) (from, to shape.Dim), size, start, stop shape.Dim) (from, to shape.Dim) {
	from, to = find(im.above(size), im.above(start), im.above(stop))
	return im.back(from), im.back(to)
}
