package std

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// movedCase is a call over symbols, its type, and what it assumes of sizes.
type movedCase struct {
	o       *op.Op
	attrs   any
	in      []string
	want    string
	assumed []string
}

// TestSymbolicMovement states what the rules say about symbols, and assume.
func TestSymbolicMovement(t *testing.T) {
	dim := func(s string) shape.Dim {
		d, err := shape.ParseDim(s)
		require.NoError(t, err)
		return d
	}
	sizes := func(s string) shape.Dims {
		d, err := shape.ParseDims(s)
		require.NoError(t, err)
		return d
	}
	checkMoved(t, []movedCase{
		{Reshape, ReshapeAttrs{sizes("[N,S,12,-1]")}, []string{"f32[N,S,768]"}, "f32[N,S,12,64]", []string{"N >= 1", "S >= 1"}},
		{Reshape, ReshapeAttrs{sizes("[-1,768]")}, []string{"f32[N,S,768]"}, "f32[N*S,768]", nil},
		{Reshape, ReshapeAttrs{sizes("[-1,2]")}, []string{"f32[N,3]"}, "f32[3*N//2,2]", []string{"N % 2 == 0"}},
		{Flatten, FlattenAttrs{1, -1}, []string{"f32[N,512,7,7]"}, "f32[N,25088]", nil},
		{Slice, SliceAttrs{Dim: 0, Stop: dim("S")}, []string{"f32[1024,768]"}, "f32[S,768]", []string{"S <= 1024"}},
		{Slice, SliceAttrs{Dim: 1, Start: dim("1"), Stop: End}, []string{"i64[N,S]"}, "i64[N,S-1]", []string{"S >= 1"}},
		{Slice, SliceAttrs{Dim: 1, Stop: dim("-1")}, []string{"i64[N,S]"}, "i64[N,S-1]", []string{"S >= 1"}},
		{Slice, SliceAttrs{Dim: 1, Start: dim("-1"), Stop: End}, []string{"i64[N,S]"}, "i64[N,1]", []string{"S >= 1"}},
		{Slice, SliceAttrs{Dim: 0, Stop: dim("S+9")}, []string{"f32[S]"}, "f32[S]", nil},
		{Slice, SliceAttrs{Dim: 0, Stop: dim("4")}, []string{"f32[?]"}, "f32[?]", nil},
		{Narrow, NarrowAttrs{0, dim("K"), dim("S")}, []string{"f32[9]"}, "f32[S]", []string{"K+S <= 9"}},
		{Select, SelectAttrs{1, -1}, []string{"f32[N,S,8]"}, "f32[N,8]", []string{"S >= 1"}},
		{Select, SelectAttrs{1, 2}, []string{"f32[N,S,8]"}, "f32[N,8]", []string{"S >= 3"}},
		{Expand, ExpandAttrs{sizes("[N,-1,S]")}, []string{"f32[4,1]"}, "f32[N,4,S]", nil},
		{Cat, DimAttrs{1}, []string{"f32[N,P]", "f32[N,1]"}, "f32[N,P+1]", nil},
		{Cat, DimAttrs{1}, []string{"f32[N,P]", "f32[M,1]"}, "f32[N,P+1]", []string{"N == M"}},
		{Stack, DimAttrs{0}, []string{"f32[N]", "f32[N]"}, "f32[2,N]", nil},
		{Split, SplitAttrs{shape.ConstDims(768, 768), -1}, []string{"f32[N,1536]"}, "(f32[N,768], f32[N,768])", nil},
		{Chunk, ChunkAttrs{2, 1}, []string{"f32[N,8]"}, "(f32[N,4], f32[N,4])", nil},
		{Tile, TileAttrs{sizes("[K,2]")}, []string{"f32[N,S]"}, "f32[K*N,2*S]", nil},
		{Squeeze, SqueezeAttrs{}, []string{"f32[N,1]"}, "f32[*]", nil},
		{Squeeze, SqueezeAttrs{op.IntList(1)}, []string{"f32[N,1]"}, "f32[N]", nil},
		{PixelShuffle, PixelShuffleAttrs{2}, []string{"f32[N,4*C,H,W]"}, "f32[N,C,2*H,2*W]", nil},
		{Interpolate, InterpolateAttrs{ScaleFactor: op.FloatList(2, 0.5)}, []string{"f32[N,3,H,W]"}, "f32[N,3,2*H,W//2]", []string{"H >= 1", "W >= 2", "W >= 1"}},
		{Interpolate, InterpolateAttrs{ScaleFactor: op.FloatList(1.1)}, []string{"f32[N,3,H,8]"}, "f32[N,3,11*H//10,8]", []string{"H+H//10 >= 1", "H >= 1"}},
		{Interpolate, InterpolateAttrs{ScaleFactor: op.FloatList(0.29)}, []string{"f32[N,3,H,8]"}, "f32[N,3,?,2]", []string{"H >= 1"}},
		{Topk, TopkAttrs{K: 3, Dim: 1}, []string{"f32[N,V]"}, "(f32[N,3], i64[N,3])", []string{"V >= 3"}},
	})
}

// Counts and bounds may be sizes, and constant bounds are cut at the ends.
func TestSymbolicCounts(t *testing.T) {
	dim := func(s string) shape.Dim {
		d, err := shape.ParseDim(s)
		require.NoError(t, err)
		return d
	}
	sizes := func(s string) shape.Dims {
		d, err := shape.ParseDims(s)
		require.NoError(t, err)
		return d
	}
	checkMoved(t, []movedCase{
		{Slice, SliceAttrs{Dim: 1, Stop: dim("100")}, []string{"i64[N,S]"}, "i64[N,min(S,100)]", nil},
		{Slice, SliceAttrs{Dim: 1, Stop: dim("1000000000")}, []string{"i64[N,2*S]"}, "i64[N,2*min(S,500000000)]", nil},
		{Slice, SliceAttrs{Dim: 1, Start: dim("5"), Stop: End}, []string{"i64[N,S]"}, "i64[N,S-min(S,5)]", nil},
		{Slice, SliceAttrs{Dim: 1, Start: dim("-5"), Stop: End}, []string{"i64[N,S]"}, "i64[N,min(S,5)]", nil},
		{Slice, SliceAttrs{Dim: 1, Start: dim("1"), Stop: dim("-1")}, []string{"i64[N,S]"}, "i64[N,S-min(S,2)]", nil},
		{Slice, SliceAttrs{Dim: 1, Start: dim("2"), Stop: dim("5")}, []string{"i64[N,S]"}, "i64[N,min(S,5)-min(S,2)]", nil},
		{Slice, SliceAttrs{Dim: 1, Start: dim("1"), Stop: End, Step: 2}, []string{"i64[N,S]"}, "i64[N,S//2]", nil},
		{Slice, SliceAttrs{Dim: 1, Start: dim("-9"), Stop: dim("3")}, []string{"i64[N,S]"}, "i64[N,min(S,3)-min(min(S,3),S-min(S,9))]", nil},
		{Slice, SliceAttrs{Dim: 1, Start: dim("3"), Stop: dim("4")}, []string{"i64[N,S]"}, "i64[N,1]", []string{"S >= 4"}},
		{Slice, SliceAttrs{Dim: 1, Start: dim("-3"), Stop: dim("-2")}, []string{"i64[N,S]"}, "i64[N,1]", []string{"S >= 3"}},
		{Slice, SliceAttrs{Dim: 1, Start: dim("2"), Stop: dim("-1"), Inside: true}, []string{"i64[N,S]"}, "i64[N,S-3]", []string{"S >= 2", "S >= 1", "S >= 3"}},
		{Slice, SliceAttrs{Dim: 1, Start: dim("4"), Stop: dim("3")}, []string{"i64[N,S]"}, "i64[N,0]", nil},
		{Split, SplitAttrs{sizes("[S,N-S]"), 0}, []string{"f32[N]"}, "(f32[S], f32[N-S])", []string{"N >= S"}},
		{Split, SplitAttrs{sizes("[S,2]"), 0}, []string{"f32[N]"}, "(f32[S], f32[2])", []string{"N == S+2"}},
		{Pad, PadAttrs{Pad: sizes("[0,-N-4*((-N)//4)]")}, []string{"f32[N]"}, "f32[-4*((-N)//4)]", nil},
		{Pad, PadAttrs{Pad: sizes("[0,N]"), Mode: "reflect"}, []string{"f32[S]"}, "f32[N+S]", []string{"S >= N+min(N,1)"}},
		{Pad, PadAttrs{Pad: sizes("[M-N,0]"), Mode: "replicate"}, []string{"f32[S]"}, "f32[M-N+S]", []string{"M+S >= N", "S+min(M,N) >= min(M,min(M,N)+1)"}},
		{Pad, PadAttrs{Pad: sizes("[N,0]"), Mode: "circular"}, []string{"f32[S]"}, "f32[N+S]", []string{"S >= N"}},
	})
}

func checkMoved(t *testing.T, cases []movedCase) {
	parse := func(s string) shape.Type {
		typ, err := shape.ParseType(s)
		require.NoError(t, err)
		return typ
	}
	for _, c := range cases {
		var assumed []string
		infer := &op.Infer{Assume: func(r shape.Relation) error {
			if !slices.Contains(assumed, r.String()) {
				assumed = append(assumed, r.String())
			}
			return nil
		}}
		var in []shape.Type
		for _, s := range c.in {
			in = append(in, parse(s))
		}
		got, err := c.o.Type(infer, c.attrs, in)
		require.NoError(t, err, "%s%v of %v", c.o.Name, c.attrs, c.in)
		require.Equal(t, parse(c.want).String(), got.String(), "%s%v of %v", c.o.Name, c.attrs, c.in)
		require.Equal(t, c.assumed, assumed, "%s%v of %v", c.o.Name, c.attrs, c.in)
	}
}

// typesOnly is a builder whose values are types, for decompositions of symbols.
type typesOnly struct{ t *testing.T }

type onlyType struct{ t shape.Type }

func (v onlyType) Type() shape.Type { return v.t }

func (b typesOnly) Call(o *op.Op, attrs any, in ...op.Value) op.Value {
	types := make([]shape.Type, len(in))
	for i, v := range in {
		types[i] = v.Type()
	}
	got, err := o.Type(nil, attrs, types)
	require.NoError(b.t, err, "%s%v of %v", o.Name, attrs, types)
	return onlyType{got}
}

func (b typesOnly) Item(v op.Value, i int) op.Value { return onlyType{v.Type().Member(i)} }

// TestDecomposedTypes holds decompositions to the type rule, with symbols in
// place of every size above 1.
func TestDecomposedTypes(t *testing.T) {
	for _, o := range []*op.Op{Narrow, Stack, PixelShuffle, PixelUnshuffle, Logsumexp, Norm, Argsort} {
		require.True(t, o.Composite(), o.Name)
		for _, s := range o.Samples() {
			types := typesOf(s.In)
			values := make([]op.Value, len(types))
			for i, x := range types {
				for d := range x.Rank() {
					if n, _ := x.Dim(d).Int(); n > 1 {
						types[i] = types[i].WithDims(types[i].Dims().With(d, shape.Sym(fmt.Sprintf("S%d", n))))
					}
				}
				values[i] = onlyType{types[i]}
			}
			want, err := o.Type(nil, s.Attrs, types)
			require.NoError(t, err)
			got := o.Expand(typesOnly{t}, s.Attrs, values).Type()
			require.Equal(t, want.String(), got.String(), "%s %s of %v", o.Name, s.Name, types)
		}
	}
}
