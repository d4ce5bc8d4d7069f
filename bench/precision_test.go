package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/bench/peers"
)

func TestCoarseness(t *testing.T) {
	probe := func(f func(x float64) float64) (p []float64) {
		for _, terms := range []float64{576, 512} {
			for range peers.Places {
				p = append(p, terms*f(odd)*f(odd))
			}
		}
		return p
	}
	require.Less(t, coarseness(probe(func(x float64) float64 { return x })), coarsest)
	require.InDelta(t, 4.9e-4, coarseness(probe(func(x float64) float64 { return 1 })), 1e-5, "bf16, f16 and tf32 have no digit for it")
}

// TestRoundingIsSeen asks OpenVINO to compute in bf16, which the network of precision shows, and
// in f32, which it shows, too. The others have no such choice, or do not heed it on this processor.
func TestRoundingIsSeen(t *testing.T) {
	b := quickBench(t, []string{"openvino"})
	if b.procs["openvino"] == nil {
		t.Skip("OpenVINO is not installed; bench/peers/install.sh installs it")
	}
	if cpu, err := os.ReadFile("/proc/cpuinfo"); err != nil || !strings.Contains(string(cpu), "avx512_bf16") {
		t.Skip("this processor does not multiply in bf16")
	}
	c := precisionCase()
	w, err := openNetwork(c.Network, c.Dims)
	require.NoError(t, err)
	x, err := w.export(t.TempDir(), c, w.ready)
	require.NoError(t, err)
	require.NoError(t, x.onnxErr)
	require.NoError(t, x.mlirErr)
	ask := func(variant string) float64 {
		a, err := b.procs["openvino"].Do(peers.Request{Do: "load", ID: "a" + variant, File: x.onnx, Inputs: x.feeds, Variant: variant})
		require.NoError(t, err)
		return coarseness(a.Probe)
	}
	require.Less(t, ask(""), coarsest)
	require.Greater(t, ask("bf16"), coarsest)
}
