package stablehlo_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
)

const program = `module @all {
  func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<3x4xf32>, %arg2: tensor<i64>) -> (tensor<2x4xf32>) {
    %0 = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %1 = "stablehlo.add"(%0, %0) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %2 = "stablehlo.constant"() {value = dense<[0, 1]> : tensor<2xi32>} : () -> tensor<2xi32>
    %3 = "stablehlo.reshape"(%2) : (tensor<2xi32>) -> tensor<2x1xi32>
    %4 = "stablehlo.gather"(%1, %3) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>} : (tensor<2x4xf32>, tensor<2x1xi32>) -> tensor<2x4xf32>
    %5 = "stablehlo.constant"() {value = dense<0.0e+00> : tensor<f32>} : () -> tensor<f32>
    %6 = "stablehlo.reduce"(%4, %5) ({
      ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %7 = "stablehlo.add"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%7) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
    %8 = "stablehlo.broadcast_in_dim"(%6) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x4xf32>
    %9 = "stablehlo.compare"(%8, %4) {compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xi1>
    %10 = "stablehlo.select"(%9, %8, %4) : (tensor<2x4xi1>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %11 = "stablehlo.slice"(%10) {limit_indices = array<i64: 2, 4>, start_indices = array<i64: 0, 2>, strides = array<i64: 1, 1>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
    %12 = "stablehlo.pad"(%11, %5) {edge_padding_high = array<i64: 0, 2>, edge_padding_low = array<i64: 0, 0>, interior_padding = array<i64: 0, 0>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf32>
    %13 = "stablehlo.reduce_window"(%12, %5) ({
      ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %14 = "stablehlo.maximum"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%14) : (tensor<f32>) -> ()
    }) {padding = dense<[[0, 0], [0, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 2>} : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    %15:2 = "stablehlo.while"(%13, %arg2) ({
      ^bb0(%arg7: tensor<2x4xf32>, %arg8: tensor<i64>):
      %16 = "stablehlo.constant"() {value = dense<3> : tensor<i64>} : () -> tensor<i64>
      %17 = "stablehlo.compare"(%arg8, %16) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<i64>, tensor<i64>) -> tensor<i1>
      "stablehlo.return"(%17) : (tensor<i1>) -> ()
    }, {
      ^bb0(%arg9: tensor<2x4xf32>, %arg10: tensor<i64>):
      %18 = "stablehlo.add"(%arg10, %arg10) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      "stablehlo.return"(%arg9, %18) : (tensor<2x4xf32>, tensor<i64>) -> ()
    }) : (tensor<2x4xf32>, tensor<i64>) -> (tensor<2x4xf32>, tensor<i64>)
    "func.return"(%15#0) : (tensor<2x4xf32>) -> ()
  }
}
`

func TestTextReadsBack(t *testing.T) {
	p, err := stablehlo.Parse(program)
	require.NoError(t, err)
	require.NoError(t, stablehlo.Verify(p))
	again, err := stablehlo.Parse(p.String())
	require.NoError(t, err)
	require.Equal(t, p.String(), again.String())
	require.Equal(t, []stablehlo.Type{stablehlo.Of(array.F32, 2, 4)}, p.Results())
}

// TestConstraints breaks the program in one place and asks for the operation and the constraint.
func TestConstraints(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{`rhs_contracting_dimensions = [0]`, `rhs_contracting_dimensions = [1]`, `dot_general: dimension 1 of lhs tensor<2x3xf32> is not dimension 1 of rhs`},
		{`lhs_contracting_dimensions = [1]`, `lhs_contracting_dimensions = [7]`, `dot_general: lhs dimensions has 7`},
		{`lhs_contracting_dimensions = [1], `, ``, `dot_general: the sides have other numbers`},
		{`"stablehlo.add"(%0, %0) : (tensor<2x4xf32>, tensor<2x4xf32>)`, `"stablehlo.add"(%0) : (tensor<2x4xf32>)`, `add: 1 operands, expected 2`},
		{`"stablehlo.add"(%0, %0) : (tensor<2x4xf32>, tensor<2x4xf32>)`, `"stablehlo.add"(%0, %arg0) : (tensor<2x4xf32>, tensor<2x3xf32>)`, `add: operand 1 is tensor<2x3xf32>`},
		{`"stablehlo.add"(%0, %0)`, `"stablehlo.frob"(%0, %0)`, `frob: unknown operation`},
		{`"stablehlo.add"(%0, %0)`, `"stablehlo.and"(%0, %0)`, `and: element type f32 is not taken`},
		{`    %3 = `, `    %99 = "stablehlo.reshape"(%2) : (tensor<2xi32>) -> tensor<3xi32>
    %3 = `, `reshape: operand is tensor<2xi32>`},
		{`slice_sizes = array<i64: 1, 4>`, `slice_sizes = array<i64: 1, 5>`, `gather: slice_sizes has 5`},
		{`slice_sizes = array<i64: 1, 4>`, `slice_sizes = array<i64: 2, 4>`, `gather: collapsed dimension 0 has slice size 2`},
		{`start_index_map = [0]`, `start_index_map = [0, 1]`, `gather: start_index_map has 2 elements`},
		{`offset_dims = [1]`, `offset_dims = [2]`, `gather: offset_dims has 2`},
		{`, slice_sizes = array<i64: 1, 4>`, ``, `gather: attribute slice_sizes is missing`},
		{`{dimensions = array<i64: 1>}`, `{dimensions = array<i64: 1, 1>}`, `reduce: dimensions has 1 twice`},
		{`{dimensions = array<i64: 1>}`, `{dimensions = array<i64: 2>}`, `reduce: dimensions has 2`},
		{`"stablehlo.return"(%7)`, `"stablehlo.return"(%7, %7)`, ``},
		{`broadcast_dimensions = array<i64: 0>`, `broadcast_dimensions = array<i64: 1>`, `broadcast_in_dim: dimension 0 of tensor<2xf32> does not stretch`},
		{`broadcast_dimensions = array<i64: 0>`, `broadcast_dimensions = array<i64>`, `broadcast_in_dim: broadcast_dimensions has 0 elements`},
		{`comparison_type FLOAT`, `comparison_type SIGNED`, `compare: compare_type is SIGNED`},
		{`comparison_direction LT>} : (tensor<2x4xf32>`, `comparison_direction XX>} : (tensor<2x4xf32>`, `compare: comparison_direction is XX`},
		{`limit_indices = array<i64: 2, 4>`, `limit_indices = array<i64: 2, 5>`, `slice: dimension 1: [2:5:1] of 4`},
		{`strides = array<i64: 1, 1>`, `strides = array<i64: 1, 0>`, `slice: dimension 1`},
		{`edge_padding_high = array<i64: 0, 2>`, `edge_padding_high = array<i64: 0, 1>`, `pad: result 0 is tensor<2x4xf32>, expected tensor<2x3xf32>`},
		{`interior_padding = array<i64: 0, 0>`, `interior_padding = array<i64: 0>`, `pad: interior_padding has 1 elements`},
		{`window_dimensions = array<i64: 1, 2>`, `window_dimensions = array<i64: 1, 0>`, `reduce_window: window_dimensions has 0`},
		{`dense<[[0, 0], [0, 1]]> : tensor<2x2xi64>`, `dense<[0, 1]> : tensor<2xi64>`, `reduce_window: padding is tensor<2xi64>`},
		{`%18 = "stablehlo.add"(%arg10, %arg10)`, `%18 = "stablehlo.add"(%arg10, %16)`, `add: operand 1 is not defined here`},
		{`"stablehlo.return"(%17) : (tensor<i1>)`, `"stablehlo.return"(%arg8) : (tensor<i64>)`, `while: region returns [tensor<i64>], expected [tensor<i1>]`},
		{`    "func.return"(%15#0) : (tensor<2x4xf32>) -> ()
`, ``, ``},
	} {
		require.Contains(t, program, c.from)
		p, err := stablehlo.Parse(strings.Replace(program, c.from, c.to, 1))
		if err == nil {
			err = stablehlo.Verify(p)
		}
		require.Error(t, err, c.to)
		require.Contains(t, err.Error(), c.want)
	}
}

func TestSyntax(t *testing.T) {
	for _, c := range [][2]string{
		{`module @all`, `modul @all`}, {`tensor<2x3xf32>, %arg1`, `tensor<2x3xf99>, %arg1`}, {`%arg1: tensor<3x4xf32>`, `%arg0: tensor<3x4xf32>`},
		{`dense<[0, 1]> : tensor<2xi32>`, `dense<[0, 1, 2]> : tensor<2xi32>`}, {`dense<[0, 1]>`, `dense<[0, x]>`}, {`dense<[0, 1]>`, `dense<[-0, 1]>`}, {`dense<[0, 1]>`, `dense<[0, 1`},
		{`dense<[0, 1]>`, `dense<"0x00">`}, {`%15:2`, `%15:3`}, {`(%15#0)`, `(%15#2)`}, {`= array<i64: 0>`, `= array<i32: 0>`}, {`= array<i64: 0>`, `= nothing`},
		{`"func.return"`, `"func.return`}, {`^bb0(`, `§bb0(`}, {`-> (tensor<2x4xf32>) {`, `-> (tensor<2x5xf32>) {`},
	} {
		require.Contains(t, program, c[0])
		_, err := stablehlo.Parse(strings.Replace(program, c[0], c[1], 1))
		require.Error(t, err, c[1])
	}
	for i := range len(program) { // a text that ends early is a mistake, never a panic
		_, err := stablehlo.Parse(program[:i])
		if err == nil {
			require.Equal(t, strings.TrimSpace(program), strings.TrimSpace(program[:i]))
		}
	}
	_, err := stablehlo.Parse("module @m { func.func @main() -> () { " + strings.Repeat(`"stablehlo.if"() ({`, 5000))
	require.ErrorContains(t, err, "deeply")
}

func FuzzParse(f *testing.F) {
	f.Add(program)
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := stablehlo.Parse(text)
		if err != nil {
			return
		}
		if stablehlo.Verify(p) == nil {
			again, err := stablehlo.Parse(p.String())
			require.NoError(t, err)
			require.Equal(t, p.String(), again.String())
		}
	})
}

// TestConstants: the elements of every type read back by their bits, also where they are many.
func TestConstants(t *testing.T) {
	for _, d := range array.DTypes() {
		for _, n := range []int{1, 5, 40} {
			b := stablehlo.NewBuilder()
			v := stablehlo.Dense{Type: stablehlo.Of(d, n)}
			for i := range n {
				bits := uint64(i) * 0x9E3779B97F4A7C15
				if i == 0 && d.IsFloat() {
					bits = 1<<(8*d.Size()-1) - 1 // NaN
				}
				v.Bits = append(v.Bits, stablehlo.Extend(d, bits))
			}
			p := &stablehlo.Module{Name: "m", Main: b.Return(b.Dense(v))}
			require.NoError(t, stablehlo.Verify(p))
			q, err := stablehlo.Parse(p.String())
			require.NoError(t, err, p.String())
			require.Equal(t, v, q.Main.Ops[0].Get("value"), p.String())
		}
	}
}

// TestStrangeAttributes: MLIR keeps attributes that an operation does not have, and XLA does not read them; programs
// that are built have none.
func TestStrangeAttributes(t *testing.T) {
	p, err := stablehlo.Parse(strings.Replace(program, `"stablehlo.add"(%0, %0)`, `"stablehlo.add"(%0, %0) {dimension = 3 : i64}`, 1))
	require.NoError(t, err)
	require.NoError(t, stablehlo.Verify(p))
	f := func() (err error) {
		defer diag.Catch(&err)
		b := stablehlo.NewBuilder(stablehlo.Of(array.F32, 2))
		b.Add(b.With("negate", []*stablehlo.Value{b.Arg(0)}, "dimension", stablehlo.Int(3)))
		return nil
	}
	require.ErrorContains(t, f(), "stablehlo.negate: unknown attribute dimension")
}

// TestBuilderRefuses: what a rule gets wrong is a bug that names the operation.
func TestBuilderRefuses(t *testing.T) {
	f := func() (err error) {
		defer diag.Catch(&err)
		b := stablehlo.NewBuilder(stablehlo.Of(array.F32, 2), stablehlo.Of(array.F32, 3))
		b.Op("add", b.Arg(0), b.Arg(1))
		return nil
	}
	require.ErrorContains(t, f(), "stablehlo.add: operand 1 is tensor<3xf32>")
}
