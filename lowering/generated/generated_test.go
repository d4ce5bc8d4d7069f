package generated_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/generated"
	"github.com/gofx-dev/gofx/lowering/internal/packs"
)

// fake counts what a program asks of a model.
type fake struct {
	binds, calls int
	got          []*array.Array
	fail         error
}

func (f *fake) Call(context.Context, []*array.Array) ([]*array.Array, error) {
	f.calls++
	return nil, nil
}

func (f *fake) Bind(find generated.Find, _ generated.Pack) error {
	f.binds++
	f.got = nil
	for _, name := range []string{"w0", "w2", "w3", "x"} {
		a, err := find(name)
		if err != nil {
			return err
		}
		f.got = append(f.got, a)
	}
	return f.fail
}

func program(t *testing.T, f *fake, weights ...*array.Array) *generated.Bound {
	g := generated.Graph{Weights: []int{0, 2}, New: func(find generated.Find, pack generated.Pack, threads int) (generated.Model, error) {
		require.Equal(t, 3, threads)
		return f, f.Bind(find, pack)
	}}
	p, err := g.Bind(weights, 3)
	require.NoError(t, err)
	return p
}

func TestBound_bindsOnceForAWrite(t *testing.T) {
	f := &fake{}
	a, b := array.FromSlice([]float32{1, 2, 3, 4}, 2, 2), array.FromSlice([]float32{5})
	p := program(t, f, a, b)
	require.Equal(t, []*array.Array{a, b, nil, nil}, f.got, "by name, where they lie")
	run := func() error {
		_, err := p.Run(context.Background(), nil)
		return err
	}
	require.NoError(t, run())
	require.NoError(t, run())
	require.Equal(t, []int{1, 2}, []int{f.binds, f.calls})
	b.Storage().Bump()
	require.NoError(t, run())
	require.NoError(t, run())
	require.Equal(t, []int{2, 4}, []int{f.binds, f.calls})

	a.Storage().Bump()
	f.fail = errors.New("not now")
	require.ErrorIs(t, run(), f.fail)
	require.Equal(t, []int{3, 4}, []int{f.binds, f.calls}, "never with the old weights")
	f.fail = nil
	require.NoError(t, run())
	require.Equal(t, []int{4, 5}, []int{f.binds, f.calls})

	require.NoError(t, p.Close())
	require.ErrorIs(t, run(), lowering.Closed)
	require.NoError(t, p.Close())
}

func TestBound_weightsWithGaps(t *testing.T) {
	f := &fake{}
	a := array.Permute(array.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3), 1, 0)
	program(t, f, a, array.FromSlice([]float32{5}))
	require.True(t, f.got[0].IsContiguous())
	require.Equal(t, []float32{1, 4, 2, 5, 3, 6}, array.Data[float32](f.got[0]))
}

func TestGraph_thatFails(t *testing.T) {
	f := &fake{fail: errors.New("no")}
	g := generated.Graph{New: func(find generated.Find, pack generated.Pack, _ int) (generated.Model, error) {
		return f, f.Bind(find, pack)
	}}
	p, err := g.Bind(nil, 1)
	require.ErrorIs(t, err, f.fail)
	require.Nil(t, p)
}

// packing lays out its weight, as generated code does, and may fail after it has.
type packing struct {
	w    *array.Array
	fail error
}

func (m *packing) Call(context.Context, []*array.Array) ([]*array.Array, error) {
	return []*array.Array{m.w}, nil
}

func (m *packing) Bind(find generated.Find, pack generated.Pack) error {
	a, err := find("w0")
	if err != nil {
		return err
	}
	if w := pack(kernel.PackLinear{}, a); m.fail == nil {
		m.w = w
	}
	return m.fail
}

// Programs over one weight have what is laid out of it once, until it is written or the last of them closes.
func TestBound_sharesPackedWeights(t *testing.T) {
	var made []*packing
	g := generated.Graph{Weights: []int{0}, New: func(find generated.Find, pack generated.Pack, _ int) (generated.Model, error) {
		m := &packing{}
		made = append(made, m)
		return m, m.Bind(find, pack)
	}}
	w := array.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	var list []*generated.Bound
	for range 5 {
		p, err := g.Bind([]*array.Array{w}, 1)
		require.NoError(t, err)
		list = append(list, p)
		require.Same(t, made[0].w, made[len(made)-1].w)
	}
	one := list[0].Packed()
	require.Positive(t, one)
	require.Equal(t, one, list[0].Packed(list[1:]...))
	require.Equal(t, 1, packs.Forms(w))

	array.Data[float32](w)[0] = 7
	w.Storage().Bump()
	run := func(i int) error {
		_, err := list[i].Run(context.Background(), nil)
		return err
	}
	require.NoError(t, run(0))
	require.NotSame(t, made[0].w, made[1].w)
	require.Equal(t, 2*one, list[0].Packed(list[1:]...))
	made[1].fail = errors.New("not now")
	require.Error(t, run(1))
	require.Equal(t, one, list[1].Packed(), "what it had")
	made[1].fail = nil
	for i := range list {
		require.NoError(t, run(i))
		require.Same(t, made[0].w, made[i].w)
	}
	require.Equal(t, one, list[0].Packed(list[1:]...))
	for i, p := range list {
		require.Equal(t, 1, packs.Forms(w), i)
		require.NoError(t, p.Close())
		require.NoError(t, p.Close())
		require.Zero(t, p.Packed())
	}
	require.Zero(t, packs.Forms(w))

	made = nil
	g.New = func(find generated.Find, pack generated.Pack, _ int) (generated.Model, error) {
		m := &packing{fail: errors.New("no")}
		return m, m.Bind(find, pack)
	}
	_, err := g.Bind([]*array.Array{w}, 1)
	require.Error(t, err)
	require.Zero(t, packs.Forms(w))
}
