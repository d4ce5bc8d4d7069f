package lazy_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// chain is W1: elementwise calls on two matrices of n rows and columns.
func chain(x, y *tensor.Tensor, calls int) *tensor.Tensor {
	z := x
	for i := range calls {
		if i%2 == 0 {
			z = z.Mul(y)
		} else {
			z = z.Add(x)
		}
	}
	return z
}

func BenchmarkChain(b *testing.B) {
	for _, n := range []int{4, 100, 1000} {
		for _, calls := range []int{8, 32} {
			x, y := tensor.Ones(n, n).MulScalar(0.5).Clone(), tensor.Ones(n, n).MulScalar(0.25).Clone()
			run := func(name string, in func(*tensor.Tensor) *tensor.Tensor, o func(*tensor.Tensor)) {
				b.Run(name+"/"+strconv.Itoa(calls)+"x"+strconv.Itoa(n), func(b *testing.B) {
					b.ReportAllocs()
					u, v := in(x), in(y)
					for b.Loop() {
						o(chain(u, v, calls))
					}
				})
			}
			run("eager", func(x *tensor.Tensor) *tensor.Tensor { return x }, func(x *tensor.Tensor) { _ = x.Value().(*array.Array) })
			for _, o := range []struct {
				name string
				lazy.Options
			}{{"exact", lazy.Options{}}, {"rounding", lazy.Options{Rounding: true}}} {
				s := lazy.New(o.Options)
				run(o.name, s.In, func(*tensor.Tensor) {
					s.Barrier()
				})
			}
		}
	}
}

// BenchmarkLift is a chain of calls with numbers, of which one changes each time: what the
// session pays for having it as an operand, next to a graph that has it as a constant.
func BenchmarkLift(b *testing.B) {
	for _, n := range []int{4, 1000} {
		x := tensor.Ones(n, n).MulScalar(0.5).Clone()
		for _, way := range []struct {
			name  string
			o     lazy.Options
			moves float64
		}{{"fixed", lazy.Options{Scalars: lazy.Fixed}, 0}, {"constant", lazy.Options{}, 0}, {"operand", lazy.Options{}, 1}} {
			b.Run(way.name+"/"+strconv.Itoa(n), func(b *testing.B) {
				b.ReportAllocs()
				s := lazy.New(way.o)
				u := s.In(x)
				for i := 0; b.Loop(); i++ {
					z := u.MulScalar(2.5 + way.moves*float64(i))
					for range 16 {
						z = z.MulScalar(0.5).AddScalar(0.25)
					}
					s.Barrier()
				}
			})
		}
	}
}

// BenchmarkLengths runs a small BERT over texts of 32 lengths, twice each; compiling is part of it.
func BenchmarkLengths(b *testing.B) {
	m := filled(models.NewBert(models.BertConfig{VocabSize: 40, MaxPositions: 64, TypeVocabSize: 2, HiddenSize: 64, NumLayers: 4, NumHeads: 4, IntermediateSize: 256, LayerNormEps: 1e-12}))
	texts := func(in func(*tensor.Tensor) *tensor.Tensor, wait func()) {
		for i := range 64 {
			n := 5 + 11*i%32
			y, _ := m.Forward(in(tokens(n, i)), in(tensor.Ones(1, n).Cast(array.I64)))
			y.Array()
			wait()
		}
	}
	b.Run("eager", func(b *testing.B) {
		for b.Loop() {
			texts(func(x *tensor.Tensor) *tensor.Tensor { return x }, func() {})
		}
	})
	for _, p := range []lazy.Policy{lazy.Fixed, lazy.Auto} {
		for _, wait := range []bool{false, true} {
			b.Run(p.String()+"/wait="+strconv.FormatBool(wait), func(b *testing.B) {
				for b.Loop() {
					s := lazy.New(lazy.Options{Dims: p, Warm: 1})
					texts(s.In, func() {
						if wait {
							s.Wait()
						}
					})
					s.Close()
				}
			})
		}
	}
}

// TestRecording_allocatesLittle counts what a recorded call allocates: the call as engines are given
// it, the value, and the tensor with its list. Lists of a flush are used again by the next one.
func TestRecording_allocatesLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: the race detector is run so, and has pools drop what they hold")
	}
	s := lazy.New(lazy.Options{MaxTrace: 1 << 20})
	defer s.Close()
	x := s.In(tensor.Ones(4, 4))
	y := x
	call := func() { y = y.Mul(x) }
	for range 100 {
		call()
	}
	require.Equal(t, 3.0, testing.AllocsPerRun(1000, call))
	require.NoError(t, s.Barrier())
}

// empty is an engine that records nothing.
type empty struct{ typ shape.Type }

func (e *empty) Call(c *tensor.Call) []*tensor.Tensor { return tensor.NewProxies(e, c.Op) }

func (e *empty) Type(*tensor.Tensor) shape.Type { return e.typ }

func (e *empty) Observe(*tensor.Tensor, string) *array.Array { return nil }

func (e *empty) Assign(_, _ *tensor.Tensor, _ string) {}

func (e *empty) Gradient(*tensor.Tensor, []*tensor.Tensor, tensor.GradOptions) []*tensor.Tensor {
	panic("this engine keeps no calls")
}

// BenchmarkRecording is what a call takes before anything is computed, next to an engine that
// does nothing.
func BenchmarkRecording(b *testing.B) {
	b.Run("empty", func(b *testing.B) {
		b.ReportAllocs()
		x := tensor.NewProxy(&empty{shape.TensorType(array.F32, shape.ConstDims(4, 4))}, 0)
		for b.Loop() {
			x.Mul(x)
		}
	})
	b.Run("session", func(b *testing.B) {
		b.ReportAllocs()
		s := lazy.New(lazy.Options{MaxTrace: 1 << 12})
		defer s.Close()
		x := s.In(tensor.Ones(4, 4))
		for i := 0; b.Loop(); i++ {
			x.Mul(x)
			if i%1000 == 999 {
				b.StopTimer()
				if err := s.Barrier(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		}
	})
}
