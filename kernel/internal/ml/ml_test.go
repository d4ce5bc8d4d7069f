package ml

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// node is a tree by its definition: branches, or the amounts that a leaf adds to
// columns.
type node struct {
	feature   int
	how       int32
	threshold float64
	yes, no   *node
	adds      map[int]float64
}

// value is the sum of the trees by definition.
func (n *node) leaf(row []float64) map[int]float64 {
	if n.adds != nil {
		return n.adds
	}
	v, holds := row[n.feature], false
	switch n.how &^ TreeMissing {
	case TreeAtMost:
		holds = v <= n.threshold
	case TreeLess:
		holds = v < n.threshold
	case TreeEqual:
		holds = v == n.threshold
	}
	if holds || math.IsNaN(v) && n.how&TreeMissing != 0 {
		return n.yes.leaf(row)
	}
	return n.no.leaf(row)
}

// grown draws a tree.
func grown(r *rand.Rand, depth, features, columns int) *node {
	if depth == 0 || r.IntN(6) == 0 {
		n := &node{adds: map[int]float64{}}
		for range r.IntN(3) {
			n.adds[r.IntN(columns)] = float64(r.IntN(33)-16) / 8
		}
		return n
	}
	return &node{r.IntN(features), int32(r.IntN(3) + 4*r.IntN(2)), float64(r.IntN(9) - 4), grown(r, depth-1, features, columns), grown(r, depth-1, features, columns), nil}
}

// laid is the trees as tables.
func laid(trees []*node, x, y array.DType) []*array.Array {
	var nodes, roots, columns []int32
	var thresholds, weights []float64
	starts := []int32{0}
	var lay func(n *node) int32
	lay = func(n *node) int32 {
		if n.adds != nil {
			for k := range 64 {
				if w, ok := n.adds[k]; ok {
					columns, weights = append(columns, int32(k)), append(weights, w)
				}
			}
			starts = append(starts, int32(len(weights)))
			return int32(1 - len(starts))
		}
		at := len(thresholds)
		nodes, thresholds = append(nodes, int32(n.feature), n.how, 0, 0), append(thresholds, n.threshold)
		yes := lay(n.yes)
		no := lay(n.no)
		nodes[4*at+2], nodes[4*at+3] = yes, no
		return int32(at)
	}
	for _, t := range trees {
		roots = append(roots, lay(t))
	}
	ints := func(v []int32, dims ...int) *array.Array {
		a := array.New(array.I32, dims...)
		copy(array.Data[int32](a), v)
		return a
	}
	floats := func(v []float64, d array.DType) *array.Array {
		a := array.New(d, len(v))
		for i, f := range v {
			array.SetFloat64At(a, i, f)
		}
		return a
	}
	return []*array.Array{ints(nodes, len(thresholds), 4), floats(thresholds, x), ints(roots, len(roots)), ints(starts, len(starts)), ints(columns, len(columns)), floats(weights, y)}
}

// TestTreesByTheirMeaning compares with the trees as they are thought of, for all types and aggregates, on any number of threads.
func TestTreesByTheirMeaning(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		features, columns, rows := 1+r.IntN(5), 1+r.IntN(4), r.IntN(140)
		trees := make([]*node, r.IntN(6))
		for i := range trees {
			trees[i] = grown(r, r.IntN(6), features, columns)
		}
		d := []array.DType{array.F32, array.F64}
		x, y := d[r.IntN(2)], d[r.IntN(2)]
		in := append([]*array.Array{array.New(x, rows, features)}, laid(trees, x, y)...)
		for i := range in[0].Len() {
			v := float64(r.IntN(11)-5) / float64(1+r.IntN(2))
			if r.IntN(6) == 0 {
				v = math.NaN()
			}
			array.SetFloat64At(in[0], i, v)
		}
		for _, how := range []string{"", "average", "min", "max"} {
			var first []byte
			for _, threads := range []int{1, 3} {
				out := array.New(y, rows, columns)
				w := &par.Workspace{Threads: threads}
				Trees{how}.Run(w, []*array.Array{out}, in)
				require.LessOrEqual(t, w.HighWater(), Trees{how}.ScratchBytes([]*array.Array{out}, in))
				for i := range rows {
					row := make([]float64, features)
					for k := range row {
						row[k] = array.Float64At(in[0], i*features+k)
					}
					for k := range columns {
						want := meant(trees, row, k, how)
						if y == array.F32 {
							want = float64(float32(want))
						}
						require.Equal(t, want, array.Float64At(out, i*columns+k), "%d: %q, row %d, column %d", round, how, i, k)
					}
				}
				if first == nil {
					first = array.Bytes(out)
				}
				require.Equal(t, first, array.Bytes(out))
			}
		}
	}
}

// meant is an element of the result; sums of eighths are exact.
func meant(trees []*node, row []float64, k int, how string) float64 {
	total, seen := 0.0, false
	for _, tree := range trees {
		v, ok := tree.leaf(row)[k]
		switch {
		case !ok:
			continue
		case how == "min" && seen:
			total = min(total, v)
		case how == "max" && seen:
			total = max(total, v)
		case how == "min" || how == "max":
			total = v
		default:
			total += v
		}
		seen = true
	}
	if how == "average" && len(trees) > 0 {
		return total / float64(len(trees))
	}
	return total
}

// TestTablesThatAreNoTrees: tables may come from any file of weights. None makes a run
// panic with anything but an error that has a code, or go on forever.
func TestTablesThatAreNoTrees(t *testing.T) {
	two := &node{0, TreeAtMost, 0, &node{adds: map[int]float64{0: 1}}, &node{1, TreeAtMost, 0, &node{adds: map[int]float64{0: 2}}, &node{adds: map[int]float64{1: 3}}, nil}, nil}
	for name, change := range map[string]func(in []*array.Array){
		"a cycle": func(in []*array.Array) { array.Data[int32](in[1])[7] = 0; array.Data[int32](in[1])[6] = 0 },
		"itself":  func(in []*array.Array) { array.Data[int32](in[1])[6] = 1; array.Data[int32](in[1])[7] = 1 },
		"no node": func(in []*array.Array) { array.Data[int32](in[1])[7] = 9; array.Data[int32](in[1])[6] = 9 },
		"no leaf": func(in []*array.Array) { array.Data[int32](in[1])[7] = -9; array.Data[int32](in[1])[6] = -9 },
		"the least": func(in []*array.Array) {
			array.Data[int32](in[1])[7] = math.MinInt32
			array.Data[int32](in[1])[6] = math.MinInt32
		},
		"no root":            func(in []*array.Array) { array.Data[int32](in[3])[0] = 5 },
		"no feature":         func(in []*array.Array) { array.Data[int32](in[1])[0] = 2 },
		"negative feature":   func(in []*array.Array) { array.Data[int32](in[1])[0] = -1 },
		"no column":          func(in []*array.Array) { array.Data[int32](in[5])[2] = 2; array.Data[int32](in[5])[1] = 2 },
		"negative column":    func(in []*array.Array) { array.Data[int32](in[5])[2] = -1; array.Data[int32](in[5])[1] = -1 },
		"entries backwards":  func(in []*array.Array) { array.Data[int32](in[4])[2] = -4; array.Data[int32](in[4])[1] = 3 },
		"entries beyond":     func(in []*array.Array) { array.Data[int32](in[4])[2] = 99; array.Data[int32](in[4])[3] = 99 },
		"no starts":          func(in []*array.Array) { in[4] = array.New(array.I32, 0) },
		"thresholds missing": func(in []*array.Array) { in[2] = array.New(array.F32, 1) },
		"weights missing":    func(in []*array.Array) { in[6] = array.New(array.F32, 1) },
		"wide tables":        func(in []*array.Array) { in[3] = array.Cast(in[3], array.I64) },
		"other thresholds":   func(in []*array.Array) { in[2] = array.Cast(in[2], array.F64) },
	} {
		in := append([]*array.Array{array.FromSlice([]float32{1, -1, 1, 1}, 2, 2)}, laid([]*node{two}, array.F32, array.F32)...)
		change(in)
		for _, threads := range []int{1, 2} {
			err := func() (err error) {
				defer diag.Catch(&err)
				Trees{}.Run(&par.Workspace{Threads: threads}, []*array.Array{array.New(array.F32, 2, 2)}, in)
				return nil
			}()
			var e *diag.Error
			require.True(t, errors.As(err, &e), "%s: %v", name, err)
			require.Equal(t, operand.OperandCode, e.Code, name)
		}
	}
}

// TestTreesAllocateNothing: a run takes its memory from the workspace.
func TestTreesAllocateNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var trees []*node
	for range 20 {
		trees = append(trees, grown(r, 5, 4, 3))
	}
	in := append([]*array.Array{array.New(array.F32, 100, 4)}, laid(trees, array.F32, array.F32)...)
	out, w := []*array.Array{array.New(array.F32, 100, 3)}, &par.Workspace{}
	var step par.Step = &Trees{}
	run := func() { step.Run(w, out, in) }
	run()
	require.Zero(t, testing.AllocsPerRun(20, run))
}

// TestCoupling: probabilities of pairs that come from those of classes give these back.
func TestCoupling(t *testing.T) {
	want := []float64{0.1, 0.2, 0.3, 0.4}
	pairs := array.New(array.F64, 2, 6)
	for row := range 2 {
		at := row * 6
		for i, p := range want {
			for _, q := range want[i+1:] {
				array.SetFloat64At(pairs, at, p/(p+q))
				at++
			}
		}
	}
	out := array.New(array.F64, 2, 4)
	w := &par.Workspace{}
	Coupling{}.Run(w, []*array.Array{out}, []*array.Array{pairs})
	require.LessOrEqual(t, w.HighWater(), Coupling{}.ScratchBytes([]*array.Array{out}, []*array.Array{pairs}))
	for i := range 8 {
		require.InDelta(t, want[i%4], array.Float64At(out, i), 0.005)
	}
}
