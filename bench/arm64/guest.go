package main

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"syscall"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/integer"
)

// network is a network whose call is counted.
type network struct {
	model string
	dims  map[string]int
	bits8 bool // static quantisation to 8 bits
}

// networks are those of the page: emulation takes some 20 ns a multiply-add.
var networks = []network{
	{model: "mlp", dims: map[string]int{"N": 1}},
	{model: "mlp", dims: map[string]int{"N": 8}},
	{model: "resnet18", dims: map[string]int{"N": 1}},
	{model: "resnet18", dims: map[string]int{"N": 1}, bits8: true},
	{model: "mobilenet_v3_large", dims: map[string]int{"N": 1}},
	{model: "mobilenet_v3_large", dims: map[string]int{"N": 1}, bits8: true},
}

// name is that of bench's rows.
func (n network) name() string {
	s := n.model
	if n.bits8 {
		s += "_static"
	}
	return fmt.Sprintf("%s_b%d", s, n.dims["N"])
}

// The first section of counters, and the one that nobody reads (plugin/count.c).
const firstSection, noSection = -7000, 999

// section has the plugin count into section k from here on. No file has such a descriptor.
func section(k int) { _ = syscall.Close(firstSection - k) }

// guest computes each named network twice under the emulator; the second call is a section,
// whose number is the place of the network in the list.
func guest(names []string) error {
	for i, n := range networks {
		if !slices.Contains(names, n.name()) {
			continue
		}
		e, in, err := n.plan()
		if err != nil {
			return fmt.Errorf("%s: %w", n.name(), err)
		}
		ctx := context.Background()
		out, err := e.Run(ctx, in)
		if err != nil {
			return fmt.Errorf("%s: %w", n.name(), err)
		}
		debug.FreeOSMemory()
		percent := debug.SetGCPercent(-1)
		section(i)
		err = e.RunInto(ctx, out, in)
		section(noSection)
		debug.SetGCPercent(percent)
		if err != nil {
			return fmt.Errorf("%s: %w", n.name(), err)
		}
	}
	return nil
}

// seed is that of weights and inputs.
const seed = "gofx-1"

// plan compiles the network for one thread.
func (n network) plan() (*cpu.Executable, []*array.Array, error) {
	g, in, err := n.capture()
	if err != nil {
		return nil, nil, err
	}
	ctx, options := context.Background(), lowering.Options{Threads: 1, Shapes: n.dims}
	if n.bits8 {
		if err := quantise(ctx, g, in, options); err != nil {
			return nil, nil, err
		}
	}
	e, err := cpu.Compile(g, options)
	return e, in, err
}

// capture returns the optimised graph and inputs.
func (n network) capture() (*graph.Module, []*array.Array, error) {
	m := models.Lookup(n.model)
	if m == nil {
		return nil, nil, fmt.Errorf("there is no network %s, expected one that fxgen models lists", n.model)
	}
	dims := maps.Clone(m.Dims)
	maps.Copy(dims, n.dims)
	module := m.New()
	models.Synthetic(m, module, seed)
	var opts []fx.Option
	var in []*array.Array
	for _, v := range m.Inputs {
		opts = append(opts, fx.Input(v.Name, v.Type))
		x, err := models.SyntheticInput(v, seed, dims)
		if err != nil {
			return nil, nil, err
		}
		in = append(in, x.Array())
	}
	ctx := context.Background()
	g, err := fx.Trace(ctx, module, opts...)
	if err == nil {
		_, err = g.Apply(ctx, fx.Optimise(), fx.PassOptions{})
	}
	if err != nil {
		return nil, nil, err
	}
	return g.Module, in, nil
}

// quantise turns a graph into one of 8 bits, whose ranges are those of the inputs.
func quantise(ctx context.Context, g *graph.Module, in []*array.Array, options lowering.Options) error {
	config := &quant.Config{Global: quant.Setting{Mode: quant.Static, Activation: quant.Scheme{Observer: quant.Observer{Kind: quant.MinMax}}}}
	backend := cpu.QuantBackend()
	run := func(p ...passes.Pass) error {
		_, err := passes.Run(ctx, g, p, passes.Options{})
		return err
	}
	if err := run(quant.Prepare(config, backend)); err != nil {
		return err
	}
	engine, err := cpu.Compile(g, options)
	if err != nil {
		return err
	}
	once := func(yield func([]*array.Array, error) bool) { yield(in, nil) }
	if _, err := quant.Calibrate(ctx, g, once, quant.CalibrateOptions{Engine: engine}); err != nil {
		return err
	}
	return run(quant.Convert(config, backend), integer.Lower)
}
