package debug_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/debug"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
)

func read(t *testing.T, text string) debug.Case {
	c, err := debug.Read("gofx 1\n\n"+text, nil)
	require.NoError(t, err)
	return c
}

// TestExamplesOfCodes makes the mistake of every documented code of the package.
func TestExamplesOfCodes(t *testing.T) {
	c := net()
	bisect := func(check func(context.Context, *graph.Module) error, list ...passes.Pass) error {
		_, err := debug.Bisect(t.Context(), c.Module, list, passes.Options{Numeric: &passes.Numeric{Inputs: c.Inputs}}, check)
		return err
	}
	runs := 0
	moody := passes.EachNode("moody", "Depends on chance.", func(p *passes.Ctx, n *graph.Node) error {
		if n == n.Graph().First() {
			runs++
		}
		if n.Op() == std.Neg && (runs < 2 || p.Matches() < 1) {
			return p.Replace(n, n.Graph().Before(n).Function(std.Relu, nil, n.Arg(0)), "an example")
		}
		return nil
	})
	mistakes := map[diag.Code]func() error{
		debug.NothingFails: func() error { return bisect(nil, simplify.DCE) },
		debug.FailsBefore: func() error {
			return bisect(func(context.Context, *graph.Module) error { return errors.New("no") }, simplify.DCE)
		},
		debug.NotRepeatable: func() error { return bisect(nil, moody) },
		debug.EngineDiffers: func() error {
			return debug.Fails(nil, passes.Options{}, func(m *graph.Module) (debug.Engine, error) { return zeros{m}, nil })(t.Context(), c)
		},
		debug.BadCase: func() error {
			_, err := debug.Read(netText, debug.Tensors{"%x": "f32[2] AAAA"})
			return err
		},
		debug.NotComparable: func() error {
			a, b := read(t, "graph g(%x: f32[2]) {\n  %a = call_function[neg](%x)\n  return ()\n}"), read(t, "graph g(%x: f32[2]) {\n  %b = call_function[exp](%x)\n  return ()\n}")
			_, err := debug.Compare(t.Context(), a.Module, b.Module, a.Inputs, debug.CompareOptions{})
			return err
		},
	}
	for _, info := range diag.Codes() {
		if info.Code < "FX3080" || info.Code >= "FX3090" {
			continue
		}
		require.NotNil(t, mistakes[info.Code], "%s has no example here", info.Code)
		require.ErrorContains(t, mistakes[info.Code](), string(info.Code))
		delete(mistakes, info.Code)
	}
	require.Empty(t, mistakes)
}

// TestBisect finds what fails in other ways than by values.
func TestBisect(t *testing.T) {
	c := net()
	relu := func(name string, spoil func(p *passes.Ctx, n *graph.Node) error) passes.Pass {
		return passes.EachNode(name, "Spoils.", func(p *passes.Ctx, n *graph.Node) error {
			if n.Op() == std.Neg || n.Op() == std.Sigmoid {
				return spoil(p, n)
			}
			return nil
		})
	}
	good := relu("good", func(p *passes.Ctx, n *graph.Node) error { p.Rewrote(n, nil, "nothing"); return nil })
	third := func(f func(p *passes.Ctx, n *graph.Node) error) func(p *passes.Ctx, n *graph.Node) error {
		return func(p *passes.Ctx, n *graph.Node) error {
			var err error
			if p.Matches() == 2 {
				err = f(p, n)
			}
			p.Rewrote(n, nil, "an example")
			return err
		}
	}
	lint := relu("lint", third(func(_ *passes.Ctx, n *graph.Node) error {
		n.SetType(shape.TensorType(array.I64, shape.ConstDims(1)))
		return nil
	}))
	fails := relu("fails", third(func(*passes.Ctx, *graph.Node) error { panic("no") }))
	whole := doubleNeg
	whole.Name, whole.Whole = "whole", true
	quiet := passes.Pass{Name: "quiet", Doc: "Does not say what it does.", Run: func(_ *passes.Ctx, g *graph.Graph) (bool, error) {
		n := g.Find("d")
		n.ReplaceUses(n.Arg(0), nil)
		return true, nil
	}}
	for name, s := range map[string]struct {
		list  []passes.Pass
		o     passes.Options
		pass  string
		match int
		err   string
		bad   bool // there is a module after it
	}{
		"a broken graph":    {list: []passes.Pass{good, lint, good}, pass: "lint", match: 3, err: "invalid graph after the pass", bad: true},
		"a panic":           {list: []passes.Pass{good, fails}, pass: "fails", match: 0, err: "panicked"},
		"all in one":        {list: []passes.Pass{good, whole, good}, pass: "whole", match: 0, err: "differs", bad: true},
		"without a word":    {list: []passes.Pass{good, quiet, good}, pass: "quiet", match: 0, err: "differs", bad: true},
		"the second of two": {list: []passes.Pass{simplify.DCE, doubleNeg, good, doubleNeg}, pass: "double-neg", match: 2, err: "differs", bad: true},
		"one that is left":  {list: []passes.Pass{whole, lint}, o: passes.Options{Disable: []string{"whole"}}, pass: "lint", match: 3, err: "invalid graph", bad: true},
		"up to one":         {list: []passes.Pass{good, whole, lint}, o: passes.Options{StopAfter: "whole"}, pass: "whole", err: "differs", bad: true},
	} {
		t.Run(name, func(t *testing.T) {
			s.o.Numeric = &passes.Numeric{Inputs: c.Inputs}
			found, err := debug.Bisect(t.Context(), c.Module, s.list, s.o, nil)
			require.NoError(t, err)
			require.Equal(t, s.pass, found.Pass)
			require.Equal(t, s.match, found.Match)
			require.ErrorContains(t, found.Err, s.err)
			require.Contains(t, found.String(), "pass "+s.pass)
			require.Equal(t, s.bad, found.Bad != nil)
			require.NotNil(t, found.Good)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := debug.Bisect(ctx, c.Module, []passes.Pass{doubleNeg}, passes.Options{}, func(context.Context, *graph.Module) error { cancel(); return nil })
	require.ErrorIs(t, err, context.Canceled)
}

// moody is an engine that computes tanh wrong in graphs with one result.
type moody struct{ m *graph.Module }

func (e moody) Run(ctx context.Context, in []*array.Array) ([]*array.Array, error) {
	p := interp.Interpreter{State: interp.NewState(e.m)}
	p.Node = func(n *graph.Node, in []interp.Result, next func([]interp.Result) (interp.Result, error)) (interp.Result, error) {
		v, err := next(in)
		if n.Op() == std.Tanh && e.m.Graph.Output().NumArgs() == 1 {
			v.T = v.T.AddScalar(1)
		}
		return v, err
	}
	return p.RunArrays(ctx, in)
}

// TestCompare_walksUpwards finds a value that is wrong only while others are not observed,
// through a tuple and a value without a counterpart.
func TestCompare_walksUpwards(t *testing.T) {
	c := read(t, `graph g(%x: f32[2,4]) {
  %a = call_function[neg](%x)
  %b = call_function[tanh](%a)
  %c = call_function[chunk](%b) {chunks=2}
  %d = call_function[getitem](%c) {index=0}
  %e = call_function[exp](%d)
  %f = call_function[sigmoid](%e)
  return %f
}`)
	d, err := debug.Compare(t.Context(), c.Module, c.Module, c.Inputs, debug.CompareOptions{Second: func(m *graph.Module) (debug.Engine, error) { return moody{m}, nil }})
	require.NoError(t, err)
	require.Equal(t, "b", d.First().Node, d)
	require.True(t, d.First().Alone)
	require.Contains(t, d.String(), "first difference: %b (tanh): differs at element")
	require.Contains(t, d.String(), "differs while alone")
	d, err = debug.Compare(t.Context(), c.Module, c.Module, c.Inputs, debug.CompareOptions{})
	require.NoError(t, err)
	require.Nil(t, d.First())
	require.True(t, strings.HasPrefix(d.String(), "all values agree\n"))
}

// TestCompareByModule pairs forms of different captures.
func TestCompareByModule(t *testing.T) {
	a := read(t, `graph g(%x: f32[2,4]) {
  %n = call_function[neg](%x) in "a"
  %m = call_function[neg](%n) in "a"
  %o = call_function[neg](%m) in "b.c"
  return %o
}`)
	b := read(t, `graph g(%x: f32[2,4]) {
  %p = call_function[neg](%x) in "a"
  %q = call_function[neg](%p) in "a"
  %n = call_function[exp](%q) in "d"
  %r = call_function[neg](%n) in "b.c"
  return %r
}`)
	d, err := debug.Compare(t.Context(), a.Module, b.Module, a.Inputs, debug.CompareOptions{})
	require.NoError(t, err)
	pairs := map[string]string{}
	for _, r := range d.Rows {
		pairs[r.Node] = r.Other
	}
	require.Equal(t, map[string]string{"n": "p", "m": "q", "o": "r"}, pairs)
	require.Equal(t, "o", d.First().Node)
	require.Equal(t, []string{"%n = exp(q)"}, d.OnlySecond)
}

func TestDistance(t *testing.T) {
	of := func(v ...float32) *array.Array { return array.FromSlice(v) }
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, s := range []struct {
		want, got *array.Array
		largest   float64
		at        int
		ulps      float64
		sqnr      string
	}{
		{of(1, 2), of(1, 2), 0, 0, 0, "exact"},
		{of(0, 0), of(0, 0), 0, 0, 0, "exact"},
		{of(1, nan, inf), of(1, nan, inf), 0, 0, 0, "exact"},
		{of(1, 2), of(1, math.Nextafter32(2, 3)), 0x1p-22, 1, 1, "139.4 dB"},
		{of(0), of(math.Float32frombits(0x80000001)), 0x1p-149, 0, 1, "-Inf dB"},
		{of(1, 3), of(1, nan), math.Inf(1), 1, 0x7fc00000 - 0x40400000, "-Inf dB"},
		{of(inf, 3), of(1, 3), math.Inf(1), 0, 0x7f800000 - 0x3f800000, "-Inf dB"},
		{array.FromSlice([]int64{5, -2}), array.FromSlice([]int64{5, 2}), 4, 1, 4, "2.6 dB"},
		{array.FromSlice([]bool{true}), array.FromSlice([]bool{false}), 1, 0, 1, "0.0 dB"},
		{array.Cast(of(1), array.F16), array.Cast(of(1.0009765625), array.F16), 0x1p-10, 0, 1, "60.2 dB"},
		{array.Cast(of(-1), array.BF16), array.Cast(of(-1.0078125), array.BF16), 0x1p-7, 0, 1, "42.1 dB"},
	} {
		var d debug.Distance
		d.Add(s.want, s.got)
		require.Equal(t, s.largest, d.Largest)
		require.Equal(t, s.at, d.At)
		require.Equal(t, s.ulps, d.ULPs)
		require.Equal(t, s.sqnr, d.SQNR().String())
	}
}

// TestMinimise holds that another failure is not taken for it, that values
// are kept where they matter, and that what a failure needs stays: state, regions.
func TestMinimise(t *testing.T) {
	c := parsed(t)
	in := []*array.Array{array.FromSlice(make([]float32, 12), 2, 6), nil}
	for name, s := range map[string]struct {
		has  string // fails with a graph that has this
		size int
	}{
		"a region":  {"tanh", 4},
		"state":     {"assign", 4},
		"a shape":   {"reshape", 3},
		"reduction": {"[sum]", 3},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := debug.Minimise(t.Context(), debug.Case{Module: c.Module, Inputs: in}, func(_ context.Context, c debug.Case) error {
				switch text := c.Module.String(); {
				case strings.Contains(text, s.has):
					return diag.New(debug.EngineDiffers, "has "+s.has)
				case strings.Contains(text, "exp"):
					return diag.New(debug.BadCase, "another failure")
				}
				return nil
			})
			require.NoError(t, err)
			require.LessOrEqual(t, found.Module.Graph.Len(), s.size, found.Module)
			require.Contains(t, found.Module.String(), s.has)
			require.Empty(t, found.Kept)
		})
	}
	special := func(_ context.Context, c debug.Case) error {
		for _, a := range c.Inputs {
			if a != nil && a.DType() == array.F32 && a.Len() > 0 && array.Float64At(a, 0) == 0 {
				return errors.New("a zero")
			}
		}
		return nil
	}
	found, err := debug.Minimise(t.Context(), debug.Case{Module: c.Module, Inputs: in}, special)
	require.NoError(t, err)
	require.Len(t, found.Kept, 1)
	src, err := debug.Write(found, debug.TestFile{Package: "p", Name: "TestIt", Fails: "special"})
	require.NoError(t, err)
	require.Contains(t, string(src), `AAAA`)
	_, err = debug.Write(found, debug.TestFile{Package: "p", Name: "Test it", Fails: "special"})
	require.ErrorContains(t, err, "no Go source")
	panics, err := debug.Minimise(t.Context(), debug.Case{Module: c.Module, Inputs: in}, func(context.Context, debug.Case) error { panic("no") })
	require.NoError(t, err)
	require.LessOrEqual(t, panics.Module.Graph.Len(), 3, panics.Module)
}

// parsed is a network with state, a region, a symbol and two results.
func parsed(t *testing.T) debug.Case {
	c, err := debug.Read("gofx 1\n\n"+stateful, debug.Tensors{"%x": "f32[2,6]"})
	require.NoError(t, err)
	return c
}

const stateful = `graph g(%x: f32[N,6], %k: bool[] = true) {
  symbol N = dim(%x, 0)
  %w = get_attr[w]
  %s = get_attr[s]
  %a = call_function[matmul](%x, %w)
  %p = call_function[exp](%a)
  %q = call_function[sum](%p) {dim=[1]}
  %b = call_function[cond](%k, %a) {
    region(%v: f32[N,6]) {
      %r = call_function[relu](%v)
      return %r
    }
    region(%v: f32[N,6]) {
      %r = call_function[tanh](%v)
      return %r
    }
  }
  %c = call_function[reshape](%b) {shape=[-1,3]}
  %m = call_function[mean](%c)
  %u = call_function[assign](%s, %m)
  %z = get_attr[s]
  %e = call_function[mul](%c, %z)
  return %e, %q
}
param w : f32[6,6]
param s : f32[] buffer
`
