package narrow

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/half"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Int4Embedding takes rows of a matrix of weights of 4 bits, which the integers of in[0]
// name, as floats, (q-zero)·scale for each group of Group weights: in[1] is u8 [V, E/2],
// two weights a byte, the even one in the lower half, in[2] the scales f32 [V, groups],
// in[3] optional zero points u8 [V, groups] below 16, 8 without them.
//
//gofx:kernel
type Int4Embedding struct{ Group int }

// ScratchBytes implements Scratcher.
func (Int4Embedding) ScratchBytes(_, in []*array.Array) int { return operand.LoadAllBytes(in) }

// Run implements Step.
func (s Int4Embedding) Run(w *par.Workspace, out, in []*array.Array) {
	const step = "int4_embedding"
	checkGroup(step, s.Group)
	x, weight, scale, zero := in[0], in[1], in[2], operand.At(in, 3)
	if weight.Rank() != 2 || weight.DType() != array.U8 || out[0].DType() != array.F32 || out[0].Len() != x.Len()*2*weight.Dim(1) {
		operand.BadOperand(step, "the weight is not a matrix of u8, or the result is not f32 of a row for each index")
	}
	groups := groupsOf(2*weight.Dim(1), s.Group)
	if scale.Len() != weight.Dim(0)*groups || scale.DType() != array.F32 || zero != nil && (zero.Len() != scale.Len() || zero.DType() != array.U8) {
		operand.BadOperand(step, "the scales or the zero points have another size than these operands give")
	}
	mark := w.Mark()
	j := par.TakeJob[int4EmbeddingJob](w)
	*j = int4EmbeddingJob{dst: array.Data[float32](out[0]), rows: weight.Dim(0), width: 2 * weight.Dim(1), group: s.Group, groups: groups,
		weight: operand.LoadSame[uint8](w, weight), scale: operand.LoadSame[float32](w, scale)}
	if zero != nil {
		j.zero = operand.LoadSame[uint8](w, zero)
	}
	j.index = operand.LoadIndices(step, w, x, j.rows)
	w.Parallel(x.Len(), max(1, par.PackWork/max(j.width, 1)), j)
	par.PutJob(w, j)
	w.Release(mark)
}

// int4EmbeddingJob is a look-up in progress.
type int4EmbeddingJob struct {
	dst                        []float32
	index                      operand.Indices
	weight                     []uint8
	scale                      []float32
	zero                       []uint8
	rows, width, group, groups int
}

// Do unpacks rows [lo, hi) of the result.
func (j *int4EmbeddingJob) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		row := j.index.At(i)
		dst, src := j.dst[i*j.width:(i+1)*j.width], j.weight[row*j.width/2:(row+1)*j.width/2]
		var zero []uint8
		if j.zero != nil {
			zero = j.zero[row*j.groups:]
		}
		half.Int4Unpack(dst, src, j.scale[row*j.groups:], zero, j.group)
	}
}
