package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/gen"
	"github.com/gofx-dev/gofx/bench/peers"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/oracle"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// seed is that of weights and inputs of networks.
const seed = "gofx-1"

// network is a model at sizes, opened; all competitors compute it.
type network struct {
	dims    map[string]int
	module  any
	in      []*tensor.Tensor
	before  *array.Array             // tokens before those of the inputs, of a decoder
	traced  *graph.Module            // as captured
	ready   *graph.Module            // prepared at the sizes, no pass but that has run
	passed  map[string]*graph.Module // by the names of the passes that have run
	lowered map[string]*graph.Module // the quantised networks that a case asks for, by the settings for all operators
}

// openNetwork makes the module with its weights, captures it, and makes inputs.
func openNetwork(m *models.Model, dims map[string]int) (*network, error) {
	w := &network{dims: dims, module: m.New(), passed: map[string]*graph.Module{}, lowered: map[string]*graph.Module{}}
	if p, ok := w.module.(*precise); ok {
		p.fill()
	} else {
		models.Synthetic(m, w.module, seed)
	}
	var opts []fx.Option
	for _, v := range m.Inputs {
		opts = append(opts, fx.Input(v.Name, v.Type))
		x, err := models.SyntheticInput(v, seed, dims)
		if err != nil {
			return nil, err
		}
		w.in = append(w.in, x)
	}
	gm, err := fx.Trace(context.Background(), w.module, opts...)
	if err != nil {
		return nil, err
	}
	w.traced = gm.Module
	w.ready, err = lowering.Prepare(w.traced, lowering.Options{Shapes: dims})
	return w, err
}

// optimised returns the graph after a pipeline; all that ask share its weights.
func (w *network) optimised(pipeline []passes.Pass) (*graph.Module, error) {
	var names string
	for _, p := range pipeline {
		names += p.Name + ","
	}
	if g := w.passed[names]; g != nil {
		return g, nil
	}
	g := graph.Clone(w.traced)
	if _, err := passes.Run(context.Background(), g, pipeline, passes.Options{}); err != nil {
		return nil, err
	}
	w.passed[names] = g
	return g, nil
}

// arrays are the inputs.
func (w *network) arrays() []*array.Array {
	in := make([]*array.Array, len(w.in))
	for i, x := range w.in {
		in[i] = x.Array()
	}
	return in
}

// workOf counts a prepared graph by the definitions of the operators, of all or of
// those that count says, and the bytes of weights, inputs and results once.
func workOf(m *graph.Module, count func(n *graph.Node) bool) (v Work) {
	bytes := func(t shape.Type) float64 {
		d, dims, ok := t.Concrete()
		n, _ := array.NumElems(dims)
		if !ok {
			return 0
		}
		return float64(n * d.Size())
	}
	read := map[string]bool{}
	for n := range m.Graph.All() {
		switch n.Opcode() {
		case graph.GetAttr:
			if !read[n.Target()] {
				v.Bytes += bytes(n.Type())
			}
			read[n.Target()] = true
		case graph.Placeholder:
			v.Bytes += bytes(n.Type())
		case graph.Output:
			for _, a := range n.Args() {
				v.Bytes += bytes(a.Type())
			}
		case graph.CallFunction:
			if count != nil && !count(n) {
				continue
			}
			var in []shape.Type
			for _, a := range n.Args() {
				if a == nil {
					in = append(in, shape.Type{})
				} else {
					in = append(in, a.Type())
				}
			}
			if f, ok := n.Op().Flops(n.Attrs(), in, n.Type()).Int(); ok {
				v.Flops += float64(f)
			}
		}
	}
	return v
}

// dump writes a prepared form of the network for PyTorch and inputs for all, and returns
// these as operands of the peers.
func (w *network) dump(dir string, m *graph.Module) ([]peers.Tensor, error) {
	if err := oracle.DumpNetwork(dir, m, w.arrays()); err != nil {
		return nil, err
	}
	var list []peers.Tensor
	for i, a := range w.arrays() {
		file := filepath.Join(dir, fmt.Sprintf("x%d.bin", i))
		if err := os.WriteFile(file, oracle.Bytes(a), 0o600); err != nil {
			return nil, err
		}
		list = append(list, peers.Tensor{Shape: a.Shape(), DType: a.DType().String(), File: file})
	}
	return list, nil
}

// plan runs the plan of the graph after a pipeline.
func (w *network) plan(pipeline []passes.Pass, threads int) (*Ours, error) {
	g, err := w.optimised(pipeline)
	if err != nil {
		return nil, err
	}
	return oursPlan(g, w.arrays(), lowering.Options{Threads: threads, Shapes: w.dims})
}

// oursPlan compiles a graph and runs its plan.
func oursPlan(g *graph.Module, in []*array.Array, opts lowering.Options) (*Ours, error) {
	ctx := context.Background()
	e, err := cpu.Compile(g, opts)
	if err != nil {
		return nil, err
	}
	out, err := e.Run(ctx, in)
	if err != nil {
		return nil, err
	}
	return &Ours{Name: "plan", Out: out, Run: func() {
		if err := e.RunInto(ctx, out, in); err != nil {
			panic(err)
		}
	}}, nil
}

// interp runs the graph after a pipeline node by node.
func (w *network) interp(pipeline []passes.Pass) (*Ours, error) {
	g, err := w.optimised(pipeline)
	if err != nil {
		return nil, err
	}
	gm, in := fx.NewGraphModule(g), w.arrays()
	return oursCalls("interp", func() ([]*array.Array, error) { return gm.RunArrays(context.Background(), in) })
}

// eager calls the module itself.
func (w *network) eager() (*Ours, error) {
	return oursCalls("eager", func() (out []*array.Array, err error) {
		for _, x := range nn.RunAll(w.module, w.in...) {
			out = append(out, x.Array())
		}
		return out, nil
	})
}

// oursCalls runs a function that makes new results.
func oursCalls(name string, f func() ([]*array.Array, error)) (*Ours, error) {
	out, err := f()
	if err != nil {
		return nil, err
	}
	return &Ours{Name: name, Out: out, Run: func() {
		if _, err := f(); err != nil {
			panic(err)
		}
	}}, nil
}

// generated builds kernel-style code of the optimised graph and starts it.
func (w *network) generated(dir string, threads int) (*peers.Peer, error) {
	g, err := w.optimised(fx.Optimise())
	if err != nil {
		return nil, err
	}
	file, err := gen.Build(filepath.Join(dir, "gen"), g, w.dims)
	if err != nil {
		return nil, err
	}
	return peers.StartGenerated(file, dir, threads)
}

// without is the default pipeline without the named passes.
func without(names ...string) []passes.Pass {
	return slices.DeleteFunc(fx.Optimise(), func(p passes.Pass) bool { return slices.Contains(names, p.Name) })
}
