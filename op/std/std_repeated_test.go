package std_test

import (
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/api"
)

// TestRepeatedOperands wants elementwise operators to give the same result for an
// operand that repeats one element as for its copy, whichever operands do:
// registers that the repeated elements share with others must not lose them.
func TestRepeatedOperands(t *testing.T) {
	for _, o := range api.Ops() {
		if o.Class != op.Elementwise || len(o.In) < 2 {
			continue
		}
		t.Run(o.Name, func(t *testing.T) {
			for _, s := range o.Samples() {
				for set := range uint(1) << len(s.In) {
					if bits.OnesCount(set) > 0 {
						repeated(t, o, s, set)
					}
				}
			}
		})
	}
}

// repeated runs a sample with the operands of a set replaced.
func repeated(t *testing.T, o *op.Op, s op.Sample, set uint) {
	t.Helper()
	views, copies := append([]*array.Array(nil), s.In...), append([]*array.Array(nil), s.In...)
	for i, a := range s.In {
		if set>>i&1 == 0 || a == nil || a.Len() == 0 {
			continue
		}
		one := a
		for k := range a.Rank() {
			one = array.Slice(one, k, a.Dim(k)-1, a.Dim(k), 1)
		}
		views[i] = array.Expand(one, a.Shape()...)
		copies[i] = array.Clone(views[i])
	}
	want, err := o.Eval(&kernel.Workspace{}, s.Attrs, copies)
	if err != nil {
		return // values that the operator refuses
	}
	got, err := o.Eval(&kernel.Workspace{}, s.Attrs, views)
	require.NoError(t, err, s.Name)
	fxtest.Same(t, s.Name, want, got)
}
