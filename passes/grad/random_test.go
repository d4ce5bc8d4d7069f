package grad_test

import (
	"context"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes/grad"
	"github.com/gofx-dev/gofx/tensor"
)

// floats are the types whose place f64 takes.
var floats = strings.NewReplacer("bf16", "f64", "f16", "f64", "f32", "f64")

// inF64 is the module with f64 in the place of all floats.
func inF64(m *graph.Module) (*graph.Module, error) {
	wide, err := graph.Parse([]byte(floats.Replace(m.String())), "net.fx")
	if err != nil {
		return nil, err
	}
	for _, p := range m.Params() {
		q := *p
		if q.Value != nil && q.Value.DType().IsFloat() {
			q.Value = array.Contiguous(array.Cast(q.Value, array.F64))
		}
		wide.SetParam(q)
	}
	return wide, nil
}

// point is where a graph is differentiated: its inputs, and those of them, and of its
// parameters, that are moved.
type point struct {
	m    *graph.Module
	in   []*array.Array
	wrt  []string
	move map[string]*array.Array // a direction for each of wrt
	seed []*array.Array          // for each result that holds floats
}

// at returns the inputs, and a module with the parameters, moved by step.
func (p point) at(step float64) (*graph.Module, []*array.Array) {
	shifted := func(a, d *array.Array) *array.Array {
		a = array.Clone(a)
		for i, v := range array.Data[float64](d) {
			array.Data[float64](a)[i] += step * v
		}
		return a
	}
	m := graph.Clone(p.m)
	in := append([]*array.Array{}, p.in...)
	for i, n := range p.m.Graph.Inputs() {
		if d := p.move[n.Target()]; d != nil {
			in[i] = shifted(in[i], d)
		}
	}
	for _, q := range m.Params() {
		if d := p.move[q.Path]; d != nil {
			moved := *q
			moved.Value = shifted(q.Value, d)
			m.SetParam(moved)
		}
	}
	return m, in
}

// along is the sum of seeds times results at a step along the direction.
func (p point) along(step float64) float64 {
	m, in := p.at(step)
	out, err := fx.NewGraphModule(m).RunArrays(ctx, in)
	if err != nil {
		return math.NaN()
	}
	total, k := 0.0, 0
	for _, a := range out {
		if a.DType().IsFloat() {
			if !slices.Equal(a.Shape(), p.seed[k].Shape()) { // its size follows from a value
				return math.NaN()
			}
			for i := range a.Len() {
				total += array.Float64At(p.seed[k], i) * array.Float64At(a, i)
			}
			k++
		}
	}
	return total
}

// differences returns the derivative along the direction, and whether the graph is smooth
// there as far as differences show.
func (p point) differences(h float64) (d float64, smooth bool) {
	here := p.along(0)
	up, down, near := p.along(h), p.along(-h), p.along(h/4)
	d = (up - down) / (2 * h)
	tol := 1e-3 * (1 + math.Abs(d))
	smooth = math.Abs((up-here)/h-(here-down)/h) < tol && math.Abs((near-here)/(h/4)-d) < tol && math.Abs(here) < 1e7
	return d, smooth
}

// product is the sum of gradients times the direction.
func (p point) product(grads []*array.Array) float64 {
	total := 0.0
	for i, g := range grads {
		d := array.Data[float64](p.move[p.wrt[i]])
		for j := range d {
			total += d[j] * array.Float64At(g, j)
		}
	}
	return total
}

// draw makes inputs, a direction and seeds for a graph.
func draw(r *rand.Rand, m *graph.Module) (p point, ok bool) {
	p = point{m: m, move: map[string]*array.Array{}}
	for _, n := range m.Graph.Inputs() {
		dims := []int{}
		for _, d := range n.Type().Dims().Slice() {
			k, known := d.Int()
			if !known {
				k = 5
			}
			dims = append(dims, k)
		}
		d := n.Type().DType()
		switch a := random(r, dims...); {
		case d == array.F64:
			p.in, p.wrt, p.move[n.Target()] = append(p.in, a), append(p.wrt, n.Target()), random(r, dims...)
		default:
			p.in = append(p.in, array.Cast(a, d))
		}
	}
	for _, q := range m.Params() {
		if q.Value != nil && q.Value.DType() == array.F64 && !q.Buffer {
			own := *q
			own.Value = random(r, q.Value.Shape()...) // equal ones meet at a kink, where a gradient is a choice that differences do not make
			m.SetParam(own)
			p.wrt, p.move[q.Path] = append(p.wrt, q.Path), random(r, q.Value.Shape()...)
		}
	}
	out, err := fx.NewGraphModule(m).RunArrays(ctx, p.in)
	if err != nil || len(p.wrt) == 0 {
		return p, false
	}
	for _, a := range out {
		if a.DType().IsFloat() {
			p.seed = append(p.seed, random(r, a.Shape()...))
		}
	}
	return p, len(p.seed) > 0
}

// finite reports whether all values of the program are, those in the middle too.
func (p point) finite() bool {
	all := true
	run := interp.Interpreter{State: interp.NewState(p.m), Node: func(_ *graph.Node, in []interp.Result, next func([]interp.Result) (interp.Result, error)) (interp.Result, error) {
		v, err := next(in)
		if v.T != nil && v.T.DType() == array.F64 {
			for _, x := range tensor.Data[float64](v.T) {
				all = all && !math.IsInf(x, 0) && !math.IsNaN(x)
			}
		}
		return v, err
	}}
	_, err := run.RunArrays(ctx, p.in)
	return err == nil && all
}

// crc makes the numbers of a program follow from its text, so that a failure comes again.
func crc(text string) uint64 { return uint64(crc32.ChecksumIEEE([]byte(text))) }

// TestRandomPrograms compares gradients of random graphs with differences along random
// directions.
func TestRandomPrograms(t *testing.T) { randomPrograms(t, fxtest.RandomGraph, 3) }

// TestRandomControl does so for graphs with branches and loops in each other.
func TestRandomControl(t *testing.T) { randomPrograms(t, bounded, 4) }

// bounded is RandomControl, whose loops tell how many trips they make at most.
func bounded(t *rapid.T) *graph.Module {
	m := fxtest.RandomControl(t)
	for n := range m.Graph.All() {
		if a, ok := n.Attrs().(op.LoopAttrs); ok && n.Op() == op.While {
			a.MaxTrips = 5
			require.NoError(t, n.SetAttrs(a))
		}
	}
	return m
}

// randomPrograms requires that of so many programs one can be compared.
func randomPrograms(t *testing.T, program func(*rapid.T) *graph.Module, of int) {
	count, compared, left := 0, 0, map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		m, err := inF64(program(t))
		count++
		if err != nil {
			left["f32 by default"]++
			return
		}
		p, ok := draw(rand.New(rand.NewPCG(1, crc(m.String()))), m)
		if !ok {
			left["nothing to differentiate"]++
			return
		}
		g, err := grad.VJP(context.Background(), m, grad.Options{Wrt: p.wrt, AllowUnused: true, AllowEvaluation: true})
		if err != nil {
			require.ErrorIs(t, err, op.NoGradient, "%s", m)
			left["no gradient"]++
			return
		}
		in := append(append([]*array.Array{}, p.in...), p.seed...)
		out, err := fx.NewGraphModule(graph.Clone(g)).RunArrays(ctx, in)
		require.NoError(t, err, "%s", g)
		got := p.product(out[len(out)-len(p.wrt):])
		want, smooth := p.differences(1e-5)
		if !smooth {
			left["not smooth there"]++
			return
		}
		if !p.finite() { // 0 times Inf is NaN on the way back, as in PyTorch, where differences see a constant
			left["infinite inside"]++
			return
		}
		compared++
		require.InDelta(t, want, got, 1e-3*(1+math.Abs(want)), "%s\n%s", m, g)
		planned, err := inPlan(g, in)
		require.NoError(t, err, "%s", g)
		for i := range out {
			near(t, out[i], planned[i], 1e-9)
		}
	})
	t.Logf("%d programs, %d compared, left out: %v", count, compared, left)
	require.Greater(t, of*compared, count, "too few programs are compared: "+strconv.Itoa(compared))
}

// TestRandomControlTwice differentiates gradients of graphs with branches and loops again.
func TestRandomControlTwice(t *testing.T) {
	count, compared := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		m, err := inF64(bounded(t))
		if err != nil {
			return
		}
		r := rand.New(rand.NewPCG(2, crc(m.String())))
		p, ok := draw(r, m)
		if !ok {
			return
		}
		count++
		o := grad.Options{Wrt: p.wrt, AllowUnused: true, AllowEvaluation: true}
		first, err := grad.VJP(ctx, m, o)
		if err != nil {
			return
		}
		q := point{m: first, in: append(append([]*array.Array{}, p.in...), p.seed...), wrt: p.wrt, move: p.move}
		out, err := fx.NewGraphModule(graph.Clone(first)).RunArrays(ctx, q.in)
		require.NoError(t, err, "%s", first)
		for _, a := range out {
			if a.DType().IsFloat() {
				q.seed = append(q.seed, random(r, a.Shape()...))
			}
		}
		second, err := grad.VJP(ctx, first, o)
		require.NoError(t, err, "%s", first)
		in := append(append([]*array.Array{}, q.in...), q.seed...)
		all, err := fx.NewGraphModule(second).RunArrays(ctx, in)
		require.NoError(t, err, "%s", second)
		want, smooth := q.differences(1e-5)
		if !smooth || !q.finite() {
			return
		}
		compared++
		got := q.product(all[len(all)-len(p.wrt):])
		require.InDelta(t, want, got, 2e-3*(1+math.Abs(want)), "%s\n%s\n%s", m, first, second)
	})
	t.Logf("%d programs, %d compared", count, compared)
	require.Greater(t, 4*compared, count)
}

// inPlan runs a graph compiled for this CPU.
func inPlan(m *graph.Module, in []*array.Array) ([]*array.Array, error) {
	exe, err := cpu.Compile(graph.Clone(m), lowering.Options{})
	if err != nil {
		return nil, err
	}
	return exe.Run(ctx, in)
}
