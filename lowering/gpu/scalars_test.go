package gpu_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/op"
)

// TestScalarsOnTheDevice runs operators that take tensors of rank 0 with such, all in one program: those
// that move elements and reduce on every change, nightly all.
func TestScalarsOnTheDevice(t *testing.T) {
	ops := slices.DeleteFunc(op.All(), func(o *op.Op) bool {
		// What elementwise operators are joined to has no rank of its own.
		return o.Structural() || o.AdHoc || !fxtest.IsNightly() && o.Class != op.Movement && o.Class != op.Reduction
	})
	ran := samplesTogether(t, target(t), ops, func(o *op.Op) []op.Sample {
		list := fxtest.Scalars(o)
		if !fxtest.IsNightly() {
			list = list[:min(len(list), 1)]
		}
		return list
	}, nil)
	require.Greater(t, ran, 15)
}
