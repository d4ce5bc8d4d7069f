package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/peers"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/oracle"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/train"
)

// firstSteps is how many losses are compared; torch_steps.py has the same number. The second
// tells whether gradients and updates agree, the third whether the optimiser's state does.
const firstSteps = 3

// openStep is a step of training of a network at sizes.
type openStep struct {
	module any
	in     []*array.Array
	graph  *graph.Module // optimised
}

// step captures the step of a case.
func (c *Case) step() (*openStep, error) {
	s := &openStep{module: c.Network.New()}
	models.Synthetic(c.Network, s.module, seed)
	var specs []fx.Option
	for _, v := range []models.InputSpec{c.Network.Inputs[0], c.Train.target} {
		x, err := models.SyntheticInput(v, seed, c.Dims)
		if err != nil {
			return nil, err
		}
		sized := shape.TensorType(v.DType(), shape.ConstDims(x.Array().Shape()...)) // known, as PyTorch knows them
		specs = append(specs, fx.Input(v.Name, sized.String()))
		s.in = append(s.in, x.Array())
	}
	step, err := train.NewStep(context.Background(), s.module, c.Train.loss(s.module), optim.Rule{Optimiser: c.Train.rule}, specs...)
	if err != nil {
		return nil, err
	}
	s.graph = step.Graph().Module
	_, err = step.Graph().Apply(context.Background(), fx.Optimise(), fx.PassOptions{})
	return s, err
}

// ours compiles the step and makes the first ones, whose losses are its results. Each plan
// begins with the same weights, for it has a state of its own.
func (s *openStep) ours(threads int) (*Ours, error) {
	ctx := context.Background()
	e, err := cpu.Compile(s.graph, lowering.Options{Threads: threads})
	if err != nil {
		return nil, err
	}
	var losses []float32
	var out []*array.Array
	for range firstSteps {
		if out, err = e.Run(ctx, s.in); err != nil {
			return nil, err
		}
		losses = append(losses, array.Data[float32](out[0])[0])
	}
	return &Ours{Name: "plan", Out: []*array.Array{array.FromSlice(losses, len(losses))}, Run: func() {
		if err := e.RunInto(ctx, out, s.in); err != nil {
			panic(err)
		}
	}}, nil
}

// request writes weights and a batch into a folder, and returns what asks PyTorch for the step.
func (s *openStep) request(dir string, c *Case) (peers.Request, error) {
	q := peers.Request{Op: c.Op, File: dir, Attrs: c.Train.peer}
	if err := nn.SaveFile(filepath.Join(dir, "weights.safetensors"), s.module, nil); err != nil {
		return q, err
	}
	for i, a := range s.in {
		file := filepath.Join(dir, fmt.Sprintf("x%d.bin", i))
		if err := os.WriteFile(file, oracle.Bytes(a), 0o600); err != nil {
			return q, err
		}
		q.Inputs = append(q.Inputs, peers.Tensor{Shape: a.Shape(), DType: a.DType().String(), File: file})
	}
	return q, nil
}

// step lines up the competitors of a step of training.
func (b *bench) step(c *Case, row *Row, f *field) error {
	s, err := c.step()
	if err != nil {
		return err
	}
	ready, err := lowering.Prepare(s.graph, lowering.Options{})
	if err != nil {
		return err
	}
	c.Work = workOf(ready, nil)
	dir, err := os.MkdirTemp(b.dir, "step")
	if err != nil {
		return err
	}
	f.closes = append(f.closes, func() {
		os.RemoveAll(dir)
		debug.FreeOSMemory()
	})
	if err := b.ours(row, f, s.ours); err != nil {
		return err
	}
	f.list = append(f.list, b.beside(c, row)...)
	if len(b.procs) == 0 {
		return nil
	}
	q, err := s.request(dir, c)
	if err != nil {
		return err
	}
	b.load(c, row, f, b.stepRequests(row, q))
	return nil
}

// stepRequests are the ways of PyTorch to train; the others do not.
func (b *bench) stepRequests(row *Row, q peers.Request) (list []peerCase) {
	compiled := q
	compiled.Variant = "compile"
	for _, p := range []peerCase{{name: "torch", process: "torch", load: q}, {name: "torch-compile", process: "torch", load: compiled},
		{name: "torch-1.13", process: "torch-1.13", load: q}} {
		switch {
		case b.procs[p.process] == nil || p.load.Variant != "" && !b.newest(p.process):
		case b.coarse[p.name] != "":
			row.LeftOut = append(row.LeftOut, p.name+": "+b.coarse[p.name])
		default:
			list = append(list, p)
		}
	}
	return list
}

// compiled returns the plan of the case's network or step of training, and its inputs.
func (c *Case) compiled(threads int) (*cpu.Executable, []*array.Array, error) {
	if c.Train != nil {
		s, err := c.step()
		if err != nil {
			return nil, nil, err
		}
		e, err := cpu.Compile(s.graph, lowering.Options{Threads: threads})
		return e, s.in, err
	}
	w, err := openNetwork(c.Network, c.Dims)
	if err != nil {
		return nil, nil, err
	}
	g, err := w.measured(c)
	if err != nil {
		return nil, nil, err
	}
	e, err := cpu.Compile(g, lowering.Options{Threads: threads, Shapes: c.Dims})
	return e, w.arrays(), err
}
