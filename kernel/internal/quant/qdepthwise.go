package quant

import (
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// depthwise convolves every channel by its own filter.
func (c *qConvRun) depthwise(w *par.Workspace, b *PackedQ, e qEpilogue) {
	p := &c.p
	j := par.TakeJob[qDepthwiseJob](w)
	*j = qDepthwiseJob{src: c.img, offs: c.offs, b: *b, out: e, taps: p.w.taps}
	j.window = qWindow{g: &p.g, line: p.padded[2] * p.w.chans, chans: p.w.chans}
	j.window.plane = p.padded[1] * j.window.line
	j.window.split(p.g.Out[2])
	tiles := p.g.Out[0] * p.g.Out[1] * j.window.per
	w.Parallel(tiles, max(1, qWork/(16*j.window.width*p.w.taps*p.w.chans+1)), j)
	par.PutJob(w, j)
}

// qDepthwiseJob is a depthwise convolution in progress.
type qDepthwiseJob struct {
	window qWindow
	src    []uint8
	offs   []int64
	b      PackedQ
	out    qEpilogue
	taps   int
}

// Do computes tiles [lo, hi), all channels of each. Blocks of channels are inside,
// since their bytes lie beside each other; sums of a tile's block are on the
// stack, in the first cache, until they are converted.
func (j *qDepthwiseJob) Do(lo, hi int) {
	var acc [14 * qBlock]int32
	chans := j.window.chans
	size := len(j.offs) / 4 * 4 * qBlock
	step := j.window.g.Stride[2] * chans
	for t := lo; t < hi; t++ {
		rows, at, row := j.window.tile(t)
		for c := 0; c < chans; c += qBlock {
			cols := min(qBlock, chans-c)
			qDepthwise(rows, step, j.src, at+c, j.offs, cols, j.b.data[c/qBlock*size:][:size], acc[:])
			if j.out.weightZero != nil {
				j.correct(acc[:], rows, cols, at, c)
			}
			for h := 0; h < cols; h += qCols {
				j.out.put(rows, min(qCols, cols-h), acc[h:], qBlock, row, c+h)
			}
		}
	}
}

// correct takes the weights' zero points, times what each window holds, from sums.
func (j *qDepthwiseJob) correct(acc []int32, rows, cols, at, c int) {
	step := j.window.g.Stride[2] * j.window.chans
	for r := range rows {
		for i := range cols {
			s := int32(0)
			for _, off := range j.offs[:j.taps] {
				s += int32(j.src[at+r*step+int(off)+c+i])
			}
			acc[r*qBlock+i] -= s * j.out.weightZero[c+i]
		}
	}
}

// qDepthwiseGo is the twin of qDepthwiseVNNI for channels [from, to) of a block:
// acc[p][c] = Σ src[at+p·step+offs[t]+c]·weight[t][c], 64 sums a pixel.
func qDepthwiseGo(pixels, step int, src []uint8, at int, offs []int64, from, to int, weight []int8, acc []int32) {
	for p := range pixels {
		for c := from; c < to; c++ {
			w := weight[depthwiseAt(c):]
			pos := at + p*step + c
			s := int32(0)
			for t := 0; t < len(offs); t += 4 {
				o := offs[t : t+4]
				v := w[t*qBlock : t*qBlock+4]
				s += int32(src[pos+int(o[0])])*int32(v[0]) + int32(src[pos+int(o[1])])*int32(v[1]) +
					int32(src[pos+int(o[2])])*int32(v[2]) + int32(src[pos+int(o[3])])*int32(v[3])
			}
			acc[p*qBlock+c] = s
		}
	}
}
