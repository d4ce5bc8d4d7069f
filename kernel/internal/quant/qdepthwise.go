package quant

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
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
// since their bytes are adjacent; sums of a tile's block are on the stack, in the
// first cache, until they are converted.
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

// correct subtracts the weights' zero points, times the sum of each window, from sums.
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

// qDepthForm is how a depthwise convolution of channels first is computed where its
// planes lie: a channel at a time, from a frame of a band of its lines with padding
// around them, which stays in the first cache.
type qDepthForm struct {
	step  int  // bytes of a line of a frame
	rows  int  // output lines of a band, a multiple of 4, or of 8 in pairs
	pairs bool // lines are so short that two are in a vector
	bands int  // of a plane
	lines int  // of a frame
	batch int  // frames that are laid out before they are read

	straight bool // there is no frame
	direct   qDepthDirect
}

// depthPlanes returns the form of a depthwise convolution to bytes, and false where
// there is none: windows of 3 or 5 lines, four of them along a line within the 16 bytes
// that a shuffle reaches.
func (p *qConvPlan) depthPlanes() (f qDepthForm, ok bool) {
	g := &p.g
	flat := g.In[0] == 1 && g.Out[0] == 1 && g.Kernel[0] == 1 && g.PadLo[0] == 0
	height, stride := g.Kernel[1], g.Stride[1]
	widest := map[int]int{3: 4, 5: 6}[height]
	if !p.transposed || !p.w.depthwise || !flat || g.Kernel[2] > widest || stride > 2 || g.Stride[2] != stride || g.Dilate[1] != 1 {
		return f, false
	}
	reach := (g.Kernel[2] - 1) * g.Dilate[2]
	f.step = operand.RoundUp((g.Out[2]-1)*stride+reach+1, 16)
	group := 4
	if f.pairs = qVNNI() && g.Out[2] <= 8 && reach < 9*stride; f.pairs {
		group = 8
	}
	most := ((qDepthFrame/f.step-height)/stride + 1) / group * group
	if 3*stride+reach > 15 || !f.pairs && g.Out[2] < qDepthCols || most < group {
		return f, false
	}
	f.bands = (g.Out[1] + most - 1) / most
	f.rows = operand.RoundUp((g.Out[1]+f.bands-1)/f.bands, group)
	f.bands = (g.Out[1] + f.rows - 1) / f.rows
	f.lines = (f.rows-1)*stride + height
	f.batch = 1
	if f.bands == 1 {
		f.batch = min(qDepthBatch, qDepthFrame/(f.lines*f.step))
	}
	return f, true
}

// depthWays chooses among the forms of a depthwise convolution with these operands that read
// planes: to bytes, with nothing added, and without zero points of the packed weight.
func (p *qConvPlan) depthWays(out *array.Array, in []*array.Array, x float32, unsigned bool) (f qDepthForm, ok bool) {
	if f, ok = p.depthPlanes(); qVBMI() {
		f.direct, f.straight = p.directPlanes()
	}
	wz := operand.At(in, qWZero)
	perChannel("q_conv", "the zero point of the weight", wz, p.w.outChans)
	bytes := out.DType() == array.U8 || out.DType() == array.I8
	if !ok && !f.straight || !bytes || operand.At(in, qRes) != nil || offCentre(wz, unsigned, 0, p.w.outChans) {
		return f, false
	}
	f.straight = f.straight && p.planar("q_conv", out, in, x, unsigned)
	return f, ok || f.straight
}

// qDepthTile is the argument for a band of a channel; the generator knows the
// places of its fields.
type qDepthTile struct {
	src, dst         []uint8
	step, rows, cols int // of a line of src; of dst
	width, height    int // of the kernel
	stride, dilate   int
	spread           qDepthSpread
	weight           *[64]int8 // of taps, in order; the rest is ignored
	wide             [40]int16
	bias             int32
	scale, lo, hi    float32
	zero             int32 // for unsigned results, which flip makes signed ones of
	flip             uint32
	pairs            bool
}

// qDepthSpread brings the bytes of windows together: dwords to lanes of 16 bytes, four
// positions each; within these four taps of each position, twice; or two widened to
// 16 bits, three times. Places without a tap become 0.
type qDepthSpread struct {
	dwords [16]uint32
	dots   [2][16]uint8
	pairs  [3][16]uint8
}

// fill sets the places for kernels of a width. In pairs, the upper half of positions is
// read from the upper half of the loaded bytes.
func (s *qDepthSpread) fill(stride, dilate, width int, pairs bool) {
	place := func(position, tap int) uint8 {
		if tap >= width {
			return 0x80
		}
		return uint8(position*stride + tap*dilate)
	}
	for i := range 16 {
		s.dwords[i] = uint32(i/4*stride + i%4)
		if pairs {
			s.dwords[i] = uint32(i/8*4*stride + min(i/4%2*stride+i%4, 4*stride-1))
		}
		for g := range s.dots {
			s.dots[g][i] = place(i/4, 4*g+i%4)
		}
		for g := range s.pairs {
			s.pairs[g][i] = 0x80
			if i%2 == 0 {
				s.pairs[g][i] = place(i/4, 2*g+i%4/2)
			}
		}
	}
}

// computeGo is the twin of the assembly: the sums of a band, and their bytes.
func (t *qDepthTile) computeGo() {
	for y := range t.rows {
		for x := range t.cols {
			at, sum := y*t.stride*t.step+x*t.stride, t.bias
			for ky := range t.height {
				line := t.src[at+ky*t.step:]
				for kx, v := range t.weight[ky*t.width:][:t.width] {
					sum += int32(line[kx*t.dilate]) * int32(v)
				}
			}
			f := float32(float32(sum) * t.scale)
			t.dst[y*t.cols+x] = uint8(clampRound(f, t.lo, t.hi, t.zero)) ^ uint8(t.flip)
		}
	}
}

// depthPlanar convolves all channels of image i; e's bytes are the image's.
func (c *qConvRun) depthPlanar(w *par.Workspace, f *qDepthForm, i int, b *PackedQ, e qEpilogue) {
	p := &c.p
	size := p.g.InPlane * p.w.chans
	if f.straight {
		c.depthDirect(w, &f.direct, c.src[i*size:(i+1)*size], b, e)
		return
	}
	j := par.TakeJob[qDepthPlaneJob](w)
	*j = qDepthPlaneJob{f: *f, g: p.g, src: c.src[i*size : (i+1)*size], b: *b, out: e, zero: uint8(c.x.zero), flip: c.x.flip}
	w.Parallel(p.w.chans*f.bands, max(1, 2*qWork/(f.rows*p.g.Out[2]*p.g.Taps+1)), j)
	par.PutJob(w, j)
}

// qDepthPlaneJob is a depthwise convolution by planes in progress: units are bands of
// channels.
type qDepthPlaneJob struct {
	f          qDepthForm
	g          geom.Spatial
	src        []uint8
	b          PackedQ
	out        qEpilogue
	zero, flip uint8
}

// Do computes units [lo, hi). Some frames, and taps, are laid out before the first is
// read, so that bytes written in pieces have reached the cache. Padding stays in
// frames of whole planes.
func (j *qDepthPlaneJob) Do(lo, hi int) {
	var frames [qDepthFrame + 64]uint8 // vectors reach beyond the last one
	var taps [qDepthBatch][64]int8
	f, g, e := &j.f, &j.g, &j.out
	size := f.lines * f.step
	fillBytes(frames[:min(f.batch, hi-lo)*size], j.zero)
	t := qDepthTile{step: f.step, cols: g.Out[2], width: g.Kernel[2], height: g.Kernel[1], stride: g.Stride[1], dilate: g.Dilate[2],
		lo: e.lo, hi: e.hi, zero: e.zero + int32(e.flip), flip: uint32(e.flip) * 0x01010101, pairs: f.pairs}
	t.spread.fill(t.stride, t.dilate, t.width, f.pairs)
	for ; lo < hi; lo += f.batch {
		n := min(f.batch, hi-lo)
		c, band := lo/f.bands, lo%f.bands // more than one band: frames one by one
		for i := range n {
			j.enframe(frames[i*size:(i+1)*size], c+i, band)
		}
		j.b.depthTaps(taps[:n], c, g.Taps)
		first := band * f.rows
		for i := range n {
			t.rows = min(f.rows, g.Out[1]-first)
			at := (c+i)*g.OutPlane + first*t.cols
			t.src, t.dst = frames[i*size:], e.bytes[at:at+t.rows*t.cols]
			t.weight, t.bias, t.scale = &taps[i], e.bias[c+i], e.scale[c+i]
			t.compute()
		}
		if e.table != nil {
			// Planes lie next to each other; more than one are whole.
			done := e.bytes[c*g.OutPlane+first*t.cols:][:(n-1)*g.OutPlane+t.rows*t.cols]
			qLookup(done, done, e.table)
		}
	}
}

// depthTaps copies the taps of channels c and on of packed depthwise weights, and the bytes
// that fill up the last group. Four channels lie together.
func (q *PackedQ) depthTaps(to [][64]int8, c, taps int) {
	groups := (taps + 3) / 4
	for len(to) > 0 {
		from := q.data[c/qBlock*groups*4*qBlock+depthwiseAt(c%qBlock):]
		if c%4 == 0 && len(to) >= 4 {
			t0, t1, t2, t3 := &to[0], &to[1], &to[2], &to[3]
			for i := range groups {
				v := (*[16]int8)(from[4*qBlock*i:])
				*(*[4]int8)(t0[4*i:]) = [4]int8(v[:4])
				*(*[4]int8)(t1[4*i:]) = [4]int8(v[4:8])
				*(*[4]int8)(t2[4*i:]) = [4]int8(v[8:12])
				*(*[4]int8)(t3[4*i:]) = [4]int8(v[12:])
			}
			to, c = to[4:], c+4
			continue
		}
		for i := range groups {
			*(*[4]int8)(to[0][4*i:]) = [4]int8(from[4*qBlock*i:])
		}
		to = to[1:]
		c++
	}
}

// enframe lays the lines of a band of a channel out.
func (j *qDepthPlaneJob) enframe(to []uint8, channel, band int) {
	f, g := &j.f, &j.g
	top := band*f.rows*g.Stride[1] - g.PadLo[1]
	first := min(max(0, -top), f.lines)
	end := max(first, min(f.lines, g.In[1]-top))
	if f.bands > 1 {
		fillBytes(to[:first*f.step], j.zero)
		fillBytes(to[end*f.step:], j.zero)
	}
	if n := min(g.In[2], f.step-g.PadLo[2]); first < end && n > 0 {
		src := j.src[channel*g.InPlane+(top+first)*g.In[2]:]
		copyLines(end-first, n, to[first*f.step+g.PadLo[2]:], f.step, src, g.In[2], j.flip)
	}
}

// copyLinesGo is the twin of qLinesAVX512: lines of n bytes, their bits flipped.
func copyLinesGo(lines, n int, dst []uint8, ldd int, src []uint8, lds int, flip uint8) {
	for l := range lines {
		if to, from := dst[l*ldd:][:n], src[l*lds:][:n]; flip == 0 {
			copy(to, from)
		} else {
			flipBytes(to, from, flip)
		}
	}
}
