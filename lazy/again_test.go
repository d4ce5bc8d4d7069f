package lazy_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/tensor"
)

// again are programs of a vector and a number.
var again = map[string]func(x *tensor.Tensor, i int) *tensor.Tensor{
	"conv": func(x *tensor.Tensor, i int) *tensor.Tensor {
		n := x.Dim(0)
		return x.Reshape(1, 1, n).AvgPool1d(2).Reshape(-1).MulScalar(float64(i))
	},
	"cat": func(x *tensor.Tensor, i int) *tensor.Tensor {
		return tensor.Cat([]*tensor.Tensor{x, x.MulScalar(float64(i))}, 0).Cumsum(0)
	},
	"full": func(x *tensor.Tensor, i int) *tensor.Tensor {
		return tensor.Full([]int{x.Dim(0)}, float64(i)+0.5).Mul(x)
	},
	"tril":  func(x *tensor.Tensor, i int) *tensor.Tensor { n := x.Dim(0); return x.Expand(n, n).Tril(i - 3).Sum(0) },
	"pow":   func(x *tensor.Tensor, i int) *tensor.Tensor { return x.PowScalar(float64(i) / 2) },
	"clamp": func(x *tensor.Tensor, i int) *tensor.Tensor { return x.Clamp(-float64(i)/10, float64(i)/8) },
	"nan": func(x *tensor.Tensor, i int) *tensor.Tensor {
		return x.AddScalar([]float64{math.NaN(), math.Inf(1), math.Copysign(0, -1), 0, 1, -1, 1e-45, 3}[i%8])
	},
	"intdiv": func(x *tensor.Tensor, i int) *tensor.Tensor {
		return x.MulScalar(100).Cast(array.I64).FloorDivideScalar(int64(i + 1))
	},
	"roll": func(x *tensor.Tensor, i int) *tensor.Tensor { return x.Roll(i % 3) },
	"last": func(x *tensor.Tensor, i int) *tensor.Tensor {
		return x.Select(0, -1).Add(x.Select(0, i%2)).Add(x.Narrow(0, i%2, 1))
	},
	"chunk": func(x *tensor.Tensor, i int) *tensor.Tensor {
		n := x.Dim(0)
		p := x.Split([]int{n / 2, n - n/2}, 0)
		return p[0].Sum().Add(p[1].MulScalar(float64(i)))
	},
	"f16": func(x *tensor.Tensor, i int) *tensor.Tensor {
		return x.Cast(array.F16).MulScalar(0.1 * float64(i)).AddScalar(i)
	},
	"bool": func(x *tensor.Tensor, i int) *tensor.Tensor {
		return x.GtScalar(0.1).MulScalar(i).Add(x.LtScalar(float64(i)))
	},
	"where": func(x *tensor.Tensor, i int) *tensor.Tensor {
		return x.MaskedFill(x.GtScalar(0), float64(i)).Softmax(-1)
	},
	"write": func(x *tensor.Tensor, i int) *tensor.Tensor {
		y := x.Clone()
		y.Narrow(0, i%2, 1).MulScalarInPlace(float64(i))
		y.Select(0, i%2).AssignInPlace(y.Select(0, -1))
		return y
	},
	"matmul": func(x *tensor.Tensor, i int) *tensor.Tensor {
		n := x.Dim(0)
		return x.Reshape(n, 1).Matmul(x.Reshape(1, n)).Mean()
	},
	"slicen": func(x *tensor.Tensor, i int) *tensor.Tensor {
		n := x.Dim(0)
		return x.Slice(0, i%2, n-1).Slice(0, 0, n/2).Exp()
	},
	"flip": func(x *tensor.Tensor, i int) *tensor.Tensor {
		n := x.Dim(0)
		return x.Reshape(1, n).Repeat(2, 1).Reshape(2*n).Slice(0, 0, n)
	},
	"arange": func(x *tensor.Tensor, i int) *tensor.Tensor {
		return tensor.Arange(x.Dim(0)).MulScalar(i).Cast(array.F32).Add(x)
	},
	"topk": func(x *tensor.Tensor, i int) *tensor.Tensor { v, _ := x.MaxDim(0); return v.MulScalar(float64(i)) },
}

// Programs that run again with other numbers, positions and sizes in one session give
// eager code's bits, or its mistake, whatever was compiled for the others.
func TestPrograms_runAgain(t *testing.T) {
	for _, o := range []lazy.Options{{}, {Warm: 1, MaxPrograms: 2}, {Warm: 1, Scalars: lazy.Always}, {Warm: 1, MaxTrace: 2}} {
		for name, f := range again {
			s := open(t, o)
			r := rand.New(rand.NewPCG(1, 2))
			for range 60 {
				n, k := 2+r.IntN(9), r.IntN(9)
				if r.IntN(10) == 0 {
					n = 1
				}
				x := ramp(n)
				run := func(x *tensor.Tensor) func() string {
					return func() string { y := f(x, k); return fmt.Sprint(y.DType(), y.Shape(), y) }
				}
				want, failed := try(run(x))
				got, fails := try(run(s.In(x)))
				require.Equal(t, failed == "", fails == "", "%s: %s | %s", name, failed, fails)
				require.Equal(t, want, got, "%s, size %d, number %d", name, n, k)
				s.Wait()
			}
			if o.MaxPrograms == 0 {
				require.Positive(t, s.Stats().Hits, name)
			}
		}
	}
}

func try(f func() string) (out, err string) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Sprint(r)
		}
	}()
	return f(), ""
}
