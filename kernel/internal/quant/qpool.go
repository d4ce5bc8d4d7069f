package quant

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// QMaxPool is MaxPool of a quantised tensor [N, C, spatial...], or [N, spatial...,
// C] with ChannelsLast: the scale and the zero point stay, and padding never
// wins. Lists have one entry a spatial dimension, as for MaxPool; there is no
// result for places of maxima.
//
//gofx:kernel
type QMaxPool struct {
	Kernel, Stride, PadLo, PadHi, Dilation []int
	ChannelsLast                           bool
}

// ScratchBytes implements Scratcher.
func (QMaxPool) ScratchBytes(_, in []*array.Array) int { return operand.LoadBytes(in[0]) }

// Run implements Step.
func (s QMaxPool) Run(w *par.Workspace, out, in []*array.Array) {
	const step = "q_max_pool"
	if in[0].DType() != out[0].DType() {
		operand.BadOperand(step, "the result is of another type than the operand")
	}
	mark := w.Mark()
	j := par.TakeJob[qPoolJob](w)
	*j = qPoolJob{flip: tensorParam(step, in[0].DType(), nil, nil).flip, most: true}
	j.run(w, step, out[0], in[0], s.Kernel, s.Stride, s.PadLo, s.PadHi, s.Dilation, s.ChannelsLast)
	par.PutJob(w, j)
	w.Release(mark)
}

// QAvgPool is AvgPool of a quantised tensor, laid out as for QMaxPool: in[0] x, its
// scale and zero point, the result's scale and zero point (nil for those of x, or
// 0). The mean is taken of exact sums and rounded once, halves to even:
// round((Σx - n·zx)·(sx/sy/count)) + zy, saturated; n counts the elements read, the
// divisor those of AvgPool with CountIncludePad or without.
//
//gofx:kernel
type QAvgPool struct {
	Kernel, Stride, PadLo, PadHi []int
	CountIncludePad              bool
	ChannelsLast                 bool
}

// ScratchBytes implements Scratcher.
func (QAvgPool) ScratchBytes(_, in []*array.Array) int { return operand.LoadBytes(in[0]) }

// Run implements Step.
func (s QAvgPool) Run(w *par.Workspace, out, in []*array.Array) {
	const step = "q_avg_pool"
	if in[0].DType() != out[0].DType() {
		operand.BadOperand(step, "the result is of another type than the operand")
	}
	mark := w.Mark()
	x := tensorParam(step, in[0].DType(), operand.At(in, 1), operand.At(in, 2))
	y := x
	if scale := operand.At(in, 3); scale != nil {
		y = tensorParam(step, out[0].DType(), scale, operand.At(in, 4))
	}
	j := par.TakeJob[qPoolJob](w)
	*j = qPoolJob{flip: x.flip, zeroX: x.zero, scale: x.scale / y.scale, include: s.CountIncludePad}
	j.lo, j.hi, j.zero = qAct{}.limits(out[0].DType(), y)
	j.run(w, step, out[0], in[0], s.Kernel, s.Stride, s.PadLo, s.PadHi, nil, s.ChannelsLast)
	par.PutJob(w, j)
	w.Release(mark)
}

// qPoolSum and qPoolWord are how many bytes always have a sum that is an int32, and one
// of 16 bits.
const qPoolSum, qPoolWord = 1 << 23, 257

// qPoolJob is a pooling in progress. Element (position, channel) of an image lies
// at position·atPos + channel·atChan.
type qPoolJob struct {
	geom.Spatial
	end      [3]int // where the padding after the input ends
	dst, src []uint8
	flip     uint8
	most     bool // the maximum, not the mean
	include  bool
	zeroX    int32
	scale    float32
	lo, hi   float32
	zero     int32

	chans           int
	blocks, size    int // of channels that are pooled together
	atPos, atChan   int
	outPos, outChan int
	bytes           [256]uint8 // results of single elements
}

func (j *qPoolJob) run(w *par.Workspace, step string, out, x *array.Array, kernel, stride, padLo, padHi, dilation []int, last bool) {
	r := x.Rank()
	if len(kernel) < 1 || len(kernel) > 3 || r != len(kernel)+2 || out.Rank() != r || x.Dim(0) != out.Dim(0) {
		operand.BadOperand(step, "the operand is not a batch of one to three spatial dimensions, or the result is of another shape")
	}
	first, channel := 2, 1
	if last {
		first, channel = 1, r-1
	}
	for _, list := range [][]int{stride, padLo, padHi, dilation} {
		if len(list) != len(kernel) && list != nil {
			operand.BadOperand(step, "stride, padding or dilation is of another rank than the kernel")
		}
	}
	if j.chans = x.Dim(channel); out.Dim(channel) != j.chans {
		operand.BadOperand(step, "the result has another number of channels")
	}
	n := len(kernel)
	j.Spatial = geom.NewSpatial(x.Shape()[first:first+n], out.Shape()[first:first+n], kernel, geom.StrideOr(stride, kernel), padLo, dilation)
	j.end = j.In
	if padHi == nil {
		padHi = padLo
	}
	for i, p := range padHi {
		j.end[3-n+i] += p
	}
	for d := range 3 {
		if j.Kernel[d] < 1 || j.Stride[d] < 1 || j.Dilate[d] < 1 || j.PadLo[d] < 0 || j.PadLo[d] >= j.Kernel[d]*j.Dilate[d] {
			operand.BadOperand(step, "kernel, stride or dilation is not positive, or padding is negative or not below the kernel")
		}
	}
	if out.Len() == 0 {
		return
	}
	j.NeedPixels(step)
	j.dst, j.src = bytesOut(out), loadBytesOf(w, x)
	if !j.most && j.single() {
		j.each(w, out.Len())
		return
	}
	j.atPos, j.atChan, j.outPos, j.outChan = 1, j.InPlane, 1, j.OutPlane
	j.blocks, j.size = j.chans, 1
	if last {
		j.atPos, j.atChan, j.outPos, j.outChan = j.chans, 1, j.chans, 1
		j.size = qBlock
		if j.most {
			j.size = qPoolBlock
		}
		j.blocks = (j.chans + j.size - 1) / j.size
	}
	work := j.Taps * j.OutPlane * j.chans / j.blocks
	w.Parallel(x.Dim(0)*j.blocks, max(1, elementwiseWork/max(work, 1)), j)
}

// Do pools blocks of channels [lo, hi). Where channels are adjacent a block of
// them is pooled at once, window by window; where positions are, a plane's lines.
func (j *qPoolJob) Do(lo, hi int) {
	var acc [qPoolBlock]int32
	var lines [qPoolRows * qPoolBlock]uint8
	if !j.most && j.atPos == 1 && j.whole() {
		j.meanPlanes(lo, hi)
		return
	}
	for i := lo; i < hi; i++ {
		c := i % j.blocks * j.size
		n := min(j.size, j.chans-c)
		src := j.src[i/j.blocks*j.chans*j.InPlane+c*j.atChan:]
		dst := j.dst[i/j.blocks*j.chans*j.OutPlane+c*j.outChan:]
		if j.atPos == 1 && (j.most && j.mostPlane(dst, src) || !j.most && j.meanPlane(dst, src)) {
			continue
		}
		for o := range j.OutPlane {
			if !j.most || !j.mostWindow(dst[o*j.outPos:][:n], src, &lines, o) {
				j.window(acc[:n], src, dst[o*j.outPos:], o)
			}
		}
	}
}

// single reports whether each window reads the element at its own place alone, as those
// of an adaptive pool do that finds the size that it makes.
func (j *qPoolJob) single() bool {
	one := [3]int{1, 1, 1}
	return j.Kernel == one && j.Stride == one && j.PadLo == [3]int{} && j.end == j.In && j.In == j.Out
}

// each makes n results of elements, by the result of each byte.
func (j *qPoolJob) each(w *par.Workspace, n int) {
	for i := range j.bytes {
		v := int32(uint8(i) ^ j.flip)
		j.bytes[i] = uint8(clampRound(float32(float32(v-j.zeroX)*j.scale), j.lo, j.hi, j.zero))
	}
	lookupAll(w, j.dst[:n], j.src[:n], j.bytes[:])
}

// whole reports whether one window reads exactly a plane.
func (j *qPoolJob) whole() bool {
	return j.OutPlane == 1 && j.Kernel == j.In && j.PadLo == [3]int{} && j.end == j.In
}

// meanPlanes takes the means of planes [lo, hi), of as many at a time as a panel has columns.
func (j *qPoolJob) meanPlanes(lo, hi int) {
	n := j.InPlane
	if n > qPoolSum {
		j.longPlanes(lo, hi)
		return
	}
	var totals [qCols]int64
	var sums, bias [qCols]int32
	var scale [qCols]float32
	operand.FillBlock(bias[:], -int32(n)*j.zeroX)
	operand.FillBlock(scale[:], j.scale/float32(n))
	e := qEpilogue{bias: bias[:], scale: scale[:], lo: j.lo, hi: j.hi, zero: j.zero}
	for ; lo < hi; lo += qCols {
		some := totals[:min(hi-lo, qCols)]
		qTotals(some, n, j.src[lo*n:], j.flip)
		for i, v := range some {
			sums[i] = int32(v)
		}
		t := qTileOut{rows: 1, cols: len(some), sums: sums[:], dst: j.dst[lo : lo+len(some)]}
		t.requant(&e)
	}
}

// longPlanes takes the means of planes whose sums need 64 bits.
func (j *qPoolJob) longPlanes(lo, hi int) {
	n := j.InPlane
	scale := j.scale / float32(n)
	for i := lo; i < hi; i++ {
		var sum [1]int64
		qTotals(sum[:], n, j.src[i*n:], j.flip)
		j.dst[i] = uint8(clampRound(float32(float32(sum[0]-int64(n)*int64(j.zeroX))*scale), j.lo, j.hi, j.zero))
	}
}

// mostWindow takes the maxima of a window for channels next to each other; it
// reports false for more lines of taps than it has room for. First along lines of
// taps, into a line each on the stack, then across those.
func (j *qPoolJob) mostWindow(dst, src []uint8, lines *[qPoolRows * qPoolBlock]uint8, o int) bool {
	var from, to [3]int
	from[0], from[1], from[2] = j.Origin(o)
	for d := range 3 {
		to[d] = min(from[d]+j.Kernel[d]*j.Dilate[d], j.In[d])
		from[d] = geom.FirstTap(from[d], j.Dilate[d])
	}
	if j.atPos == 1 || j.Kernel[0]*j.Kernel[1] > qPoolRows {
		return false
	}
	count := max(0, (to[2]-from[2]+j.Dilate[2]-1)/j.Dilate[2])
	n := 0
	for z := from[0]; z < to[0] && count > 0; z += j.Dilate[0] {
		for y := from[1]; y < to[1]; y += j.Dilate[1] {
			at := (z*j.In[1]+y)*j.In[2] + from[2]
			qMost(count, j.Dilate[2]*j.atPos, src[at*j.atPos:], lines[n*qPoolBlock:][:len(dst)], j.flip, 0)
			n++
		}
	}
	qMost(n, qPoolBlock, lines[:], dst, 0, j.flip)
	return true
}

// mostPlane takes the maxima of the windows of a plane: of columns first, then of
// lines. It reports false where lines are too long or there is a third dimension.
// That is kernel height plus kernel width maxima an element, on vectors, and not
// their product.
func (j *qPoolJob) mostPlane(dst, src []uint8) bool {
	var line, most [qPoolLine]uint8
	ow, s := j.Out[2], j.Stride[2]
	reach := (ow-1)*s + (j.Kernel[2]-1)*j.Dilate[2] + 1
	pad := j.PadLo[2]
	if j.In[0] != 1 || j.Out[0] != 1 || j.Kernel[0] != 1 || max(reach, pad) > qPoolLine {
		return false
	}
	if s <= 2 && j.Kernel[2] <= qPoolRows && cpu.HasAVX512() {
		j.mostTiles(dst, src)
		return true
	}
	width := max(0, min(j.In[2], reach-pad))
	for o := range j.Out[1] {
		top := o*j.Stride[1] - j.PadLo[1]
		end := min(top+j.Kernel[1]*j.Dilate[1], j.In[1])
		top = geom.FirstTap(top, j.Dilate[1])
		count := max(0, (end-top+j.Dilate[1]-1)/j.Dilate[1])
		if seen := line[pad : pad+width]; count == 0 {
			clear(seen)
		} else if width > 0 {
			qMost(count, j.Dilate[1]*j.In[2], src[top*j.In[2]:], seen, j.flip, 0)
		}
		to := dst[o*ow : (o+1)*ow]
		if s == 1 {
			qMost(j.Kernel[2], j.Dilate[2], line[:], to, 0, j.flip)
			continue
		}
		all := most[:(ow-1)*s+1]
		qMost(j.Kernel[2], j.Dilate[2], line[:], all, 0, j.flip)
		if s == 2 {
			qEvens(to, all)
			continue
		}
		for i := range to {
			to[i] = all[i*s]
		}
	}
	return true
}

// window pools one window of len(acc) channels next to each other. Sums of the
// block stay in the first cache while taps pass, each a run of channels.
func (j *qPoolJob) window(acc []int32, src, dst []uint8, o int) {
	var from, to [3]int
	from[0], from[1], from[2] = j.Origin(o)
	padded, own := 1, 1
	for d := range 3 {
		to[d] = min(from[d]+j.Kernel[d]*j.Dilate[d], j.end[d])
		padded *= to[d] - from[d]
		from[d], to[d] = geom.FirstTap(from[d], j.Dilate[d]), min(to[d], j.In[d])
		own *= max(to[d]-from[d], 0)
	}
	divisor := own
	if j.include {
		divisor = padded
	}
	scale := j.scale / float32(max(divisor, 1))
	if !j.most && own > qPoolSum {
		j.longWindow(dst[:len(acc)], src, from, to, own, scale)
		return
	}
	clear(acc)
	for z := from[0]; z < to[0]; z += j.Dilate[0] {
		for y := from[1]; y < to[1]; y += j.Dilate[1] {
			at := (z*j.In[1] + y) * j.In[2]
			for x := from[2]; x < to[2]; x += j.Dilate[2] {
				j.take(acc, src[(at+x)*j.atPos:])
			}
		}
	}
	if j.most {
		for i, v := range acc {
			dst[i] = uint8(v) ^ j.flip
		}
		return
	}
	for i, v := range acc {
		f := float32(float32(v-int32(own)*j.zeroX) * scale)
		dst[i] = uint8(clampRound(f, j.lo, j.hi, j.zero))
	}
}

// longWindow takes the means of a window of own elements whose sums need 64 bits, one
// channel after the other.
func (j *qPoolJob) longWindow(dst, src []uint8, from, to [3]int, own int, scale float32) {
	for i := range dst {
		sum := int64(own) * -int64(j.zeroX)
		for z := from[0]; z < to[0]; z++ {
			for y := from[1]; y < to[1]; y++ {
				at := (z*j.In[1] + y) * j.In[2]
				for x := from[2]; x < to[2]; x++ {
					sum += int64(src[(at+x)*j.atPos+i] ^ j.flip)
				}
			}
		}
		dst[i] = uint8(clampRound(float32(float32(sum)*scale), j.lo, j.hi, j.zero))
	}
}

// take adds a row of bytes to sums, or keeps the greatest.
func (j *qPoolJob) take(acc []int32, src []uint8) {
	if !j.most {
		qAddUp(acc, src, j.flip)
		return
	}
	src = src[:len(acc)]
	for i, v := range src {
		acc[i] = max(acc[i], int32(v^j.flip))
	}
}

// meanPlane takes the means of the windows of a plane, a line of results at a time: lines of
// taps are added up on vectors, then the sums of a window's columns one by one, and the
// line is rounded on vectors. It reports false where lines are too long, sums need
// more than 32 bits, or there is a third dimension.
func (j *qPoolJob) meanPlane(dst, src []uint8) bool {
	if j.In[0] != 1 || j.Out[0] != 1 || j.Kernel[0] != 1 || j.PadLo[0] != 0 || max(j.In[2], j.Out[2]) > qPoolLine || j.Kernel[1]*j.Kernel[2] > qPoolSum {
		return false
	}
	if j.Stride[2] <= 2 && (j.Kernel[2]+j.Stride[2]-1)/j.Stride[2] <= qPoolRows && j.Kernel[1]*j.Kernel[2] <= qPoolWord && cpu.HasAVX512() {
		j.meanTiles(dst, src)
		return true
	}
	var sums [qPoolLine]int32
	var means [qPoolLine]float32
	for o := range j.Out[1] {
		top := o*j.Stride[1] - j.PadLo[1]
		end := min(top+j.Kernel[1], j.end[1])
		padded := end - top
		top, end = geom.FirstTap(top, 1), min(end, j.In[1])
		cols := sums[:j.In[2]]
		clear(cols)
		for y := top; y < end; y++ {
			qAddUp(cols, src[y*j.In[2]:], j.flip)
		}
		line := means[:j.Out[2]]
		j.meanLine(line, cols, max(0, end-top), padded)
		quantize(line, 1, j.lo, j.hi, j.zero, dst[o*j.Out[2]:][:j.Out[2]])
	}
	return true
}

// meanLine gives the means of a line of windows, in units of the result's scale, from the sums
// of columns of own elements; padded are those of a column with the padding.
func (j *qPoolJob) meanLine(line []float32, cols []int32, own, padded int) {
	k, s := j.Kernel[2], j.Stride[2]
	for x := range line {
		left := x*s - j.PadLo[2]
		left, right := max(left, 0), min(left+k, len(cols))
		var v int32
		if left < right {
			for _, c := range cols[left:right] {
				v += c
			}
		}
		bias, scale := j.windowOf(x, own, padded)
		line[x] = float32(float32(v+bias) * scale)
	}
}
