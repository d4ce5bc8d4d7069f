package rule

import (
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Draft is the graph that is made of a file, as far as rules need it: how values become its
// nodes, and what is known of its sizes.
type Draft struct {
	*modelfile.File
	Module       *graph.Module
	workspace    *kernel.Workspace
	InputNames   map[*graph.Node]string // the model's names of placeholders
	placed       map[placed]*graph.Node
	paths        map[*Datum]string
	pathLabel    goname.Labels // of parameters
	Bodies       map[*graph.Graph]*body
	symbolValues map[string]*Datum // of sizes that bodies use
	SymbolLabels goname.Labels
	lateSizes    map[string]bool // sizes that runs discover
	sizes        map[string][]int
	undecided    bool           // something depends on sizes that are not known
	Least        map[string]int // of symbols, because the graph needs it
	Unproved     bool           // sizes have other forms where others are larger
}

// NewDraft returns an empty graph for a model; sizes are those of inputs in a run, as far as they are known.
func NewDraft(f *modelfile.File, sizes map[string][]int) *Draft {
	return &Draft{File: f, sizes: sizes, Module: graph.NewModule(graph.New(modelfile.GraphName(f.Model.Graph.Name))), workspace: &kernel.Workspace{},
		InputNames: map[*graph.Node]string{}, placed: map[placed]*graph.Node{}, paths: map[*Datum]string{}, Bodies: map[*graph.Graph]*body{},
		symbolValues: map[string]*Datum{}, lateSizes: map[string]bool{}}
}

// body is a region while it is imported.
type body struct {
	dr           *Draft
	Cursor       *graph.Cursor
	Outer        *graph.Cursor // the place where a captured value is made
	Captured     []*Datum
	Placeholders map[*Datum]*graph.Node
}

// body begins a region of the graph that outer writes to.
func (dr *Draft) body(outer *graph.Cursor, name string) *body {
	g := outer.Graph().NewRegion(name)
	b := &body{dr: dr, Cursor: g.At(), Outer: outer, Placeholders: map[*Datum]*graph.Node{}}
	dr.Bodies[g] = b
	return b
}

// Builder writes into the body.
func (b *body) Builder() op.Builder { return builder{b.Cursor, b.dr} }

// capture makes a value from outside an input of a body.
func (dr *Draft) capture(cur *graph.Cursor, v *Datum) *graph.Node {
	b := dr.Bodies[cur.Graph()]
	if b == nil {
		panic(diag.Bug("onnx: value " + diag.Quote(v.Name) + " of another graph"))
	}
	if n := b.Placeholders[v]; n != nil {
		return n
	}
	outer := dr.Node(b.Outer, v)
	n := b.Input(outer.Name(), outer.Type())
	b.Placeholders[v] = n
	b.Captured = append(b.Captured, v)
	return n
}

// Input adds a placeholder after the existing ones.
func (b *body) Input(name string, t shape.Type) *graph.Node {
	g := b.Cursor.Graph()
	if at := g.FirstAfterInputs(); at != nil {
		return g.Before(at).Placeholder(name, t, nil)
	}
	return g.At().Placeholder(name, t, nil)
}

// Finish writes the output of a body.
func (dr *Draft) Finish(cur *graph.Cursor, outs ...*Datum) {
	args := make([]*graph.Node, len(outs))
	st := &graph.Structure{Kind: graph.Results}
	for i, v := range outs {
		args[i] = dr.Node(cur, v)
		st.Fields = append(st.Fields, graph.Leaf(i))
	}
	cur.Output(st, args...)
}
