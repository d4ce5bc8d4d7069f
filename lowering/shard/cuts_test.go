package shard_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// TestEveryCut: each cut that a step claims for a sample of an operator holds, for every number of
// parts up to four that it allows: the step, run on slices, gives slices, or values that combine.
func TestEveryCut(t *testing.T) {
	cuts, steps := 0, map[string]bool{}
	for _, o := range op.All() {
		if o.Structural() || o.AdHoc || o.Composite() || o.ByValue {
			continue
		}
		for _, s := range o.Samples() {
			n := everyCut(t, o, s)
			if cuts += n; n > 0 {
				steps[o.Key()] = true
			}
		}
	}
	t.Log(cuts, "cuts of", len(steps), "operators")
	require.Greater(t, cuts, 5000)
	require.Greater(t, len(steps), 150)
}

// everyCut returns how many cuts of a sample were tried.
func everyCut(t *testing.T, o *op.Op, s op.Sample) (tried int) {
	types, in := make([]shape.Type, len(s.In)), make([][]int, len(s.In))
	for i, a := range s.In {
		if a != nil {
			types[i], in[i] = shape.TypeOf(a), a.Shape()
		}
	}
	step, err := o.Step(s.Attrs, types)
	require.NoError(t, err)
	c, ok := step.(kernel.Cutter)
	if !ok {
		return 0
	}
	want, err := o.Eval(&kernel.Workspace{}, s.Attrs, s.In)
	require.NoError(t, err)
	var out [][]int
	for _, a := range want {
		out = append(out, a.Shape())
	}
	for k, cut := range c.Cuts(out, in) {
		require.Len(t, cut.In, len(s.In), "%s, %s, cut %d", o.Key(), s.Name, k)
		require.Len(t, cut.Out, len(want), "%s, %s, cut %d", o.Key(), s.Name, k)
		for n := 2; n <= 4; n++ {
			if cut.Size == 0 || cut.Size%n != 0 {
				continue
			}
			tried++
			got := parted(step, cut, n, s.In, want)
			if d := fxtest.CloseArrays(want, got); d != "" {
				t.Errorf("%s, %s, cut %v in %d parts: %s", o.Key(), s.Name, cut, n, d)
			}
		}
	}
	return tried
}

// parted runs the step on n parts of a cut and puts the results together.
func parted(step kernel.Step, cut kernel.Cut, n int, in, like []*array.Array) []*array.Array {
	parts := make([][]*array.Array, len(like))
	for p := range n {
		args := make([]*array.Array, len(in))
		for i, a := range in {
			switch d := cut.In[i]; {
			case a == nil || d == kernel.Once && p > 0:
			case d >= 0:
				args[i] = part(a, d, p, n)
			default:
				args[i] = a
			}
		}
		var out []*array.Array
		for i, a := range like {
			dims := append([]int{}, a.Shape()...)
			if d := cut.Out[i]; d >= 0 {
				dims[d] /= n
			}
			out = append(out, array.New(a.DType(), dims...))
		}
		step.Run(&kernel.Workspace{}, out, args)
		for i, a := range out {
			parts[i] = append(parts[i], a)
		}
	}
	var whole []*array.Array
	for i := range like {
		if d := cut.Out[i]; d >= 0 {
			whole = append(whole, joined(parts[i], d))
		} else {
			whole = append(whole, combined(cut.Combine, parts[i]))
		}
	}
	return whole
}
