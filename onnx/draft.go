package onnx

import (
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// draft is the graph that is made of a file, as far as rules need it: how values become its
// nodes, and what is known of its sizes.
type draft struct {
	*modelFile
	mod          *graph.Module
	workspace    *kernel.Workspace
	inputs       map[*graph.Node]string // the model's names of placeholders
	placed       map[placed]*graph.Node
	paths        map[*value]string
	pathLabel    goname.Labels // of parameters
	bodies       map[*graph.Graph]*body
	symbolValues map[string]*value // of sizes that bodies use
	symbolLabels goname.Labels
	late         map[string]bool // sizes that runs discover
	sizes        map[string][]int
	undecided    bool           // something depends on sizes that are not known
	least        map[string]int // of symbols, because the graph needs it
	unproved     bool           // sizes have other forms where others are larger
}

func newDraft(f *modelFile, sizes map[string][]int) *draft {
	return &draft{modelFile: f, sizes: sizes, mod: graph.NewModule(graph.New(graphName(f.model.Graph.Name))), workspace: &kernel.Workspace{},
		inputs: map[*graph.Node]string{}, placed: map[placed]*graph.Node{}, paths: map[*value]string{}, bodies: map[*graph.Graph]*body{},
		symbolValues: map[string]*value{}, late: map[string]bool{}}
}

// body is a region while it is imported.
type body struct {
	dr       *draft
	cur      *graph.Cursor
	outer    *graph.Cursor // the place where a captured value is made
	captured []*value
	inputs   map[*value]*graph.Node
}

// body begins a region of the graph that outer writes to.
func (dr *draft) body(outer *graph.Cursor, name string) *body {
	g := outer.Graph().NewRegion(name)
	b := &body{dr: dr, cur: g.At(), outer: outer, inputs: map[*value]*graph.Node{}}
	dr.bodies[g] = b
	return b
}

// builder writes into the body.
func (b *body) builder() op.Builder { return builder{b.cur, b.dr} }

// capture makes a value from outside an input of a body.
func (dr *draft) capture(cur *graph.Cursor, v *value) *graph.Node {
	b := dr.bodies[cur.Graph()]
	if b == nil {
		panic(diag.Bug("onnx: value " + diag.Quote(v.name) + " of another graph"))
	}
	if n := b.inputs[v]; n != nil {
		return n
	}
	outer := dr.in(b.outer, v)
	n := b.input(outer.Name(), outer.Type())
	b.inputs[v] = n
	b.captured = append(b.captured, v)
	return n
}

// input adds a placeholder after the existing ones.
func (b *body) input(name string, t shape.Type) *graph.Node {
	g := b.cur.Graph()
	if at := g.FirstAfterInputs(); at != nil {
		return g.Before(at).Placeholder(name, t, nil)
	}
	return g.At().Placeholder(name, t, nil)
}

// finish writes the output of a body.
func (dr *draft) finish(cur *graph.Cursor, outs ...*value) {
	args := make([]*graph.Node, len(outs))
	st := &graph.Structure{Kind: graph.Results}
	for i, v := range outs {
		args[i] = dr.in(cur, v)
		st.Fields = append(st.Fields, graph.Leaf(i))
	}
	cur.Output(st, args...)
}
