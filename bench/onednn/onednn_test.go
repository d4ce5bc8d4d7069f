package onednn

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/peers"
)

func start(t *testing.T) *server {
	t.Helper()
	s := &server{calls: map[string]*call{}}
	if _, err := s.handle(&peers.Request{Do: "hello"}); err != nil {
		t.Skip(err)
	}
	return s
}

func tensor(seed int, shape ...int) peers.Tensor {
	return peers.Tensor{Shape: shape, DType: "f32", Seed: seed, Scale: 1}
}

func TestMatmulAgainstTheDefinition(t *testing.T) {
	s := start(t)
	for _, variant := range []string{"", "packed"} {
		x, w := tensor(1, 5, 37), tensor(2, 37, 19)
		a, err := s.handle(&peers.Request{Do: "load", ID: "m", Op: "matmul", Variant: variant, Inputs: []peers.Tensor{x, w}})
		require.NoError(t, err)
		y := array.Data[float32](s.calls["m"].out)
		for i := range 5 {
			for j := range 19 {
				sum := 0.0
				for k := range 37 {
					sum += float64(float32(x.At(i*37+k))) * float64(float32(w.At(k*19+j)))
				}
				require.InDelta(t, sum, y[i*19+j], 1e-5)
			}
		}
		require.Len(t, a.Probe, 9)
		a, err = s.handle(&peers.Request{Do: "run", ID: "m", Calls: 3})
		require.NoError(t, err)
		require.Positive(t, a.NS)
		_, err = s.handle(&peers.Request{Do: "drop", ID: "m"})
		require.NoError(t, err)
		_, err = s.handle(&peers.Request{Do: "run", ID: "m", Calls: 1})
		require.Error(t, err)
	}
}

func TestFunctions(t *testing.T) {
	s := start(t)
	for name, f := range map[string]func(float64) float64{
		"exp": math.Exp, "tanh": math.Tanh, "log": math.Log,
		"sigmoid": func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
		"silu":    func(x float64) float64 { return x / (1 + math.Exp(-x)) },
		"gelu":    func(x float64) float64 { return x * 0.5 * (1 + math.Erf(x*math.Sqrt2/2)) },
	} {
		x := tensor(1, 100)
		x.Shift = 1.5
		_, err := s.handle(&peers.Request{Do: "load", ID: name, Op: "unary", Attrs: map[string]any{"name": name}, Inputs: []peers.Tensor{x}})
		require.NoError(t, err)
		for i, y := range array.Data[float32](s.calls[name].out) {
			require.InDelta(t, f(x.At(i)), y, 1e-5, name)
		}
	}
	_, err := s.handle(&peers.Request{Do: "load", Op: "unary", Attrs: map[string]any{"name": "erf"}, Inputs: []peers.Tensor{tensor(1, 4)}})
	require.ErrorContains(t, err, "no function erf")
}
