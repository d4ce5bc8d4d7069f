package lazy_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/tensor"
)

// lineOf is "file:line" of a position, with the base name.
func lineOf(p diag.Pos) string { return fmt.Sprint(base(p), ":", p.Line) }

func TestExplain_flushesHaveLines(t *testing.T) {
	s := open(t, lazy.Options{})
	x := s.In(vec(1, 2))
	var at diag.Pos
	for range 3 {
		_, at = x.MulScalar(2).Sum().Item(), diag.Here()
	}
	x.Neg()
	require.NoError(t, s.Barrier())
	e := s.Explain()
	require.Len(t, e.Graphs, 2)
	require.Equal(t, []lazy.Flush{{Reason: lazy.Item, At: at.String(), Count: 3}}, e.Graphs[0].Flushes)
	require.Len(t, e.Flushes, 2)
	require.Equal(t, lazy.Barrier, e.Flushes[1].Reason)
	require.Equal(t, []lazy.Next{{Graph: 1, Count: 2}, {Graph: 2, Count: 1}}, e.Graphs[0].Next)
	require.Equal(t, 2, e.Graphs[0].Calls)
	require.Equal(t, 1, e.Graphs[0].Outputs)
	require.Equal(t, []string{"x0 f32[2]"}, e.Graphs[0].Reads)
	require.Contains(t, e.Graphs[0].Text, "%sum")
	require.Contains(t, e.String(), "flush item at "+lineOf(at)+", 3 times")
}

func TestExplain_differences(t *testing.T) {
	s := open(t, lazy.Options{})
	var lines []string
	step := func(x *tensor.Tensor, more bool) {
		y := x.Exp()
		if more {
			y = y.Neg()
			lines = append(lines, diag.Here().String())
		}
		y.Sum().Item()
	}
	step(s.In(vec(1, 2)), false)
	step(s.In(vec(1, 2)), true)
	step(s.In(vec(1, 2, 3)), true)
	e := s.Explain()
	require.Len(t, e.Graphs, 3)
	require.Nil(t, e.Graphs[0].Differs)
	d := e.Graphs[1].Differs
	require.Equal(t, []int{1, 2}, []int{d.From, d.Call})
	require.Contains(t, d.Here.Text, "[neg]")
	require.Contains(t, d.There.Text, "[sum]")
	require.Equal(t, "explain_test.go", filepath.Base(strings.Split(d.Here.At, ":")[0]))
	d = e.Graphs[2].Differs
	require.Equal(t, 1, d.Call)
	require.Equal(t, []string{"x0 f32[3]", "x0 f32[2]"}, []string{d.Read, d.Other}, "both shapes")
	require.Contains(t, e.String(), "reads x0 f32[3], there x0 f32[2]")
}

// A difference may lie in the results alone, or in the weights.
func TestExplain_differencesOfResults(t *testing.T) {
	s := open(t, lazy.Options{})
	w, v := tensor.Param(array.FromSlice([]float32{1, 2})), tensor.Param(array.FromSlice([]float32{3, 4}))
	x := s.In(vec(1, 2))
	y := x.Mul(w)
	y.Sum().Item()
	z := x.Mul(w).Neg()
	z.Sum()
	require.NoError(t, s.Barrier())
	x.Mul(v).Sum().Item()
	e := s.Explain()
	require.Len(t, e.Graphs, 3)
	require.Equal(t, []string{"x0 f32[2]", "p0 f32[2] weight"}, e.Graphs[0].Reads)
	d := e.Graphs[2].Differs
	require.Equal(t, 1, d.Call)
	require.Equal(t, "p1 f32[2] weight", d.Read)
}

func TestExplain_states(t *testing.T) {
	s := open(t, lazy.Options{Target: refusing{}, Warm: 1})
	for range 3 {
		s.In(vec(1)).AddScalar(1).Item()
		s.Wait()
	}
	g := s.Explain().Graphs[0]
	require.Equal(t, lazy.Refused, g.State)
	require.Contains(t, g.Refusal, "this target has no rule")
	require.Equal(t, []int{3, 3, 0, 1}, []int{g.Runs, g.Interpreted, g.Compiled, g.Builds})

	s = open(t, lazy.Options{})
	states := []lazy.State{lazy.Interpreted, lazy.Interpreted, lazy.Compiled, lazy.Compiled}
	for i, want := range states {
		s.In(vec(1)).AddScalar(1).Item()
		s.Wait()
		g = s.Explain().Graphs[0]
		require.Equal(t, want, g.State, i)
	}
	require.Equal(t, []int{4, 3, 1}, []int{g.Runs, g.Interpreted, g.Compiled})
}

func TestExplain_copiesAndDropped(t *testing.T) {
	s := open(t, lazy.Options{MaxPrograms: 1})
	w := tensor.Param(array.FromSlice([]float32{1, 2}))
	y := s.In(vec(10, 10)).Mul(w)
	w.MulScalarInPlace(5)
	at := diag.Here()
	show(y)
	s.In(vec(1, 2, 3)).Neg().Sum().Item()
	e := s.Explain()
	require.Equal(t, []lazy.Dropped{{Graph: 1, Calls: 1, Runs: 1}}, e.Dropped)
	require.Len(t, e.Copies, 1)
	require.Equal(t, 1, e.Copies[0].Count)
	require.Contains(t, e.Copies[0].At, fmt.Sprint(":", at.Line-1))
	require.Len(t, e.Graphs, 1)
	require.Equal(t, 2, e.Graphs[0].Number)
	require.Contains(t, e.String(), "dropped: graph 1 of 1 call after 1 run")
}

// A session of many lines and graphs has as much to tell as one of few.
func TestExplain_isBounded(t *testing.T) {
	s := open(t, lazy.Options{MaxPrograms: 40, Dims: lazy.Fixed})
	for n := range 200 {
		s.In(tensor.Zeros(n + 1)).Neg().Sum().Item()
		s.In(vec(1)).Neg().Sum().Item()
	}
	e := s.Explain()
	require.Len(t, e.Graphs, 40)
	require.Len(t, e.Dropped, 16)
	first := e.Graphs[0]
	require.Equal(t, 1, first.Number)
	require.Equal(t, 201, first.Runs)
	require.LessOrEqual(t, len(first.Next), 65)
	sum := 0
	for _, n := range first.Next {
		sum += n.Count
	}
	require.Equal(t, 200, sum)
	require.Contains(t, e.DOT(), "g1 -> others")
}

// What Explain keeps of a graph holds no data.
func TestExplain_keepsNoData(t *testing.T) {
	s := open(t, lazy.Options{Scalars: lazy.Fixed})
	require.Equal(t, "true 45150", kept(session{s}))
	require.Len(t, s.Explain().Graphs, 301)
}

func TestExplain_isJSON(t *testing.T) {
	s := open(t, lazy.Options{})
	s.In(vec(1)).AddScalar(1).Item()
	text, err := json.Marshal(s.Explain())
	require.NoError(t, err)
	require.Contains(t, string(text), `"at_once":{}`)
	var back lazy.Explanation
	require.NoError(t, json.Unmarshal(text, &back))
	require.Equal(t, *s.Explain(), back)
	require.Error(t, json.Unmarshal([]byte(`{"stats":{"runs":"many"}}`), &back))
}

// TestExplain_successors is the table of TY-15: two graphs by turns follow each other.
func TestExplain_successors(t *testing.T) {
	s := open(t, lazy.Options{})
	for i := range 10 {
		x := s.In(vec(1, 2)).MulScalar(2)
		if i%2 == 1 {
			x = x.Exp()
		}
		x.Sum().Item()
	}
	e := s.Explain()
	require.Equal(t, []lazy.Next{{Graph: 2, Count: 5}}, e.Graphs[0].Next)
	require.Equal(t, []lazy.Next{{Graph: 1, Count: 4}}, e.Graphs[1].Next)
	runs := 0
	for _, g := range e.Graphs {
		runs += g.Runs
	}
	require.Equal(t, s.Stats().Flushes[lazy.Item], runs, "runs sum to flushes")
	require.Contains(t, e.DOT(), "g1 -> g2 [label=\"5\"]")
}
