package effects

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The networks of package models read few fields, and nothing keeps them from being replayed.
func TestNetworksOfModels(t *testing.T) {
	p, err := Open(context.Background(), "../../models", os.Environ())
	require.NoError(t, err)
	for name, reads := range map[string]int{"GPT2Decoder": 22, "Bert": 31, "DenseNet": 39, "UNet": 38, "EfficientNet": 65, "ResNet": 69, "LSTM": 11, "DLRM": 9, "ViT": 37} {
		fn, err := p.Function(name)
		require.NoError(t, err)
		s := p.Summary(fn)
		require.Equal(t, reads, s.Reads(), name)
		require.Empty(t, s.Opaque, name)
		require.Empty(t, s.Observes, name)
	}
}
