package nn_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// withParameters makes each module that has tensors of its own.
var withParameters = []func() any{
	func() any { return nn.NewLinear(3, 4) },
	func() any { return nn.NewBilinear(3, 4, 2) },
	func() any { return nn.NewConv1d(2, 2, 3) },
	func() any { return nn.NewConv2d(2, 2, 3) },
	func() any { return nn.NewConv3d(2, 2, 3) },
	func() any { return nn.NewConvTranspose1d(2, 2, 3) },
	func() any { return nn.NewConvTranspose2d(2, 2, 3) },
	func() any { return nn.NewConvTranspose3d(2, 2, 3) },
	func() any { return nn.NewBatchNorm1d(3) },
	func() any { return nn.NewBatchNorm2d(3) },
	func() any { return nn.NewBatchNorm3d(3) },
	func() any { return nn.NewInstanceNorm1d(3, nn.Affine(true)) },
	func() any { return nn.NewInstanceNorm2d(3, nn.Affine(true)) },
	func() any { return nn.NewInstanceNorm3d(3, nn.Affine(true), nn.TrackRunningStats(true)) },
	func() any { return nn.NewLayerNorm([]int{3}) },
	func() any { return nn.NewRMSNorm([]int{3}) },
	func() any { return nn.NewGroupNorm(1, 3) },
	func() any { return nn.NewPReLU(3) },
	func() any { return nn.NewEmbedding(5, 3, nn.PaddingIdx(1)) },
	func() any { return nn.NewEmbeddingBag(5, 3) },
	func() any { return nn.NewLSTM(2, 3) },
	func() any { return nn.NewGRU(2, 3) },
	func() any { return nn.NewRNN(2, 3) },
	func() any { return nn.NewLSTMCell(2, 3) },
	func() any { return nn.NewGRUCell(2, 3) },
	func() any { return nn.NewRNNCell(2, 3) },
	func() any { return nn.NewMultiheadAttention(4, 2) },
	func() any { return nn.NewTransformerEncoderLayer(4, 2) },
	func() any { return nn.NewTransformerDecoderLayer(4, 2) },
}

func requireOwned(t *testing.T, m any, when string) {
	t.Helper()
	for _, e := range nn.StateDict(m) {
		st := e.Tensor.Value().(*array.Array).Storage()
		require.Zero(t, st.Exposed(), "%s %s", e.Name, when)
		require.False(t, st.Wrapped(), "%s %s", e.Name, when)
	}
}

// Nobody has the memory of parameters but their tensors, until code takes it.
func TestModulesOwnTheirArrays(t *testing.T) {
	known := map[reflect.Type]bool{}
	for _, make := range withParameters {
		m, other := make(), make()
		known[reflect.TypeOf(m)] = true
		t.Run(fmt.Sprintf("%T", m), func(t *testing.T) {
			all := nn.StateDict(m)
			require.NotEmpty(t, all)
			requireOwned(t, m, "after construction")
			nn.ResetParameters(m, 7)
			requireOwned(t, m, "after ResetParameters")
			weights := nn.Arrays{}
			for _, e := range nn.StateDict(other) {
				weights[e.Name] = e.Tensor.Array()
			}
			require.NoError(t, nn.LoadStateDict(m, weights))
			requireOwned(t, m, "after LoadStateDict")
			for _, e := range all {
				require.True(t, array.Equal(weights[e.Name], e.Tensor.Value().(*array.Array)), e.Name)
				e.Tensor.Array()
				require.NotZero(t, e.Tensor.Value().(*array.Array).Storage().Exposed(), "%s was handed out", e.Name)
			}
		})
	}
	for _, c := range leafCases {
		if len(nn.StateDict(c.m)) > 0 {
			require.Contains(t, known, reflect.TypeOf(c.m))
		}
	}
}

// What fills a tensor writes to its own memory, also where that has gaps or another element type.
func TestFillWritesInPlace(t *testing.T) {
	base := tensor.Zeros(2, 3)
	nn.Constant(base.T(), 2)
	require.True(t, base.Equal(tensor.FullLike(base, 2)), "%v", base)
	half := tensor.StateParam(array.New(array.F16, 2))
	nn.Constant(half, 0.1)
	require.Equal(t, array.HalfFromFloat64(0.1), array.Data[array.Half](half.Array())[1])
	counts := tensor.StateParam(array.New(array.I64))
	nn.Constant(counts, 3)
	require.EqualValues(t, 3, counts.Item())
}
