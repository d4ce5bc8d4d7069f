package fx_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/tensor"
)

// Traps that cost new users time or trust, as they met them.

// edgeSwoosh is like the operator of docs/add-an-op.md.
var edgeSwoosh = op.Unary("edge_swoosh", "edge_swoosh returns x·sigmoid(x-1).", func(b *expr.Builder, x expr.Value) expr.Value {
	return b.Mul(x, b.Sigmoid(b.Sub(x, b.Const(x.DType(), 1))))
})

// edgeHalf computes with constants of one type only.
var edgeHalf = op.Unary("edge_half", "edge_half returns x/2.", func(b *expr.Builder, x expr.Value) expr.Value {
	return b.Mul(x, b.Const(array.F32, 0.5))
})

func TestOwnOperators_otherElementTypes(t *testing.T) {
	swoosh := func(x *tensor.Tensor) *tensor.Tensor { return tensor.CallOp(edgeSwoosh, nil, x) }
	_, err := fx.Trace(t.Context(), swoosh, fx.Input("x", "i64[N]"))
	require.ErrorIs(t, err, op.DTypeMismatch)
	require.Contains(t, err.Error(), "edges_test.go:")
	require.Contains(t, err.Error(), "edge_swoosh: x is i64: sigmoid is not defined for i64 [FX2004]\n    hint: convert the operand first")
	var eager *diag.Error
	func() {
		defer func() { eager, _ = recover().(*diag.Error) }()
		swoosh(tensor.FromSlice([]int64{1, 2}))
	}()
	require.ErrorIs(t, eager, op.DTypeMismatch)
	require.Equal(t, "edges_test.go", filepath.Base(eager.Pos.File))
	_, err = fx.Trace(t.Context(), func(x *tensor.Tensor) *tensor.Tensor { return tensor.CallOp(edgeHalf, nil, x) }, fx.Input("x", "f64[N]"))
	require.ErrorIs(t, err, op.DTypeMismatch)
	require.Contains(t, err.Error(), "edge_half: x is f64: mul: operands are f64 and f32, expected one type")
	require.Contains(t, err.Error(), "b.Like(x, 1)")
}

// missing has a bias that its constructor forgot.
type missing struct{ W, B *tensor.Tensor }

func (m *missing) Forward(x *tensor.Tensor) *tensor.Tensor {
	eager := m.W.MulScalar(2).Add(m.B)
	eager = tensor.Cat([]*tensor.Tensor{eager, m.B}, 0)
	traced := x.Matmul(m.B)
	beyond := m.W.Select(0, 7)
	return x.Softmax(9).Add(eager).Add(traced).Add(beyond)
}

func TestTrace_missingOperandsDoNotEndIt(t *testing.T) {
	_, err := fx.Trace(t.Context(), &missing{W: tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2)}, fx.Input("x", "f32[2,2]"))
	var list diag.List
	require.ErrorAs(t, err, &list)
	var codes []string
	for _, e := range list {
		require.Equal(t, "edges_test.go", filepath.Base(e.Pos.File))
		codes = append(codes, string(e.Code))
	}
	require.Equal(t, []string{"FX2006", "FX2021", "FX2006", "FX2005", "FX2008"}, codes, "%v", err)
	require.Contains(t, err.Error(), "matmul: operand y is missing")
}

// Another goroutine that uses the model meanwhile gets its own mistakes.
type shared struct {
	W  *tensor.Tensor
	do func()
}

func (m *shared) Forward(x *tensor.Tensor) *tensor.Tensor {
	m.do()
	return x.Matmul(m.W)
}

func TestTrace_mistakesOfOtherGoroutinesAreTheirs(t *testing.T) {
	m := &shared{W: tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2)}
	var got any
	m.do = func() {
		done := make(chan bool)
		go func() {
			defer close(done)
			defer func() { got = recover() }()
			m.W.Select(0, 7)
		}()
		<-done
	}
	_, err := fx.Trace(t.Context(), m, fx.Input("x", "f32[2,2]"))
	require.NoError(t, err)
	require.ErrorIs(t, got.(error), op.BadAttr)
}

func equalSizes(x, y *tensor.Tensor) *tensor.Tensor { return x.Add(y).Matmul(y.Transpose(0, 1)) }

// Sizes that a guard makes equal are one symbol for the users of a plan and of generated
// code.
func TestSymbols_equalSizesAreOne(t *testing.T) {
	gm, err := fx.Trace(t.Context(), equalSizes, fx.Input("x", "f32[A,B]"), fx.Input("y", "f32[C,D]"))
	require.NoError(t, err)
	exe, err := cpu.Compile(gm.Module, lowering.Options{})
	require.NoError(t, err)
	var names []string
	for _, s := range exe.Plan().Symbols {
		names = append(names, s.Name)
	}
	require.Equal(t, []string{"A", "B"}, names)
	_, err = exe.PeakBytes(map[string]int{"A": 2, "B": 3})
	require.NoError(t, err)
	_, err = exe.PeakBytes(map[string]int{"C": 2, "D": 3})
	require.ErrorContains(t, err, "symbol A has no value")

	files, err := codegen.Kernel(exe.Plan(), nil, codegen.KernelOptions{})
	require.NoError(t, err)
	var code strings.Builder
	for _, f := range files.List {
		code.Write(f.Data)
	}
	require.Contains(t, code.String(), "func PeakBytes(A, B int) (bytes int64)")
	require.NotRegexp(t, `func .*\b[CD]\b`, code.String())

	// Both report the error in the same words, without a letter that nothing else shows.
	const want = `input "x" is f32[2,3]: add needs B (axis 1, here 3) equal to axis 1 of "y" (here 4)`
	in := []*array.Array{array.New(array.F32, 2, 3), array.New(array.F32, 2, 4)}
	_, err = exe.Run(t.Context(), in)
	require.ErrorContains(t, err, want)
	require.ErrorContains(t, err, "edges_test.go:")
	_, err = gm.RunArrays(t.Context(), in)
	require.ErrorContains(t, err, want)
	out, err := exe.Run(t.Context(), []*array.Array{array.New(array.F32, 2, 3), array.New(array.F32, 2, 3)})
	require.NoError(t, err)
	require.Equal(t, []int{2, 2}, out[0].Shape())
}

// Chains of equalities, sizes that are sums and products of others, and sizes that were
// pinned.
func TestSymbols_determinedSizesAreNone(t *testing.T) {
	for name, c := range map[string]struct {
		f       any
		inputs  []string
		pins    map[string]int
		symbols string
		good    [][]int
		bad     [][]int
	}{
		"chain": {func(x, y, z *tensor.Tensor) *tensor.Tensor { return x.Add(y).Add(z) }, []string{"f32[A]", "f32[B]", "f32[C]"}, nil,
			"A", [][]int{{3}, {3}, {3}}, [][]int{{3}, {3}, {4}}},
		"sum": {func(x, y, z *tensor.Tensor) *tensor.Tensor { return tensor.Cat([]*tensor.Tensor{x, y}, 0).Add(z) }, []string{"f32[A]", "f32[B]", "f32[C]"}, nil,
			"A B", [][]int{{3}, {4}, {7}}, [][]int{{3}, {4}, {6}}},
		"product": {func(x, y *tensor.Tensor) *tensor.Tensor { return x.Flatten(0, -1).Add(y) }, []string{"f32[A,B]", "f32[C]"}, nil,
			"A B", [][]int{{3, 2}, {6}}, [][]int{{3, 2}, {5}}},
		"pinned": {equalSizes, []string{"f32[A,B]", "f32[C,D]"}, map[string]int{"D": 3},
			"A", [][]int{{2, 3}, {2, 3}}, [][]int{{2, 4}, {2, 4}}},
		"all pinned": {equalSizes, []string{"f32[A,B]", "f32[C,D]"}, map[string]int{"D": 3, "A": 2},
			"", [][]int{{2, 3}, {2, 3}}, [][]int{{2, 3}, {3, 3}}},
		"guarded twice": {func(x, y *tensor.Tensor) *tensor.Tensor {
			y.Size(0).MustBeMultiple(2)
			return x.Add(y).Reshape(-1, 2)
		}, []string{"f32[A]", "f32[B]"}, nil,
			"A", [][]int{{4}, {4}}, [][]int{{5}, {5}}},
	} {
		t.Run(name, func(t *testing.T) {
			var opts []fx.Option
			for i, text := range c.inputs {
				opts = append(opts, fx.Input(string(rune('x'+i)), text))
			}
			gm, err := fx.Trace(t.Context(), c.f, opts...)
			require.NoError(t, err)
			exe, err := cpu.Compile(gm.Module, lowering.Options{Shapes: c.pins})
			require.NoError(t, err)
			var names []string
			for _, s := range exe.Plan().Symbols {
				names = append(names, s.Name)
			}
			require.Equal(t, c.symbols, strings.Join(names, " "), "%s", exe.Plan())
			arrays := func(sizes [][]int) (in []*array.Array) {
				for _, s := range sizes {
					in = append(in, array.New(array.F32, s...))
				}
				return in
			}
			for range 3 { // sizes that come again may have a plan of their own
				_, err = exe.Run(t.Context(), arrays(c.good))
				require.NoError(t, err)
			}
			_, err = exe.Run(t.Context(), arrays(c.bad))
			require.ErrorContains(t, err, "FX1022")
			if c.pins == nil {
				require.ErrorContains(t, err, " needs ")
			}
			_, err = codegen.Kernel(exe.Plan(), nil, codegen.KernelOptions{})
			require.NoError(t, err)
		})
	}
}

// A quotient that must vanish gives a bound between its dividend and its divisor.
func TestGuards_vanishingQuotientsAreBounds(t *testing.T) {
	gm, err := fx.Trace(t.Context(), func(x, y *tensor.Tensor) *tensor.Tensor {
		y.Size(0).Div(x.Size(0).Add(1)).MustEqual(0)
		return x.Relu()
	}, fx.Input("x", "f32[N]"), fx.Input("y", "f32[5]"))
	require.NoError(t, err)
	require.Contains(t, gm.String(), "guard N >= 5")
	exe, err := cpu.Compile(gm.Module, lowering.Options{})
	require.NoError(t, err)
	_, err = exe.Run(t.Context(), []*array.Array{array.New(array.F32, 4), array.New(array.F32, 5)})
	require.ErrorContains(t, err, "needs N (axis 0, here 4) at least 5")
	_, err = exe.Run(t.Context(), []*array.Array{array.New(array.F32, 5), array.New(array.F32, 5)})
	require.NoError(t, err)
}

func TestSqueeze_symbolicSizesNeedTheAxis(t *testing.T) {
	gm, err := fx.Trace(t.Context(), func(x *tensor.Tensor) *tensor.Tensor { return x.Squeeze().Relu() }, fx.Input("x", "f32[A,B,1]"))
	require.NoError(t, err)
	_, err = cpu.Compile(gm.Module, lowering.Options{})
	require.ErrorContains(t, err, "%squeeze is f32[*]")
	require.ErrorContains(t, err, "name the axis in the call")
	require.ErrorContains(t, err, "edges_test.go:")
}

// wrapped is a leaf of the user's without an operator.
type wrapped struct{ W *tensor.Tensor }

func (l *wrapped) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Add(l.W) }

type wraps struct{ L *wrapped }

func (m *wraps) Forward(x *tensor.Tensor) *tensor.Tensor { return nn.Run(m.L, x).Relu() }

func TestSave_refusesWhatLoadCannotRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "saved")
	m := &wraps{&wrapped{tensor.FromSlice([]float32{1, 2})}}
	gm, err := fx.Trace(t.Context(), m, fx.Input("x", "f32[2]"), fx.Leaf(func(m any, _ string, library bool) bool {
		_, own := m.(*wrapped)
		return library || own
	}))
	require.NoError(t, err)
	err = fx.Save(dir, gm)
	require.ErrorIs(t, err, graph.UnknownOp)
	require.Contains(t, err.Error(), `capture without keeping the module "l" whole`)
	require.Contains(t, err.Error(), "edges_test.go:")
	_, err = os.Stat(dir)
	require.True(t, errors.Is(err, os.ErrNotExist), "nothing is written")

	gm, err = fx.Trace(t.Context(), m, fx.Input("x", "f32[2]"))
	require.NoError(t, err)
	require.NoError(t, fx.Save(dir, gm))
	_, err = fx.Load(dir)
	require.NoError(t, err)
}

// SetBound takes nil for attributes, as cursors do; those of another operator are named.
func TestSetBound_nilAttributes(t *testing.T) {
	gm, err := fx.Trace(t.Context(), func(x *tensor.Tensor) *tensor.Tensor { return x.Relu() }, fx.Input("x", "f32[2,2]"))
	require.NoError(t, err)
	x := gm.Graph.Inputs()[0]
	gm.SetBound("act", graph.Bound{Op: std.Softmax})
	n := gm.Graph.After(x).Module("act", x)
	require.Equal(t, "f32[2,2]", n.Type().String())
	require.NoError(t, graph.Lint(gm.Graph).Err())
	require.Contains(t, gm.String(), "module act = softmax")

	gm.SetBound("bad", graph.Bound{Op: std.Softmax, Attrs: tensor.SplitAttrs{}})
	mistake := func(f func()) (e *diag.Error) {
		defer func() { e, _ = recover().(*diag.Error) }()
		f()
		return nil
	}
	for _, e := range []*diag.Error{
		mistake(func() { gm.Graph.After(x).Module("bad", x) }),
		mistake(func() { gm.Graph.After(x).Function(std.Softmax, tensor.SplitAttrs{}, x) }),
	} {
		require.ErrorIs(t, e, op.BadAttr)
		require.Contains(t, e.Msg, "attributes are std.SplitAttrs, expected std.DimAttrs")
	}
	require.ErrorIs(t, gm.Graph.Output().Arg(0).SetAttrs(tensor.SplitAttrs{}), op.BadAttr)
}
