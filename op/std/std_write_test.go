package std

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// ran is a value on which ran operators run at once; blind hides its type.
type ran struct {
	a     *array.Array
	blind bool
}

func (v ran) Type() shape.Type {
	if v.blind {
		return shape.Type{}
	}
	return shape.TypeOf(v.a)
}

type runner struct {
	t     *testing.T
	blind bool
}

func (r runner) Call(o *op.Op, attrs any, in ...op.Value) op.Value {
	args := make([]*array.Array, len(in))
	for i, v := range in {
		args[i] = v.(ran).a
	}
	out, err := o.Eval(&kernel.Workspace{}, attrs, args)
	require.NoError(r.t, err)
	if _, tuple := o.NumResults(attrs); tuple {
		return pieces(out)
	}
	return ran{out[0], r.blind}
}

func (r runner) Item(tuple op.Value, i int) op.Value { return ran{tuple.(pieces)[i], r.blind} }

// pieces is a tuple.
type pieces []*array.Array

func (pieces) Type() shape.Type { return shape.Type{} }

// counted returns 1, 2, 3, ... of a type and shape.
func counted(d array.DType, dims ...int) *array.Array {
	a := array.New(array.I64, dims...)
	for i, v := 0, array.Data[int64](a); i < len(v); i++ {
		v[i] = int64(i + 1)
	}
	return array.Cast(a, d)
}

// views calls f for every sample of every operator whose results may be views of
// an operand through which writes go back.
func views(t *testing.T, f func(t *testing.T, o *op.Op, s op.Sample)) {
	found := 0
	for _, o := range op.All() {
		if o.Path != "" || o.ViewOf == 0 || !o.Scatters() {
			continue
		}
		found++
		for _, s := range o.Samples() {
			t.Run(o.Name+"/"+s.Name, func(t *testing.T) { f(t, o, s) })
		}
	}
	require.GreaterOrEqual(t, found, 18)
}

func TestEveryViewScatters(t *testing.T) {
	for _, o := range op.All() {
		if o.Path == "" && o.ViewOf > 0 && !o.Structural() {
			require.Equal(t, o != Expand && !o.StopsGrad(), o.Scatters(), o.Name) // what stops gradients would make all of its operand a constant
		}
	}
}

// TestScatterIsTheWriteThroughTheView writes to the views of a copy of the base.
func TestScatterIsTheWriteThroughTheView(t *testing.T) {
	views(t, func(t *testing.T, o *op.Op, s op.Sample) {
		at := o.ViewOf - 1
		base := array.Clone(s.In[at])
		in := append([]*array.Array(nil), s.In...)
		in[at] = base
		before := array.Clone(base)
		shown, err := o.Eval(&kernel.Workspace{}, s.Attrs, in)
		require.NoError(t, err)
		for item, view := range shown {
			require.Same(t, base.Storage(), view.Storage(), "a contiguous base is not copied")
			array.Copy(base, before)
			v := counted(view.DType(), view.Shape()...)
			array.Copy(view, v)
			for _, blind := range []bool{false, true} {
				for _, from := range []*array.Array{before, (&op.Gen{}).Strided(before)} {
					got := o.Scatter(runner{t, blind}, s.Attrs, item, ran{from, blind}, ran{v, blind})
					require.True(t, array.Equal(base, got.(ran).a), "result %d, types hidden: %v\n%s\nwritten:\n%s",
						item, blind, array.Format(got.(ran).a, 50), array.Format(base, 50))
				}
			}
		}
	})
}

func TestScatterOfTheViewChangesNothing(t *testing.T) {
	views(t, func(t *testing.T, o *op.Op, s op.Sample) {
		base := s.In[o.ViewOf-1]
		shown, err := o.Eval(&kernel.Workspace{}, s.Attrs, s.In)
		require.NoError(t, err)
		for item, view := range shown {
			got := o.Scatter(runner{t, false}, s.Attrs, item, ran{base, false}, ran{view, false})
			require.True(t, array.Equal(base, got.(ran).a), "result %d", item)
		}
	})
}

// TestScatterOfSymbolicSizes keeps the sizes of the base where they are symbols.
func TestScatterOfSymbolicSizes(t *testing.T) {
	n := shape.Sym("N")
	base := shape.TensorType(array.F32, shape.Of(n, shape.Const(6)))
	b := &called{}
	Flatten.Scatter(b, FlattenAttrs{0, 1}, 0, typeOnly{base}, typeOnly{shape.TensorType(array.F32, shape.Of(n.MulInt(6)))})
	require.Equal(t, Reshape, b.o)
	require.Equal(t, "[N,6]", b.attrs.(ReshapeAttrs).Shape.String())

	base = base.WithDims(shape.Of(shape.Unknown, shape.Const(6)))
	Flatten.Scatter(b, FlattenAttrs{0, 1}, 0, typeOnly{base}, typeOnly{shape.Unranked(array.F32)})
	require.Equal(t, ViewAs, b.o)

	Narrow.Scatter(b, NarrowAttrs{0, shape.Const(-3), shape.Const(2)}, 0, typeOnly{shape.TensorType(array.F32, shape.Of(n))}, typeOnly{})
	require.Equal(t, SliceScatter, b.o)
	require.Equal(t, SliceAttrs{Dim: 0, Start: n.AddInt(-3), Stop: n.AddInt(-1)}, b.attrs)
	Narrow.Scatter(b, NarrowAttrs{0, shape.Const(-3), shape.Const(3)}, 0, typeOnly{}, typeOnly{})
	require.Equal(t, SliceAttrs{Dim: 0, Start: shape.Const(-3), Stop: End}, b.attrs)
}

// typeOnly is a value of which only the type is there; called keeps the last call.
type typeOnly struct{ t shape.Type }

func (k typeOnly) Type() shape.Type { return k.t }

type called struct {
	o     *op.Op
	attrs any
}

func (c *called) Call(o *op.Op, attrs any, _ ...op.Value) op.Value {
	c.o, c.attrs = o, attrs
	return typeOnly{}
}

func (c *called) Item(op.Value, int) op.Value { return typeOnly{} }

func TestCopiesOfTensors(t *testing.T) {
	checkGuarded(t, Clone, func(_ any, in []*wide) []*wide { return in })
	require.GreaterOrEqual(t, len(Copy.Samples()), 8)
	for _, s := range Copy.Samples() {
		t.Run("copy/"+s.Name, func(t *testing.T) {
			out, err := Copy.Eval(&kernel.Workspace{}, s.Attrs, s.In)
			require.NoError(t, err)
			require.True(t, array.Equal(array.Cast(s.In[1], s.In[0].DType()), out[0]), array.Format(out[0], 40))
			checkKnowingLess(t, Copy, s, shape.TypeOf(s.In[0]))
		})
	}
	checkBad(t, Copy)
	checkGuarded(t, ViewAs, func(_ any, in []*wide) []*wide { return []*wide{{in[1].dims, in[0].v}} })
	// written is x after src was written to a view of it.
	written := func(view func(a any, x *array.Array) *array.Array) reference {
		return func(a any, in []*wide) []*wide {
			x := array.New(array.F64, in[0].dims...)
			copy(array.Data[float64](x), in[0].v)
			src := array.New(array.F64, in[1].dims...)
			copy(array.Data[float64](src), in[1].v)
			array.Copy(view(a, x), src)
			return []*wide{{in[0].dims, array.Data[float64](x)}}
		}
	}
	checkGuarded(t, SliceScatter, written(func(a any, x *array.Array) *array.Array {
		s := a.(SliceAttrs)
		start, _ := s.Start.Int()
		stop, _ := s.Stop.Int()
		return array.Slice(x, s.Dim, start, stop, max(s.Step, 1))
	}))
	checkGuarded(t, SelectScatter, written(func(a any, x *array.Array) *array.Array {
		return array.Select(x, a.(SelectAttrs).Dim, a.(SelectAttrs).Index)
	}))
	checkGuarded(t, DiagonalScatter, written(func(a any, x *array.Array) *array.Array {
		d := a.(DiagonalAttrs)
		if d.Dim1 == 0 && d.Dim2 == 0 {
			d.Dim2 = 1
		}
		return array.Diagonal(x, d.Offset, d.Dim1, d.Dim2)
	}))
}

func TestCloneHasMemoryOfItsOwn(t *testing.T) {
	x := array.FromSlice([]float32{1, 2, 3})
	out, err := Clone.Eval(&kernel.Workspace{}, nil, []*array.Array{x})
	require.NoError(t, err)
	require.NotSame(t, x.Storage(), out[0].Storage())
	require.Zero(t, Clone.ViewOf)
}

// TestWrittenAssumes infers a copy between types of which little is known.
func TestWrittenAssumes(t *testing.T) {
	n, four := shape.Sym("N"), shape.Const(4)
	f32 := func(d ...shape.Dim) shape.Type { return shape.TensorType(array.F32, shape.Of(d...)) }
	for _, c := range []struct {
		name, want, assumed string
		x, src              shape.Type
		code                diag.Code
	}{
		{name: "equal", x: f32(n), src: f32(n), want: "f32[N]"},
		{name: "a symbol and a number", x: f32(n), src: f32(four), want: "f32[4]", assumed: "N=4"},
		{name: "two symbols", x: f32(n), src: f32(shape.Sym("M")), want: "f32[N]", assumed: "N=M"},
		{name: "unknown size", x: f32(shape.Unknown), src: f32(n), want: "f32[N]"},
		{name: "unknown rank", x: shape.Unranked(array.F32), src: f32(n), want: "f32"},
		{name: "unknown source", x: f32(n), want: "f32[N]"},
		{name: "numbers", x: f32(four), src: f32(shape.Const(3)), code: op.InPlaceType},
		{name: "ranks", x: f32(four), src: f32(), code: op.InPlaceType},
		{name: "float to unranked integers", x: shape.Unranked(array.I64), src: f32(n), code: op.InPlaceType},
	} {
		assumed := ""
		got, err := Copy.Type(&op.Infer{Assume: func(r shape.Relation) error {
			assumed += r.A.String() + "=" + r.B.String()
			return nil
		}}, op.None{}, []shape.Type{c.x, c.src})
		if c.code != "" {
			require.Equal(t, c.code, err.(*diag.Error).Code, c.name)
			continue
		}
		require.NoError(t, err, c.name)
		require.Equal(t, c.assumed, assumed, c.name)
		if c.want != "f32" {
			require.Equal(t, c.want, got.String(), c.name)
		} else {
			require.Equal(t, c.x, got, c.name)
		}
	}
}
