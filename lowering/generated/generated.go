package generated

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/internal/packs"
)

// Form numbers what generated graphs rely on: this table, the text of graphs, and the bits of the
// steps that plans with lowering.Options.Exact have. A change of one of them, after which a
// package of before would no longer compute what eager code computes, raises it. The version
// of the module would not do: test binaries do not know it.
const Form = 2

// Graphs are the graphs of one run in a session. Generated packages make them, and sessions
// take them (lazy.Options.Generated): many sessions may share one.
type Graphs struct {
	// Source is what was run: "./pkg#Func".
	Source string
	// Form is the constant of that name when the package was generated. Sessions use graphs of
	// their own form alone.
	Form int
	// Rounding says that the graphs round as plans do by themselves: their bits are not those
	// of eager code.
	Rounding bool
	List     []Graph
}

// Graph is a graph, and what the numbers of a session's recorded calls are in it: what is read and
// the calls are counted from 0, each in the order in which the session meets them.
type Graph struct {
	// Name is that of the generated type.
	Name string
	// Text is the graph in the text form. A session runs Model for what has the same text only.
	Text string
	// Digest is that of operators and operands, by which a session finds the graph.
	Digest uint64
	// Weights are the tensors of models that Model has, of what is read; the others are inputs.
	Weights []int
	// Numbers are the calls with numbers or positions whose values are inputs, counted among
	// the calls with such.
	Numbers []int
	// Kept are the calls whose values are results.
	Kept []int
	// Sizes are those of three cones or more, from which a session finds what each size is as a
	// function of the symbols. It is empty for a graph whose sizes are numbers.
	Sizes [][]int
	// Into are the results that are made in the memory of inputs, by the numbers of both in Text.
	Into []lowering.Into
	// New makes the model. It asks find for each weight by WeightName.
	New func(find Find, pack Pack, threads int) (Model, error)
}

// Find returns a tensor by its name, nil for one that there is not.
type Find = func(name string) (*array.Array, error)

// Pack lays a weight out for the processor. What it returns is not changed: others may have it.
type Pack = func(k kernel.Packer, weight *array.Array) *array.Array

// Model is what generated code is to a Bound.
type Model interface {
	// Call computes the results for inputs, both in the order of the graph.
	Call(ctx context.Context, in []*array.Array) ([]*array.Array, error)
	// Bind replaces the weights.
	Bind(find Find, pack Pack) error
}

// WeightName names what is read at a place, in texts and for New.
func WeightName(leaf int) string { return "w" + strconv.Itoa(leaf) }

// Bound runs a graph with tensors of a model as its weights. It implements lowering.Executable.
type Bound struct {
	names   []string
	weights []*array.Array
	threads int

	mu    sync.Mutex
	model Model
	since uint64          // a moment before the model took the weights
	forms []*packs.Packed // that the model has of them
}

var _ lowering.Executable = (*Bound)(nil)

// Bind makes a program of the graph. It reads the weights where they lie, in the order of
// g.Weights, and keeps what the model lays out for the processor until one is written. Programs
// over one tensor share what is laid out.
func (g *Graph) Bind(weights []*array.Array, threads int) (*Bound, error) {
	p := &Bound{weights: slices.Clone(weights), threads: threads}
	for _, i := range g.Weights {
		p.names = append(p.names, WeightName(i))
	}
	err := p.take(func(pack Pack) (err error) {
		p.model, err = g.New(p.find, pack, threads)
		return err
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// take has the model take the weights, and lets go what was laid out of them before.
func (p *Bound) take(bind func(pack Pack) error) error {
	since := array.Now()
	var forms []*packs.Packed
	err := bind(func(k kernel.Packer, weight *array.Array) *array.Array {
		f := packs.Of(&kernel.Workspace{Threads: p.threads}, k, weight)
		forms = append(forms, f)
		return f.Value()
	})
	if err == nil {
		forms, p.forms, p.since = p.forms, forms, since
	}
	for _, f := range forms {
		f.Release()
	}
	return err
}

// find gives the model a weight, as kernels read it.
func (p *Bound) find(name string) (*array.Array, error) {
	if i := slices.Index(p.names, name); i >= 0 && i < len(p.weights) {
		return array.Contiguous(p.weights[i]), nil
	}
	return nil, nil
}

// Run implements lowering.Executable. Weights that were written since the last run are taken again.
func (p *Bound) Run(ctx context.Context, in []*array.Array) ([]*array.Array, error) {
	m, err := p.ready()
	if err != nil {
		return nil, err
	}
	return m.Call(ctx, in)
}

// ready returns the model with the weights of now.
func (p *Bound) ready() (Model, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.model == nil {
		return nil, diag.New(lowering.Closed, "the program is closed, expected an open one").WithHint("make it again")
	}
	written := func(a *array.Array) bool { return a.Storage().Version() > p.since }
	if slices.ContainsFunc(p.weights, written) {
		if err := p.take(func(pack Pack) error { return p.model.Bind(p.find, pack) }); err != nil {
			return nil, err
		}
	}
	return p.model, nil
}

// Packed is how many bytes the programs p and others have laid out for the processor. What several of them
// share is counted once.
func (p *Bound) Packed(others ...*Bound) (n int64) {
	seen := map[*packs.Packed]bool{}
	for _, q := range append([]*Bound{p}, others...) {
		q.mu.Lock()
		for _, f := range q.forms {
			if !seen[f] {
				seen[f] = true
				n += int64(len(f.Value().Storage().Bytes()))
			}
		}
		q.mu.Unlock()
	}
	return n
}

// Close implements lowering.Executable. It lets the model and the weights go.
func (p *Bound) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.forms {
		f.Release()
	}
	p.model, p.weights, p.forms = nil, nil, nil
	return nil
}
