package tracer_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// A Tracer is a policy; its zero value works. OnNode sees what is recorded.
func ExampleTracer() {
	typ, _ := shape.ParseType("f32[N,4]")
	var names []string
	t := &tracer.Tracer{
		Name:   "gate",
		Inputs: []tracer.Input{{Name: "x", Type: typ}},
		OnNode: func(n *graph.Node, _ *tensor.Call) { names = append(names, n.Name()) },
	}
	m, err := t.Trace(context.Background(), func(x *tensor.Tensor) *tensor.Tensor {
		return x.Mul(x.Sigmoid())
	})
	fmt.Println(names, err)
	fmt.Print(m.Graph)
	// Output:
	// [sigmoid mul] <nil>
	// gofx 1
	//
	// graph gate(%x: f32[N,4]) {
	//   symbol N = dim(%x, 0)
	//   %sigmoid = call_method[sigmoid](%x) : f32[N,4]
	//   %mul = call_method[mul](%x, %sigmoid) : f32[N,4]
	//   return %mul
	// }
}

// OnCall decides what is recorded: here every relu is left out.
func ExampleTracer_onCall() {
	t := &tracer.Tracer{OnCall: func(c *tensor.Call, record func(*tensor.Call) []*tensor.Tensor) []*tensor.Tensor {
		if c.Op == std.Relu {
			return c.Args[:1]
		}
		return record(c)
	}}
	m, err := t.Trace(context.Background(), func(x *tensor.Tensor) *tensor.Tensor {
		return x.Relu().Neg()
	})
	fmt.Println(m.Graph.Output().Arg(0).Text(), err)
	// Output: %neg = call_method[neg](%x) : ?[*] <nil>
}

// Meta describes a tensor where only its type matters.
func ExampleMeta() {
	typ, _ := shape.ParseType("i64[B,S]")
	t := &tracer.Tracer{Args: []any{tracer.Meta(typ), 2}}
	m, err := t.Trace(context.Background(), func(ids *tensor.Tensor, factor int) *tensor.Tensor {
		return ids.MulScalar(factor)
	})
	fmt.Println(m.Graph.Output().Arg(0).Text(), err)
	for _, s := range m.Graph.Specialisations() {
		fmt.Println(s.What)
	}
	// Output:
	// %mul = call_method[mul](%arg0) {other=2} : i64[B,S] <nil>
	// arg1 = 2
}

// Two functions, or two calls of a constructor, are compared by their traces.
func ExampleCompare() {
	var p tracer.Tracer
	trace := func(f func(x *tensor.Tensor) *tensor.Tensor) *graph.Module {
		m, err := p.Trace(context.Background(), f)
		if err != nil {
			panic(err)
		}
		return m
	}
	a := trace(func(x *tensor.Tensor) *tensor.Tensor { return x.Relu().Neg() })
	b := trace(func(x *tensor.Tensor) *tensor.Tensor { return x.Neg().Relu() })
	var e *diag.Error
	errors.As(tracer.Compare(a, b, true), &e)
	fmt.Println(e.Msg)
	// Output: two traces of the function differ: here call_method neg, in another trace call_method relu
}
