package tracer_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

func ones(dims ...int) *tensor.Tensor {
	x := tensor.New(array.New(array.F32, dims...))
	return x.AddScalar(1)
}

// sizePrograms read sizes in ways that a trace may or may not know the answer to.
var sizePrograms = map[string]func(x *tensor.Tensor) *tensor.Tensor{
	"square": func(x *tensor.Tensor) *tensor.Tensor {
		if x.Size(0).Equal(x.Size(1)) {
			return x.T()
		}
		return x.Neg()
	},
	"number": func(x *tensor.Tensor) *tensor.Tensor {
		if x.Size(0).Equal(2) {
			return x.Neg()
		}
		return x.Relu()
	},
	"never": func(x *tensor.Tensor) *tensor.Tensor {
		if x.Size(0).Add(1).Equal(x.Size(0)) || x.Size(0).Add(3).Equal(0) || x.Size(0).Mul(2).Equal(5) || x.Size(0).Equal(-1) {
			return x.Neg()
		}
		return x.Relu()
	},
	"always": func(x *tensor.Tensor) *tensor.Tensor {
		if y := x.Relu(); y.Size(0).Equal(x.Size(0)) && x.Size(0).Add(x.Size(1)).Equal(x.Size(1).Add(x.Size(0))) {
			return y.Sum()
		}
		return x
	},
	"after a guard": func(x *tensor.Tensor) *tensor.Tensor {
		y := x.Add(x.T()) // neither axis is 1, or both are: equal by the operator's guard
		if x.Size(0).Equal(x.Size(1)) {
			return y.Neg()
		}
		return y
	},
	"text": func(x *tensor.Tensor) *tensor.Tensor {
		switch x.Size(0).String() {
		case "2":
			return x.Neg()
		}
		return x.Relu()
	},
	"printed": func(x *tensor.Tensor) *tensor.Tensor {
		if fmt.Sprint(x.Size(0)) == "2" || fmt.Sprintf("%d", x.Size(0)) == "2" || fmt.Sprintf("%#v", x.Size(0)) == "2" {
			return x.Neg()
		}
		return x.Relu()
	},
	"json": func(x *tensor.Tensor) *tensor.Tensor {
		if b, err := json.Marshal(map[string]any{"n": x.Size(0)}); err == nil && string(b) == `{"n":2}` {
			return x.Neg()
		}
		return x.Relu()
	},
	"key": func(x *tensor.Tensor) *tensor.Tensor {
		if (map[any]bool{2: true})[x.Size(0)] { // panics, eagerly too
			return x.Neg()
		}
		return x.Relu()
	},
	"element type": func(x *tensor.Tensor) *tensor.Tensor {
		if x.DType() == array.F32 {
			return x.Neg()
		}
		return x.Relu()
	},
	"dim": func(x *tensor.Tensor) *tensor.Tensor {
		if x.Dim(0) == 2 {
			return x.Neg()
		}
		return x.Relu()
	},
	"shape": func(x *tensor.Tensor) *tensor.Tensor {
		if len(x.Shape()) == 2 && x.Shape()[1] == 3 {
			return x.Neg()
		}
		return x.Relu()
	},
	"pieces": func(x *tensor.Tensor) *tensor.Tensor {
		return x.SplitSize(2, 0)[len(x.SplitSize(2, 0))-1]
	},
	"unbound": func(x *tensor.Tensor) *tensor.Tensor { return x.UnbindDim(0)[len(x.UnbindDim(0))-1] },
}

// eagerly runs a program; ok is false when it panics.
func eagerly(f func(x *tensor.Tensor) *tensor.Tensor, x *tensor.Tensor) (y *tensor.Tensor, ok bool) {
	defer func() { ok = recover() == nil }()
	return f(x), true
}

// TestAnswersAboutSizesAreThoseOfARun runs each program on several shapes: a
// graph that was captured gives what the program gives, or refuses the shape.
func TestAnswersAboutSizesAreThoseOfARun(t *testing.T) {
	captured := map[string]int{}
	for name, f := range sizePrograms {
		for _, typ := range []string{"", "f32[*]", "f32[N,M]", "f32[N,N]", "f32[2,M]", "f32[2,3]", "?[2,2]"} {
			gm, err := fx.Trace(ctx, f, fx.Input("x", typ))
			if err != nil {
				var l diag.List
				require.True(t, errors.As(err, &l), "%s %s: %v", name, typ, err)
				for _, e := range l {
					require.Equal(t, "sizes_test.go", filepath.Base(e.Pos.File), "%s %s: %v", name, typ, e)
				}
				continue
			}
			captured[name]++
			for _, dims := range [][]int{{2, 3}, {2, 2}, {3, 3}, {4, 1}, {1, 4}} {
				x := ones(dims...)
				got, err := gm.Run(ctx, x)
				if err != nil {
					continue
				}
				want, ok := eagerly(f, x)
				require.True(t, ok, "%s %s %v", name, typ, dims)
				require.True(t, want.Equal(got[0]), "%s %s %v: got %v, want %v", name, typ, dims, got[0], want)
			}
		}
	}
	for name, least := range map[string]int{"square": 3, "number": 3, "never": 7, "always": 5, "text": 3, "printed": 3, "json": 3, "key": 0, "element type": 5, "dim": 3, "shape": 1, "pieces": 3} {
		require.GreaterOrEqual(t, captured[name], least, name)
	}
	require.Zero(t, captured["key"])
}

func TestUndecidedSizesAreReportedAtTheirLine(t *testing.T) {
	for name, code := range map[string]diag.Code{"square": tracer.UnknownSize, "number": tracer.UnknownSize, "text": tracer.UnknownSize,
		"printed": tracer.UnknownSize, "json": tracer.UnknownSize, "key": tracer.UserPanic, "dim": tracer.UnknownSize} {
		_, err := fx.Trace(ctx, sizePrograms[name], fx.Input("x", "f32[N,M]"))
		require.ErrorIs(t, err, code, name)
	}
	_, err := fx.Trace(ctx, sizePrograms["element type"], fx.Input("x", ""))
	require.ErrorIs(t, err, tracer.UnknownDType)
	_, err = fx.Trace(ctx, sizePrograms["square"], fx.Input("x", "f32[N,M]"))
	require.ErrorContains(t, err, "whether the sizes N and M are equal is not known")
}

// A size that is not known is 0 for the rest of the function: that no reshape fits it is no mistake of the model's.
func TestUnknownSizesMakeNoFurtherMistakes(t *testing.T) {
	_, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor {
		n := x.Dim(0)
		return x.Reshape(n, -1).Reshape(n, 2, 2)
	}, fx.Input("x", "f32[N,4]"))
	require.ErrorIs(t, err, tracer.UnknownSize)
	require.NotErrorIs(t, err, op.BadReshape)
	_, err = fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor { return x.Reshape(3, 5) }, fx.Input("x", "f32[2,4]"))
	require.ErrorIs(t, err, op.BadReshape)
}

// sized is a policy that gives numbers for all sizes.
func sized(n int) fx.Option {
	return fx.With(func(t *tracer.Tracer) { t.SizeOf = func(*graph.Node, int) (int, bool) { return n, true } })
}

func TestSpecialisedAnswersAreGuardedInEveryEngine(t *testing.T) {
	for name, f := range map[string]func(x *tensor.Tensor) *tensor.Tensor{
		"square": sizePrograms["square"], "number": sizePrograms["number"], "text": sizePrograms["text"],
		"int": func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(x.Size(0).Add(1).Int()) },
	} {
		gm, err := fx.Trace(ctx, f, fx.Input("x", "f32[N,M]"), sized(2))
		require.NoError(t, err, name)
		require.NotEmpty(t, gm.Graph.Guards(), name)
		require.NotEmpty(t, gm.Graph.Specialisations(), name)
		for _, s := range gm.Graph.Specialisations() { // each can be checked, as the guards of the graph are
			require.True(t, slices.ContainsFunc(gm.Graph.Guards(), func(d graph.Guard) bool { return d.String() == s.Guard.String() }), "%s: %s", name, s.What)
		}
		exe, err := cpu.Compile(graph.Clone(gm.Module), lowering.Options{})
		require.NoError(t, err, name)
		want := f(ones(2, 2))
		got, err := gm.Run(ctx, ones(2, 2))
		require.NoError(t, err, name)
		require.True(t, want.Equal(got[0]), name)
		planned, err := exe.Run(ctx, []*array.Array{ones(2, 2).Array()})
		require.NoError(t, err, name)
		require.True(t, array.Equal(want.Array(), planned[0]), name)
		_, err = gm.Run(ctx, ones(3, 3))
		require.ErrorIs(t, err, diag.Code("FX1022"), name)
		_, err = exe.Run(ctx, []*array.Array{ones(3, 3).Array()})
		require.ErrorIs(t, err, diag.Code("FX1022"), name)
		require.NoError(t, exe.Close())
	}
}

// TestGuardsOfAnInnerGraphBecomeThoseOfTheOuterOne captures a graph, which was
// fixed to sizes, as part of a function of any sizes.
func TestGuardsOfAnInnerGraphBecomeThoseOfTheOuterOne(t *testing.T) {
	square, err := fx.Trace(ctx, sizePrograms["square"], fx.Input("x", "f32[N,N]"))
	require.NoError(t, err)
	fixed, err := fx.Trace(ctx, sizePrograms["dim"], fx.Input("x", "f32[2,M]"))
	require.NoError(t, err)
	special, err := fx.Trace(ctx, sizePrograms["number"], fx.Input("x", "f32[N,M]"), sized(2))
	require.NoError(t, err)
	for name, inner := range map[string]*fx.GraphModule{"one symbol": square, "number": fixed, "specialised": special} {
		for _, typ := range []string{"f32[N,M]", "f32[*]", ""} {
			outer, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor { return inner.Forward(x).AddScalar(1) }, fx.Input("x", typ))
			require.NoError(t, err, name)
			_, err = outer.Run(ctx, ones(2, 2))
			require.NoError(t, err, name)
			_, err = outer.Run(ctx, ones(3, 4))
			require.ErrorIs(t, err, diag.Code("FX1022"), "%s in %q", name, typ)
		}
	}
	_, err = fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor { return special.Forward(x.Reshape(4, x.Size(0))) }, fx.Input("x", "f32[N,4]"))
	require.ErrorIs(t, err, diag.Code("FX1022"))
}

func TestSizesAreNotComparable(t *testing.T) {
	require.False(t, reflect.TypeFor[tensor.Size]().Comparable())
	x := ones(2, 2)
	require.Panics(t, func() { _ = any(x.Size(0)) == any(x.Size(1)) })
	require.True(t, x.Size(0).Equal(x.Size(1)))
	require.False(t, x.Size(0).Equal(int64(3)))
	require.Panics(t, func() { x.Size(0).Equal("2") })
	require.Panics(t, func() { x.Size(0).Equal(shape.Sym("N")) })
}

func TestProxiesPrintTheirTypeAlone(t *testing.T) {
	type holder struct {
		Name string
		X    *tensor.Tensor
	}
	var texts []string
	_, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%q", "%90v"} {
			texts = append(texts, fmt.Sprintf(verb, x))
		}
		texts = append(texts, fmt.Sprint(x, holder{"a", x}), fmt.Sprintf("%+v", []*tensor.Tensor{x}))
		b, err := json.Marshal(holder{"a", x})
		require.NoError(t, err)
		texts = append(texts, string(b))
		return x
	}, fx.Input("x", "f32[N,3]"))
	require.NoError(t, err)
	for _, s := range texts {
		require.NotContains(t, s, "0x", s)
		require.Regexp(t, `f32\[N,3\]|\{"Name":"a","X":\{\}\}|%!`, s)
	}
	require.Equal(t, "*tensor.Tensor(f32[2])", fmt.Sprintf("%#v", ones(2)))
	require.Equal(t, ones(2).String(), fmt.Sprintf("%+v", ones(2)))
	require.Equal(t, "nil", fmt.Sprint((*tensor.Tensor)(nil)))
	require.True(t, strings.HasPrefix(fmt.Sprintf("%d", ones(2).Size(0)), "2"))
	require.Equal(t, "  2|0002|\"2\"|2", fmt.Sprintf("%3v|%04d|%q|%s", ones(2).Size(0), ones(2).Size(0), ones(2).Size(0), ones(2).Size(0)))
}

// A size that the guards of the graph decide is a number, whatever the policy would say of it; a number of the
// policy that they rule out is a mistake of the policy.
func TestGuardsDecideSizes(t *testing.T) {
	rows := ones(2, 3)
	f := func(x *tensor.Tensor) *tensor.Tensor {
		x.Size(0).MustEqual(3)
		if x.Dim(0) > 5 || x.Size(0).Mul(2).Int() > 10 {
			return x
		}
		return rows.Add(x)
	}
	for _, o := range [][]fx.Option{{fx.Input("x", "f32[N]")}, {fx.Input("x", "f32[N]"), sized(6)}} {
		gm, err := fx.Trace(ctx, f, o...)
		require.NoError(t, err)
		require.Empty(t, gm.Graph.Specialisations())
		m, err := graph.Parse([]byte(gm.Module.String()), "again.fx")
		require.NoError(t, err)
		for _, m := range []*fx.GraphModule{gm, fx.NewGraphModule(m)} {
			for _, p := range gm.Params() {
				m.SetParam(*p)
			}
			got, err := m.Run(ctx, ones(3))
			require.NoError(t, err)
			require.True(t, f(ones(3)).Equal(got[0]))
			_, err = m.Run(ctx, ones(1))
			require.ErrorIs(t, err, diag.Code("FX1022"))
		}
	}
	_, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor {
		x.Size(0).MustBeAtLeast(7)
		return x.MulScalar(x.Dim(0))
	}, fx.Input("x", "f32[N]"), sized(6))
	require.ErrorIs(t, err, graph.Contradiction)
	require.ErrorContains(t, err, "Tracer.SizeOf gives 6 for N")
}
