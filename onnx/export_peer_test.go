package onnx_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/internal/testkit/ort"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/onnx"
	"github.com/gofx-dev/gofx/op"
)

// peerRefuses are samples that ONNX Runtime loads and does not run.
var peerRefuses = []exception{
	{"div", "floor ", "integers divided by 0 end the run, or the process"},
	{"div", "trunc ", "integers divided by 0 end the run, or the process"},
	{"floor_divide", "", "integers divided by 0 end the run, or the process"},
	{"fmod", "", "integers divided by 0 end the run, or the process"},
	{"remainder", "", "integers divided by 0 end the run, or the process"},
	{"resize", "cubic ", "Resize is of two dimensions at most in mode cubic"},
	{"resize", "linear ", "Resize is of three dimensions at most in mode linear"},
	{"gru", "empty batch", "the process ends"},
	{"lstm", "empty batch", "the process ends"},
	{"topk", "zero size", "the process ends"},
}

// peerDiffers are samples of which ONNX Runtime computes something else.
var peerDiffers = []exception{
	{"cast", "", "ONNX does not say what numbers beyond an integer type become"},
	{"pow", "", "ONNX does not say what powers beyond an integer type become"},
	{"clamp", "special", "a bound for NaN"},
	{"threshold", "special", "0 for NaN"},
	{"sign", "special", "0 for NaN"},
	{"sort", "special values", "NaN has no order"},
	{"argsort", "special values", "NaN has no order"},
	{"topk", "special values", "NaN has no order"},
	{"non_max_suppression", "no number", "boxes without a number overlap none"},
	{"max_pool1d", "", "NaN is no maximum, and padding is the least finite number"},
	{"max_pool2d", "", "NaN is no maximum, and padding is the least finite number"},
	{"max_pool3d", "", "NaN is no maximum, and padding is the least finite number"},
	{"max_pool1d_with_indices", "", "NaN is no maximum, and padding is the least finite number"},
	{"max_pool2d_with_indices", "", "NaN is no maximum, and padding is the least finite number"},
	{"max_pool3d_with_indices", "", "NaN is no maximum, and padding is the least finite number"},
	{"mean", "zero size reduced", "the mean of nothing is 0"},
	{"batch_norm_stats", "empty batch", "the mean of nothing is 0"},
	{"dynamic_quantize", "", "the scale of nothing but 0 is 0, and NaN has another place"},
	{"gelu", "f64", "tanh of f64 is less exact"},
	{"local_response_norm", "special", "NaN goes to more neighbours"},
}

// peerLacks are operators of ONNX that ONNX Runtime has for other types.
var peerLacks = []exception{
	{"fold", "", "Col2Im is for f32"},
	{"resize", "", "Resize is for floats, i32 and bytes"},
	{"interpolate", "", "Resize is for floats, i32 and bytes"},
	{"unique", "", "Unique is for f32, f64, i8 and i64"},
}

// inEveryType are operators of which a sample in every type goes to ONNX Runtime on every change: those
// whose types in ONNX are fewer, or were.
var inEveryType = []string{"addmm", "amax", "amin", "bmm", "celu", "diagonal", "isinf", "matmul", "max", "max_dim", "max_pool1d", "max_pool2d_with_indices",
	"min", "min_dim", "non_max_suppression", "pow", "range", "where", "tril", "sum", "conv2d", "roi_align"}

// retyped are samples with the operands of the first one's type cast to every other type, those
// that the operator takes.
func retyped(o *op.Op, s op.Sample) (list []op.Sample) {
	if len(s.In) == 0 || s.In[0] == nil {
		return nil
	}
	from := s.In[0].DType()
	for _, d := range []array.DType{array.F16, array.BF16, array.F32, array.F64, array.I8, array.I16, array.I32, array.I64, array.U8, array.U16, array.U32, array.U64, array.Bool} {
		in := slices.Clone(s.In)
		for i, a := range in {
			if a != nil && a.DType() == from {
				in[i] = array.Cast(a, d)
			}
		}
		if _, err := o.Eval(&kernel.Workspace{}, s.Attrs, in); err == nil && d != from {
			list = append(list, op.Sample{Name: s.Name + " as " + d.String(), Attrs: s.Attrs, In: in})
		}
	}
	return list
}

// judged is ONNX Runtime's verdict on a model: "" if it computes the expected results.
func judged(t *testing.T, r **ort.Runtime, p *op.Op, data []byte, inputs ort.Inputs, want []*array.Array) (kind, why string) {
	reaches := true
	for _, a := range want {
		reaches = reaches && ort.TypeName(a.DType()) != ""
	}
	for _, a := range inputs {
		reaches = reaches && ort.TypeName(a.DType()) != ""
	}
	var runs []ort.Inputs
	if reaches { // else it is loaded only
		runs = append(runs, inputs)
	}
	got, err := (*r).Run(ort.Model{Data: data, Plain: true}, runs...)
	var refused ort.Refusal
	switch {
	case errors.As(err, &refused):
		for _, s := range []string{"Could not find an implementation", "Unsupported data type", "does not support double", "MLFloat16 data type"} {
			if strings.Contains(string(refused), s) {
				return "lacks", string(refused)
			}
		}
		for _, s := range []string{"invalid model", "Type Error", "ShapeInferenceError", "INVALID_GRAPH", "INVALID_PROTOBUF"} {
			if strings.Contains(string(refused), s) {
				return "invalid", string(refused)
			}
		}
		return "refuses", string(refused)
	case err != nil: // the process is gone
		*r = ort.Start(t)
		return "refuses", err.Error()
	case !reaches:
		return "", ""
	}
	if d := agree(p, want, got[0]); d != "" {
		return "differs", d
	}
	return "", ""
}

// lackable reports whether a call has element types for which ONNX Runtime has few kernels.
func lackable(s op.Sample, want []*array.Array) bool {
	return slices.ContainsFunc(append(slices.Clone(want), s.In...), func(a *array.Array) bool {
		return a != nil && (a.DType() == array.F64 || a.DType() == array.F16 || a.DType() == array.BF16 || a.DType().IsNarrow() || !a.DType().IsFloat() && a.DType() != array.I64 && a.DType() != array.I32)
	})
}

// Every sample of every operator, and samples in every other type, are models that ONNX Runtime loads and runs with the
// same results, or are in a list of exceptions: on every change the first sample of each, nightly all, for three operator sets.
func TestEverySampleInONNXRuntime(t *testing.T) {
	r := ort.Start(t)
	sets, samples := []int{0}, 1
	if fxtest.IsNightly() {
		sets, samples = []int{0, 17, 21}, 1<<30
	}
	count := map[string]int{}
	needed := map[exception]bool{}
	for _, p := range op.All() {
		if p.Structural() || p.Path != "" {
			continue
		}
		list := p.Samples()
		list = list[:min(len(list), samples)]
		switch {
		case fxtest.IsNightly():
			for _, s := range list[:min(len(list), 2)] {
				list = append(list, retyped(p, s)...)
			}
		case slices.Contains(inEveryType, p.Name) && len(list) > 0:
			list = append(list, retyped(p, list[0])...)
		case p.Name == "scaled_dot_product_attention" || p.Name == "layer_norm" || strings.HasPrefix(p.Name, "adaptive_"):
			list = p.Samples()
		}
		for _, s := range list {
			m, in := sampleModule(p, s)
			want, err := run(m, in)
			require.NoError(t, err)
			inputs := ort.Inputs{}
			for i, n := range m.Graph.Inputs() {
				inputs[n.Target()] = array.Contiguous(in[i])
			}
			for _, set := range sets {
				data, err := exported(m, onnx.ExportOptions{Opset: set})
				if err != nil {
					if !errors.Is(err, onnx.CodeExport) {
						t.Errorf("set %d: %s, %s: %v", set, p.Name, s.Name, err)
					}
					count["not written"]++
					continue
				}
				kind, why := judged(t, &r, p, data, inputs, want)
				switch {
				case kind == "refuses" && excepted(peerRefuses, needed, p, s), kind == "differs" && excepted(peerDiffers, needed, p, s):
				case kind == "lacks" && (excepted(peerLacks, needed, p, s) || lackable(s, want)):
				case kind != "":
					t.Errorf("set %d: %s, %s %s: %s: %.300s", set, p.Name, s.Name, p.Codec().Print(s.Attrs), kind, why)
				}
				count[kind]++
			}
		}
	}
	if fxtest.IsNightly() {
		require.Len(t, needed, len(peerRefuses)+len(peerDiffers)+len(peerLacks), "exceptions that are not needed")
	}
	t.Log(count)
}
