package faults

import (
	"context"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// RunErrors are programs whose mistake shows outside of a trace, by the code
// that they end with.
var RunErrors = map[string]func() error{
	"FX1003": badTarget, "FX1009": overlap, "FX1020": missingInput, "FX1021": extraInput, "FX1022": guardFailed,
	"FX1023": noParam, "FX1024": noModule, "FX1025": undefined, "FX1026": stopped, "FX1030": notRunnable,
}

func badTarget() error {
	_, err := fx.Trace(ctx, struct{}{})
	return err
}

func overlap() error {
	// While one call is being recorded, another goroutine makes the next one.
	_, err := fx.Trace(ctx, negate, fx.With(func(p *tracer.Tracer) {
		p.OnCall = func(c *tensor.Call, record func(*tensor.Call) []*tensor.Tensor) []*tensor.Tensor {
			done := make(chan *tensor.Tensor)
			go func() { done <- c.Args[0].Relu() }()
			<-done
			return record(c)
		}
	}))
	return err
}

func negate(x *tensor.Tensor) *tensor.Tensor { return x.Neg() }

func missingInput() error {
	gm, err := fx.Trace(ctx, negate)
	if err == nil {
		_, err = gm.Run(ctx)
	}
	return err
}

func extraInput() error {
	gm, err := fx.Trace(ctx, negate)
	if err == nil {
		_, err = gm.Run(ctx, weight(1), weight(1))
	}
	return err
}

func guardFailed() error {
	gm, err := fx.Trace(ctx, negate, fx.Input("x", "f32[N,3]"))
	if err == nil {
		_, err = gm.Run(ctx, weight(2, 4))
	}
	return err
}

func noParam() error {
	g := graph.New("net")
	g.At().Output(nil, g.At().GetAttr("weight"))
	_, err := fx.NewGraphModule(graph.NewModule(g)).Run(ctx)
	return err
}

func noModule() error {
	g := graph.New("net")
	x := g.At().Placeholder("x", shape.Unranked(array.F32), nil)
	g.At().Output(nil, g.At().Module("fc", x))
	_, err := fx.NewGraphModule(graph.NewModule(g)).Run(ctx, weight(1))
	return err
}

func undefined() error {
	g := graph.New("net")
	x := g.At().Placeholder("x", shape.Unranked(array.F32), nil)
	parts := g.At().Function(std.Split, tensor.SplitAttrs{Sizes: shape.ConstDims(1, 1)}, x)
	g.At().Output(nil, parts) // a tuple is not a tensor
	_, err := fx.NewGraphModule(graph.NewModule(g)).Run(ctx, weight(2))
	return err
}

func stopped() error {
	gm, err := fx.Trace(ctx, negate)
	if err == nil {
		soon, cancel := context.WithCancel(ctx)
		cancel()
		_, err = gm.Run(soon, weight(1))
	}
	return err
}

func notRunnable() error {
	_, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor { return nn.Run(nn.NewReLU(), x, x) })
	return err
}
