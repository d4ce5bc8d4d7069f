package std

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// checkGuarded is checkAgainst for operators whose type rules assume something
// about symbols: a type need only be true where the assumptions are.
func checkGuarded(t *testing.T, o *op.Op, ref reference) {
	t.Helper()
	checkCalls(t, o, ref, checkKnowingLess, requireRounded)
}

// checkKnowingLess infers with less knowledge of every operand, of one after the
// other and of all, and requires what comes out to be true.
func checkKnowingLess(t *testing.T, o *op.Op, s op.Sample, want shape.Type) {
	t.Helper()
	types := typesOf(s.In)
	infer := func(in []shape.Type, size func(symbol string) int) {
		holds := true
		env := func(s string) shape.Dim { return shape.Const(size(s)) }
		c := &op.Infer{Assume: func(r shape.Relation) error {
			holds = holds && r.Bind(env).Truth() == shape.True
			return nil
		}}
		got, err := o.Type(c, s.Attrs, in)
		if holds {
			require.NoError(t, err, "operands %v", in)
			requireWeaker(t, want, got.Bind(env))
		}
	}
	all := slices.Clone(types)
	for i, x := range types {
		with := func(x shape.Type, size int) {
			in := slices.Clone(types)
			in[i] = x
			infer(in, func(string) int { return size })
		}
		for d := range max(x.Rank(), 0) {
			n, _ := x.Dim(d).Int()
			with(x.WithDims(x.Dims().With(d, shape.Sym("N"))), n)
			with(x.WithDims(x.Dims().With(d, shape.Unknown)), n)
			if n > 1 {
				all[i] = all[i].WithDims(all[i].Dims().With(d, shape.Sym(fmt.Sprintf("S%d", n))))
			}
		}
		with(x.WithDType(array.Invalid), 0)
		with(shape.Unranked(x.DType()), 0)
		with(shape.Unranked(array.Invalid), 0)
		with(shape.Type{}, 0)
	}
	infer(all, func(symbol string) (n int) {
		_, err := fmt.Sscanf(symbol, "S%d", &n)
		require.NoError(t, err)
		return n
	})
}

// requireRounded compares with a reference that is rounded to got's type first.
func requireRounded(t *testing.T, want *wide, got *array.Array, msg string) {
	t.Helper()
	require.Equal(t, fmt.Sprint(want.dims), fmt.Sprint(got.Shape()), msg)
	tol := map[array.DType]float64{array.F64: 1e-12, array.F32: 1e-5, array.F16: 2e-3, array.BF16: 1.6e-2}[got.DType()]
	for i, w := range want.v {
		if got.DType().IsFloat() {
			w = array.Float64At(array.Cast(array.Scalar(w), got.DType()), 0)
		}
		g := array.Float64At(got, i)
		if w == g || math.IsNaN(w) && math.IsNaN(g) {
			continue
		}
		require.LessOrEqual(t, math.Abs(g-w), tol*max(1, math.Abs(w)), "%s, element %d is %v, expected %v", msg, i, g, w)
	}
}

// pull makes an array whose element x is f(x).
func pull(dims []int, f func(x []int) float64) []*wide {
	out := newWide(dims...)
	for i := range out.v {
		out.v[i] = f(out.index(i))
	}
	return []*wide{out}
}

// strict is at without broadcasting.
func (w *wide) strict(x ...int) float64 {
	i := 0
	for d, v := range x {
		if v < 0 || v >= w.dims[d] {
			panic(fmt.Sprintf("index %v of shape %v", x, w.dims))
		}
		i = i*w.dims[d] + v
	}
	return w.v[i]
}

func front(axis, rank int) int {
	if axis < 0 {
		return axis + rank
	}
	return axis
}

// put returns x with y inserted before i.
func put(x []int, i int, y ...int) []int { return slices.Insert(slices.Clone(x), i, y...) }

// swapIn returns x with element i replaced.
func swapIn(x []int, i, v int) []int {
	y := slices.Clone(x)
	y[i] = v
	return y
}

func cut(x []int, i, j int) []int { return slices.Delete(slices.Clone(x), i, j) }

// regrouped returns the reference of regrouping: the elements with sizes from f.
func regrouped(f func(a any, dims []int) []int) reference {
	return func(a any, in []*wide) []*wide { return []*wide{{f(a, in[0].dims), in[0].v}} }
}

func knownSizes(d shape.Dims, total int) []int {
	sizes, _ := d.Known()
	free := -1
	for i, n := range sizes {
		if n == -1 {
			free = i
		} else if n != 0 {
			total /= n
		}
	}
	if free >= 0 {
		sizes[free] = total
	}
	return sizes
}

func count(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

func TestRegrouping(t *testing.T) {
	reshape := regrouped(func(a any, dims []int) []int { return knownSizes(a.(ReshapeAttrs).Shape, count(dims)) })
	checkGuarded(t, Reshape, reshape)
	checkGuarded(t, View, reshape)
	checkGuarded(t, Flatten, regrouped(func(a any, dims []int) []int {
		if len(dims) == 0 {
			return []int{1}
		}
		i, j := front(a.(FlattenAttrs).StartDim, len(dims)), front(a.(FlattenAttrs).EndDim, len(dims))
		return put(cut(dims, i, j+1), i, count(dims[i:j+1]))
	}))
	checkGuarded(t, Unflatten, regrouped(func(a any, dims []int) []int {
		i := front(a.(UnflattenAttrs).Dim, len(dims))
		return put(cut(dims, i, i+1), i, knownSizes(a.(UnflattenAttrs).Sizes, dims[i])...)
	}))
	checkGuarded(t, Unsqueeze, regrouped(func(a any, dims []int) []int {
		return put(dims, front(a.(DimAttrs).Dim, len(dims)+1), 1)
	}))
	checkGuarded(t, Squeeze, regrouped(func(a any, dims []int) []int {
		only := a.(SqueezeAttrs).Dim.Slice()
		left := []int{}
		for i, n := range dims {
			named := len(only) == 0 || slices.Contains(only, i) || slices.Contains(only, i-len(dims))
			if n != 1 || !named {
				left = append(left, n)
			}
		}
		return left
	}))
}

func TestAxisOrder(t *testing.T) {
	// ordered pulls with dimension i of the result being dimension perm[i].
	ordered := func(perm func(a any, rank int) []int) reference {
		return func(a any, in []*wide) []*wide {
			p := perm(a, len(in[0].dims))
			dims := make([]int, len(p))
			for i := range p {
				dims[i] = in[0].dims[p[i]]
			}
			return pull(dims, func(x []int) float64 {
				y := make([]int, len(x))
				for i := range p {
					y[p[i]] = x[i]
				}
				return in[0].strict(y...)
			})
		}
	}
	identity := func(rank int) []int {
		p := make([]int, rank)
		for i := range p {
			p[i] = i
		}
		return p
	}
	checkGuarded(t, Permute, ordered(func(a any, rank int) []int {
		p := a.(PermuteAttrs).Dims.Slice()
		for i := range p {
			p[i] = front(p[i], rank)
		}
		return p
	}))
	checkGuarded(t, Transpose, ordered(func(a any, rank int) []int {
		p := identity(rank)
		if rank > 0 {
			i, j := front(a.(TransposeAttrs).Dim0, rank), front(a.(TransposeAttrs).Dim1, rank)
			p[i], p[j] = p[j], p[i]
		}
		return p
	}))
	checkGuarded(t, T, ordered(func(_ any, rank int) []int {
		p := identity(rank)
		slices.Reverse(p)
		return p
	}))
	checkGuarded(t, Movedim, ordered(func(a any, rank int) []int {
		// Take the sources out, then insert them where they go, lowest first.
		type move struct{ from, to int }
		var moves []move
		m := a.(MovedimAttrs)
		for i := range m.Source.Len() {
			moves = append(moves, move{front(m.Source.At(i), rank), front(m.Destination.At(i), rank)})
		}
		p := slices.DeleteFunc(identity(rank), func(d int) bool {
			return slices.ContainsFunc(moves, func(m move) bool { return m.from == d })
		})
		slices.SortFunc(moves, func(a, b move) int { return a.to - b.to })
		for _, m := range moves {
			p = slices.Insert(p, m.to, m.from)
		}
		return p
	}))
}

func TestViewsAlias(t *testing.T) {
	x := array.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	for o, a := range map[*op.Op]any{
		View: ReshapeAttrs{shape.ConstDims(3, 2)}, Permute: PermuteAttrs{op.IntList(1, 0)}, T: op.None{},
		Slice: SliceAttrs{Dim: 1, Start: shape.Const(1), Stop: End}, Select: SelectAttrs{1, 0}, Expand: ExpandAttrs{shape.ConstDims(4, 2, 3)},
		Narrow: NarrowAttrs{1, shape.Const(1), shape.Const(2)}, Diagonal: DiagonalAttrs{},
	} {
		out, err := o.Eval(&kernel.Workspace{}, a, []*array.Array{x})
		require.NoError(t, err, o.Name)
		require.Same(t, x.Storage(), out[0].Storage(), o.Name)
		require.Equal(t, 1, o.ViewOf, o.Name)
	}
	for o, a := range map[*op.Op]any{
		Split: SplitAttrs{shape.ConstDims(1, 1), 0}, Chunk: ChunkAttrs{3, -1}, Unbind: UnbindAttrs{1, 3},
	} {
		out, err := o.Eval(&kernel.Workspace{}, a, []*array.Array{array.Clone(x)})
		require.NoError(t, err, o.Name)
		for _, piece := range out {
			require.Same(t, out[0].Storage(), piece.Storage(), o.Name)
		}
		require.Equal(t, 1, o.ViewOf, o.Name)
	}
}

func TestPicking(t *testing.T) {
	checkGuarded(t, Expand, func(a any, in []*wide) []*wide {
		x := in[0]
		dims, _ := a.(ExpandAttrs).Shape.Known()
		lead := len(dims) - len(x.dims)
		for i := range dims {
			if dims[i] == -1 {
				dims[i] = x.dims[i-lead]
			}
		}
		return pull(dims, func(i []int) float64 { return x.at(i[lead:]...) })
	})
	checkGuarded(t, Slice, func(a any, in []*wide) []*wide {
		s, x := a.(SliceAttrs), in[0]
		d := front(s.Dim, len(x.dims))
		n := x.dims[d]
		start, _ := s.Start.Int()
		stop, _ := s.Stop.Int()
		if start < 0 {
			start = max(start+n, 0)
		}
		if stop < 0 {
			stop += n
		}
		var rows []int
		for i := start; i < min(stop, n); i += max(s.Step, 1) {
			rows = append(rows, i)
		}
		return pull(swapIn(x.dims, d, len(rows)), func(i []int) float64 { return x.strict(swapIn(i, d, rows[i[d]])...) })
	})
	checkGuarded(t, Narrow, func(a any, in []*wide) []*wide {
		s, x := a.(NarrowAttrs), in[0]
		d := front(s.Dim, len(x.dims))
		start, _ := s.Start.Int()
		n, _ := s.Length.Int()
		start = front(start, x.dims[d])
		return pull(swapIn(x.dims, d, n), func(i []int) float64 { return x.strict(swapIn(i, d, start+i[d])...) })
	})
	checkGuarded(t, Select, func(a any, in []*wide) []*wide {
		x := in[0]
		d := front(a.(SelectAttrs).Dim, len(x.dims))
		k := front(a.(SelectAttrs).Index, x.dims[d])
		return pull(cut(x.dims, d, d+1), func(i []int) float64 { return x.strict(put(i, d, k)...) })
	})
}

func TestDiagonalAndTurning(t *testing.T) {
	checkGuarded(t, Diagonal, func(a any, in []*wide) []*wide {
		s, x := a.(DiagonalAttrs), in[0]
		d1, d2 := front(s.Dim1, len(x.dims)), front(s.Dim2, len(x.dims))
		if d1 == d2 {
			d2 = 1
		}
		require.Less(t, d1, d2, "the reference takes the dimensions in order")
		n := 0
		row := max(-s.Offset, 0)
		for row+n < x.dims[d1] && row+n+s.Offset < x.dims[d2] {
			n++
		}
		dims := append(cut(cut(x.dims, d2, d2+1), d1, d1+1), n)
		return pull(dims, func(i []int) float64 {
			k := row + i[len(i)-1]
			return x.strict(put(put(i[:len(i)-1], d1, k), d2, k+s.Offset)...)
		})
	})
	checkGuarded(t, Flip, func(a any, in []*wide) []*wide {
		x := in[0]
		return pull(x.dims, func(i []int) float64 {
			for _, d := range a.(FlipAttrs).Dims.Slice() {
				d = front(d, len(i))
				i[d] = x.dims[d] - 1 - i[d]
			}
			return x.strict(i...)
		})
	})
	checkGuarded(t, Roll, func(a any, in []*wide) []*wide {
		r, x := a.(RollAttrs), in[0]
		out := newWide(x.dims...)
		for k, v := range x.v {
			i := out.index(k)
			for j, d := range r.Dims.Slice() {
				d = front(d, len(i))
				n := x.dims[d]
				i[d] = ((i[d]+r.Shifts.At(j))%n + n) % n
			}
			to := 0
			for d, v := range i {
				to = to*x.dims[d] + v
			}
			if r.Dims.Len() == 0 {
				to = (k + r.Shifts.At(0)) % len(x.v)
			}
			out.v[to] = v
		}
		return []*wide{out}
	})
}

func TestRepeating(t *testing.T) {
	tile := func(reps func(a any) shape.Dims) reference {
		return func(a any, in []*wide) []*wide {
			x := in[0]
			r, _ := reps(a).Known()
			dims := slices.Clone(x.dims)
			for len(dims) < len(r) {
				dims = put(dims, 0, 1)
			}
			lead := len(dims) - len(x.dims)
			out := slices.Clone(dims)
			for i := range r {
				out[len(out)-len(r)+i] *= r[i]
			}
			return pull(out, func(i []int) float64 {
				for d := range i {
					i[d] %= dims[d]
				}
				return x.strict(i[lead:]...)
			})
		}
	}
	checkGuarded(t, Tile, tile(func(a any) shape.Dims { return a.(TileAttrs).Reps }))
	checkGuarded(t, Repeat, tile(func(a any) shape.Dims { return a.(RepeatAttrs).Repeats }))
	checkGuarded(t, RepeatInterleave, func(a any, in []*wide) []*wide {
		r, x := a.(RepeatInterleaveAttrs), in[0]
		d := front(r.Dim, len(x.dims))
		return pull(swapIn(x.dims, d, x.dims[d]*r.Repeats), func(i []int) float64 { return x.strict(swapIn(i, d, i[d]/r.Repeats)...) })
	})
}

func TestJoiningAndCutting(t *testing.T) {
	join := func(d int, in []*wide) []*wide {
		var owner, at []int
		for k, x := range in {
			for i := range x.dims[d] {
				owner, at = append(owner, k), append(at, i)
			}
		}
		return pull(swapIn(in[0].dims, d, len(owner)), func(i []int) float64 {
			return in[owner[i[d]]].strict(swapIn(i, d, at[i[d]])...)
		})
	}
	checkGuarded(t, Cat, func(a any, in []*wide) []*wide {
		if kept := slices.DeleteFunc(slices.Clone(in), func(x *wide) bool { return len(x.dims) == 1 && x.dims[0] == 0 }); len(kept) > 0 {
			in = kept
		}
		return join(front(a.(DimAttrs).Dim, len(in[0].dims)), in)
	})
	checkGuarded(t, Stack, func(a any, in []*wide) []*wide {
		d := front(a.(DimAttrs).Dim, len(in[0].dims)+1)
		rows := make([]*wide, len(in))
		for i, x := range in {
			rows[i] = &wide{put(x.dims, d, 1), x.v}
		}
		return join(d, rows)
	})
	pieces := func(x *wide, d int, sizes []int) (out []*wide) {
		at := 0
		for _, n := range sizes {
			start := at
			out = append(out, pull(swapIn(x.dims, d, n), func(i []int) float64 { return x.strict(swapIn(i, d, start+i[d])...) })...)
			at += n
		}
		return out
	}
	checkGuarded(t, Split, func(a any, in []*wide) []*wide {
		sizes, _ := a.(SplitAttrs).Sizes.Known()
		return pieces(in[0], front(a.(SplitAttrs).Dim, len(in[0].dims)), sizes)
	})
	checkGuarded(t, Chunk, func(a any, in []*wide) []*wide {
		d := front(a.(ChunkAttrs).Dim, len(in[0].dims))
		n, k := in[0].dims[d], a.(ChunkAttrs).Chunks
		size := int(math.Ceil(float64(n) / float64(k)))
		sizes := make([]int, k)
		for i := range sizes {
			sizes[i] = min(size, n)
			n -= sizes[i]
		}
		return pieces(in[0], d, sizes)
	})
	checkGuarded(t, Unbind, func(a any, in []*wide) []*wide {
		d := front(a.(UnbindAttrs).Dim, len(in[0].dims))
		ones := make([]int, a.(UnbindAttrs).Count)
		for i := range ones {
			ones[i] = 1
		}
		out := pieces(in[0], d, ones)
		for _, o := range out {
			o.dims = cut(o.dims, d, d+1)
		}
		return out
	})
}
