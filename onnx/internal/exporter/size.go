package exporter

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

func itoa(n int) string { return strconv.Itoa(n) }

// sizeMaker writes expressions of sizes as vectors of one i64. A symbol is the size of
// the value that defines it.
type sizeMaker struct{ w *graphWriter }

// sizeValue is the value of an expression.
type sizeValue struct {
	v *exported
	d shape.Dim
}

var oneSize = shape.TensorType(array.I64, shape.ConstDims(1))

func (s sizeMaker) Const(n int64) sizeValue {
	return sizeValue{s.w.x.small(spec.IntArray([]int{int(n)}, false, array.I64)), shape.Const(int(n))}
}

func (s sizeMaker) Symbol(name string) sizeValue {
	for w := s.w; w != nil; w = w.outer {
		if v := w.sizes[name]; v != nil {
			return sizeValue{v, shape.Sym(name)}
		}
		if def, ok := w.src.Symbol(name); ok {
			if x := w.find(def.Node); x != nil {
				v := s.w.sizeOf(x, def.Axis)
				s.w.sizes[name] = v
				return sizeValue{v, shape.Sym(name)}
			}
		}
	}
	panic(diag.New(spec.CodeExport, "the size "+diag.Quote(name)+" is used before the value that has it"))
}

// sizeOf is one size of a value.
func (w *graphWriter) sizeOf(x *exported, axis int) *exported {
	if n, ok := x.typ.Dim(axis).Int(); ok {
		return w.x.small(spec.IntArray([]int{n}, false, array.I64))
	}
	return w.emit("Shape", oneSize, []op.Value{x}, attrInt("start", axis), attrInt("end", axis+1))
}

func (s sizeMaker) pair(name string, x, y sizeValue, d shape.Dim) sizeValue {
	return sizeValue{s.w.emit(name, oneSize, []op.Value{x.v, y.v}), d}
}

func (s sizeMaker) Neg(x sizeValue) sizeValue {
	return sizeValue{s.w.emit("Neg", oneSize, []op.Value{x.v}), shape.Const(0).Sub(x.d)}
}
func (s sizeMaker) Add(x, y sizeValue) sizeValue { return s.pair("Add", x, y, x.d.Add(y.d)) }
func (s sizeMaker) Sub(x, y sizeValue) sizeValue { return s.pair("Sub", x, y, x.d.Sub(y.d)) }
func (s sizeMaker) Mul(x, y sizeValue) sizeValue { return s.pair("Mul", x, y, x.d.Mul(y.d)) }

func (s sizeMaker) Min(x, y sizeValue) sizeValue { return s.pair("Min", x, y, x.d.Min(y.d)) }

// FloorDiv: Div rounds towards zero, which is the same for nonnegative numbers. A
// possibly negative number is first made a multiple.
func (s sizeMaker) FloorDiv(x, y sizeValue) sizeValue {
	d := x.d.FloorDiv(y.d)
	if shape.AtLeast(x.d, shape.Const(0)).Truth() != shape.True {
		x = s.Sub(x, s.pair("Mod", x, y, shape.Unknown))
	}
	return s.pair("Div", x, y, d)
}

// size is one size as a vector.
func (w *graphWriter) size(d shape.Dim) *exported {
	v, ok := shape.Fold(d, sizeMaker{w})
	if !ok {
		panic(diag.New(spec.CodeExport, "a size is not known"))
	}
	return v.v
}

// sizeVector is a list of sizes.
func (w *graphWriter) sizeVector(dims ...shape.Dim) *exported {
	var parts []op.Value
	var run []int
	flush := func() {
		if len(run) > 0 {
			parts = append(parts, w.x.small(spec.IntArray(run, false, array.I64)))
			run = nil
		}
	}
	for _, d := range dims {
		if n, ok := d.Int(); ok {
			run = append(run, n)
			continue
		}
		flush()
		parts = append(parts, w.size(d))
	}
	flush()
	switch len(parts) {
	case 0:
		return w.x.small(array.New(array.I64, 0))
	case 1:
		return parts[0].(*exported)
	}
	return w.emit("Concat", shape.TensorType(array.I64, shape.ConstDims(len(dims))), parts, attrInt("axis", 0))
}

func (c *exportCall) sizes(dims ...shape.Dim) op.Value { return c.w.sizeVector(dims...) }

// sizeNumber is a size without dimensions.
func (w *graphWriter) sizeNumber(d shape.Dim) *exported {
	if n, ok := d.Int(); ok {
		return w.x.small(spec.IntArray([]int{n}, true, array.I64))
	}
	return w.emit("Squeeze", shape.TensorType(array.I64, shape.Dims{}), []op.Value{w.size(d), w.x.small(spec.IntArray([]int{0}, false, array.I64))})
}

// dimNode is the size of an operand as a value.
func dimNode(w *graphWriter, n *graph.Node, in []op.Value) *exported {
	x := in[0].(*exported)
	axis := axisOf(n.Attrs().(op.AxisAttrs).Axis, rankOf(x))
	v := w.emit("Shape", oneSize, []op.Value{x}, attrInt("start", axis), attrInt("end", axis+1))
	return w.emit("Squeeze", n.Type(), []op.Value{v, w.x.small(spec.IntArray([]int{0}, false, array.I64))})
}
