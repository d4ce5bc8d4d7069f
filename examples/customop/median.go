package customop

import (
	"math"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// MedianAttrs are the attributes of median. Window is odd and at most MaxWindow.
type MedianAttrs struct {
	Window int `fx:",arg"`
}

// MaxWindow bounds the window, so that the kernel needs no memory of its own.
const MaxWindow = 63

// Median is a filter against outliers, with a kernel of its own.
//
//	%y = call_function[example.com/customop.median](%x) {window=5} : f32[N,128]
var Median = op.Define("median", op.Spec[MedianAttrs]{
	Doc: "median returns the medians of a window that moves along the last axis, whose ends are repeated; NaN where the window has one.",
	In:  op.Args("x"),
	Infer: func(_ *op.Infer, a MedianAttrs, in []shape.Type) (shape.Type, error) {
		x := in[0]
		switch d := x.DType(); {
		case d != array.F32 && d != array.F64 && d != array.Invalid: // Invalid is not known yet
			return shape.Type{}, diag.New(op.DTypeMismatch, "x is "+d.String()+", expected f32 or f64").WithHint("convert the operand first")
		case x.Ranked() && x.Rank() == 0:
			return shape.Type{}, diag.New(op.RankMismatch, "x has no dimensions, expected a last axis")
		case a.Window < 1 || a.Window > MaxWindow || a.Window%2 == 0:
			return shape.Type{}, diag.New(op.BadAttr, "window is "+strconv.Itoa(a.Window)+", expected an odd number up to "+strconv.Itoa(MaxWindow))
		}
		return x, nil
	},
	Kernel:  func(a MedianAttrs, _ []shape.Type) kernel.Step { return MedianStep{Half: a.Window / 2} },
	Grad:    medianGrad,
	Samples: medianSamples, Bad: medianBad,
})

// MedianStep is the kernel of median. It is exported, with its field, so that generated
// code can name it; one step serves all sizes. The window has Half elements on each side.
type MedianStep struct{ Half int }

// Run implements kernel.Step.
func (s MedianStep) Run(_ *kernel.Workspace, out, in []*array.Array) {
	x := array.Contiguous(in[0])
	if x.DType() == array.F64 {
		medians(array.Data[float64](out[0]), array.Data[float64](x), x.Dim(-1), s.Half)
	} else {
		medians(array.Data[float32](out[0]), array.Data[float32](x), x.Dim(-1), s.Half)
	}
}

// medians filters rows of n elements.
func medians[T float32 | float64](y, x []T, n, half int) {
	var buf [MaxWindow]T
	w := buf[:2*half+1]
	for at := 0; at < len(x); at += n {
		row := x[at : at+n]
		for i := range row {
			for k := range w {
				w[k] = row[min(max(i+k-half, 0), n-1)]
			}
			slices.Sort(w) // NaN comes first
			y[at+i] = w[half]
			if w[0] != w[0] {
				y[at+i] = T(math.NaN())
			}
		}
	}
}

// medianGrad is the gradient of median, which no engine can derive from a kernel: each derivative
// of the loss by a result goes to the element that is the median, the first one of equals. It is written
// with operators, so that it runs wherever they do, for all sizes, and has a gradient itself.
func medianGrad(b op.Builder, a MedianAttrs, c op.GradCall) []op.Value {
	x, seed := c.In[0], c.Seeds[0]
	dims := x.Type().Dims().Slice()
	last := len(dims) - 1
	n, window, half := dims[last], shape.Const(a.Window), shape.Const(a.Window/2)
	if n.Is(0) {
		return []op.Value{seed}
	}
	reshape := func(v op.Value, d ...shape.Dim) op.Value {
		return b.Call(std.Reshape, std.ReshapeAttrs{Shape: shape.Of(d...)}, v)
	}

	// Where each window reads: [n*window] numbers of elements, the ends repeated.
	ends := b.Call(std.Pad, std.PadAttrs{Pad: shape.Of(half, half), Mode: "replicate"}, b.Call(std.Arange, std.ArangeAttrs{End: n}))
	first := reshape(b.Call(std.Arange, std.ArangeAttrs{End: n}), n, shape.Const(1))
	each := b.Call(std.Add, std.AddAttrs{}, first, b.Call(std.Arange, std.ArangeAttrs{End: window}))
	places := b.Call(std.IndexSelect, std.DimAttrs{Dim: 0}, ends, reshape(each, n.Mul(window)))

	// Which of the window is the median, and where it lies.
	windows := append(append([]shape.Dim{}, dims...), window)
	values := reshape(b.Call(std.IndexSelect, std.DimAttrs{Dim: last}, x, places), windows...)
	median := b.Call(std.Unsqueeze, std.DimAttrs{Dim: -1}, c.Result(0))
	which := b.Call(std.Argmax, std.ArgAttrs{Dim: op.IntList(-1), KeepDim: true}, b.Call(std.Eq, nil, values, median))
	spread := b.Call(std.Expand, std.ExpandAttrs{Shape: shape.Of(windows...)}, reshape(places, n, window))
	at := reshape(b.Call(std.Gather, std.DimAttrs{Dim: -1}, spread, which), dims...)
	return []op.Value{b.Call(std.ScatterAdd, std.DimAttrs{Dim: -1}, b.Call(std.ZerosLike, nil, x), at, seed)}
}

func medianSamples(g *op.Gen) []op.Sample {
	call := func(name string, window int, x *array.Array) op.Sample {
		return op.Sample{Name: name, Attrs: MedianAttrs{window}, In: []*array.Array{x}}
	}
	return []op.Sample{
		call("vector", 3, g.Normal(9)),
		call("rows", 5, g.Normal(3, 8)),
		call("leading dimensions", 3, g.Normal(2, 2, 6)),
		call("itself", 1, g.Normal(2, 3)),
		call("wider than the row", 9, g.Normal(2, 3)),
		call("widest", MaxWindow, g.Normal(100)),
		call("empty rows", 3, g.Normal(2, 0)),
		call("no rows", 3, g.Normal(0, 4)),
		call("strided", 3, g.Strided(g.Normal(4, 6))),
		call("special values", 5, g.Special()),
		call("f64", 3, array.Cast(g.Normal(2, 7), array.F64)),
	}
}

func medianBad(g *op.Gen) []op.BadSample {
	bad := func(name string, code diag.Code, window int, x *array.Array) op.BadSample {
		return op.BadSample{Name: name, Attrs: MedianAttrs{window}, In: []*array.Array{x}, Code: code}
	}
	return []op.BadSample{
		bad("even window", op.BadAttr, 4, g.Normal(8)),
		bad("no window", op.BadAttr, 0, g.Normal(8)),
		bad("window too wide", op.BadAttr, MaxWindow+2, g.Normal(8)),
		bad("integers", op.DTypeMismatch, 3, g.Int(9, 8)),
		bad("scalar", op.RankMismatch, 3, array.Scalar[float32](1)),
	}
}
