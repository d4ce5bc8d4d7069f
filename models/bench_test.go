package models

import (
	"context"
	"testing"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
)

// BenchmarkTraceResNet50 captures ResNet-50 at module level: 177 nodes. The aim
// is under 1 ms (torch.fx: 4.7 ms).
func BenchmarkTraceResNet50(b *testing.B) {
	net := Lookup("resnet50").New()
	for b.Loop() {
		if _, err := fx.Trace(context.Background(), net, fx.Input("x", "f32[N,3,224,224]")); err != nil {
			b.Fatal(err)
		}
	}
}

// captured returns a network with the types of its inputs.
func captured(b *testing.B, name string) *fx.GraphModule {
	m := Lookup(name)
	var opts []fx.Option
	for _, in := range m.Inputs {
		opts = append(opts, fx.Input(in.Name, in.Type))
	}
	gm, err := fx.Trace(context.Background(), m.New(), opts...)
	if err != nil {
		b.Fatal(err)
	}
	return gm
}

// BenchmarkOptimise runs the default pipeline on a copy of the graph, as code generation
// does.
func BenchmarkOptimise(b *testing.B) {
	for _, name := range []string{"resnet50", "bert_base"} {
		b.Run(name, func(b *testing.B) {
			gm := captured(b, name)
			b.ReportAllocs()
			for b.Loop() {
				m := gm.Module.WithGraph(gm.Graph.Clone())
				if _, err := passes.Run(context.Background(), m, fx.Optimise(), passes.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCompile plans the optimised graph for the CPU; weights are packed before the
// first run and are not in it.
func BenchmarkCompile(b *testing.B) {
	for _, name := range []string{"resnet50", "bert_base"} {
		b.Run(name, func(b *testing.B) {
			gm := captured(b, name)
			if _, err := gm.Apply(context.Background(), fx.Optimise(), fx.PassOptions{}); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				exe, err := cpu.Compile(gm.Module, lowering.Options{})
				if err != nil {
					b.Fatal(err)
				}
				if err := exe.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
