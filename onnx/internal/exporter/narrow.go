package exporter

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// Element types that only hold values (decision 0048) came to ONNX one after the other, and
// to some operators only: Concat, Gather and Slice have none of them. A type that an
// operator does not take is cast to one that it takes, in which all values are exact, and
// back.

// narrowSince is the operator set that has an element type.
var narrowSince = map[array.DType]int{
	array.F8E4M3FN: 19, array.F8E4M3FNUZ: 19, array.F8E5M2: 19, array.F8E5M2FNUZ: 19, array.I4: 21, array.U4: 21,
	array.F4E2M1FN: 23, array.F8E8M0FNU: 24, array.I2: 25, array.U2: 25,
}

// takesNarrow are the operators that take such types, with the set since which they take
// those of 8 bits; later types they have since these exist.
var takesNarrow = map[string]int{
	"Cast": 19, "QuantizeLinear": 19, "DequantizeLinear": 19, "Identity": 19, "Reshape": 19, "Shape": 19, "Size": 19, "If": 19, "Loop": 19, "Scan": 19, "BitCast": 26,
	"Transpose": 21, "Squeeze": 21, "Unsqueeze": 21, "Flatten": 21,
}

// narrowTypes notes which operator set the element types of a graph need, and returns the
// errors where the options ask for an older one.
func (x *exporter) narrowTypes(g *graph.Graph) (errs diag.List) {
	for n := range g.All() {
		t := n.Type()
		if t.Kind() != shape.Tensor || !t.DType().IsNarrow() {
			continue
		}
		since := narrowSince[t.DType()]
		if x.need = max(x.need, since); x.options.Opset != 0 && since > x.options.Opset {
			errs.Add(n.Error(spec.CodeExport, "element type "+t.DType().String()+" needs operator set "+itoa(since)).
				WithHint("leave out the operator set, or cast to f32 before the model is written"))
		}
	}
	return errs
}

func isNarrow(t shape.Type) bool { return t.Kind() == shape.Tensor && t.DType().IsNarrow() }

// wideOf is a type of all operators that has the values of a narrow one.
func wideOf(d array.DType) array.DType {
	switch {
	case d.IsNarrowFloat():
		return array.F32
	case d.IsSigned():
		return array.I8
	}
	return array.U8
}

// carried writes a node on wide values in the place of narrow ones. Casts back are exact,
// except for infinities, which casts that saturate would lose.
func (w *graphWriter) carried(name string, types []shape.Type, in []op.Value, attrs []*pb.Attr) []*exported {
	wide := make([]op.Value, len(in))
	for i, v := range in {
		if wide[i] = v; v != nil && isNarrow(v.Type()) {
			t := like(v, wideOf(v.Type().DType()))
			wide[i] = w.emit("Cast", t, []op.Value{v}, attrInt("to", int(elemOf(t.DType()))))
		}
	}
	results := make([]shape.Type, len(types))
	for i, t := range types {
		if results[i] = t; isNarrow(t) {
			results[i] = t.WithDType(wideOf(t.DType()))
		}
	}
	outs := w.emitAll(name, results, wide, attrs...)
	for i, t := range types {
		if isNarrow(t) {
			outs[i] = w.emit("Cast", t, []op.Value{outs[i]}, castTo(std.CastAttrs{DType: t.DType(), Unsaturated: true})...)
		}
	}
	return outs
}

// castTo are the attributes of Cast.
func castTo(a std.CastAttrs) []*pb.Attr {
	list := []*pb.Attr{attrInt("to", int(elemOf(a.DType)))}
	if a.Unsaturated && a.DType.IsNarrowFloat() && a.DType.Bits() == 8 {
		list = append(list, attrInt("saturate", 0))
	}
	if a.Round != "" && a.DType == array.F8E8M0FNU {
		list = append(list, attrText("round_mode", a.Round))
	}
	return list
}

// writeCast is cast. Floats that integers of 4 and 2 bits cannot hold saturate here, which
// ONNX leaves open.
func writeCast(e *scalarWriter, d array.DType, in []op.Value) op.Value {
	a := std.CastAttrs{DType: d}
	if own, ok := e.c.attrs.(std.CastAttrs); ok {
		a = own
	}
	x := in[0]
	if from := x.Type().DType(); d.IsNarrowInt() && (from.IsFloat() || from.IsNarrowFloat()) {
		if from.IsNarrow() {
			x, from = e.c.w.emit("Cast", like(x, array.F32), []op.Value{x}, attrInt("to", int(pb.Float))), array.F32
		}
		low, high := 0, 1<<d.Bits()-1
		if d.IsSigned() {
			low, high = -1<<(d.Bits()-1), 1<<(d.Bits()-1)-1
		}
		x = e.put("Clip", from, x, e.num(from, float64(low)), e.num(from, float64(high)))
	}
	a.DType = d
	return e.c.w.emit("Cast", like(x, d), []op.Value{x}, castTo(a)...)
}
