package module

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/op"
)

// TestRecordsAreNamedOrRefused holds that no operator is printed as the variable of
// another one whose name differs only in characters that no identifier has.
func TestRecordsAreNamedOrRefused(t *testing.T) {
	for name, want := range map[string]string{"batch_norm": "BatchNorm", "conv2d": "Conv2d", "my op": "", "é": "", "fooé": "", "2d": "", "a-b": ""} {
		require.Equal(t, want, recordName(&op.Op{Name: name}), name)
	}
}
