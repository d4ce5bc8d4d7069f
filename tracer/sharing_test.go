package tracer_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/internal/testkit/sharing"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// Random programs that write what may be the memory of others are refused, or compute what they compute as Go code.
func TestSharedMemory(t *testing.T) {
	count, captured := uint64(3000), 0
	if os.Getenv("GOFX_NIGHTLY") == "1" {
		count = 60000
	}
	given := func() *tensor.Tensor { return tensor.FromSlice([]float32{0.5, -1, 2}) }
	for seed := range count {
		var p sharing.Program
		want := p.Run(seed, given())
		text := p.String()
		if p.Looks() {
			continue
		}
		g, err := fx.Trace(context.Background(), func(x *tensor.Tensor) []*tensor.Tensor { return p.Run(seed, x) }, fx.Input("x", "f32[3]"))
		if err != nil {
			continue
		}
		captured++
		got, err := g.Run(context.Background(), given())
		require.NoError(t, err, "seed %d\n%s", seed, text)
		require.Equal(t, fmt.Sprint(want), fmt.Sprint(got), "seed %d\n%s", seed, text)
	}
	t.Log(captured, "programs are captured")
	require.Greater(t, captured, int(count)/6)
}

// round is a program that writes the tensor e in the rounds of a loop; x has met it.
type round struct {
	code diag.Code // none where it is captured
	run  func(x, e *tensor.Tensor) *tensor.Tensor
}

type ts = []*tensor.Tensor

// twoRounds runs a body twice.
func twoRounds(x *tensor.Tensor, body func(in *tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
	return tensor.While(func(in ts) *tensor.Tensor { return in[1].LtScalar(2) },
		func(in ts) ts { return ts{body(in[0]), in[1].AddScalar(1)} }, x, tensor.Scalar(float32(0)))[0]
}

func threeNumbers() []float32 { return []float32{1, 2, 3} }

// rounds are refused where they read e, by whatever code.
var rounds = map[string]round{
	"an element": {tensor.RegionMismatch, func(x, e *tensor.Tensor) *tensor.Tensor {
		return twoRounds(x, func(in *tensor.Tensor) *tensor.Tensor {
			k := e.Sum().Item()
			e.AddInPlace(in)
			return in.MulScalar(k)
		})
	}},
	"a value": {tensor.RegionMismatch, func(x, e *tensor.Tensor) *tensor.Tensor {
		return twoRounds(x, func(in *tensor.Tensor) *tensor.Tensor {
			k := e.MulScalar(2).Exp()
			e.AddInPlace(in)
			return in.Add(k)
		})
	}},
	"its own new value": {tensor.RegionMismatch, func(x, e *tensor.Tensor) *tensor.Tensor {
		return twoRounds(x, func(in *tensor.Tensor) *tensor.Tensor {
			e.AddScalarInPlace(3)
			return in
		}).Add(e)
	}},
	"data": {tracer.UnseenWrite, func(x, e *tensor.Tensor) *tensor.Tensor {
		return twoRounds(x, func(in *tensor.Tensor) *tensor.Tensor {
			k := tensor.Data[float32](e)[0]
			e.AddInPlace(in)
			return in.MulScalar(float64(k))
		})
	}},
	"a condition": {tensor.RegionMismatch, func(x, e *tensor.Tensor) *tensor.Tensor {
		return tensor.While(func(in ts) *tensor.Tensor { return in[0].Sum().Lt(e.MulScalar(2).Sum().AddScalar(30)) },
			func(in ts) ts { e.AddInPlace(in[0]); return ts{in[0].MulScalar(2).AddScalar(1)} }, x)[0]
	}},
	"slices": {tensor.RegionMismatch, func(x, e *tensor.Tensor) *tensor.Tensor {
		last, _ := tensor.Scan(func(c, s ts) (ts, ts) {
			k := e.Exp()
			e.MulInPlace(s[0])
			return ts{c[0].Add(k)}, nil
		}, ts{x}, ts{tensor.Stack(ts{x, x}, 0)})
		return last[0]
	}},
	"a branch in it": {tensor.RegionMismatch, func(x, e *tensor.Tensor) *tensor.Tensor {
		return twoRounds(x, func(in *tensor.Tensor) *tensor.Tensor {
			k := tensor.Cond(in.Sum().GtScalar(0), func(a ts) ts { return ts{a[0].Add(e.MulScalar(2))} }, func(a ts) ts { return ts{a[0].Neg()} }, in)[0]
			e.AddInPlace(in)
			return k
		})
	}},
}

// moreRounds read what else is in that memory, or do not read e by eager calls.
var moreRounds = map[string]round{
	"another tensor over the slice": {tensor.RegionMismatch, func(x, _ *tensor.Tensor) *tensor.Tensor {
		b := threeNumbers()
		e, f := tensor.FromSlice(b), tensor.FromSlice(b)
		return twoRounds(x.Add(e), func(in *tensor.Tensor) *tensor.Tensor {
			k := f.MulScalar(2)
			e.AddInPlace(in)
			return in.Add(k)
		})
	}},
	"its operand": {tensor.RegionMismatch, func(x, e *tensor.Tensor) *tensor.Tensor {
		out := tensor.While(func(in ts) *tensor.Tensor { return in[0].Sum().LtScalar(40) }, func(in ts) ts {
			k := e.MulScalar(2)
			in[0].AddInPlace(k)
			return ts{in[0], in[1].Add(k)}
		}, e, x)
		return out[1]
	}},
	"a slice of before": {tracer.UnseenWrite, func(x, e *tensor.Tensor) *tensor.Tensor {
		d := tensor.Data[float32](e)
		e.AddInPlace(x)
		return x.MulScalar(float64(d[0]))
	}},
	"with On": {"", func(x, e *tensor.Tensor) *tensor.Tensor {
		return twoRounds(x, func(in *tensor.Tensor) *tensor.Tensor {
			k := tensor.On(in, e).MulScalar(2).Exp()
			e.AddInPlace(in)
			return in.Add(k)
		})
	}},
	"its own new value, with On": {"", func(x, e *tensor.Tensor) *tensor.Tensor {
		return twoRounds(x, func(in *tensor.Tensor) *tensor.Tensor {
			tensor.On(in, e).AddScalarInPlace(3)
			return in
		}).Add(e)
	}},
	"a value that no round writes": {"", func(x, e *tensor.Tensor) *tensor.Tensor {
		f := tensor.FromSlice(threeNumbers())
		return twoRounds(x, func(in *tensor.Tensor) *tensor.Tensor {
			k := f.MulScalar(2).Add(tensor.Ones(3))
			e.AddInPlace(in)
			return in.Add(k)
		})
	}},
}

// What a round reads by eager calls, of memory that rounds write, is that of the first round: it is refused where it is read.
// With tensor.On each round reads what it finds.
func TestRoundsThatLook(t *testing.T) {
	all := maps.Clone(rounds)
	maps.Copy(all, moreRounds)
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			run := func(x *tensor.Tensor) *tensor.Tensor {
				e := tensor.FromSlice(threeNumbers())
				x = x.Add(e) // the trace meets it
				return c.run(x, e)
			}
			x := tensor.FromSlice([]float32{0.5, -1, 2})
			g, err := fx.Trace(context.Background(), run, fx.Input("x", "f32[3]"))
			if c.code != "" {
				require.ErrorIs(t, err, c.code)
				require.ErrorContains(t, err, "sharing_test.go:")
				return
			}
			require.NoError(t, err)
			got, err := g.Run(context.Background(), x)
			require.NoError(t, err)
			require.Equal(t, run(x).String(), got[0].String())
		})
	}
}
