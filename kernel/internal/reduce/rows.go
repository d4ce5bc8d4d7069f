package reduce

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/rowcol"
)

// Rows is a softmax or a norm whose rows of f32 are contiguous, for steps that also
// compute something else, some rows at a time. It gives the same bits as the step
// of its kind.
type Rows struct {
	norm          rowNorm // its size is that of a row
	softmax, logs bool
	weight, bias  []float32
}

// The kinds of Rows.
const (
	RowsOfSoftmax    = "softmax"     // over the last dimension
	RowsOfLogSoftmax = "log_softmax" // over the last dimension
	RowsOfLayerNorm  = "layer_norm"  // over the last Axes dimensions
	RowsOfRMSNorm    = "rms_norm"    // over the last Axes dimensions
	RowsOfGroupNorm  = "group_norm"  // over the channels of a group and the dimensions after them
)

// NewRows returns the rows of a kind of an array of this shape. Weight and bias have
// an element for each of a row, or of a group norm for each channel; nil for none.
func NewRows(kind string, shape []int, axes, groups int, eps float64, weight, bias []float32) Rows {
	if !slices.Contains([]string{RowsOfSoftmax, RowsOfLogSoftmax, RowsOfLayerNorm, RowsOfRMSNorm, RowsOfGroupNorm}, kind) {
		operand.BadOperand("rows", "there is no kind "+strconv.Quote(kind))
	}
	n := 1
	if kind == RowsOfGroupNorm {
		for _, d := range shape[2:] {
			n *= d
		}
		size := n
		if groups > 0 {
			size *= shape[1] / groups
		}
		return Rows{norm: rowNorm{size: size, inner: n, chans: shape[1], eps: eps}, weight: weight, bias: bias}
	}
	r := Rows{softmax: kind == RowsOfSoftmax || kind == RowsOfLogSoftmax, logs: kind == RowsOfLogSoftmax, weight: weight, bias: bias}
	if r.softmax {
		axes = min(1, len(shape))
	}
	for _, d := range shape[len(shape)-axes:] {
		n *= d
	}
	r.norm = rowNorm{size: n, inner: 1, chans: n, eps: eps, raw: kind == RowsOfRMSNorm}
	return r
}

// Size returns the elements of a row.
func (r *Rows) Size() int { return r.norm.size }

// Run makes whole rows, of which the first is row first of all, in dst of those in src.
// With stream they are stored past the caches.
func (r *Rows) Run(first int, dst, src []float32, stream bool) {
	if r.softmax {
		rowcol.RowsSoftmax(cpu.Host.Level, dst, src, r.norm.size, r.logs, stream)
		return
	}
	j := rowNormJob[float32]{rowNorm: r.norm, dst: dst, src: src, weight: r.weight, bias: r.bias, first: first}
	j.stream = stream
	j.Do(0, len(src)/r.norm.size)
}
