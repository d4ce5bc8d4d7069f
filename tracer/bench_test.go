package tracer_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// chain is n operator calls, half of them with two operands.
func chain(n int) func(x *tensor.Tensor) *tensor.Tensor {
	return func(x *tensor.Tensor) *tensor.Tensor {
		for range n / 2 {
			x = tensor.CallOp(std.Relu, nil, tensor.CallOp(std.Add, nil, x, x))
		}
		return x
	}
}

// BenchmarkTrace reports the time and the retained bytes for each recorded node
// of 10,000; the aim is 1.5 µs and 400 bytes (torch.fx: 27 µs, 1 kB).
func BenchmarkTrace(b *testing.B) {
	const n = 10000
	f := chain(n)
	var before, after runtime.MemStats
	for b.Loop() {
		if _, err := (&tracer.Tracer{}).Trace(context.Background(), f); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/node")
	runtime.GC()
	runtime.ReadMemStats(&before)
	m, _ := (&tracer.Tracer{}).Trace(context.Background(), f)
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "retained-B/node")
	runtime.KeepAlive(m)
}

// tree records one call in each leaf of a binary tree of Go calls: no two of them
// have the same stack.
func tree(x *tensor.Tensor, depth int) *tensor.Tensor {
	if depth == 0 {
		return tensor.CallOp(std.Relu, nil, x)
	}
	x = tree(x, depth-1)
	return tree(x, depth-1)
}

// BenchmarkTraceColdStacks is BenchmarkTrace where every node has a call stack of
// its own, so that each is unwound, over all of the 24 frames that are scanned: the
// worst case. BenchmarkTrace has two stacks, which are unwound once; models lie
// between.
func BenchmarkTraceColdStacks(b *testing.B) {
	const depth = 13 // 8192 leaves, and stacks that the frames scanned tell apart
	f := func(x *tensor.Tensor) *tensor.Tensor { return tree(x, depth) }
	for b.Loop() {
		if _, err := (&tracer.Tracer{}).Trace(context.Background(), f); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(1<<depth), "ns/node")
}

// BenchmarkTraceModules is a model of 100 modules that calls their Forward as Go methods: for
// each call the stack is read.
func BenchmarkTraceModules(b *testing.B) {
	m := &stack{Mid: &bare{2}}
	for range 100 {
		m.Layers = append(m.Layers, newDense())
	}
	for b.Loop() {
		if _, err := (&tracer.Tracer{}).Trace(context.Background(), m); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTraceWrites is the cost of what is no plain call: views, writes through them, and
// regions that use values from outside.
func BenchmarkTraceWrites(b *testing.B) {
	f := func(x *tensor.Tensor) *tensor.Tensor {
		for range 100 {
			y := x.Clone()
			y.Select(0, 1).AddInPlace(x.Select(0, 0))
			half := func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].Add(y)} }
			x = tensor.Cond(y.Sum().GtScalar(0), half, half, y)[0]
		}
		return x
	}
	p := &tracer.Tracer{Inputs: []tracer.Input{{Type: shape.TensorType(array.F32, shape.ConstDims(4, 3))}}}
	for b.Loop() {
		if _, err := p.Trace(context.Background(), f); err != nil {
			b.Fatal(err)
		}
	}
}
