package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/tensor"

	"example.com/customtarget/toy"
)

func TestRun(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, run(context.Background(), &b))
	require.Equal(t, `part toy0 on toy: 2 calls
part cpu0 on cpu: 1 calls
part toy1 on toy: 4 calls
%softmax on cpu: toy: the machine has no unit for it
%x to toy0: f32[N,8]
%toy0 from toy0: f32[N,8]
%cpu0 to toy1: f32[N,8]
%toy0 to toy1: f32[N,8]
%x to toy1: f32[N,8]
%toy1 from toy1: f32[N,4]
scores [1 4]
scores [3 4]
2 runs: 8 values to the machine, 4 back
machine: {Resident:108 Loaded:128 Stored:48 Executed:12}
`, b.String())
}

// The network gives the same results on the machine as in Go.
func TestNet(t *testing.T) {
	ctx := context.Background()
	net := NewNet()
	gm, err := fx.Trace(ctx, net, fx.Input("x", "f32[N,8]"))
	require.NoError(t, err)
	exe, err := lowering.Split{First: toy.Target{Machine: &toy.Machine{}}, Rest: cpu.Target{}}.Compile(gm.Module, lowering.Options{})
	require.NoError(t, err)
	var g op.Gen
	for _, rows := range []int{0, 1, 5} {
		x := g.Normal(rows, 8)
		out, err := exe.Run(ctx, []*array.Array{x})
		require.NoError(t, err)
		require.Empty(t, passes.Differ(out[0], net.Forward(tensor.New(x)).Array(), 1e-5, 1e-6))
	}
}
