package integer_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/quanttest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant/integer"
)

// written is the text of a graph of one operator between dequantize and quantize.
type written struct {
	r      *rapid.T
	body   strings.Builder
	inputs []string
	params []string
	values map[string]*array.Array
	byType string // of the quantised values
	gen    passes.Random
}

func (w *written) line(format string, args ...any) { fmt.Fprintf(&w.body, "  "+format+"\n", args...) }

func (w *written) param(name string, a *array.Array) string {
	var sizes []string
	for _, d := range a.Shape() {
		sizes = append(sizes, fmt.Sprint(d))
	}
	t := a.DType().String() + "[" + strings.Join(sizes, ",") + "]"
	w.params = append(w.params, "param "+name+" : "+t)
	w.values[name] = a
	w.line("%%%s = get_attr[%s] : %s", name, name, t)
	return "%" + name
}

func (w *written) choice(label string, list ...string) string {
	return rapid.SampledFrom(list).Draw(w.r, label)
}

func (w *written) number(label string, lo, hi int) int {
	return rapid.IntRange(lo, hi).Draw(w.r, label)
}

func (w *written) yes(label string) bool { return rapid.Bool().Draw(w.r, label) }

// zeros are zero points of a type.
func zeros(d string, v []int) *array.Array {
	if d == "u8" {
		out := array.New(array.U8, len(v))
		for i, z := range v {
			array.Data[uint8](out)[i] = uint8(z + 128)
		}
		return out
	}
	out := array.New(array.I8, len(v))
	for i, z := range v {
		array.Data[int8](out)[i] = int8(z)
	}
	return out
}

// steps are the operands scale and zero of n steps, one as a scalar.
func (w *written) steps(name, d string, n int) string {
	scales, points := make([]float32, n), make([]int, n)
	for i := range scales {
		scales[i] = float32(w.number("scale", 5, 50)) / 1000
		points[i] = w.number("zero", -128, 127)
	}
	scale, zero := array.FromSlice(scales), zeros(d, points)
	if n == 1 {
		scale, zero = array.Reshape(scale), array.Reshape(zero)
	}
	text := w.param(name+"_s", scale)
	switch {
	case w.yes("no zero"):
		return text
	case n > 1 && w.yes("one zero"):
		zero = array.Reshape(zeros(d, points[:1]))
	}
	return text + ", " + w.param(name+"_z", zero)
}

// operand is a dequantised input.
func (w *written) operand(name, sizes string) string {
	w.inputs = append(w.inputs, "%"+name+"_q: "+w.byType+"["+sizes+"]")
	w.line("%%%s = call_function[dequantize](%%%s_q, %s)", name, name, w.steps(name, w.byType, 1))
	return "%" + name
}

// weight is a dequantised parameter, with steps along its channels or one.
func (w *written) weight(name string, axis int, dims ...int) string {
	d := w.choice("weight", "u8", "i8")
	dt := array.U8
	if d == "i8" {
		dt = array.I8
	}
	q := w.param(name+"_q", w.gen.Array(dt, dims...))
	n := 1
	if w.yes("channels") {
		n = dims[axis]
	}
	w.line("%%%s = call_function[dequantize](%s, %s) {axis=%d}", name, q, w.steps(name, d, n), axis)
	return "%" + name
}

func (w *written) bias(n int) string {
	if w.yes("bias") {
		return w.param("bias", w.gen.Array(array.F32, n))
	}
	return "_"
}

func (w *written) pair(label string, lo, hi int) string {
	return fmt.Sprintf("[%d,%d]", w.number(label, lo, hi), w.number(label, lo, hi))
}

// call writes the operator; its result is %f. sizes are those of a residual, "" for none.
func (w *written) call() (sizes string) {
	kind := w.choice("kind", "linear", "matmul", "conv1d", "conv2d", "conv3d", "transpose", "max", "avg", "adaptive", "mean", "cat", "pair", "view", "table", "batched")
	switch kind {
	case "linear":
		n, k := w.number("n", 1, 9), w.number("k", 1, 40)
		x := w.operand("x", fmt.Sprintf("3,%d", k))
		wt := w.weight("w", 0, n, k)
		w.line("%%f = call_function[linear](%s, %s, %s)", x, wt, w.bias(n))
		return fmt.Sprintf("3,%d", n)
	case "matmul":
		n, k := w.number("n", 1, 9), w.number("k", 1, 40)
		x := w.operand("x", fmt.Sprintf("2,3,%d", k))
		wt := w.weight("w", 1, k, n)
		w.line("%%f = call_function[matmul](%s, %s)", x, wt)
		return fmt.Sprintf("2,3,%d", n)
	case "batched":
		n, k := w.number("n", 1, 9), w.number("k", 1, 40)
		x, y := w.operand("x", fmt.Sprintf("2,3,%d", k)), w.operand("y", fmt.Sprintf("2,%d,%d", k, n))
		w.line("%%f = call_function[matmul](%s, %s)", x, y)
		return fmt.Sprintf("2,3,%d", n)
	case "conv1d", "conv2d", "conv3d":
		w.convolution(kind)
	case "transpose":
		w.transposed()
	default:
		w.between(kind)
	}
	return ""
}

func (w *written) convolution(kind string) {
	rank := int(kind[4] - '0')
	groups := w.number("groups", 1, 3)
	in, out := w.number("in", 1, 3)*groups, w.number("out", 1, 3)*groups
	if w.yes("depthwise") {
		in, out = groups, groups
	}
	dims, weights := "", []int{out, in / groups}
	var pad, stride, dilation []string
	for range rank {
		k := w.number("kernel", 1, 3)
		weights = append(weights, k)
		dims += fmt.Sprintf(",%d", w.number("size", 5, 7))
		pad = append(pad, fmt.Sprint(w.number("pad", 0, 2)))
		stride = append(stride, fmt.Sprint(w.number("stride", 1, 2)))
		dilation = append(dilation, fmt.Sprint(w.number("dilation", 1, 2)))
	}
	x := w.operand("x", fmt.Sprintf("2,%d%s", in, dims))
	wt := w.weight("w", 0, weights...)
	mode := ""
	if w.yes("pad mode") {
		mode = ", pad_mode=" + w.choice("mode", `"reflect"`, `"replicate"`, `"circular"`)
	}
	w.line("%%f = call_function[conv%dd](%s, %s, %s) {padding=[%s], stride=[%s], dilation=[%s], groups=%d%s}", rank, x, wt, w.bias(out),
		strings.Join(pad, ","), strings.Join(stride, ","), strings.Join(dilation, ","), groups, mode)
}

func (w *written) transposed() {
	in, out := w.number("in", 1, 4), w.number("out", 1, 4)
	x := w.operand("x", fmt.Sprintf("2,%d,4,5", in))
	wt := w.weight("w", 1, in, out, w.number("kernel", 1, 4), w.number("kernel", 1, 4))
	s := w.number("stride", 1, 3)
	w.line("%%f = call_function[conv_transpose2d](%s, %s, %s) {stride=[%d,%d], padding=%s, output_padding=[%d,%d]}", x, wt, w.bias(out), s, s,
		w.pair("pad", 0, 1), w.number("more", 0, s-1), w.number("more", 0, s-1))
}

// between writes an operator that does not multiply.
func (w *written) between(kind string) {
	switch kind {
	case "max", "avg":
		x := w.operand("x", "2,3,7,6")
		k := w.number("kernel", 2, 4)
		attrs := fmt.Sprintf("kernel_size=[%d,%d], stride=%s, padding=%s, ceil_mode=%v", k, k, w.pair("stride", 1, 3), w.pair("pad", 0, 1), w.yes("ceil"))
		if kind == "avg" {
			attrs += fmt.Sprintf(", count_exclude_pad=%v", w.yes("exclude"))
		} else if w.yes("dilated") {
			attrs += ", dilation=[2,1]"
		}
		w.line("%%f = call_function[%s_pool2d](%s) {%s}", kind, x, attrs)
	case "adaptive":
		x := w.operand("x", "2,3,6,4")
		w.line("%%f = call_function[adaptive_avg_pool2d](%s) {output_size=%s}", x, w.choice("out", "[1,1]", "[3,2]", "[2,4]", "[6,1]", "[4,2]"))
	case "mean":
		x := w.operand("x", "2,3,6,4")
		w.line("%%f = call_function[mean](%s) {dim=[%s], keep_dim=%v}", x, w.choice("dim", "2,3", "0", "1,3", "-1", "3,2"), w.yes("keep"))
	case "cat":
		d := w.number("dim", 0, 1)
		var all []string
		for i := range w.number("n", 1, 3) {
			sizes := []string{fmt.Sprintf("%d,4", i+1), fmt.Sprintf("4,%d", i)}[d]
			all = append(all, w.operand(fmt.Sprint("x", i), sizes))
		}
		if w.yes("again") {
			all = append(all, all[0])
		}
		w.line("%%f = call_function[cat](%s) {dim=%d}", strings.Join(all, ", "), d)
	case "pair":
		x, y := w.operand("x", "2,3,4"), w.operand("y", w.choice("other", "2,3,4", "3,4", "4", "", "2,1,4", "3,1"))
		if w.yes("exchanged") {
			x, y = y, x
		}
		w.line("%%f = call_function[%s](%s, %s)", w.choice("op", "add", "mul"), x, y)
	case "view":
		x := w.operand("x", "2,3,4")
		w.line("%%f = call_function[%s", w.choice("op", "reshape]("+x+") {shape=[4,6]}", "permute]("+x+") {dims=[2,0,1]}", "slice]("+x+") {dim=1, start=1, stop=3}", "expand]("+x+") {shape=[5,2,3,4]}",
			"unsqueeze]("+x+") {dim=0}", "flip]("+x+") {dims=[0,2]}", "roll]("+x+") {shifts=[1], dims=[1]}", "transpose]("+x+") {dim0=0, dim1=2}"))
	case "table":
		x := w.operand("x", "2,3,4")
		w.line("%%f = call_function[%s", w.choice("op", "hardswish]("+x+")", "gelu]("+x+")", "sigmoid]("+x+")", "neg]("+x+")", "mul]("+x+") {other=-3.5}", "add]("+x+") {other=2}",
			"clamp]("+x+") {min=-1, max=0.5}", "leaky_relu]("+x+")", "pow]("+x+") {other=2}", "floor]("+x+")"))
	}
}

// TestLower_random lowers an operator of random attributes between dequantize and quantize,
// with what may follow it. Results move by a quantum at most, and the plan of the CPU computes
// the bits of the interpreter.
func TestLower_random(t *testing.T) {
	lowered := map[bool]int{}
	rapid.Check(t, func(r *rapid.T) {
		w := &written{r: r, values: map[string]*array.Array{}, byType: rapid.SampledFrom([]string{"u8", "i8"}).Draw(r, "type"), gen: passes.Random{State: uint64(rapid.IntRange(1, 1000).Draw(r, "seed"))}}
		sizes := w.call()
		last := "%f"
		if sizes != "" && w.yes("residual") {
			w.line("%%sum = call_function[add](%s, %s)", last, w.operand("r", sizes))
			last = "%sum"
		}
		if w.yes("activation") {
			w.line("%%act = call_function[%s", w.choice("act", "relu]("+last+")", "relu6]("+last+")", "clamp]("+last+") {min=0, max=1.5}", "clamp]("+last+") {max=1}", "hardswish]("+last+")", "clamp]("+last+") {min=0}"))
			last = "%act"
		}
		head := "graph net(" + strings.Join(w.inputs, ", ") + ") {\n"
		floats := read(r, w, head+w.body.String()+"  return "+last+"\n}\n")
		if floats == nil {
			r.Skip("such a call is refused")
		}
		in, err := passes.Inputs(floats.Graph, nil, uint64(w.number("inputs", 1, 1000)))
		require.NoError(r, err)
		most := 0.0
		y := quanttest.Interpret(t, floats, in...)[0]
		for i := range y.Len() {
			most = max(most, math.Abs(array.Float64At(y, i)))
		}
		out := w.byType
		if w.yes("other type") {
			out = w.choice("out", "u8", "i8")
		}
		scale := w.param("out_s", array.Scalar(float32(max(most, 0.5)/90)))
		operands := last + ", " + scale
		attrs := " {dtype=" + out + "}"
		if w.yes("out zero") {
			operands += ", " + w.param("out_z", array.Reshape(zeros(out, []int{w.number("zero", -100, 100)})))
		}
		w.line("%%out = call_function[quantize](%s)%s", operands, attrs)
		results := "%out"
		if w.yes("floats too") {
			results = "(%out, " + last + ")"
		}
		m := read(r, w, head+w.body.String()+"  return "+results+"\n}\n")
		require.NotNil(r, m)
		plain := graph.Clone(m)
		report := quanttest.Pipeline(t, m, integer.Lower)
		require.NoError(r, graph.Lint(m.Graph).Err())
		lowered[len(report.Passes[0].Refused) == 0]++
		want, got := quanttest.Interpret(t, plain, in...), quanttest.Interpret(t, m, in...)
		require.Equal(r, want[0].Shape(), got[0].Shape())
		for i := range want[0].Len() {
			require.InDelta(r, array.Float64At(want[0], i), array.Float64At(got[0], i), 1, "element %d of\n%s\nwhich is\n%s", i, plain, m)
		}
		if len(want) > 1 {
			require.Equal(r, want[1].Shape(), got[1].Shape())
			for i := range want[1].Len() {
				require.InDelta(r, array.Float64At(want[1], i), array.Float64At(got[1], i), 1e-5*max(1, most), "float element %d of\n%s\nwhich is\n%s", i, plain, m)
			}
		}
		e, err := cpu.Compile(m, lowering.Options{})
		require.NoError(r, err)
		defer e.Close()
		planned, err := e.Run(ctx, in)
		require.NoError(r, err)
		require.Equal(r, array.Bytes(array.Contiguous(got[0])), array.Bytes(array.Contiguous(planned[0])), "%s", m)
	})
	t.Log(lowered)
	if !testing.Short() {
		require.Greater(t, lowered[true], 10)
	}
}

// read parses a graph with the parameters that were written, nil where it is refused.
func read(r *rapid.T, w *written, text string) *graph.Module {
	for _, p := range w.params {
		text += p + "\n"
	}
	m, err := graph.Parse([]byte("gofx 1\n"+text), "net.fx")
	if err != nil {
		r.Log(err)
		return nil
	}
	for name, a := range w.values {
		m.Param(name).Value = a
	}
	return m
}
