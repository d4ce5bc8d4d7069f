package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/bench/peak"
)

func TestKindsOfSteps(t *testing.T) {
	p := &peak.Peaks{FMA: 1e12, Bandwidth: []peak.Bandwidth{{Bytes: 1 << 30, Rate: 1e11, Read: 1e11}}}
	list, err := profiled("mlp", 1, 3, p)
	require.NoError(t, err)
	require.Len(t, list, 1)
	k := list[0]
	require.Equal(t, "LinearPacked of one row", k.name)
	require.Equal(t, 3, k.steps)
	require.InDelta(t, 2*(784*512+512*512+512*10), k.flops, 4*(512+512+10), "activations and biases besides")
	require.Greater(t, k.bytes, 4.0*(784*512+512*512+512*10))
	require.Equal(t, k.bound, k.memory, "one row of weights is bound by memory")
	require.Greater(t, k.seconds, 0.0)

	var b strings.Builder
	writeKinds(&b, "mlp", []*kind{{name: "LinearPacked", steps: 3, seconds: 9e-3, flops: 9e9, bytes: 9e6, bound: 6e-3},
		{name: "Copy", steps: 1, seconds: 1e-3, bytes: 1e7, bound: 1e-3, memory: 1e-3}, {name: "View", seconds: 1e-4}})
	require.Equal(t, "| mlp | LinearPacked | 3 | 9.000 | 0.89 | 1000 | 1.0 | arithmetic | 0.67 |\n"+
		"| mlp | Copy | 1 | 1.000 | 0.10 | 0 | 10.0 | memory | 1.00 |\n"+
		"| mlp | all | | 10.100 | 1.00 | | | | 0.69 |\n", b.String())

	_, err = profiled("resnet19", 1, 1, p)
	require.ErrorContains(t, err, "there is no network resnet19, expected one of mlp, ")
}

func TestRoofsOfNetworks(t *testing.T) {
	var b strings.Builder
	require.NoError(t, roofs(options{roof: "mlp,dlrm_static_b8", threads: "1", pairs: 1}, &b))
	require.Contains(t, b.String(), " Threads: 1. Peaks: ")
	require.Contains(t, b.String(), "| network | step | steps | ms | of the time | GFLOP/s | GB/s | bound by | of the roof |\n|---|")
	require.Contains(t, b.String(), "\n| mlp | all | | ")
	require.Contains(t, b.String(), "\n| dlrm_static_b8 | QLinear | ")
	require.ErrorContains(t, roofs(options{roof: "mlp", threads: "none", pairs: 1}, &b), "-threads none: want numbers from 1")
}

// TestKindsOfIntegerSteps takes the rate of 8-bit products for these.
func TestKindsOfIntegerSteps(t *testing.T) {
	p := &peak.Peaks{FMA: 1e12, Int8: 4e12, Bandwidth: []peak.Bandwidth{{Bytes: 1 << 30, Rate: 1e14, Read: 1e14}}}
	list, err := profiled("deep_recommender_static_b16", 1, 1, p)
	require.NoError(t, err)
	at := slices.IndexFunc(list, func(k *kind) bool { return k.name == "QLinear" })
	require.GreaterOrEqual(t, at, 0)
	require.Equal(t, 6, list[at].steps)
	require.Zero(t, list[at].memory)
	require.InEpsilon(t, list[at].flops/4e12, list[at].bound, 1e-9)
	require.InEpsilon(t, 16*2.0*(17768*512+512*512+512*1024+1024*512+512*512+512*17768), list[at].flops, 0.01)
}
