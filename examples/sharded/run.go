package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/shard"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
)

// onDevices runs the network over a mesh of devices that a PJRT plugin has, and says how far its
// results are from the interpreter's.
func onDevices(w io.Writer, m *graph.Module, o options, mesh shard.Mesh) error {
	var options []pjrt.NamedValue
	if o.devices > 0 {
		options = append(options, pjrt.NamedValue{Name: "cpu_device_count", Value: int64(o.devices)})
	}
	r, err := xla.NewRuntime(o.plugin, options...)
	if err != nil {
		return err
	}
	defer r.Close()
	l := layout(m, mesh)
	e, err := xla.Target{Runtime: r, Layout: &l}.Compile(m, lowering.Options{})
	if err != nil {
		return err
	}
	defer e.Close()
	in := texts(o)
	ctx := context.Background()
	if _, err := e.Run(ctx, in); err != nil { // the first one warms up
		return err
	}
	start := time.Now()
	got, err := e.Run(ctx, in)
	if err != nil {
		return err
	}
	took := time.Since(start)
	want, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(ctx, in)
	if err != nil {
		return err
	}
	far := 0.0
	for i := range want {
		for k := range want[i].Len() {
			far = max(far, math.Abs(array.Float64At(want[i], k)-array.Float64At(got[i], k)))
		}
	}
	fmt.Fprintf(w, "\n%d devices of %q ran %s in %v; results are within %.0e of one device's\n", mesh.Partitions(), r.Client().Platform(), mesh, took.Round(10*time.Microsecond), far)
	return nil
}

// texts are tokens that are made up, and a mask that takes all of them.
func texts(o options) []*array.Array {
	tokens, mask := array.New(array.I64, o.batch, o.seq), array.New(array.I64, o.batch, o.seq)
	for i := range tokens.Len() {
		array.SetFloat64At(tokens, i, float64(i*7919%o.config.VocabSize))
		array.SetFloat64At(mask, i, 1)
	}
	return []*array.Array{tokens, mask}
}
