package tracer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// Another trace that is inside of a region at the time must not hide what this one's
// region did.
func TestWritesInRegionsAreSeenBesideOtherTraces(t *testing.T) {
	program := func(x *tensor.Tensor) *tensor.Tensor {
		seen := tensor.Zeros(2)
		_, out := tensor.Scan(func(carry, in []*tensor.Tensor) (next, out []*tensor.Tensor) {
			seen.AddScalarInPlace(1)
			return carry, in
		}, []*tensor.Tensor{x}, []*tensor.Tensor{tensor.Stack([]*tensor.Tensor{x, x}, 0)})
		for range 100 {
			seen.MulScalarInPlace(2)
		}
		return out[0].Add(seen)
	}
	for range 2 {
		_, err := fx.Trace(ctx, program, fx.Input("x", "f32[2]"))
		require.ErrorIs(t, err, tracer.UnseenWrite)
		defer tensor.InRegion()() // as a region of another trace
	}
}
