package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/peers"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/partition"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/tensor"
)

// scaling is a job of a graph tool on a graph of some nodes. The graphs are
// chains, in each program written the same: torch_fx.py has the twins.
type scaling struct {
	name string
	// goal is how many times faster than torch.fx it is to be, 0 for no goal; most
	// is the most microseconds a node that it may take, 0 for any.
	goal, most float64
	allocs     float64 // the most allocations a node, which tests hold
	alone      bool    // torch.fx has no such thing
	// upTo is the most nodes for which torch.fx is asked, 0 for any: its time does
	// not grow linearly.
	upTo int
	// prepare returns the measured function; before is called, unmeasured, before each
	// call of run and may be nil.
	prepare func(nodes int, dir string) (before func(), run func() error, err error)
}

// sizes are the numbers of nodes, and those that tests count at.
var sizes = []int{1_000, 10_000, 100_000}

// scalings are the rows, at each of the sizes.
var scalings = []scaling{
	{name: "trace", allocs: 9.3, goal: 20, upTo: 10_000, prepare: func(n int, _ string) (func(), func() error, error) {
		f := chain(n)
		return nil, func() error { _, err := traced(f); return err }, nil
	}},
	{name: "copy", allocs: 0.1, goal: 20, prepare: on(chain, func(m *graph.Module) error { graph.Clone(m); return nil })},
	{name: "lint", allocs: 0.05, goal: 5, prepare: on(chain, func(m *graph.Module) error { return graph.Lint(m.Graph).Err() })},
	{name: "dce", allocs: 0.05, goal: 5, prepare: onCopy(unused, simplify.DCE)},
	{name: "cse", allocs: 1.1, goal: 20, upTo: 10_000, prepare: onCopy(twice, simplify.CSE)},
	{name: "rewrite", allocs: 9.6, goal: 20, upTo: 1_000, prepare: onCopy(chain, addRelu)},
	{name: "partition", allocs: 33, goal: 20, upTo: 1_000, prepare: parted},
	{name: "print", allocs: 0.05, goal: 5, prepare: on(chain, func(m *graph.Module) error { _ = m.String(); return nil })},
	{name: "parse", allocs: 0.2, most: 3, alone: true, prepare: func(n int, _ string) (func(), func() error, error) {
		m, err := traced(chain(n))
		if err != nil {
			return nil, nil, err
		}
		text := []byte(m.String())
		return nil, func() error { _, err := graph.Parse(text, "chain.fx"); return err }, nil
	}},
	{name: "save", allocs: 0.1, goal: 20, upTo: 10_000, prepare: func(n int, dir string) (func(), func() error, error) {
		m, err := traced(chain(n))
		return nil, func() error { return fx.Save(dir, m) }, err
	}},
	{name: "load", allocs: 1.3, goal: 20, upTo: 10_000, prepare: func(n int, dir string) (func(), func() error, error) {
		m, err := traced(chain(n))
		if err == nil {
			err = fx.Save(dir, m)
		}
		return nil, func() error { _, err := fx.Load(dir); return err }, err
	}},
	{name: "interpret", allocs: 10.2, goal: 5, prepare: func(n int, _ string) (func(), func() error, error) {
		m, err := traced(chain(n))
		in := []*array.Array{array.FromSlice([]float32{-1, 0, 1, 2}, 1, 4)}
		return nil, func() error { _, err := m.RunArrays(context.Background(), in); return err }, err
	}},
}

// traced captures a function of one tensor.
func traced(f func(x *tensor.Tensor) *tensor.Tensor) (*fx.GraphModule, error) {
	return fx.Trace(context.Background(), f, fx.Input("x", "f32[N,4]"), fx.Name("chain"))
}

// on prepares a job that leaves its graph unchanged.
func on(f func(n int) func(x *tensor.Tensor) *tensor.Tensor, do func(m *graph.Module) error) func(int, string) (func(), func() error, error) {
	return func(n int, _ string) (func(), func() error, error) {
		m, err := traced(f(n))
		if err != nil {
			return nil, nil, err
		}
		return nil, func() error { return do(m.Module) }, nil
	}
}

// onCopy prepares a pass, which gets a copy of the graph each time.
func onCopy(f func(n int) func(x *tensor.Tensor) *tensor.Tensor, p passes.Pass) func(int, string) (func(), func() error, error) {
	return func(n int, _ string) (func(), func() error, error) {
		m, err := traced(f(n))
		if err != nil {
			return nil, nil, err
		}
		var work *graph.Module
		return func() { work = graph.Clone(m.Module) }, func() error {
			c := passes.NewCtx(context.Background(), work)
			changed, err := p.Run(c, work.Graph)
			if err == nil && !changed {
				err = fmt.Errorf("%s has changed nothing", p.Name)
			}
			return err
		}, nil
	}
}

// parted prepares parts of all calls but one in fifty, and sub-graphs of them.
func parted(n int, _ string) (func(), func() error, error) {
	m, err := traced(chain(n))
	if err != nil {
		return nil, nil, err
	}
	alone := map[string]bool{}
	i := 0
	for n := range m.Graph.Nodes() {
		if n.Opcode().IsCall() {
			alone[n.Name()] = i%50 == 49
			i++
		}
	}
	supports := func(n *graph.Node) (bool, string) { return !alone[n.Name()], "" }
	var work *graph.Module
	return func() { work = graph.Clone(m.Module) }, func() error {
		p, err := partition.Propose(work.Graph, supports, partition.Options{})
		if err != nil {
			return err
		}
		calls, err := partition.Fuse(work, p.Parts...)
		if err == nil && len(calls) != n/50 {
			err = fmt.Errorf("%d parts", len(calls))
		}
		return err
	}, nil
}

// chain adds a number and applies relu, in turns.
func chain(n int) func(x *tensor.Tensor) *tensor.Tensor {
	return func(x *tensor.Tensor) *tensor.Tensor {
		for range n / 2 {
			x = x.AddScalar(1).Relu()
		}
		return x
	}
}

// twice is a chain in which one node in five occurs a second time.
func twice(n int) func(x *tensor.Tensor) *tensor.Tensor {
	return func(x *tensor.Tensor) *tensor.Tensor {
		for range n / 5 {
			x = x.AddScalar(1).Relu()
			x = x.Neg().Add(x.Neg())
		}
		return x
	}
}

// unused is a chain in which one node in five has no use.
func unused(n int) func(x *tensor.Tensor) *tensor.Tensor {
	return func(x *tensor.Tensor) *tensor.Tensor {
		for range n / 5 {
			x = x.AddScalar(1).Relu().AddScalar(1)
			x.Neg()
			x = x.Relu()
		}
		return x
	}
}

// addRelu rewrites every second node of a chain, and with it the one before.
var addRelu = passes.Rule(passes.Rewrite{
	Name: "add-relu", Doc: "Replaces pairs of a chain.",
	Pattern:     func(x *tensor.Tensor) *tensor.Tensor { return x.AddScalar(1).Relu() },
	Replacement: func(x *tensor.Tensor) *tensor.Tensor { return x.Gelu() },
})

// graphCases are the scalings at all sizes.
func graphCases() []*Case {
	var list []*Case
	for _, s := range scalings {
		for _, n := range sizes {
			c := &Case{Group: "graph", Shape: fmt.Sprintf("%s_%d", s.name, n), Scale: &s, Nodes: n, Tol: -1}
			if !s.alone && (s.upTo == 0 || n <= s.upTo) {
				c.Op = "graph"
			}
			list = append(list, c)
		}
	}
	return list
}

// graph lines up the jobs of a graph tool, here and in torch.fx.
func (b *bench) graph(c *Case, row *Row, f *field) error {
	dir, err := os.MkdirTemp("/dev/shm", "graph") // so that disks do not count, for either
	if err != nil {
		dir, err = os.MkdirTemp(b.dir, "graph")
	}
	if err != nil {
		return err
	}
	f.closes = append(f.closes, func() { os.RemoveAll(dir) })
	before, run, err := c.Scale.prepare(c.Nodes, dir)
	if err != nil {
		return err
	}
	o := &Ours{Name: c.Scale.name, Before: before, Run: func() {
		if err := run(); err != nil {
			panic(err)
		}
	}}
	o.once()
	row.Nodes, row.Goal, row.Most = c.Nodes, c.Scale.goal, c.Scale.most
	row.Allocs = o.allocations()
	f.list = append(f.list, oursRunner("", o))
	if c.Op == "" {
		return nil
	}
	q := peers.Request{Op: c.Op, Variant: c.Scale.name, Attrs: map[string]any{"nodes": c.Nodes}, File: filepath.Join(dir, "chain.pickle")}
	b.load(c, row, f, []peerCase{{name: "torch.fx", process: "torch", load: q}})
	return nil
}

// retained returns the bytes of a captured chain.
func retained(n int) (float64, error) {
	f := chain(n)
	if _, err := traced(f); err != nil { // stacks and names that are kept for good
		return 0, err
	}
	var before, after runtime.MemStats
	collect := func(s *runtime.MemStats) {
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(s)
	}
	collect(&before)
	m, err := traced(f)
	collect(&after)
	runtime.KeepAlive(m)
	return float64(after.HeapAlloc) - float64(before.HeapAlloc), err
}
