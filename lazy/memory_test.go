package lazy_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/generated"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/tensor"
)

// watched is the CPU, with all that it has compiled.
type watched struct {
	cpu.Target
	all *[]*cpu.Executable
}

func (w watched) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	e, err := w.Target.Compile(m, o)
	if err == nil {
		*w.all = append(*w.all, e.(*cpu.Executable))
	}
	return e, err
}

// Plans of a model for texts of five lengths have its packed weights once.
func TestMemory_fiveLengths(t *testing.T) {
	wide := small(models.BertBase, 2)
	wide.HiddenSize, wide.IntermediateSize = 32, 64
	m := filled(models.NewBert(wide))
	var plans []*cpu.Executable
	s := open(t, lazy.Options{Dims: lazy.Fixed, Synchronous: true, Target: watched{all: &plans}})
	for range 5 {
		for n := 20; n < 25; n++ {
			y, _ := m.Forward(s.In(tokens(n, 0)), s.In(tensor.Ones(1, n).Cast(array.I64)))
			y.Array()
		}
	}
	require.Len(t, plans, 5)
	one := plans[0].Footprint().Packed
	require.Positive(t, one)
	require.Equal(t, one, plans[0].Footprint(plans[1:]...).Packed)
}

// laidOut stands in for generated code with packed weights: it has what the plan of the graph packs.
type laidOut struct {
	planned
	plan  *plan.Plan
	forms []*array.Array
}

func (l *laidOut) Bind(find generated.Find, pack generated.Pack) error {
	l.forms = nil
	for _, k := range l.plan.Weights() {
		if b := &l.plan.Buffers[k]; b.Pack != nil {
			a, err := find(b.Path)
			if err != nil {
				return err
			}
			l.forms = append(l.forms, pack(b.Pack, a))
		}
	}
	return l.planned.Bind(find, pack)
}

// So have generated graphs of five lengths, and those of another session.
func TestMemory_fiveLengthsGenerated(t *testing.T) {
	wide := small(models.BertBase, 2)
	wide.HiddenSize, wide.IntermediateSize = 32, 64
	m := filled(models.NewBert(wide))
	run := func(s *lazy.Session) {
		for n := 20; n < 25; n++ {
			y, _ := m.Forward(s.In(tokens(n, 0)), s.In(tensor.Ones(1, n).Cast(array.I64)))
			y.Array()
		}
	}
	recording := open(t, lazy.Options{Dims: lazy.Fixed, Record: true})
	run(recording)
	g, modules := recording.Recorded()
	require.Len(t, g.List, 5)
	var bounds []*generated.Bound
	binds := 0
	for i := range g.List {
		ready, err := lowering.Prepare(modules[i], lowering.Options{Exact: true})
		require.NoError(t, err)
		steps, err := cpu.Plan(ready, lowering.Options{Exact: true})
		require.NoError(t, err)
		g.List[i].New = func(find generated.Find, pack generated.Pack, threads int) (generated.Model, error) {
			l := &laidOut{planned: planned{module: modules[i], threads: threads, binds: &binds}, plan: steps}
			return l, l.Bind(find, pack)
		}
	}
	for range 2 {
		s := open(t, lazy.Options{Dims: lazy.Fixed, Generated: g})
		run(s)
		require.Equal(t, []int{0, 0, 0}, missed(s))
		bounds = append(bounds, lazy.Bounds(s)...)
	}
	require.Len(t, bounds, 10)
	one := bounds[0].Packed()
	require.Positive(t, one)
	require.Equal(t, one, bounds[0].Packed(bounds[1:]...))
}

// heap is what is reachable.
func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// A barrier that updates 64 parameters from themselves makes no copy of them, with Donate.
func TestMemory_updates(t *testing.T) {
	s := open(t, lazy.Options{Donate: true, Synchronous: true, Threads: 1})
	var params []*tensor.Tensor
	for range 64 {
		params = append(params, tensor.Param(array.Clone(ramp(128, 128).Array())))
	}
	step := func() {
		rate := s.In(vec(0.25))
		for _, p := range params {
			p.SubInPlace(p.Mul(rate).Tanh())
		}
		require.NoError(t, s.Barrier())
	}
	for range 6 {
		step()
	}
	require.Equal(t, 3*64, s.Stats().Donated, "of the last three")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	step()
	runtime.ReadMemStats(&after)
	require.Equal(t, 4*64, s.Stats().Donated)
	const bytes = 64 * 128 * 128 * 4
	require.Less(t, float64(after.TotalAlloc-before.TotalAlloc), 0.05*bytes, "of all that the step has allocated")
}

// A session holds after a hundred thousand calls, nightly a million, what it held after a tenth of
// them, with barriers and without.
func TestMemory_millionCalls(t *testing.T) {
	most := 100_000
	if nightly() {
		most = 1_000_000
	}
	for _, barrier := range []bool{false, true} {
		s := open(t, lazy.Options{Synchronous: true, Threads: 1})
		x := s.In(vec(1))
		w := param(1)
		early := 0.0
		for i := range most {
			x = x.AddScalar(1)
			if barrier && i%10 == 8 {
				w.AddInPlace(x)
			}
			if barrier && i%10 == 9 {
				require.NoError(t, s.Barrier())
				x = s.In(vec(1))
			}
			if i == most/10 {
				early = heap()
			}
		}
		require.LessOrEqual(t, heap(), 1.1*early)
		require.GreaterOrEqual(t, s.Stats().Calls, most)
		runtime.KeepAlive(x)
	}
}

// A value that was computed keeps none of its operands, however many the call has.
func TestMemory_operands(t *testing.T) {
	s := open(t, lazy.Options{Synchronous: true, Threads: 1})
	some := s.In(ramp(1000).GtScalar(500))
	for name, call := range map[string]func(x *tensor.Tensor) *tensor.Tensor{
		"2 operands": func(x *tensor.Tensor) *tensor.Tensor { return tensor.Maximum(x, x.AddScalar(1)) },
		"3 operands": func(x *tensor.Tensor) *tensor.Tensor { return tensor.Where(some, x, x.AddScalar(1)) },
		"5 operands": func(x *tensor.Tensor) *tensor.Tensor {
			return tensor.Cat([]*tensor.Tensor{x, x, x, x, x.AddScalar(1)}, 0).Narrow(0, 3500, 1000)
		},
	} {
		x := s.In(ramp(1000))
		before := heap()
		for range 1000 {
			x = call(x)
			x.Sum().Item()
		}
		require.Less(t, heap()-before, 1e6, name) // of 4 MB for the values of all calls
		runtime.KeepAlive(x)
	}
}

// Values that nobody reads are computed when they have become many, also in a program that reads others.
func TestMemory_unread(t *testing.T) {
	s := open(t, lazy.Options{Synchronous: true, MaxTrace: 64})
	x := s.In(vec(1))
	for i := range 1000 {
		x.AddScalar(float64(i)).Exp()
		require.Equal(t, 2.0, x.MulScalar(2).Item())
	}
	require.Equal(t, 1000, s.Stats().Flushes[lazy.Item])
	require.Equal(t, 12, s.Stats().Flushes[lazy.Length])
}

// Eight goroutines run a thousand programs each, in sessions of their own that read one model.
func TestGoroutines(t *testing.T) {
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range again {
			if !yield(name) {
				return
			}
		}
	})
	w := param(0.5)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			s := lazy.New(lazy.Options{Threads: 1, Warm: 1})
			defer s.Close()
			r := rand.New(rand.NewPCG(uint64(g), 1))
			for range 1000 {
				name, n, k := names[r.IntN(len(names))], 2+r.IntN(6), r.IntN(6)
				x := ramp(n)
				run := func(x *tensor.Tensor) func() string {
					return func() string { return fmt.Sprint(again[name](x, k).Cast(array.F32).Mul(w)) }
				}
				want, failed := try(run(x))
				got, fails := try(run(s.In(x)))
				if want != got || (failed == "") != (fails == "") {
					t.Errorf("goroutine %d, %s of %d and %d: got %s%s, want %s%s", g, name, n, k, got, fails, want, failed)
				}
			}
		})
	}
	all.Wait()
}
