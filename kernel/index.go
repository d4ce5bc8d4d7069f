package kernel

import (
	"github.com/gofx-dev/gofx/kernel/internal/index"
)

// Reading and writing by indices, and sorting.
type (
	// EmbeddingBag reduces bags of rows of the matrix in[1] with Mode "sum", "mean"
	// or "max".
	EmbeddingBag = index.EmbeddingBag

	// IndexSelect takes the slices of in[0] along Dim that the one-dimensional in[1]
	// (i32 or i64) names.
	IndexSelect = index.IndexSelect

	// Embedding takes the rows of the matrix in[1] that in[0] (i32 or i64, any shape)
	// names: the result has in[0]'s shape and the row length.
	Embedding = index.Embedding

	// Gather takes, for every element of in[1] (i32 or i64), the element of in[0] at
	// the same multi-index but for dimension Dim, where in[1] names it.
	Gather = index.Gather

	// Scatter copies in[0] and then, for every element of in[1] (i32 or i64),
	// combines the element of in[2] at the same multi-index into the element that has
	// this multi-index but for dimension Dim, where in[1] names it.
	Scatter = index.Scatter

	// Sort orders in[0] along Dim: out[0] has the values, out[1] their i64 indices
	// along Dim.
	Sort = index.Sort

	// TopK takes the K greatest (or with Largest false the least) elements along Dim:
	// out[0] has the values, out[1] their i64 indices.
	TopK = index.TopK

	// SearchSorted gives for every element of in[1] the i64 index at which it belongs
	// in in[0], sorted along its last dimension.
	SearchSorted = index.SearchSorted
)
