package cpu_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
)

// measured are options that let an executable measure, and keep nothing.
func measured() lowering.Options {
	return lowering.Options{Threads: 2, Measure: lowering.Measure{On: true, Folder: "-", Budget: time.Hour}}
}

// favour is a meter by which one way is the fastest. Everything runs.
func favour(name string) func(string, func()) time.Duration {
	return func(what string, run func()) time.Duration {
		if run(); what == name {
			return time.Millisecond
		}
		return 2 * time.Millisecond
	}
}

// convs has a graph of a convolution with a bias and an activation for each of some sizes.
func convs(t *testing.T) (list []*graph.Module) {
	add := func(channels, filters, size, kernel, groups int) {
		w := fmt.Sprintf("f32[%d,%d,%d,%d]", filters, channels/groups, kernel, kernel)
		list = append(list, module(t, fmt.Sprintf("graph g(%%x: f32[2,%d,%d,%d]) {\n %%w = get_attr[w] : %s\n %%b = get_attr[b] : f32[%d]\n"+
			" %%y = call_function[conv2d](%%x, %%w, %%b) {padding=[%d,%d], groups=%d}\n %%r = call_function[relu](%%y)\n return %%r\n}\nparam w : %s\nparam b : f32[%d]\n",
			channels, size, size, w, filters, kernel/2, kernel/2, groups, w, filters)))
	}
	for size := 4; size <= 14; size += 2 {
		add(16, 16, size, 3, 1)
		add(32, 24, size, 3, 1)
	}
	add(40, 36, 7, 3, 2)
	add(24, 20, 14, 1, 1)
	add(64, 33, 1, 1, 1)
	add(3, 10, 9, 3, 1)
	return list
}

// TestMeasuredWays has every way of every step that is measured chosen once: results are the interpreter's
// within the bound that ConvPacked states for the largest tiles, runs allocate nothing, and the packed weight follows when it is written.
func TestMeasuredWays(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range convs(t) {
		in, err := passes.Inputs(m.Graph, nil, 5)
		require.NoError(t, err)
		w := m.Param("w").Value
		per := float64(w.Dim(1))
		taps := 0.0
		for _, v := range array.Data[float32](w) {
			taps = max(taps, math.Abs(float64(v)))
		}
		most := 0.0
		for _, v := range array.Data[float32](in[0]) {
			most = max(most, math.Abs(float64(v)))
		}
		bound := 88 * (17 + per) * math.Ldexp(1, -23) * per * most * 9 * taps
		for _, name := range []string{"Lanes", "Rows", "Tiles2", "Tiles4"} {
			e, err := cpu.CompileMetered(m, measured(), favour(name))
			require.NoError(t, err)
			for _, c := range e.Stats().Measured {
				require.Greater(t, len(c.Ways), 1)
				if c.Ways[c.Chosen].Name != name {
					continue
				}
				seen[name] = true
				require.Equal(t, c.Chosen > 0, strings.Contains(e.Plan().String(), "Way: "+name), "%s", e.Plan())
			}
			want := interpret(t, m, in...)
			out, err := e.Run(ctx, in)
			require.NoError(t, err)
			for range 2 {
				for i, v := range array.Data[float32](want[0]) {
					require.InDelta(t, v, array.Data[float32](out[0])[i], bound, "%s, element %d\n%s", name, i, e.Plan())
				}
				require.Zero(t, testing.AllocsPerRun(3, func() { require.NoError(t, e.RunInto(ctx, out, in)) }))
			}
			require.NoError(t, e.Close())
		}
	}
	if strings.HasPrefix(kernel.CPU(), "avx") {
		require.Subset(t, keys(seen), []string{"Lanes", "Rows"})
		require.True(t, seen["Tiles2"] || seen["Tiles4"], "%v", seen)
	}
}

func keys(m map[string]bool) (list []string) {
	for k := range m {
		list = append(list, k)
	}
	return list
}

// TestMeasureLeavesExactAlone: exact plans, and those that nobody lets measure, have no choices, and the same bits as ever.
func TestMeasureLeavesExactAlone(t *testing.T) {
	for _, m := range convs(t) {
		in, err := passes.Inputs(m.Graph, nil, 5)
		require.NoError(t, err)
		o := measured()
		o.Exact = true
		for _, o := range []lowering.Options{o, {Threads: 2}} {
			e, err := cpu.CompileMetered(m, o, func(string, func()) time.Duration {
				require.Fail(t, "something was measured")
				return 0
			})
			require.NoError(t, err)
			require.Empty(t, e.Stats().Measured)
			require.NotContains(t, e.Plan().String(), "Way:")
			if o.Exact {
				got, err := e.Run(ctx, in)
				require.NoError(t, err)
				require.True(t, array.Equal(interpret(t, m, in...)[0], got[0]))
			}
			require.NoError(t, e.Close())
		}
	}
}

// TestMeasureKeepsChoices: a later process reads what was chosen, whatever its clock says, and has the same bits.
func TestMeasureKeepsChoices(t *testing.T) {
	o := measured()
	o.Measure.Folder = t.TempDir()
	m := convs(t)[len(convs(t))-2]
	in, err := passes.Inputs(m.Graph, nil, 5)
	require.NoError(t, err)
	var bits []*array.Array
	for _, name := range []string{"Lanes", "Rows", "Tiles4"} {
		e, err := cpu.CompileMetered(m, o, favour(name))
		require.NoError(t, err)
		out, err := e.Run(ctx, in)
		require.NoError(t, err)
		if bits == nil {
			bits = out
		}
		require.True(t, array.Equal(bits[0], out[0]))
		for _, c := range e.Stats().Measured {
			require.Equal(t, "Lanes", c.Ways[c.Chosen].Name)
			require.Equal(t, name != "Lanes", c.Stored)
		}
		require.NoError(t, e.Close())
	}
}

// TestMeasureNeedsNumbers: sizes that are symbols are computed as rules choose; pinned, they are measured.
func TestMeasureNeedsNumbers(t *testing.T) {
	m := module(t, "graph g(%x: f32[N,64,1,1]) {\n symbol N = dim(%x, 0)\n %w = get_attr[w] : f32[33,64,1,1]\n"+
		" %r = call_function[conv2d](%x, %w)\n return %r\n}\nparam w : f32[33,64,1,1]\n")
	e, err := cpu.CompileMetered(m, measured(), favour("Lanes"))
	require.NoError(t, err)
	require.Empty(t, e.Stats().Measured)
	o := measured()
	o.Shapes = map[string]int{"N": 3}
	pinned, err := cpu.CompileMetered(m, o, favour("Lanes"))
	require.NoError(t, err)
	if strings.HasPrefix(kernel.CPU(), "avx") {
		require.Len(t, pinned.Stats().Measured, 1)
	}
}
