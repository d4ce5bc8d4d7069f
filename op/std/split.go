package std

import (
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// SplitAttrs are the attributes of split: the size of every piece.
type SplitAttrs struct {
	Sizes shape.Dims `fx:",arg"`
	Dim   int        `fx:",arg"`
}

// ChunkAttrs are the attributes of chunk. All pieces have the size rounded up
// of an equal division, except the last, which takes what is left. A dimension
// that this divides into fewer than Chunks pieces is refused, where PyTorch
// gives fewer, because the number of results follows from attributes alone.
type ChunkAttrs struct {
	Chunks int `fx:",arg"`
	Dim    int `fx:",arg"`
}

// UnbindAttrs are the attributes of unbind: Count is the size of the dimension.
type UnbindAttrs struct {
	Dim   int `fx:",arg"`
	Count int `fx:",arg"`
}

// Split cuts a dimension into pieces of given sizes.
//
//gofx:torch torch.split(x, sizes, dim)
var Split = splitOp("split", "split cuts a dimension into pieces of the given sizes.", op.Spec[SplitAttrs]{
	Count: func(a SplitAttrs) int { return a.Sizes.Len() },
	Infer: piecesRule(func(c *op.Infer, a SplitAttrs, n shape.Dim) ([]shape.Dim, error) {
		total, sizes := shape.Const(0), a.Sizes.Slice()
		for _, s := range sizes {
			if err := c.AtLeast(s, shape.Const(0), op.BadAttr, func() string {
				return "size " + s.String() + " in " + a.Sizes.String() + ", expected sizes that are not negative"
			}); err != nil {
				return nil, err
			}
			total = total.Add(s)
		}
		_, err := c.Equal(n, total, op.SizeMismatch, func() string {
			return "the dimension has size " + n.String() + ", expected the sum of sizes " + a.Sizes.String() + ", " + total.String()
		})
		return sizes, err
	}, func(a SplitAttrs) int { return a.Dim }, false),
	Kernel: func(a SplitAttrs, in []shape.Type) kernel.Step {
		axis, _ := realAxis(a.Dim, in[0].Rank())
		return &kernel.Split{Dim: axis}
	},
	Scatter: func(b op.Builder, a SplitAttrs, item int, base, v op.Value) op.Value {
		at := shape.Const(0)
		for _, n := range a.Sizes.Slice()[:item] {
			at = at.Add(n)
		}
		return b.Call(SliceScatter, SliceAttrs{Dim: a.Dim, Start: at, Stop: at.Add(a.Sizes.At(item))}, base, v)
	},
	Samples: splitSamples,
	Bad:     splitBad,
})

// Chunk cuts a dimension into pieces of about one size.
//
//gofx:torch torch.chunk(x, chunks, dim)
var Chunk = splitOp("chunk", "chunk cuts a dimension into pieces of the same size, except a shorter last one.", op.Spec[ChunkAttrs]{
	Differs: []op.Difference[ChunkAttrs]{
		{Kind: op.Refuses, Text: "a size that makes fewer chunks than asked for, of which PyTorch returns as many as there are"},
	},
	Count: func(a ChunkAttrs) int { return a.Chunks },
	Infer: piecesRule(chunkSizes, func(a ChunkAttrs) int { return a.Dim }, false),
	Kernel: func(a ChunkAttrs, in []shape.Type) kernel.Step {
		axis, _ := realAxis(a.Dim, in[0].Rank())
		return &kernel.Split{Dim: axis}
	},
	Scatter: func(b op.Builder, a ChunkAttrs, item int, base, v op.Value) op.Value {
		if n, ok := base.Type().Dim(a.Dim).Int(); ok {
			size := (n + a.Chunks - 1) / a.Chunks
			return writePiece(b, a.Dim, size*item, min(size, n-size*item), base, v)
		}
		// Where the pieces begin is not known, but they lie in order.
		chunks, pieces := later(b, "chunk", a, base), make([]op.Value, a.Chunks)
		for i := range pieces {
			if pieces[i] = v; i != item {
				pieces[i] = b.Item(chunks, i)
			}
		}
		return b.Call(Cat, DimAttrs{a.Dim}, pieces...)
	},
	Samples: chunkSamples,
	Bad:     chunkBad,
})

// Unbind takes every index of a dimension.
//
//gofx:torch unbind(x, dim, count)
var Unbind = splitOp("unbind", "unbind takes every index of a dimension, which vanishes; count is its size.", op.Spec[UnbindAttrs]{
	Count: func(a UnbindAttrs) int { return a.Count },
	Infer: piecesRule(func(c *op.Infer, a UnbindAttrs, n shape.Dim) ([]shape.Dim, error) {
		if err := checkPieces("count", a.Count); err != nil {
			return nil, err
		}
		_, err := c.Equal(n, shape.Const(a.Count), op.SizeMismatch, func() string {
			return "the dimension has size " + n.String() + ", expected count " + strconv.Itoa(a.Count)
		})
		return make([]shape.Dim, a.Count), err
	}, func(a UnbindAttrs) int { return a.Dim }, true),
	Kernel: func(a UnbindAttrs, in []shape.Type) kernel.Step {
		axis, _ := realAxis(a.Dim, in[0].Rank())
		return &kernel.Split{Dim: axis, Unbind: true}
	},
	Scatter: func(b op.Builder, a UnbindAttrs, item int, base, v op.Value) op.Value {
		return b.Call(SelectScatter, SelectAttrs{a.Dim, item}, base, v)
	},
	Samples: unbindSamples,
	Bad:     unbindBad,
})

// splitOp defines an operator that cuts its operand into a tuple of views.
func splitOp[A any](name, doc string, s op.Spec[A]) *op.Op {
	s.Results = []string{"..."}
	return viewOp(name, doc, s)
}

// writePiece writes v over n indices of a dimension from one on.
func writePiece(b op.Builder, dim, from, n int, base, v op.Value) op.Value {
	return b.Call(SliceScatter, SliceAttrs{Dim: dim, Start: shape.Const(from), Stop: shape.Const(from + n)}, base, v)
}

// piecesRule makes the type rule of cutting dimension dim(a) into pieces of
// sizes(a, size); with drop the dimension vanishes.
func piecesRule[A any](sizes func(*op.Infer, A, shape.Dim) ([]shape.Dim, error), dim func(A) int, drop bool) func(*op.Infer, A, []shape.Type) (shape.Type, error) {
	return func(c *op.Infer, a A, in []shape.Type) (shape.Type, error) {
		t, axis := in[0], 0
		if t.Ranked() {
			var err error
			if axis, err = realAxis(dim(a), t.Rank()); err != nil {
				return shape.Type{}, err
			}
		}
		size := shape.Unknown
		if t.Ranked() {
			size = t.Dim(axis)
		}
		pieces, err := sizes(c, a, size)
		if err == nil && len(pieces) == 0 {
			err = diag.New(op.BadAttr, "no sizes, expected at least one")
		}
		if err != nil {
			return shape.Type{}, err
		}
		members := make([]shape.Type, len(pieces))
		for i, p := range pieces {
			switch {
			case !t.Ranked():
				members[i] = shape.Unranked(t.DType())
			case drop:
				members[i] = t.WithDims(without(t.Dims(), axis))
			default:
				members[i] = t.WithDims(t.Dims().With(axis, p))
			}
		}
		return shape.TupleType(members...), nil
	}
}

// maxPieces bounds tuples whose length an attribute says.
const maxPieces = 1 << 16

func checkPieces(name string, n int) error {
	if n < 1 || n > maxPieces {
		return badAttr(name, strconv.Itoa(n), "a number from 1 to "+strconv.Itoa(maxPieces))
	}
	return nil
}

func chunkSizes(c *op.Infer, a ChunkAttrs, n shape.Dim) ([]shape.Dim, error) {
	if err := checkPieces("chunks", a.Chunks); err != nil {
		return nil, err
	}
	if n.Is(0) {
		return make([]shape.Dim, a.Chunks), nil
	}
	size := n.AddInt(a.Chunks - 1).FloorDivInt(a.Chunks)
	last := n.Sub(size.MulInt(a.Chunks - 1))
	if l, ok := last.Int(); ok && l <= 0 && a.Chunks > 1 {
		s, _ := size.Int()
		total, _ := n.Int()
		count := (total + s - 1) / s
		return nil, diag.New(op.BadAttr, "size "+n.String()+" makes "+strconv.Itoa(count)+" chunks of at most "+size.String()+", expected "+strconv.Itoa(a.Chunks)).
			WithHint("ask for that many, or use split with sizes")
	}
	if a.Chunks > 1 {
		if err := requireMore(c, n, size.MulInt(a.Chunks-1), func() string {
			return n.String() + " elements do not make " + strconv.Itoa(a.Chunks) + " chunks, expected enough"
		}); err != nil {
			return nil, err
		}
	}
	sizes := make([]shape.Dim, a.Chunks)
	for i := range sizes {
		sizes[i] = size
	}
	sizes[a.Chunks-1] = last
	return sizes, nil
}
