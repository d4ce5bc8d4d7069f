package lazy_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/lazy/lazytest"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// mixed are programs of everything that a flush meets: results of several, odd types, views,
// state, mistakes, sizes of elements, functions that are no operators.
var mixed = map[string]func(in mode, barrier func()) string{
	"tuple": func(in mode, b func()) string {
		v, i := in(matrix(1, 5, 3, 2)).MaxDim(1)
		parts := tensor.Chunk(in(matrix(1, 2, 3, 4)), 2, 0)
		s := v.String()
		b()
		return s + i.AddScalar(1).String() + parts[1].Add(v).String()
	},
	"lstm": func(in mode, b func()) string {
		l := nn.NewLSTM(2, 3)
		for _, e := range nn.StateDict(l) {
			e.Tensor.AssignInPlace(tensor.ZerosLike(e.Tensor).AddScalar(0.25))
		}
		y, h, c := l.Forward(in(tensor.Ones(1, 4, 2)), nil, nil)
		s := y.Sum().String()
		b()
		return s + h.String() + c.String()
	},
	"types": func(in mode, b func()) string {
		s := ""
		for _, d := range []array.DType{array.F64, array.I64, array.U8, array.Bool, array.F16, array.BF16, array.I32} {
			x := in(matrix(1, 0, 3, 4).Cast(d))
			s += fmt.Sprint(x.Cast(array.F32).AddScalar(1).Sum().Item(), x.Reshape(-1).Shape())
		}
		return s
	},
	"empty": func(in mode, b func()) string {
		x := in(tensor.Zeros(0, 3))
		return fmt.Sprint(x.AddScalar(1).Sum().Item(), x.T().Shape())
	},
	"scalar": func(in mode, b func()) string { return in(tensor.Scalar[float32](2)).Exp().String() },
	"error": func(in mode, b func()) (s string) {
		x := in(vec(1, 2))
		func() {
			defer func() { s = fmt.Sprint(recover() != nil) }()
			bad := x.Gather(in(tensor.FromSlice([]int64{5})), 0)
			bad.AddScalar(1).Item()
		}()
		return s + x.AddScalar(1).String()
	},
	"sgd": func(in mode, b func()) string {
		w, u := tensor.Param(array.FromSlice([]float32{1, 2})), tensor.Param(array.FromSlice([]float32{3, 5}))
		for range 6 {
			g := in(vec(0.5, 0.25)).Mul(w).Mul(u)
			w.SubInPlace(g.MulScalar(0.1))
			b()
		}
		return w.String() + in(vec(1, 1)).Add(w).String()
	},
	"views": func(in mode, b func()) string {
		x := in(tensor.Arange(24).Cast(array.F32).Reshape(2, 3, 4).Clone())
		x.Permute(1, 2, 0).AddScalarInPlace(42)
		x.Select(0, 1).Slice(1, 1, 3).MulScalarInPlace(-1)
		b()
		x.Diagonal().AddScalarInPlace(7)
		return x.String()
	},
	"nonzero": func(in mode, b func()) string {
		x := in(vec(1, 0, 2)).AddScalar(0)
		return x.Nonzero().String() + x.Exp().String()
	},
	"foreign": func(in mode, b func()) string { return doubled(in(vec(1, 2)).AddScalar(1)).Exp().String() },
	"nilarg": func(in mode, b func()) string {
		l := nn.NewLinear(2, 2, nn.NoBias())
		l.Weight.AssignInPlace(matrix(1, 2, 3, 4))
		return l.Forward(in(matrix(1, 2, 3, 4))).Clamp(nil, 9.0).String()
	},
	"bn": func(in mode, b func()) string {
		bn := nn.NewBatchNorm1d(2)
		nn.Train(bn)
		x := in(matrix(1, 2, 3, 6))
		for range 4 {
			x = bn.Forward(x)
			b()
		}
		return x.String()
	},
}

// Values do not depend on options that only say when and where graphs are compiled.
func TestOptions_giveTheSameValues(t *testing.T) {
	for name, f := range mixed {
		t.Run(name, func(t *testing.T) {
			want := f(func(x *tensor.Tensor) *tensor.Tensor { return x }, func() {})
			dir := t.TempDir()
			for i, o := range []lazy.Options{{}, {OneByOne: 3}, {OneByOne: 1000}, {Folder: dir, Warm: 1}, {Folder: dir}, {Folder: dir, Warm: 50}, {Folder: dir, MaxPrograms: 1}} {
				s := open(t, o)
				if i%2 == 0 {
					s.Wait()
				}
				for range 4 {
					require.Equal(t, want, f(s.In, func() { require.NoError(t, s.Barrier()) }), "%d %+v", i, o)
					s.Wait()
					e := s.Explain()
					_ = e.String() + e.DOT()
					_, err := json.Marshal(e)
					require.NoError(t, err)
					for _, g := range e.Graphs {
						require.NotEmpty(t, g.Text)
					}
					_, err = lazytest.Text(e)
					require.NoError(t, err)
				}
				require.Zero(t, s.Stats().Ignored)
				require.Zero(t, s.Stats().Refused)
			}
		})
	}
}

// TestSynchronous: the run after the one that starts the compiler has the plan, however long that takes.
func TestSynchronous(t *testing.T) {
	s := open(t, lazy.Options{Warm: 1, Synchronous: true})
	for range 6 {
		require.Equal(t, 3.0, s.In(vec(1, 2)).Sum().Item())
	}
	require.Equal(t, []int{2, 4}, []int{s.Stats().Interpreted, s.Stats().Hits})
}
