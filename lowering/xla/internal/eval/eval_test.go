package eval_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lowering/xla/internal/eval"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
)

// run evaluates one operation, given by its text between operands and type, on arrays.
func run(t *testing.T, op, results string, in ...*array.Array) []*array.Array {
	t.Helper()
	out, err := try(op, results, in...)
	require.NoError(t, err)
	return out
}

func try(op, results string, in ...*array.Array) ([]*array.Array, error) {
	var params, names, types []string
	for i, a := range in {
		typ := stablehlo.Of(a.DType(), a.Shape()...).String()
		name := "%arg" + string(rune('0'+i))
		params, names, types = append(params, name+": "+typ), append(names, name), append(types, typ)
	}
	name, rest, _ := strings.Cut(op, " ")
	lhs, ret := "%0", "%0"
	if n := strings.Count(results, "tensor"); n == 2 {
		lhs, ret = "%0:2", "%0#0, %0#1"
	}
	text := "module @m {\n func.func public @main(" + strings.Join(params, ", ") + ") -> (" + results + ") {\n" +
		lhs + ` = "stablehlo.` + name + `"(` + strings.Join(names, ", ") + ") " + rest + " : (" + strings.Join(types, ", ") + ") -> (" + results + ")\n" +
		`"func.return"(` + ret + ") : (" + results + ") -> ()\n}\n}\n"
	p, err := stablehlo.Parse(text)
	if err != nil {
		return nil, err
	}
	return eval.Run(context.Background(), p, in)
}

func f32(dims []int, v ...float32) *array.Array { return array.FromSlice(v, dims...) }

func i64(dims []int, v ...int64) *array.Array { return array.FromSlice(v, dims...) }

func region(name, typ string) string {
	return `({
^bb0(%a: ` + typ + `, %b: ` + typ + `):
  %c = "stablehlo.` + name + `"(%a, %b) : (` + typ + `, ` + typ + `) -> ` + typ + `
  "stablehlo.return"(%c) : (` + typ + `) -> ()
})`
}

func TestElementwise(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	neg0 := float32(math.Copysign(0, -1))
	for _, c := range []struct {
		op         string
		x, y, want float32
	}{
		{"maximum", inf, nan, nan}, {"maximum", neg0, 0, 0}, {"minimum", 0, neg0, neg0}, {"minimum", nan, 1, nan},
		{"remainder", 17, 3, 2}, {"remainder", -17, 3, -2}, {"remainder", 17, -3, 2},
		{"power", -2, 3, -8}, {"divide", 1, 0, inf}, {"atan2", 0, -1, math.Pi},
	} {
		got := run(t, c.op, "tensor<f32>", array.Scalar(c.x), array.Scalar(c.y))[0]
		require.Equal(t, math.Float32bits(c.want), math.Float32bits(array.Data[float32](got)[0]), "%s %v %v", c.op, c.x, c.y)
	}
	for _, c := range []struct {
		op         string
		x, y, want int8
	}{
		{"add", 127, 1, -128}, {"multiply", 64, 2, -128}, {"divide", -7, 2, -3}, {"divide", -128, -1, -128}, {"remainder", -7, 2, -1},
		{"shift_left", 1, 7, -128}, {"shift_left", 1, 8, 0}, {"shift_right_arithmetic", -128, 9, -1}, {"shift_right_logical", -128, 7, 1},
		{"power", 2, 7, -128}, {"xor", 6, 3, 5}, {"maximum", -1, 1, 1},
	} {
		got := run(t, c.op, "tensor<i8>", array.Scalar(c.x), array.Scalar(c.y))[0]
		require.Equal(t, c.want, array.Data[int8](got)[0], "%s %v %v", c.op, c.x, c.y)
	}
	for _, c := range []struct {
		op      string
		x, want float64
	}{
		{"round_nearest_even", 2.5, 2}, {"round_nearest_even", -3.5, -4}, {"ceil", -0.5, math.Copysign(0, -1)}, {"sign", -3, -1}, {"rsqrt", 4, 0.5},
		{"logistic", 0, 0.5}, {"negate", 0, math.Copysign(0, -1)}, {"abs", -2, 2}, {"log_plus_one", 0, 0}, {"exponential", 0, 1},
	} {
		got := run(t, c.op, "tensor<f64>", array.Scalar(c.x))[0]
		require.Equal(t, math.Float64bits(c.want), math.Float64bits(array.Data[float64](got)[0]), "%s %v", c.op, c.x)
	}
}

func TestConvert(t *testing.T) {
	got := run(t, "convert", "tensor<3xi32>", f32([]int{3}, 1.9, -1.9, 7))
	require.Equal(t, []int32{1, -1, 7}, array.Data[int32](got[0]))
	got = run(t, "convert", "tensor<2xi1>", f32([]int{2}, 0.5, 0))
	require.Equal(t, []bool{true, false}, array.Data[bool](got[0]))
	got = run(t, "convert", "tensor<1xf32>", i64([]int{1}, 1<<24+1))
	require.Equal(t, []float32{1 << 24}, array.Data[float32](got[0]))
	got = run(t, "bitcast_convert", "tensor<1xi32>", f32([]int{1}, -2))
	require.Equal(t, []int32{-0x40000000}, array.Data[int32](got[0]))
	got = run(t, "is_finite", "tensor<2xi1>", f32([]int{2}, 1, float32(math.Inf(-1))))
	require.Equal(t, []bool{true, false}, array.Data[bool](got[0]))
}

func TestMovement(t *testing.T) {
	x := i64([]int{2, 3}, 1, 2, 3, 4, 5, 6)
	for _, c := range []struct {
		op, typ string
		want    []int64
	}{
		{"transpose {permutation = array<i64: 1, 0>}", "tensor<3x2xi64>", []int64{1, 4, 2, 5, 3, 6}},
		{"reverse {dimensions = array<i64: 1>}", "tensor<2x3xi64>", []int64{3, 2, 1, 6, 5, 4}},
		{"slice {start_indices = array<i64: 0, 0>, limit_indices = array<i64: 2, 3>, strides = array<i64: 1, 2>}", "tensor<2x2xi64>", []int64{1, 3, 4, 6}},
		{"reshape", "tensor<3x2xi64>", []int64{1, 2, 3, 4, 5, 6}},
		{"broadcast_in_dim {broadcast_dimensions = array<i64: 2, 0>}", "tensor<3x2x2xi64>", []int64{1, 4, 1, 4, 2, 5, 2, 5, 3, 6, 3, 6}},
	} {
		require.Equal(t, c.want, array.Data[int64](run(t, c.op, c.typ, x)[0]), c.op)
	}
	// Interior and negative edges.
	got := run(t, "pad {edge_padding_low = array<i64: 0, 1>, edge_padding_high = array<i64: -1, 0>, interior_padding = array<i64: 1, 2>}",
		"tensor<2x8xi64>", x, array.Scalar(int64(0)))
	require.Equal(t, []int64{0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0}, array.Data[int64](got[0]))
	got = run(t, "concatenate {dimension = 0 : i64}", "tensor<3x3xi64>", x, i64([]int{1, 3}, 7, 8, 9))
	require.Equal(t, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9}, array.Data[int64](got[0]))
	// Starts are moved so that all lies within.
	got = run(t, "dynamic_slice {slice_sizes = array<i64: 1, 2>}", "tensor<1x2xi64>", x, array.Scalar(int64(-1)), array.Scalar(int64(9)))
	require.Equal(t, []int64{2, 3}, array.Data[int64](got[0]))
	got = run(t, "dynamic_update_slice", "tensor<2x3xi64>", x, i64([]int{1, 2}, 8, 9), array.Scalar(int64(5)), array.Scalar(int64(1)))
	require.Equal(t, []int64{1, 2, 3, 4, 8, 9}, array.Data[int64](got[0]))
	got = run(t, "iota {iota_dimension = 1 : i64}", "tensor<2x3xi64>")
	require.Equal(t, []int64{0, 1, 2, 0, 1, 2}, array.Data[int64](got[0]))
}

func TestGatherScatter(t *testing.T) {
	x := i64([]int{3, 2}, 1, 2, 3, 4, 5, 6)
	rows := "gather {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}"
	got := run(t, rows, "tensor<3x2xi64>", x, i64([]int{3}, 2, 9, -4)) // clamped
	require.Equal(t, []int64{5, 6, 5, 6, 1, 2}, array.Data[int64](got[0]))
	// Windows of two rows from vectors in dimension 0 that name columns before rows.
	windows := "gather {dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1, 0], index_vector_dim = 0>, slice_sizes = array<i64: 2, 1>}"
	got = run(t, windows, "tensor<2x2xi64>", x, i64([]int{2, 2}, 0, 1, 1, 0))
	require.Equal(t, []int64{3, 2, 5, 4}, array.Data[int64](got[0]))
	add := "scatter " + region("add", "tensor<i64>") + " {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}"
	got = run(t, add, "tensor<3x2xi64>", x, i64([]int{3, 1}, 1, 1, 3), i64([]int{3, 2}, 10, 20, 100, 200, 7, 7)) // the last is left out
	require.Equal(t, []int64{1, 2, 113, 224, 5, 6}, array.Data[int64](got[0]))
}

func TestFolds(t *testing.T) {
	x := i64([]int{2, 3}, 1, 2, 3, 4, 5, 6)
	got := run(t, "reduce "+region("add", "tensor<i64>")+" {dimensions = array<i64: 0>}", "tensor<3xi64>", x, array.Scalar(int64(100)))
	require.Equal(t, []int64{105, 107, 109}, array.Data[int64](got[0]))
	got = run(t, "reduce_window "+region("add", "tensor<i64>")+` {window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 1>,
 window_dilations = array<i64: 3, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}`, "tensor<1x3xi64>", x, array.Scalar(int64(0)))
	require.Equal(t, []int64{0, 0, 0}, array.Data[int64](got[0])) // positions 0 and 3 of [., ., row, ., row, .]
	got = run(t, "reduce_window "+region("maximum", "tensor<i64>")+" {window_dimensions = array<i64: 1, 2>, padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>}",
		"tensor<2x3xi64>", x, array.Scalar(int64(-9)))
	require.Equal(t, []int64{1, 2, 3, 4, 5, 6}, array.Data[int64](got[0]))
	less := `({
^bb0(%a: tensor<i64>, %b: tensor<i64>, %c: tensor<i64>, %d: tensor<i64>):
  %e = "stablehlo.compare"(%a, %b) {comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<i64>, tensor<i64>) -> tensor<i1>
  "stablehlo.return"(%e) : (tensor<i1>) -> ()
})`
	got = run(t, "sort "+less+" {dimension = 0 : i64, is_stable = true}", "tensor<4xi64>, tensor<4xi64>", i64([]int{4}, 1, 3, 1, 3), i64([]int{4}, 0, 1, 2, 3))
	require.Equal(t, []int64{3, 3, 1, 1}, array.Data[int64](got[0]))
	require.Equal(t, []int64{1, 3, 0, 2}, array.Data[int64](got[1]))
}

func TestProducts(t *testing.T) {
	l, r := i64([]int{2, 2, 2}, 1, 2, 3, 4, 5, 6, 7, 8), i64([]int{2, 2, 2}, 1, 0, 0, 1, 2, 0, 0, 2)
	got := run(t, "dot_general {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}",
		"tensor<2x2x2xi64>", l, r)
	require.Equal(t, []int64{1, 2, 3, 4, 10, 12, 14, 16}, array.Data[int64](got[0]))
	x := f32([]int{1, 1, 4}, 1, 2, 3, 4)
	conv := func(attrs, typ string, w *array.Array, x *array.Array) []float32 {
		return array.Data[float32](run(t, "convolution {dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>, batch_group_count = 1 : i64, "+attrs+"}", typ, x, w)[0])
	}
	w := f32([]int{1, 1, 2}, 1, 10)
	require.Equal(t, []float32{21, 32, 43}, conv("feature_group_count = 1 : i64", "tensor<1x1x3xf32>", w, x))
	require.Equal(t, []float32{12, 23, 34}, conv("feature_group_count = 1 : i64, window_reversal = array<i1: true>", "tensor<1x1x3xf32>", w, x))
	require.Equal(t, []float32{10, 32, 4}, conv("feature_group_count = 1 : i64, window_strides = array<i64: 2>, padding = dense<1> : tensor<1x2xi64>", "tensor<1x1x3xf32>", w, x))
	require.Equal(t, []float32{1, 20, 2, 30, 3, 40}, conv("feature_group_count = 1 : i64, lhs_dilation = array<i64: 2>", "tensor<1x1x6xf32>", w, x))
	require.Equal(t, []float32{31, 42}, conv("feature_group_count = 1 : i64, rhs_dilation = array<i64: 2>", "tensor<1x1x2xf32>", w, x))
	two := f32([]int{1, 2, 2}, 1, 2, 3, 4)
	require.Equal(t, []float32{1, 2, 30, 40}, conv("feature_group_count = 2 : i64", "tensor<1x2x2xf32>", f32([]int{2, 1, 1}, 1, 10), two))
	// Groups of the batch: each image meets the filters of its group.
	out := run(t, "convolution {dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>, batch_group_count = 2 : i64, feature_group_count = 1 : i64}",
		"tensor<1x2x1xf32>", f32([]int{2, 1, 1}, 3, 5), f32([]int{2, 1, 1}, 1, 10))
	require.Equal(t, []float32{3, 50}, array.Data[float32](out[0]))
}

func TestRefuses(t *testing.T) {
	_, err := try("add", "tensor<2xf32>", f32([]int{2}, 1, 2), f32([]int{3}, 1, 2, 3))
	require.ErrorContains(t, err, "types must be equal")
	p, err := stablehlo.Parse("module @m {\n func.func public @main(%arg0: tensor<2xf32>) -> (tensor<2xf32>) {\n\"func.return\"(%arg0) : (tensor<2xf32>) -> ()\n}\n}\n")
	require.NoError(t, err)
	_, err = eval.Run(context.Background(), p, nil)
	require.ErrorContains(t, err, "0 inputs, main takes 1")
	_, err = eval.Run(context.Background(), p, []*array.Array{f32([]int{3}, 1, 2, 3)})
	require.ErrorContains(t, err, "input 0 is tensor<3xf32>")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p, err = stablehlo.Parse("module @m {\n func.func public @main(%arg0: tensor<2xf32>) -> (tensor<2xf32>) {\n%0 = \"stablehlo.abs\"(%arg0) : (tensor<2xf32>) -> tensor<2xf32>\n\"func.return\"(%0) : (tensor<2xf32>) -> ()\n}\n}\n")
	require.NoError(t, err)
	_, err = eval.Run(ctx, p, []*array.Array{f32([]int{2}, 1, 2)})
	require.ErrorIs(t, err, context.Canceled)
}
