package tensor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/tensor"
)

func param(v ...float32) *tensor.Tensor { return tensor.Param(array.FromSlice(v, 2, len(v)/2)) }

func TestRecipeOfParameters(t *testing.T) {
	w := param(1, 2, 3, 4)
	_, _, _, ok := w.Recipe()
	require.False(t, ok, "a parameter is read, not made")

	c, index, _, ok := w.T().Recipe()
	require.True(t, ok)
	require.Same(t, std.T, c.Op)
	require.Equal(t, op.None{}, c.Attrs)
	require.Equal(t, []*tensor.Tensor{w}, c.Args)
	require.True(t, c.Method)
	require.Zero(t, index)

	c, _, _, ok = tensor.MulScalar(w.T(), 2).Recipe()
	require.True(t, ok)
	require.False(t, c.Method)
	require.Equal(t, tensor.BinaryAttrs{Other: tensor.Number(2)}, c.Attrs)
	inner, _, _, ok := c.Args[0].Recipe()
	require.True(t, ok)
	require.Same(t, std.T, inner.Op)

	_, _, _, ok = tensor.Arange(3).Recipe()
	require.True(t, ok, "made from nothing")
}

func TestNoRecipeOfActivations(t *testing.T) {
	w, x := param(1, 2, 3, 4), mat(2, 2, 1, 2, 3, 4)
	for name, y := range map[string]*tensor.Tensor{"value": x, "of a value": x.T(), "mixed": x.Matmul(w.T())} {
		_, _, _, ok := y.Recipe()
		require.False(t, ok, name)
	}
	x.MarkParam()
	_, _, _, ok := x.T().Recipe()
	require.True(t, ok)
	_, _, _, ok = w.Clone().Recipe()
	require.True(t, ok, "a copy of a parameter is computed from it")
}

func TestRecipeOfSeveralResults(t *testing.T) {
	parts := param(1, 2, 3, 4).Split([]int{1, 1}, 0)
	_, first, group, ok := parts[0].Recipe()
	require.True(t, ok)
	_, second, other, ok := parts[1].Recipe()
	require.True(t, ok)
	require.Equal(t, []int{0, 1}, []int{first, second})
	require.Same(t, group, other)
	_, _, fresh, _ := parts[0].T().Recipe()
	require.NotSame(t, group, fresh)
}

func TestRecipeIsStaleAfterWrites(t *testing.T) {
	stale := func(name string, write func(w, scaled *tensor.Tensor) *tensor.Tensor) {
		t.Run(name, func(t *testing.T) {
			w := param(1, 2, 3, 4)
			scaled := w.MulScalar(2)
			y := write(w, scaled)
			_, _, _, ok := y.Recipe()
			require.False(t, ok)
		})
	}
	stale("of the parameter", func(w, scaled *tensor.Tensor) *tensor.Tensor {
		w.AddScalarInPlace(1)
		return scaled
	})
	stale("through a view of the parameter", func(w, scaled *tensor.Tensor) *tensor.Tensor {
		w.T().AddScalarInPlace(1)
		return scaled
	})
	stale("of the tensor", func(_, scaled *tensor.Tensor) *tensor.Tensor { return scaled.AddScalarInPlace(1) })
	stale("through a view of the tensor", func(_, scaled *tensor.Tensor) *tensor.Tensor {
		scaled.At(0).AddScalarInPlace(1)
		return scaled
	})

	stale("through memory that the program has", func(w, scaled *tensor.Tensor) *tensor.Tensor {
		tensor.Data[float32](w)[2] = 7
		return scaled
	})

	w := param(1, 2, 3, 4)
	w.AddScalarInPlace(1)
	_, _, _, ok := w.T().Recipe()
	require.True(t, ok, "made after the write")

	scaled := w.MulScalar(2)
	data := tensor.Data[float32](w)
	for _, c := range []struct {
		value float32
		ok    bool
	}{{2, true}, {7, false}, {2, true}} {
		data[0] = c.value
		_, _, _, ok = scaled.Recipe()
		require.Equal(t, c.ok, ok, "the memory was handed out, and the first element is %v now", c.value)
		require.Equal(t, !c.ok, scaled.Baked())
	}
}

func TestRecipeDepthIsBounded(t *testing.T) {
	x, depth := param(1, 2, 3, 4), 0
	for range 40 {
		x = x.Neg()
		if _, _, _, ok := x.Recipe(); ok {
			depth++
		}
	}
	require.Equal(t, 16, depth)
}

// What depends on parameters is written to memory: all tensors that show it depend on them.
func TestBaked_throughMemory(t *testing.T) {
	w := param(1, 2, 3, 4)
	for name, c := range map[string]struct {
		write func(base, part *tensor.Tensor)
		want  bool
	}{
		"a parameter to a part":          {func(_, part *tensor.Tensor) { part.AssignInPlace(w.Slice(0, 0, 1)) }, true},
		"a parameter to all":             {func(base, _ *tensor.Tensor) { base.AssignInPlace(w) }, true},
		"what was made from a parameter": {func(_, part *tensor.Tensor) { part.AddInPlace(w.Slice(0, 0, 1).Neg()) }, true},
		"what was made with a parameter": {func(_, part *tensor.Tensor) {
			part.AddInPlace(w.Slice(0, 0, 1).Add(tensor.FromSlice([]float32{1, 2}, 1, 2)))
		}, true},
		"what memory of a parameter was in": {func(_, part *tensor.Tensor) {
			b := tensor.Zeros(1, 2)
			b.Select(1, 0).Select(0, 0).AssignInPlace(w.Sum())
			part.AssignInPlace(b)
		}, true},
		"a constant": {func(_, part *tensor.Tensor) { part.AddScalarInPlace(1) }, false},
	} {
		base := tensor.Zeros(2, 2)
		part := base.Slice(0, 0, 1)
		c.write(base, part)
		require.Equal(t, c.want, base.Baked(), name)
		require.Equal(t, c.want, part.Baked(), name)
		require.Equal(t, c.want, base.Slice(0, 1, 2).Baked(), name)
		require.Equal(t, c.want, base.Add(tensor.FromSlice([]float32{1}, 1)).Baked(), name)
	}
}
