package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

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

// network lines up the competitors of a whole network: ways of gofx, the first of
// which is ours of the row, then the peers, with the same weights.
func (b *bench) network(c *Case, row *Row, f *field) error {
	w, err := openNetwork(c.Network, c.Dims)
	if err != nil {
		return err
	}
	if c.Feed != nil {
		if err := c.Feed(w); err != nil {
			return err
		}
	}
	theirs := w.ready
	if c.Quant == nil {
		c.Work = workOf(w.ready, nil)
	} else if theirs, err = w.forPeers(*c.Quant); err != nil {
		return err
	} else if c.Work, err = w.quantisedWork(*c.Quant); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(b.dir, "network")
	if err != nil {
		return err
	}
	f.closes = append(f.closes, func() {
		os.RemoveAll(dir)
		debug.FreeOSMemory()
	})
	prepare := func(threads int) (*Ours, error) { return c.Engines[0].Ours(w, threads) }
	if err := b.ours(row, f, prepare); err != nil {
		return err
	}
	f.list = append(f.list, b.beside(c, row)...)
	if err := b.otherWays(c, row, f, w, dir); err != nil {
		return err
	}
	if c.Op != "" && len(b.procs) > 0 {
		x, err := w.export(dir, c, theirs)
		if err != nil {
			return err
		}
		b.load(c, row, f, b.networkRequests(c, row, x))
	}
	return nil
}

// otherWays lines up gofx's other ways to compute the network.
func (b *bench) otherWays(c *Case, row *Row, f *field, w *network, dir string) error {
	for _, e := range c.Engines[1:] {
		if !b.engines && e.Name != "float" {
			continue
		}
		if e.Ours == nil && c.Op != "" {
			if _, err := w.dump(dir, w.ready); err != nil { // the program reads its inputs there
				return err
			}
		}
		r, err := b.engine(c, row, f, w, e, dir)
		if err != nil {
			b.leaveOut(c, row, e.Name, err)
			continue
		}
		r.engine = true
		f.list = append(f.list, r)
	}
	return nil
}

// ways lines up gofx's other ways to compute a case that is no network.
func (b *bench) ways(c *Case, row *Row, f *field) {
	if !b.engines {
		return
	}
	for _, way := range c.Ways {
		o, err := way.Ours(c.arrays(), b.threads)
		if err == nil {
			f.ends(o)
			err = c.disagree(way.Name, f.want, peers.ProbeAll(o.Out))
		}
		if err != nil {
			b.leaveOut(c, row, way.Name, err)
			continue
		}
		r := oursRunner(way.Name, o)
		r.engine = true
		f.list = append(f.list, r)
	}
}

// ends has what a way of gofx uses end with its case.
func (f *field) ends(o *Ours) {
	if o.Close != nil {
		f.closes = append(f.closes, o.Close)
	}
}

// engine prepares another way of gofx and compares its results.
func (b *bench) engine(c *Case, row *Row, f *field, w *network, e Engine, dir string) (*runner, error) {
	if e.Ours != nil {
		o, err := e.Ours(w, b.threads)
		if err != nil {
			return nil, err
		}
		f.ends(o)
		row.reads(e.Name, o)
		if e.Rough {
			return oursRunner(e.Name, o), nil
		}
		return oursRunner(e.Name, o), c.disagree(e.Name, f.want, peers.ProbeAll(o.Out))
	}
	p, err := w.generated(dir, b.threads)
	if err != nil {
		return nil, err
	}
	f.closes = append(f.closes, p.Close)
	return b.loaded(c, f, p, peerCase{name: e.Name})
}

// networkRequests returns the requests to the available peers for a network.
func (b *bench) networkRequests(c *Case, row *Row, x *exported) (list []peerCase) {
	add := func(name, process string, load peers.Request, err error) {
		switch {
		case b.procs[process] == nil:
		case err != nil:
			b.leaveOut(c, row, name, err)
		case c.Quant == nil && b.coarse[name] != "":
			row.LeftOut = append(row.LeftOut, name+": "+b.coarse[name])
		default:
			list = append(list, peerCase{name: name, process: process, load: load})
		}
	}
	if c.Brain {
		return b.brainRequests(c, row, x)
	}
	for _, v := range x.torch(c) {
		if b.newest(v.process) || !v.newest {
			add(v.name, v.process, peers.Request{Op: c.Op, File: v.dir, Variant: v.variant}, nil)
		}
	}
	file := peers.Request{File: x.onnx, Inputs: x.feeds, Threads: b.threads}
	add("openvino", "openvino", file, x.onnxErr)
	if x.dynamic && b.newest("ort") { // it quantises the network in floats itself
		file.File, file.Variant = x.floatONNX, "dynamic"
		add("ort", "ort", file, nil)
	} else {
		add("ort", "ort", file, x.onnxErr)
	}
	program := peers.Request{File: x.mlir, Inputs: x.feeds, Weights: x.weights}
	add("jax", "jax", program, x.mlirErr)
	if c.Quant == nil { // one call of a quantised network takes minutes
		add("iree", "iree", program, x.mlirErr)
	}
	if x.gguf != "" && b.procs["llama"] != nil { // which keeps the keys and values to itself
		list = append(list, peerCase{name: "llama", process: "llama", results: 1,
			load: peers.Request{File: x.gguf, Inputs: x.feeds[:1], Attrs: map[string]any{"past": x.past}}})
	}
	return list
}

// newest reports whether the peer is not one that stands in for a newer one: PyTorch of the
// distribution, ONNX Runtime under Node.
func (b *bench) newest(name string) bool {
	p := b.procs[name]
	return p != nil && !strings.HasPrefix(p.Version, "torch 1.") && !strings.HasPrefix(p.Version, "onnxruntime 1.30")
}

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
	o := lowering.Options{Threads: threads, Shapes: c.Dims}
	if c.Brain {
		o.Products = array.BF16
	}
	e, err := cpu.Compile(g, o)
	return e, w.arrays(), err
}
