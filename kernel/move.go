package kernel

import (
	"github.com/gofx-dev/gofx/kernel/internal/move"
)

// Copies, views and what puts elements elsewhere.
type (
	// Full sets every element of out[0] to Value or, for integer types, IntValue;
	// bool is true when either is not zero.
	Full = move.Full

	// Unfold turns sliding windows of images into columns (im2col): in[0] is [N, C,
	// H, W] or [C, H, W], the result [N, C*kh*kw, L] or [C*kh*kw, L], with L the
	// number of windows in row-major order.
	Unfold = move.Unfold

	// Fold adds columns of windows back into images of size Output (col2im), the
	// adjoint of Unfold: in[0] is [N, C*kh*kw, L] or [C*kh*kw, L], the result [N, C,
	// H, W] or [C, H, W].
	Fold = move.Fold

	// Concat joins any number of inputs along Dim.
	Concat = move.Concat

	// Tile repeats in[0] to the shape of out[0], which is a multiple of in[0]'s in
	// every dimension; missing leading dimensions of in[0] count as 1.
	Tile = move.Tile

	// RepeatInterleave repeats every element of dimension Dim Repeats times in place.
	RepeatInterleave = move.RepeatInterleave

	// Flip reverses the order of elements along Dims.
	Flip = move.Flip

	// Roll shifts the elements of dimension Dims[i] by Shifts[i] places towards
	// higher indices, around the end.
	Roll = move.Roll

	// Pad adds Lo[d] elements before and Hi[d] after dimension d; negative counts
	// crop.
	Pad = move.Pad

	// SliceScatter copies in[0] and writes in[1] over the elements that Slice of the
	// same fields shows.
	SliceScatter = move.SliceScatter

	// SelectScatter copies in[0] and writes in[1] over the elements that Select of
	// the same fields shows.
	SelectScatter = move.SelectScatter

	// DiagonalScatter copies in[0] and writes in[1] over the elements that Diagonal
	// of the same fields shows.
	DiagonalScatter = move.DiagonalScatter

	// Split cuts in[0] along Dim into len(out) pieces; each output's shape says how
	// much it takes.
	Split = move.Split

	// Copy writes in[0], of any layout, to out[0]; both have the same shape and type.
	Copy = move.Copy

	// Reshape gives the elements of in[0] in row-major order another shape: that of
	// out[0], or for View that which dst[0] has when View is called.
	Reshape = move.Reshape

	// Permute reorders dimensions: dimension i of the result is dimension Dims[i] of
	// in[0].
	Permute = move.Permute

	// Expand broadcasts in[0] to the shape of out[0], or for View to that which
	// dst[0] has when View is called: dimensions of size 1 repeat, new ones lead.
	Expand = move.Expand

	// Slice takes elements Start, Start+Step, ...
	Slice = move.Slice

	// Select takes element Index of dimension Dim and drops that dimension; a
	// negative index counts from the end.
	Select = move.Select

	// Diagonal takes the elements with index i in Dim1 and i+Offset in Dim2; the two
	// dimensions vanish and the diagonal becomes the last one.
	Diagonal = move.Diagonal
)
