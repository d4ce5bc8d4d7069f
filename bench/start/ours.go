package main

import (
	"context"
	"math"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/onnx"
)

// export writes a network with weights by formula.
func export(name, file string) error {
	m := models.Lookup(name)
	module := m.New()
	models.Synthetic(m, module, name)
	inputs, err := m.SyntheticInputs(name)
	if err != nil {
		return err
	}
	var opts []fx.Option
	for i, x := range m.Inputs {
		opts = append(opts, fx.Input(x.Name, inputs[i].Type().String()))
	}
	gm, err := fx.Trace(context.Background(), module, opts...)
	if err != nil {
		return err
	}
	return onnx.ExportFile(file, gm.Module, onnx.ExportOptions{})
}

// ours does what a service does when it starts: it reads the file, optimises the graph, compiles it and runs it, on ones.
func ours(file string, threads int) started {
	begin := time.Now()
	f, err := onnx.Read(file)
	if err != nil {
		fail(err)
	}
	m, err := f.Import(onnx.Options{})
	if err != nil {
		fail(err)
	}
	g := fx.NewGraphModule(m)
	if _, err := g.Apply(context.Background(), fx.Optimise(), fx.PassOptions{}); err != nil {
		fail(err)
	}
	e, err := cpu.Target{}.Compile(g.Module, lowering.Options{Threads: threads})
	if err != nil {
		fail(err)
	}
	ready := time.Now()
	var in []*array.Array
	for _, x := range g.Graph.Inputs() {
		d, dims, _ := x.Type().Concrete()
		in = append(in, array.Contiguous(array.Expand(array.Cast(array.Scalar(float32(1)), d), dims...)))
	}
	out, err := e.Run(context.Background(), in)
	if err != nil {
		fail(err)
	}
	end := time.Now()
	sum := 0.0
	for _, v := range array.Data[float32](array.Contiguous(out[0])) {
		sum += math.Abs(float64(v))
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }
	return started{ms(ready.Sub(begin)), ms(end.Sub(ready)), resident(), sum}
}
