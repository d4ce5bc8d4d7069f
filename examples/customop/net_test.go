package customop

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/tensor"
)

// TestNetworkForAllBatches captures the network once, optimises it as generated code is,
// and compares graph and plan with the Go function for batches of several sizes.
func TestNetworkForAllBatches(t *testing.T) {
	net := NewNet()
	gm, err := fx.Trace(ctx, net, fx.Input("x", "f32[N,32]"))
	require.NoError(t, err)
	for _, o := range []*op.Op{Median, GatedLinear, Snake} {
		require.Len(t, slices.Collect(gm.Graph.Calls(o)), 1, o.Name)
	}
	_, err = gm.Apply(ctx, fx.Optimise(), fx.PassOptions{Numeric: &passes.Numeric{Sizes: map[string]int{"N": 3}}})
	require.NoError(t, err)
	exe, err := cpu.Compile(gm.Module, lowering.Options{})
	require.NoError(t, err)
	defer exe.Close()
	var g op.Gen
	for _, n := range []int{1, 7, 0, 64} {
		x := g.Normal(n, 32)
		want := net.Forward(tensor.New(x)).Array()
		got, err := gm.RunArrays(ctx, []*array.Array{x})
		require.NoError(t, err)
		require.Empty(t, passes.Differ(got[0], want, 1e-6, 0), "interp, %d signals", n)
		got, err = exe.Run(ctx, []*array.Array{x})
		require.NoError(t, err)
		require.Empty(t, passes.Differ(got[0], want, 1e-5, 0), "plan, %d signals", n)
	}
}

// TestOutliersAreRemoved shows the purpose of median, and compares with results by
// hand.
func TestOutliersAreRemoved(t *testing.T) {
	x := tensor.FromSlice([]float32{1, 2, 99, 4, 5, -99, 7})
	y := tensor.CallOp(Median, MedianAttrs{Window: 3}, x)
	require.Equal(t, []float32{1, 2, 4, 5, 4, 5, 7}, tensor.Data[float32](y))
}

// TestGeneratedCodeNamesTheStep generates the network's package, which calls the step of
// this one.
func TestGeneratedCodeNamesTheStep(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: starts the go command")
	}
	dir := filepath.Join(t.TempDir(), "cleannet")
	out, err := exec.Command("go", "tool", "fxgen", "gen", "-o", dir, "-input", "x=f32[N,32]", ".#Net").CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command("grep", "-rh", "customop.MedianStep{", dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "Half: 2")
}
