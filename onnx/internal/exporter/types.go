package exporter

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// ONNX says of every operator which element types it takes, and ours take more. A type that an
// operator does not take is cast to one that it takes and that has all the values, and back. If
// none exists, the rule is given up, so that another form is tried or the call is refused at its
// line.

var (
	floatTypes  = []array.DType{array.F16, array.F32, array.F64}
	wideTypes   = append([]array.DType{array.I32, array.I64, array.U32, array.U64}, floatTypes...)
	smallTypes  = []array.DType{array.I8, array.U8, array.I16, array.U16}
	withBF16    = func(l []array.DType) []array.DType { return append(slices.Clip(l), array.BF16) }
	numberTypes = append(slices.Clip(wideTypes), smallTypes...)
)

// elementRule are the types that an operator takes, from an operator set on, for operand at and the
// later operands and results of the same type.
type elementRule struct {
	at   int
	sets []elementSet
}

type elementSet struct {
	since int
	types []array.DType
}

func takes(at int, types ...array.DType) elementRule {
	return elementRule{at, []elementSet{{oldestOpset, types}}}
}

func (e elementRule) later(since int, types ...array.DType) elementRule {
	e.sets = append(e.sets, elementSet{since, types})
	return e
}

// elementTypes are the operators whose types are fewer than those that rules write them with. Where, Max
// and Min take all types in ONNX; these are the types that ONNX Runtime has them for.
var elementTypes = map[string]elementRule{
	"MatMul": takes(0, withBF16(wideTypes)...), "Gemm": takes(0, withBF16(wideTypes)...),
	"MaxPool":   takes(0, append(slices.Clip(floatTypes), array.I8, array.U8)...).later(22, append(withBF16(floatTypes), array.I8, array.U8)...),
	"Celu":      takes(0, array.F32),
	"IsInf":     takes(0, array.F32, array.F64).later(20, withBF16(floatTypes)...),
	"Range":     takes(0, array.F32, array.F64, array.I16, array.I32, array.I64),
	"Pow":       takes(0, array.I32, array.I64, array.F16, array.F32, array.F64, array.BF16),
	"TopK":      takes(0, numberTypes...).later(24, withBF16(numberTypes)...),
	"Einsum":    takes(0, numberTypes...),
	"CumSum":    takes(0, withBF16(wideTypes)...),
	"ArgMax":    takes(0, withBF16(numberTypes)...),
	"ArgMin":    takes(0, withBF16(numberTypes)...),
	"ReduceMax": reducesBool, "ReduceMin": reducesBool,
	"NonMaxSuppression": takes(0, array.F32),
	"Unique":            takes(0, append(slices.Clip(numberTypes), array.Bool)...), "RoiAlign": takes(0, floatTypes...).later(22, withBF16(floatTypes)...),
	"Inverse":    takes(0, floatTypes...),
	"GridSample": takes(0, append(slices.Clip(numberTypes), array.Bool)...),
	"Where":      takes(1, append(withBF16(floatTypes), array.U8, array.I32, array.I64)...),
	"Max":        takes(0, withBF16(wideTypes)...), "Min": takes(0, withBF16(wideTypes)...),
}

var reducesBool = takes(0, append(withBF16(wideTypes), array.I8, array.U8)...).later(20, append(withBF16(wideTypes), array.I8, array.U8, array.Bool)...)

func init() {
	for _, name := range []string{"ReduceSum", "ReduceMean", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"} {
		elementTypes[name] = takes(0, withBF16(wideTypes)...)
	}
	for _, name := range []string{"Conv", "ConvTranspose", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "LpPool", "GlobalLpPool", "Elu", "Selu", "HardSigmoid",
		"HardSwish", "Softplus", "Softsign", "ThresholdedRelu", "Mish", "Sin", "Cos", "Tan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "Asin", "Acos", "Atan", "Det", "Round",
		"InstanceNormalization", "LSTM", "GRU", "RNN"} {
		elementTypes[name] = takes(0, floatTypes...).later(22, withBF16(floatTypes)...)
	}
}

// holders are types that have all values of another one, in the order in which they are tried.
var holders = map[array.DType][]array.DType{
	array.Bool: {array.U8, array.I32}, array.I8: {array.I32, array.I64, array.F32}, array.U8: {array.I32, array.I64, array.F32},
	array.I16: {array.I32, array.I64, array.F32}, array.U16: {array.I32, array.I64, array.F32}, array.I32: {array.I64, array.F64},
	array.U32: {array.I64, array.F64}, array.F16: {array.F32}, array.BF16: {array.F32},
}

// takenAs is the type that an operator computes values of type d with, d itself for most.
func (w *graphWriter) takenAs(name string, in []op.Value) (d, as array.DType) {
	e, listed := elementTypes[name]
	if !listed || e.at >= len(in) || in[e.at] == nil {
		return 0, 0
	}
	d = in[e.at].Type().DType()
	var types []array.DType
	for _, s := range e.sets {
		if s.since <= w.x.target {
			types = s.types
		}
	}
	if d == array.Invalid || d.IsNarrow() || slices.Contains(types, d) {
		return d, d
	}
	for _, as := range holders[d] {
		if slices.Contains(types, as) {
			return d, as
		}
	}
	if d == array.U64 && (name == "Where" || name == "Range") {
		return d, array.I64 // of the same bits
	}
	decline(name + " has no " + d.String())
	return d, d
}

// around writes a node with values of type d cast to another type, and back.
func (w *graphWriter) around(name string, types []shape.Type, in []op.Value, attrs []*pb.Attr, d, as array.DType) []*exported {
	cast := func(v op.Value, d array.DType) *exported {
		return w.emit("Cast", like(v, d), []op.Value{v}, attrInt("to", int(elemOf(d))))
	}
	wide := make([]op.Value, len(in))
	for i, v := range in {
		if wide[i] = v; i >= elementTypes[name].at && v != nil && v.Type().DType() == d {
			wide[i] = cast(v, as)
		}
	}
	results := make([]shape.Type, len(types))
	for i, t := range types {
		if results[i] = t; t.DType() == d {
			results[i] = t.WithDType(as)
		}
	}
	outs := w.emitAll(name, results, wide, attrs...)
	for i, t := range types {
		if outs[i] != nil && t.DType() == d {
			outs[i] = cast(outs[i], d)
		}
	}
	return outs
}
