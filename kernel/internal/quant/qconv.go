package quant

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// QConv is the convolution of quantised tensors in one to three spatial
// dimensions. Operands, results, ReLU, Max, Packed and Unsigned are as for
// QLinear, with x [N, C, spatial...] and the weight [M, C/Groups, kernel...]; with
// ChannelsLast x and the result are [N, spatial..., C]. Padding reads as x's zero
// point. Lists are as for Conv. Packed weights are the output of QPackConv.
//
//gofx:kernel
type QConv struct {
	Stride, PadLo, PadHi, Dilation []int
	Groups                         int
	ChannelsLast                   bool
	Packed, Unsigned               bool
	Kernel                         []int // with Packed, the kernel's sizes
	ReLU                           bool
	Max                            float32
}

// qConvPlan is the plan that follows from a convolution's sizes.
type qConvPlan struct {
	g          geom.Spatial
	w          qFilter
	batch      int
	padded     [3]int // of the image that windows read
	copyImage  bool   // windows do not read x itself
	transposed bool   // x and the result are channels first
	matrix     bool   // windows are single elements, next to each other
}

// plan checks the operands and says how they are to be convolved.
func (s QConv) plan(out, in []*array.Array) qConvPlan {
	const step = "q_conv"
	x, o := in[qX], out[0]
	if x.Rank() < 3 || x.Rank() > 5 || o.Rank() != x.Rank() || x.Dim(0) != o.Dim(0) {
		operand.BadOperand(step, "the operand is not a batch of one to three spatial dimensions, or the result is of another shape")
	}
	r := x.Rank()
	p := qConvPlan{batch: x.Dim(0), transposed: !s.ChannelsLast}
	chans, outChans, xs, os := x.Dim(1), o.Dim(1), x.Shape()[2:], o.Shape()[2:]
	if s.ChannelsLast {
		chans, outChans, xs, os = x.Dim(r-1), o.Dim(r-1), x.Shape()[1:r-1], o.Shape()[1:r-1]
	}
	kernel := s.Kernel
	if !s.Packed {
		weight := in[qW]
		if weight.Rank() != r || weight.Dim(0) != outChans || weight.Dim(1)*max(s.Groups, 1) != chans {
			operand.BadOperand(step, "the weight is not [M, C/groups, kernel...] for these channels")
		}
		kernel = weight.Shape()[2:]
	}
	for _, list := range [][]int{kernel, s.Stride, s.PadLo, s.Dilation} {
		if len(list) != r-2 && (list != nil || len(kernel) != r-2) {
			operand.BadOperand(step, "kernel, stride, padding or dilation is of another rank")
		}
	}
	p.g = geom.NewSpatial(xs, os, kernel, s.Stride, s.PadLo, s.Dilation)
	p.w = newFilter(step, outChans, chans, kernel, s.Groups, s.Dilation)
	p.copyImage = s.ChannelsLast && x.DType() == array.I8 || !s.ChannelsLast
	for d := range 3 {
		if p.g.Stride[d] < 1 || p.g.Dilate[d] < 1 || p.g.Kernel[d] < 1 || p.g.PadLo[d] < 0 {
			operand.BadOperand(step, "kernel, stride or dilation is not positive or padding is negative")
		}
		p.padded[d] = p.g.In[d]
		need := (p.g.Out[d]-1)*p.g.Stride[d] + (p.g.Kernel[d]-1)*p.g.Dilate[d] + 1
		if p.g.PadLo[d] > 0 || need > p.g.In[d] {
			p.padded[d], p.copyImage = need, true
		}
	}
	p.matrix = p.g.Pointwise() && p.w.groups == 1
	return p
}

// pads reports whether the image that windows read is larger than the input or
// starts elsewhere.
func (p *qConvPlan) pads() bool { return p.padded != p.g.In || p.g.PadLo != [3]int{} }

func (p *qConvPlan) imageBytes() int {
	return p.padded[0] * p.padded[1] * p.padded[2] * p.w.chans
}

// ScratchBytes implements Scratcher.
func (s QConv) ScratchBytes(out, in []*array.Array) int {
	p := s.plan(out, in)
	image := par.ScratchSize(p.imageBytes(), 1) + par.ScratchSize(p.g.InPlane*p.w.chans, 1) +
		par.ScratchSize(p.w.outChans*p.g.OutPlane, out[0].DType().Size()) + qMatrixScratch(p.g.OutPlane, p.w.chans, p.w.chans)
	image = max(image, p.directScratch(out[0], qPlaneThreads))
	if operand.At(in, qRes) != nil {
		image += residualBytes(in) + par.ScratchSize(p.w.outChans*p.g.OutPlane, 1)
	}
	image = max(image+p.epilogueScratch(in), residualBytes(in)+p.mostApart()*p.apartScratch(out[0], in))
	size := operand.LoadBytes(in[qX]) + operand.LoadBytes(in[qW]) + image + par.ScratchSize(p.w.taps, 16)
	if !s.Packed {
		size += par.ScratchSize(p.w.bytes(), 1)
	}
	return size
}

// Run implements Step.
func (s QConv) Run(w *par.Workspace, out, in []*array.Array) {
	const step = "q_conv"
	p := s.plan(out, in)
	if out[0].Len() == 0 {
		return
	}
	mark := w.Mark()
	x, weight := in[qX], in[qW]
	var mem []int8
	if s.Packed {
		mem = operand.LoadSame[int8](w, weight)
	} else {
		mem = par.Scratch[int8](w, p.w.bytes())
		p.w.pack(mem, asInt8(loadBytesOf(w, weight)), weightFlip(step, weight))
	}
	if len(mem) != p.w.bytes() {
		operand.BadOperand(step, "the packed weight has another length than these sizes give")
	}
	px := tensorParam(step, x.DType(), in[qXScale], operand.At(in, qXZero))
	c := par.TakeJob[qConvRun](w)
	*c = qConvRun{p: p, out: out[0], in: in, mem: mem, x: px, src: loadBytesOf(w, x), offs: par.Scratch[int64](w, operand.RoundUp(p.w.runs, 4))}
	c.res = residualOf(w, step, out[0], in)
	c.offsets()
	c.unsigned = s.Unsigned || !s.Packed && weight.DType() == array.U8
	c.act = qAct{s.ReLU, s.Max}
	c.ways = p.ways(out[0], in, px.scale, c.unsigned, c.res)
	if n := p.apart(w.Processors(qPlaneThreads)); n > 1 && c.ways.direct() {
		c.apart(w, n)
	} else {
		for i := range p.batch {
			c.convolve(w, i)
		}
	}
	par.PutJob(w, c)
	w.Release(mark)
}

// convolve convolves image i, one group after the other, or all at once: a frame of
// bytes is laid out once an image and read by all groups, whose weights are small
// compared with it.
func (c *qConvRun) convolve(w *par.Workspace, i int) {
	p, inner := &c.p, w.Mark()
	parts := p.w.groups
	if c.ways.grouped || p.w.depthwise {
		parts = 1
	}
	dst := c.begin(w, i)
	for g := range parts {
		at := w.Mark()
		b := p.w.group(c.mem, g)
		if c.ways.grouped {
			b = p.w.joined(w, c.mem)
		}
		e := c.act.epilogue(w, "q_conv", c.out, c.in, c.unsigned, c.x, &b, g*(p.w.outChans/p.w.groups), p.w.outChans)
		e.retarget(dst)
		c.part(w, i, g, b, e)
		w.Release(at)
	}
	if !c.ways.direct() {
		c.finish(w, c.out, dst, i)
	}
	w.Release(inner)
}

// qConvWays are the forms of a convolution, of which one at most is chosen.
type qConvWays struct {
	planes                qPlaneForm
	groups                qGroupForm
	depth                 qDepthForm
	planar, grouped, deep bool
}

// ways chooses the form of a convolution with these operands.
func (p *qConvPlan) ways(out *array.Array, in []*array.Array, x float32, unsigned bool, res qResidual) (v qConvWays) {
	v.planes, v.planar = p.planes()
	v.planar = v.planar && p.planar("q_conv", out, in, x, unsigned) && res.small()
	v.groups, v.grouped = p.byGroups()
	v.grouped = v.grouped && v.planar && res.bytes == nil
	v.planar = v.planar && !v.grouped
	v.depth, v.deep = p.depthWays(out, in, x, unsigned)
	return v
}

// direct reports whether x and the result are read and written where they lie.
func (v *qConvWays) direct() bool { return v.planar || v.grouped || v.deep }

// begin prepares image i, and returns where its results are computed.
func (c *qConvRun) begin(w *par.Workspace, i int) (dst qDest) {
	v := &c.ways
	if !v.direct() {
		c.image(w, i)
		return c.result(w, c.out, i)
	}
	at := i * c.p.g.OutPlane * c.p.w.outChans
	dst.bytes, dst.res = bytesOut(c.out)[at:], c.res.from(at)
	if v.planar {
		c.planesOf(w, &v.planes, i)
	}
	return dst
}

// part convolves group g of image i, or all groups at once.
func (c *qConvRun) part(w *par.Workspace, i, g int, b PackedQ, e qEpilogue) {
	v, first := &c.ways, g*(c.p.w.outChans/c.p.w.groups)
	switch {
	case v.grouped:
		c.grouped(w, &v.groups, i, e)
	case v.deep:
		c.depthPlanar(w, &v.depth, i, &b, e)
	case v.planar:
		e.skip(first * c.p.g.OutPlane)
		e.ld = c.p.g.OutPlane
		c.planar(w, &v.planes, g, b, e)
	default:
		e.skip(first)
		e.ld = c.p.w.outChans
		if c.p.w.depthwise {
			c.depthwise(w, &b, e)
		} else {
			c.group(w, g, b, e)
		}
	}
}

// qConvRun is a convolution in progress.
type qConvRun struct {
	p        qConvPlan
	ways     qConvWays
	act      qAct
	unsigned bool // the packed weights were
	out      *array.Array
	in       []*array.Array
	mem      []int8
	x        qParam
	res      qResidual
	src      []uint8
	img      []uint8 // the current image, channels last, padded, unsigned
	offs     []int64
}

// offsets fills the places of runs relative to a window's first element.
func (c *qConvRun) offsets() {
	p := &c.p
	line := p.padded[2] * p.w.chans
	for i := range c.offs {
		c.offs[i] = 0
	}
	taps := p.g.Kernel
	if p.w.merged {
		taps[2] = 1
	}
	i := 0
	for z := range taps[0] {
		for y := range taps[1] {
			for x := range taps[2] {
				c.offs[i] = int64((z*p.g.Dilate[0]*p.padded[1]+y*p.g.Dilate[1])*line + x*p.g.Dilate[2]*p.w.chans)
				i++
			}
		}
	}
}

// image prepares image i for the windows.
func (c *qConvRun) image(w *par.Workspace, i int) {
	p := &c.p
	size := p.g.InPlane * p.w.chans
	src := c.src[i*size : (i+1)*size]
	if !p.copyImage {
		c.img = src
		return
	}
	c.img = par.Scratch[uint8](w, p.imageBytes())
	flip := c.x.flip
	if p.transposed {
		t := par.TakeJob[qTurnJob](w)
		*t = qTurnJob{src: src, dst: c.img, positions: p.g.InPlane, chans: p.w.chans, flip: flip}
		if p.pads() {
			t.dst = par.Scratch[uint8](w, size)
		}
		src, flip = t.dst, 0
		w.Parallel(t.positions, transposeGrain(t.chans), t)
		par.PutJob(w, t)
		if !p.pads() {
			return
		}
	}
	j := par.TakeJob[qImageJob](w)
	*j = qImageJob{p: *p, src: src, dst: c.img, flip: flip, zero: uint8(c.x.zero)}
	w.Parallel(p.padded[0]*p.padded[1], max(1, elementwiseWork/(p.padded[2]*p.w.chans+1)), j)
	par.PutJob(w, j)
}

// transposeGrain is the positions of one chunk of a transposition.
func transposeGrain(chans int) int { return max(64, operand.RoundUp(elementwiseWork/(chans+1), 64)) }

// qTurnJob brings planes of bytes to channels last.
type qTurnJob struct {
	src, dst         []uint8
	positions, chans int
	flip             uint8
}

// Do transposes positions [lo, hi).
func (j *qTurnJob) Do(lo, hi int) {
	dst := j.dst[lo*j.chans : hi*j.chans]
	transposeBytes(j.chans, hi-lo, j.src[lo:], j.positions, dst, j.chans)
	if j.flip != 0 {
		flipBytes(dst, dst, j.flip)
	}
}

// qImageJob lays an image out for windows, channels last: lines with their padding.
type qImageJob struct {
	p        qConvPlan
	src, dst []uint8
	flip     uint8
	zero     uint8
}

// Do lays out padded lines [lo, hi). Lines are written whole, with padding
// before and after, so that the product meets no edges.
func (j *qImageJob) Do(lo, hi int) {
	g, chans := &j.p.g, j.p.w.chans
	width := j.p.padded[2] * chans
	for l := lo; l < hi; l++ {
		line := j.dst[l*width : (l+1)*width]
		z, y := l/j.p.padded[1]-g.PadLo[0], l%j.p.padded[1]-g.PadLo[1]
		if uint(z) >= uint(g.In[0]) || uint(y) >= uint(g.In[1]) {
			fillBytes(line, j.zero)
			continue
		}
		src := j.src[(z*g.In[1]+y)*g.In[2]*chans:][:g.In[2]*chans]
		at := min(g.PadLo[2]*chans, width)
		fillBytes(line[:at], j.zero)
		n := min(len(src), width-at)
		flipBytes(line[at:at+n], src[:n], j.flip)
		fillBytes(line[at+n:], j.zero)
	}
}

func fillBytes(b []uint8, v uint8) {
	if len(b) == 0 {
		return
	}
	b[0] = v
	for n := 1; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}

// qDest is where one image's results go, one of the three by their type.
type qDest struct {
	bytes  []uint8
	sums   []int32
	floats []float32
	res    qResidual
}

// result returns the memory that results of image i are computed in.
func (c *qConvRun) result(w *par.Workspace, out *array.Array, i int) (d qDest) {
	size := c.p.g.OutPlane * c.p.w.outChans
	switch out.DType() {
	case array.U8, array.I8:
		if d.bytes = bytesOut(out)[i*size : (i+1)*size]; c.p.transposed {
			d.bytes = par.Scratch[uint8](w, size)
		}
		d.res = c.residual(w, i*size, size)
	case array.F32:
		if d.floats = array.Data[float32](out)[i*size : (i+1)*size]; c.p.transposed {
			d.floats = par.Scratch[float32](w, size)
		}
	case array.I32:
		if d.sums = array.Data[int32](out)[i*size : (i+1)*size]; c.p.transposed {
			d.sums = par.Scratch[int32](w, size)
		}
	}
	return d
}

// residual returns the residual of an image, n bytes at at, laid out as its results
// are computed.
func (c *qConvRun) residual(w *par.Workspace, at, n int) qResidual {
	r := c.res.from(at)
	if r.bytes == nil || !c.p.transposed {
		return r
	}
	j := par.TakeJob[qTurnJob](w)
	*j = qTurnJob{src: r.bytes, dst: par.Scratch[uint8](w, n), positions: c.p.g.OutPlane, chans: c.p.w.outChans}
	r.bytes = j.dst
	w.Parallel(j.positions, transposeGrain(j.chans), j)
	par.PutJob(w, j)
	return r
}

// retarget sends results to d instead.
func (e *qEpilogue) retarget(d qDest) {
	e.bytes, e.sums, e.floats, e.res = d.bytes, d.sums, d.floats, d.res
}

// finish brings the results of image i to the layout of out.
func (c *qConvRun) finish(w *par.Workspace, out *array.Array, d qDest, i int) {
	if !c.p.transposed {
		return
	}
	size := c.p.g.OutPlane * c.p.w.outChans
	j := par.TakeJob[qFinishJob](w)
	*j = qFinishJob{from: d, positions: c.p.g.OutPlane, chans: c.p.w.outChans}
	switch {
	case d.bytes != nil:
		j.to.bytes = bytesOut(out)[i*size : (i+1)*size]
	case d.floats != nil:
		j.to.floats = array.Data[float32](out)[i*size : (i+1)*size]
	default:
		j.to.sums = array.Data[int32](out)[i*size : (i+1)*size]
	}
	w.Parallel(j.positions, transposeGrain(j.chans), j)
	par.PutJob(w, j)
}

// qFinishJob transposes results to channels first.
type qFinishJob struct {
	from, to         qDest
	positions, chans int
}

// Do transposes positions [lo, hi). A range of positions is a run of lines on one
// side and of columns on the other; the transposition goes by squares of both.
func (j *qFinishJob) Do(lo, hi int) {
	switch {
	case j.from.bytes != nil:
		transposeBytes(hi-lo, j.chans, j.from.bytes[lo*j.chans:], j.chans, j.to.bytes[lo:], j.positions)
	case j.from.floats != nil:
		transposeWords(hi-lo, j.chans, j.from.floats[lo*j.chans:], j.to.floats[lo:], j.positions)
	default:
		transposeWords(hi-lo, j.chans, j.from.sums[lo*j.chans:], j.to.sums[lo:], j.positions)
	}
}

// qWindow gives the tiles of output positions of one image: parts of output
// lines, because positions of a line are evenly spaced in the image.
type qWindow struct {
	g           *geom.Spatial
	line, plane int // elements of a line and of a plane of the padded image
	chans       int
	start       int // of the group's channels
	width, per  int // positions of a tile, tiles of a line
}

// tile returns the positions of tile i, where its first window starts in the
// image, and its first output position.
func (v *qWindow) tile(i int) (rows, at, row int) {
	l, x := i/v.per, i%v.per*v.width
	oz, oy := l/v.g.Out[1], l%v.g.Out[1]
	at = oz*v.g.Stride[0]*v.plane + oy*v.g.Stride[1]*v.line + x*v.g.Stride[2]*v.chans + v.start
	return min(v.width, v.g.Out[2]-x), at, l*v.g.Out[2] + x
}

// group convolves one group of channels.
func (c *qConvRun) group(w *par.Workspace, g int, b PackedQ, e qEpilogue) {
	p := &c.p
	j := par.TakeJob[qConvJob](w)
	*j = qConvJob{}
	j.job = qJob{a: c.img, b: b, out: e}
	if p.matrix {
		j.job.runMatrix(w, p.g.OutPlane, p.w.chans)
		par.PutJob(w, j)
		return
	}
	j.window = qWindow{g: &p.g, line: p.padded[2] * p.w.chans, chans: p.w.chans, start: g * (p.w.chans / p.w.groups)}
	j.window.plane = p.padded[1] * j.window.line
	j.window.split(p.g.Out[2])
	j.job.window, j.job.offs, j.job.rows = &j.window, c.offs[:p.w.runs], j.window.width
	j.job.step = p.g.Stride[2] * p.w.chans
	j.job.tiles = p.g.Out[0] * p.g.Out[1] * j.window.per
	j.job.run(w)
	par.PutJob(w, j)
}

// split cuts lines of n positions into tiles of nearly equal width.
func (v *qWindow) split(n int) {
	v.per = (n + qRows() - 1) / qRows()
	v.width = (n + v.per - 1) / v.per
	v.per = (n + v.width - 1) / v.width
}

// qConvJob keeps the window that its product reads through.
type qConvJob struct {
	job    qJob
	window qWindow
}
