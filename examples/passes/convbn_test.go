package recipes

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/tensor"
)

// convs has a normalisation that can be folded, one after a convolution without bias, and
// one whose convolution has another use.
type convs struct {
	A, B, C    *nn.Conv2d
	Na, Nb, Nc *nn.BatchNorm2d
}

func newConvs(g *op.Gen) *convs {
	m := &convs{
		nn.NewConv2d(3, 6, 3, nn.Padding(1)), nn.NewConv2d(6, 6, 3, nn.Groups(2), nn.NoBias()), nn.NewConv2d(6, 6, 1),
		nn.NewBatchNorm2d(6), nn.NewBatchNorm2d(6), nn.NewBatchNorm2d(6),
	}
	for _, n := range []*nn.BatchNorm2d{m.Na, m.Nb, m.Nc} { // as training leaves them
		n.RunningMean, n.RunningVar = normal(g, 6), tensor.New(g.Uniform(0.5, 2, 6))
		n.Weight, n.Bias = normal(g, 6), normal(g, 6)
	}
	return m
}

func (m *convs) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.Na.Forward(m.A.Forward(x)).Relu()
	x = m.Nb.Forward(m.B.Forward(x))
	y := m.C.Forward(x)
	return m.Nc.Forward(y).Add(y)
}

func TestFoldBatchNorm(t *testing.T) {
	var g op.Gen
	net := newConvs(&g)
	gm := capture(t, net, fx.Input("x", "f32[N,3,8,8]"))
	report := apply(t, gm, FoldBatchNorm)
	require.Equal(t, 2, report.Matches("fold-batch-norm"))
	require.Contains(t, report.Explain(), "convbn_test.go:39: %nc left as it is: the convolution has other uses")
	require.Len(t, slices.Collect(gm.Graph.Calls(std.BatchNorm)), 1)

	tidy, err := fx.Pipeline("dce,drop-unused")
	require.NoError(t, err)
	_, err = gm.Apply(ctx, tidy, fx.PassOptions{})
	require.NoError(t, err)
	require.Len(t, slices.Collect(gm.Graph.Calls(std.Conv2d)), 3)
	require.Nil(t, gm.Module.Param("na.running_var"))
	x := normal(&g, 2, 3, 8, 8)
	same(t, gm, net.Forward(x), 1e-5, x)
}

func TestBatchStatisticsAreNotFolded(t *testing.T) {
	gm := capture(t, func(x, w *tensor.Tensor) *tensor.Tensor {
		return x.Conv2d(w, nil).BatchNorm(nil, nil, nil, nil, 1e-5)
	}, fx.Input("x", "f32[N,3,8,8]"), fx.Input("w", "f32[4,3,3,3]"))
	report := apply(t, gm, FoldBatchNorm)
	require.Zero(t, report.Matches("fold-batch-norm"))
	require.Contains(t, report.Explain(), "left as it is: operand %w of %conv2d is computed, expected a parameter")
}
