package narrow

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/half"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// BlockQuantize rounds rows of floats to blocks as GGUF files have them: in[0] is x [..., k] f32, f16 or bf16, k whole blocks, the result
// u8 [..., bytes of k elements], in Format, which is Q8_0. In each 32 elements d is the largest size divided by 127, rounded to f16; elements become multiples
// of it, halves to even. A block that has an element that is not finite, or one of more than 127·65504, stands for NaN.
//
//gofx:kernel
type BlockQuantize struct{ Format string }

// ScratchBytes implements Scratcher.
func (BlockQuantize) ScratchBytes(_, in []*array.Array) int { return operand.LoadAllBytes(in) }

// Run implements Step.
func (s BlockQuantize) Run(w *par.Workspace, out, in []*array.Array) {
	const step = "block_quantize"
	x, f := in[0], blockFormatOf(step, s.Format)
	if f.Name != "Q8_0" {
		operand.BadOperand(step, "the format is not Q8_0")
	}
	if x.Rank() == 0 || x.DType() == array.F64 || !x.DType().IsFloat() || out[0].DType() != array.U8 || out[0].Rank() != x.Rank() {
		operand.BadOperand(step, "the operand is no row of f32, f16 or bf16, or the result is not u8 of its rank")
	}
	if x.Dim(-1)%f.Elements != 0 || out[0].Len()*f.Elements != x.Len()*f.Bytes || out[0].Dim(-1)*f.Elements != x.Dim(-1)*f.Bytes {
		operand.BadOperand(step, "rows are not whole blocks, or the result has another size")
	}
	mark := w.Mark()
	j := par.TakeJob[quantizeJob](w)
	*j = quantizeJob{dst: array.Data[uint8](out[0]), x: operand.Load[float32](w, x)}
	w.Parallel(x.Len()/f.Elements, max(1, par.PackWork/f.Elements), j)
	par.PutJob(w, j)
	w.Release(mark)
}

// quantizeJob is a rounding in progress.
type quantizeJob struct {
	dst []uint8
	x   []float32
}

// Do rounds blocks [lo, hi).
func (j *quantizeJob) Do(lo, hi int) {
	half.Quantize(j.dst[lo*half.ByteBlock:hi*half.ByteBlock], j.x[lo*half.UnpackBlock:hi*half.UnpackBlock])
}
