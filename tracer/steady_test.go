package tracer_test

import (
	"errors"
	"maps"
	"math/rand"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// moody is a model whose Forward is one of the programs below.
type moody struct {
	Heads map[string]*nn.Linear
	W     *tensor.Tensor
	sizes map[string]int
	calls int
	cache *tensor.Tensor
	log   []string
	do    func(m *moody, x *tensor.Tensor) *tensor.Tensor
}

func (m *moody) Forward(x *tensor.Tensor) *tensor.Tensor { return m.do(m, x) }

func newMoody(do func(m *moody, x *tensor.Tensor) *tensor.Tensor) *moody {
	return &moody{Heads: map[string]*nn.Linear{"a": nn.NewLinear(2, 2), "b": nn.NewLinear(2, 2)}, W: tensor.Param(array.FromSlice([]float32{1, 2})),
		sizes: map[string]int{"p": 2, "q": 3}, do: do}
}

var unsteadyModels = map[string]func(m *moody, x *tensor.Tensor) *tensor.Tensor{
	"layers in map order": func(m *moody, x *tensor.Tensor) *tensor.Tensor {
		for _, h := range m.Heads {
			x = h.Forward(x)
		}
		return x
	},
	"independent heads in map order": func(m *moody, x *tensor.Tensor) *tensor.Tensor {
		var out []*tensor.Tensor
		for _, h := range m.Heads {
			out = append(out, h.Forward(x))
		}
		return out[0].Mul(out[1])
	},
	"keys unsorted": func(m *moody, x *tensor.Tensor) *tensor.Tensor {
		for _, k := range slices.Collect(maps.Keys(m.Heads)) {
			x = m.Heads[k].Forward(x)
		}
		return x
	},
	"settings in map order": func(m *moody, x *tensor.Tensor) *tensor.Tensor {
		for _, n := range m.sizes {
			x = x.MulScalar(float64(n)).AddScalar(1)
		}
		return x
	},
	"random number": func(m *moody, x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(rand.Float64()) },
	"random tensor": func(m *moody, x *tensor.Tensor) *tensor.Tensor {
		return x.Add(tensor.FromSlice([]float32{rand.Float32(), 1}))
	},
	"clock": func(m *moody, x *tensor.Tensor) *tensor.Tensor {
		return x.AddScalar(float64(time.Now().UnixNano()))
	},
	"counter": func(m *moody, x *tensor.Tensor) *tensor.Tensor {
		if m.calls++; m.calls%2 == 0 {
			return x.Neg()
		}
		return x
	},
	"first call": func(m *moody, x *tensor.Tensor) *tensor.Tensor {
		if m.calls++; m.calls == 1 {
			return x.Neg()
		}
		return x
	},
	"first call fills a cache and computes something else": func(m *moody, x *tensor.Tensor) *tensor.Tensor {
		if m.cache == nil {
			m.cache = m.W.MulScalar(2)
			return x.Neg()
		}
		return x.Add(m.cache)
	},
	"growing": func(m *moody, x *tensor.Tensor) *tensor.Tensor {
		m.log = append(m.log, "call")
		for range m.log {
			x = x.Relu()
		}
		return x
	},
}

func TestTracesThatDifferAreReportedAtTheirLine(t *testing.T) {
	for name, do := range unsteadyModels {
		for range 5 {
			_, err := fx.Trace(ctx, newMoody(do), fx.Input("x", "f32[N,2]"))
			require.ErrorIs(t, err, tracer.Unsteady, name)
			var l diag.List
			require.True(t, errors.As(err, &l))
			require.Len(t, l, 1)
			require.Equal(t, "steady_test.go", filepath.Base(l[0].Pos.File), "%s: %v", name, err)
		}
	}
}

var steadyModels = map[string]func(m *moody, x *tensor.Tensor) *tensor.Tensor{
	"sorted keys": func(m *moody, x *tensor.Tensor) *tensor.Tensor {
		for _, k := range slices.Sorted(maps.Keys(m.Heads)) {
			x = m.Heads[k].Forward(x)
		}
		return x
	},
	"map order that does not count": func(m *moody, x *tensor.Tensor) *tensor.Tensor {
		for k := range m.Heads {
			if k == "b" {
				return m.Heads[k].Forward(x)
			}
		}
		return x
	},
	"seeded": func(m *moody, x *tensor.Tensor) *tensor.Tensor {
		return x.MulScalar(rand.New(rand.NewSource(1)).Float64())
	},
	"counts calls": func(m *moody, x *tensor.Tensor) *tensor.Tensor { m.calls++; m.log = append(m.log, "x"); return x.Neg() },
	"fills a cache": func(m *moody, x *tensor.Tensor) *tensor.Tensor {
		if m.cache == nil {
			m.cache = m.W.MulScalar(2).AddScalar(1)
		}
		return x.Mul(m.cache).Add(m.cache)
	},
	"fills a table": func(m *moody, x *tensor.Tensor) *tensor.Tensor {
		if m.cache == nil {
			m.cache = tensor.Arange(2).Cast(array.F32)
		}
		return x.Mul(m.cache)
	},
	"fills with data": func(m *moody, x *tensor.Tensor) *tensor.Tensor {
		if m.cache == nil {
			m.cache = tensor.FromSlice([]float32{3, 4})
		}
		return x.Mul(m.cache).Sum()
	},
	"fills a buffer by writing": func(m *moody, x *tensor.Tensor) *tensor.Tensor {
		m.W.AssignInPlace(m.W.Add(x.Sum()))
		return x.Mul(m.W)
	},
}

func TestModelsThatAreTheSameAtEachCallAreCaptured(t *testing.T) {
	for name, do := range steadyModels {
		m := newMoody(do)
		gm, err := fx.Trace(ctx, m, fx.Input("x", "f32[N,2]"))
		require.NoError(t, err, name)
		again, err := fx.Trace(ctx, newMoody(do), fx.Input("x", "f32[N,2]"))
		require.NoError(t, err, name)
		require.Equal(t, graph.Print(gm.Module, graph.PrintOptions{}), graph.Print(again.Module, graph.PrintOptions{}), name)
		got, err := gm.Run(ctx, ones(3, 2))
		require.NoError(t, err, name)
		fresh := newMoody(do)
		fresh.Heads = m.Heads
		require.True(t, fresh.Forward(ones(3, 2)).Equal(got[0]), name)
	}
}

func TestFunctionsAreTracedAsOftenAsWanted(t *testing.T) {
	calls := 0
	f := func(x *tensor.Tensor) *tensor.Tensor { calls++; return x.Neg() }
	for times, want := range map[int]int{-1: 1, 0: 2, 5: 6, 20: 21} {
		calls = 0
		_, err := fx.Trace(ctx, f, fx.Steady(tracer.Steadiness{Times: times}))
		require.NoError(t, err)
		require.Equal(t, want, calls)
	}
	calls = 0
	_, err := fx.Trace(ctx, f, fx.Steady(tracer.Steadiness{Times: 1000, For: 1}))
	require.NoError(t, err)
	require.Equal(t, 9, calls, "eight traces are made however long they take")

	heads := map[string]float64{"a": 2, "b": 3}
	closure := func(x *tensor.Tensor) *tensor.Tensor {
		for _, v := range heads {
			x = x.MulScalar(v).AddScalar(1)
		}
		return x
	}
	_, err = fx.Trace(ctx, closure, fx.Steady(tracer.Steadiness{Times: 400}))
	require.ErrorIs(t, err, tracer.Unsteady, "what a closure holds is not seen, but tried")

	seen := 0
	_, err = fx.Trace(ctx, f, fx.With(func(p *tracer.Tracer) { p.OnNode = func(*graph.Node, *tensor.Call) { seen++ } }))
	require.NoError(t, err)
	require.Equal(t, 1, seen, "hooks see one trace")
}
