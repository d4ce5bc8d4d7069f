package lazy_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// mode enters tensors: as they are, or into a session.
type mode func(*tensor.Tensor) *tensor.Tensor

// programs are the cases of Torchy's tests, with what each shows. All of them read x and y.
var programs = map[string]struct {
	run  func(in mode, x, y *tensor.Tensor) string
	want string
}{
	"simple": {func(_ mode, x, y *tensor.Tensor) string { return flat(x.Add(y)) }, "[8 8 11 6]"},
	"stack": {func(_ mode, x, y *tensor.Tensor) string {
		s := tensor.Stack([]*tensor.Tensor{x, y}, 0)
		d := s.MulScalar(2)
		return flat(s) + flat(d)
	}, "[3 2 4 5 5 6 7 1][6 4 8 10 10 12 14 2]"},
	"sum_bool": {func(in mode, _, _ *tensor.Tensor) string {
		n := 0
		for _, yes := range tensor.Data[bool](in(vec(1, -1, 2, -3, 0)).GtScalar(0)) {
			if yes {
				n++
			}
		}
		return fmt.Sprint(n)
	}, "2"},
	"ones": {func(in mode, _, _ *tensor.Tensor) string {
		x, y := in(tensor.Ones(3).Clone()), in(vec(5, 6, 1))
		x.AddInPlace(y).MulInPlace(y)
		return show(x) + show(x.Add(y))
	}, "[30 42 2][35 48 3]"},
	"ones_inplace": {func(in mode, _, _ *tensor.Tensor) string {
		w, y := in(tensor.Ones(3).Clone()), in(vec(5, 6, 1))
		w.AddInPlace(y.AddScalar(0)).AddInPlace(y)
		return show(w) + show(y)
	}, "[11 13 3][5 6 1]"},
	"nocompute": {func(_ mode, x, y *tensor.Tensor) string {
		x.MulScalar(2)
		return flat(x.Add(y).Mul(x.Mul(y)))
	}, "[120 96 308 30]"},
	"nocompute2": {func(_ mode, x, y *tensor.Tensor) string {
		w := x.Add(y)
		z := x.Add(w)
		w = nil
		z = x.Mul(z)
		return flat(z) + fmt.Sprint(w == nil)
	}, "[33 20 60 55]true"},
	"inplace": {func(_ mode, x, y *tensor.Tensor) string {
		w := x.Add(y)
		w.AddInPlace(y)
		w.MulInPlace(x)
		return flat(w)
	}, "[39 28 72 35]"},
	"inplace2": {func(_ mode, x, y *tensor.Tensor) string {
		w := x.Add(y)
		x.AddInPlace(x)
		return flat(w.Add(x))
	}, "[14 12 19 16]"},
	"inplace3": {func(_ mode, x, y *tensor.Tensor) string {
		w := x.Add(y)
		x.AddInPlace(x)
		w.AddInPlace(x)
		return flat(w)
	}, "[14 12 19 16]"},
	"inplace4": {func(in mode, x, _ *tensor.Tensor) string {
		t := in(matrix(5, 6, 7, 1))
		a := x.Add(t)
		t.AddInPlace(a).MulScalarInPlace(2)
		return flat(a.Mul(t))
	}, "[208 224 396 84]"},
	"inplace5": {func(in mode, x, _ *tensor.Tensor) string {
		z := x
		x.AddInPlace(in(matrix(5, 6, 7, 8)))
		return flat(x) + flat(z) + flat(x.Add(z))
	}, "[8 8 11 13][8 8 11 13][16 16 22 26]"},
	"copy_": {func(_ mode, x, _ *tensor.Tensor) string {
		w := tensor.ZerosLike(x)
		w.AssignInPlace(x)
		w.AddInPlace(x)
		z := w
		return flat(w) + flat(z)
	}, "[6 4 8 10][6 4 8 10]"},
	"to_inplace": {func(in mode, _, y *tensor.Tensor) string {
		x := in(matrix(3, 8, 9, 33))
		w := x.Cast(array.F32)
		w.AddInPlace(y)
		return flat(x) + flat(w)
	}, "[3 8 9 33][8 14 16 34]"},
	"inplace_dead_alias": {func(in mode, _, _ *tensor.Tensor) string {
		x := in(tensor.Zeros(1, 2).Clone())
		x.View(2, 1).AddScalarInPlace(1)
		return flat(x)
	}, "[1 1]"},
	"view_inplace": {func(in mode, _, y *tensor.Tensor) string {
		x := in(matrix(3, 8, 9, 33))
		x.View(4).AddInPlace(y.View(4))
		return flat(x)
	}, "[8 14 16 34]"},
	"view_inplace2": {func(in mode, _, y *tensor.Tensor) string {
		x := in(matrix(3, 8, 9, 33))
		v := x.View(4)
		x.AddInPlace(y)
		return show(v)
	}, "[8 14 16 34]"},
	"detach2": {func(in mode, _, _ *tensor.Tensor) string {
		x := in(matrix(3, 2, 7, 9))
		d := x.Detach().Clone()
		d.MulInPlace(d)
		return flat(x) + flat(d)
	}, "[3 2 7 9][9 4 49 81]"},
	"detach_": {func(in mode, _, _ *tensor.Tensor) string {
		x := in(matrix(3, 2, 7, 9))
		w := x.Add(x)
		z := w
		w = w.Detach()
		return flat(w) + flat(z)
	}, "[6 4 14 18][6 4 14 18]"},
	"clone": {func(in mode, _, _ *tensor.Tensor) string {
		x := in(matrix(3, 2, 7, 9))
		w := x.Add(x)
		z := w.Clone().Detach()
		c := w.Clone()
		c.AddScalarInPlace(100)
		return flat(w) + flat(z) + flat(c)
	}, "[6 4 14 18][6 4 14 18][106 104 114 118]"},
	"clone2": {func(in mode, _, _ *tensor.Tensor) string {
		x := in(matrix(3, 2, 7, 9))
		x.Detach().Clone().AddInPlace(x)
		return flat(x)
	}, "[3 2 7 9]"},
	"clone3": {func(in mode, _, _ *tensor.Tensor) string {
		x := in(matrix(3, 2, 7, 9))
		c := x.Add(x).Clone()
		return flat(c.Add(x))
	}, "[9 6 21 27]"},
	"clone4": {func(in mode, _, _ *tensor.Tensor) string {
		x := in(matrix(3, 2, 7, 9))
		y := x.Add(x)
		y.Clone()
		return flat(y)
	}, "[6 4 14 18]"},
	"deepcopy": {func(in mode, _, _ *tensor.Tensor) string {
		var sum *tensor.Tensor
		for range 33 {
			l := nn.NewLinear(8, 8)
			l.Weight.AssignInPlace(tensor.Ones(8, 8))
			w := in(l.Weight.Clone())
			l.Weight.AddScalarInPlace(1)
			if sum == nil {
				sum = w
			}
			sum = sum.Add(w)
		}
		return sum.Sum().String()
	}, "tensor(2176.)"},
	"shape": {func(in mode, _, _ *tensor.Tensor) string {
		x, y := in(matrix(1, 4, 5, 8)), in(matrix(5, 5, 6, 6))
		x.AddInPlace(y)
		n := fmt.Sprint(x.Shape())
		x.AddInPlace(y)
		return n + flat(x)
	}, "[2 2][11 14 17 20]"},
	"reshape": {func(in mode, x, y *tensor.Tensor) string {
		w := x.Add(y)
		z := in(matrix(1, 2, 3, 4)).Reshape(-1)
		return show(z) + flat(w)
	}, "[1 2 3 4][8 8 11 6]"},
	"reshape2": {func(in mode, _, _ *tensor.Tensor) string {
		return show(in(vec(5, 6, 1)).AddScalar(1).Reshape(-1))
	}, "[6 7 2]"},
	"set_data": {func(in mode, _, _ *tensor.Tensor) string {
		x, y := in(vec(0, 0)), in(vec(1, 1))
		w := x.Add(y)
		x.AssignInPlace(in(vec(1, 1)))
		return show(w) + show(x)
	}, "[1 1][1 1]"},
	"set_data2": {func(in mode, _, _ *tensor.Tensor) string {
		w := in(vec(1, 1)).Add(in(vec(2, 2)))
		w.AssignInPlace(in(vec(0, 0)))
		return show(w)
	}, "[0 0]"},
	"set_storage_shape": {func(in mode, _, _ *tensor.Tensor) string {
		x := in(tensor.Zeros(0)).AddScalar(1)
		return fmt.Sprint(x.Shape()) + show(x)
	}, "[0][]"},
	"default_dtype": {func(in mode, _, _ *tensor.Tensor) string {
		x := in(tensor.FromSlice([]float64{1, 2})).AddScalar(0.5)
		return x.DType().String() + fmt.Sprint(tensor.Data[float64](x))
	}, "f64[1.5 2.5]"},
	"isinstanceof": {func(in mode, x, _ *tensor.Tensor) string {
		b := x.Cast(array.U8)
		return fmt.Sprint(b.DType() == array.U8, b.Permute(1, 0).DType() == array.U8, tensor.Data[uint8](b.Permute(1, 0).Reshape(-1)))
	}, "true true [3 4 2 5]"},
}

// TestCases runs Torchy's cases eagerly, call by call, and compiled: all show the same.
func TestCases(t *testing.T) {
	for name, c := range programs {
		t.Run(name, func(t *testing.T) {
			run := func(in mode) string { return c.run(in, in(matrix(3, 2, 4, 5)), in(matrix(5, 6, 7, 1))) }
			require.Equal(t, c.want, run(func(x *tensor.Tensor) *tensor.Tensor { return x }), "eager")
			s := open(t, lazy.Options{Warm: 1000})
			require.Equal(t, c.want, run(s.In), "call by call")
			s = open(t, lazy.Options{Warm: 1})
			for range 4 {
				require.Equal(t, c.want, run(s.In), "compiled")
				s.Wait()
			}
			if s.Stats().Runs > 0 {
				require.Positive(t, s.Stats().Hits)
			}
		})
	}
}
