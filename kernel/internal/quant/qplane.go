package quant

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// qPlaneForm is how a convolution of channels first is computed where positions
// are the columns of the product: from x's planes, without a transposition of x or
// of the result. Processors with dot products of bytes do it so.
type qPlaneForm struct {
	g      geom.Spatial // as windows see the planes
	chans  int
	phases int  // parts of a plane, by the parity of columns; 1 where planes are x's own
	even   bool // only even columns are read, and there
	phase  int  // elements of a phase of a plane, of lines of width
	width  int
	plane  int // elements of a plane

	listed bool   // the rows of a group of four do not lie in planes next to each other
	framed bool   // fours of channels are brought together first, with padding around them
	frame  [2]int // lines, and columns of a phase, of a framed plane

	depth   int // groups of four of a window
	vectors int // of 16 positions
	rest    int // positions that vectors leave
	panels  int // of up to four vectors
	parts   int // of lines, of a panel, at most
}

// planes returns the form of a convolution to bytes, and false where there is none.
func (p *qConvPlan) planes() (f qPlaneForm, ok bool) {
	g, per := p.g, p.w.chans/p.w.groups
	f = qPlaneForm{chans: p.w.chans, listed: per%4 != 0, depth: p.w.runs * ((p.w.run + 3) / 4)}
	flat := g.In[0] == 1 && g.Out[0] == 1 && g.Kernel[0] == 1 && g.PadLo[0] == 0
	if !p.transposed || p.w.depthwise || !flat || g.Stride[2] > 2 || f.listed && !p.w.merged || g.OutPlane < 16 || per == 0 {
		return f, false
	}
	f.g, f.phases, f.width = g, g.Stride[2], (g.In[2]+g.Stride[2]-1)/g.Stride[2]
	f.phase = g.In[1] * f.width
	if f.framed = g.Taps > 1 && !f.listed; f.framed {
		reach := func(d int) int { return (g.Out[d]-1)*g.Stride[d] + (g.Kernel[d]-1)*g.Dilate[d] + 1 }
		f.frame = [2]int{reach(1), (reach(2) + f.phases - 1) / f.phases}
	}
	f.plane = f.phases * f.phase
	if f.phases == 2 && g.PadLo[2]%2 == 0 && (g.Kernel[2] == 1 || g.Dilate[2]%2 == 0) && !f.framed {
		f.even, f.plane = true, f.phase
	}
	if g.Pointwise() {
		// One line, wherever a panel ends.
		f.g.In, f.g.Out, f.width = [3]int{1, 1, g.InPlane}, [3]int{1, 1, g.InPlane}, g.InPlane
	}
	f.vectors, f.rest = g.OutPlane/16, g.OutPlane%16
	if f.rest > qPlaneRest {
		f.vectors, f.rest = f.vectors+1, 0
	}
	f.panels = (f.vectors + 3) / 4
	f.parts = min(qPlaneLanes, (qPlaneLanes-2)/f.g.Out[2]+2)
	return f, f.g.Out[2] >= 5
}

// planar reports whether a convolution with these operands is computed by planes
// here: to bytes, without zero points of the packed weight, and scaled so that sums
// cannot overflow.
func (p *qConvPlan) planar(step string, out *array.Array, in []*array.Array, x float32, unsigned bool) bool {
	if !qPlanes() || out.DType() != array.U8 && out.DType() != array.I8 {
		return false
	}
	n, ws, wz := p.w.outChans, operand.At(in, qWScale), operand.At(in, qWZero)
	perChannel(step, "the scale of the weight", ws, n)
	perChannel(step, "the zero point of the weight", wz, n)
	if offCentre(wz, unsigned, 0, n) {
		return false
	}
	y := tensorParam(step, out.DType(), operand.At(in, qYScale), operand.At(in, qYZero)).scale
	// Products and quotients keep the order of scales when they are rounded.
	s := float32(x*greatestScale(step, ws)) / y
	return s > -0.99 && s < 0.99
}

// greatestScale is the greatest magnitude of the scales of a weight, NaN where one is.
func greatestScale(step string, ws *array.Array) float32 {
	if ws == nil {
		return 1
	}
	most := math.Float32bits(scaleAt(step, ws, 0)) &^ (1 << 31)
	for i := 1; i < ws.Len(); i++ {
		most = max(most, math.Float32bits(scaleAt(step, ws, i))&^(1<<31))
	}
	return math.Float32frombits(most)
}

// slots is the number of panels in memory at once.
func (f *qPlaneForm) slots(threads int) int {
	if threads <= 1 {
		return 1
	}
	return max(4, min(f.panels, qPlaneThreads))
}

// panelBytes is the size of a packed panel.
func (f *qPlaneForm) panelBytes() int { return f.depth * 4 * qPlaneLanes }

// frameBytes is the size of the frame of a group of channels: beyond it, a vector
// may reach.
func (f *qPlaneForm) frameBytes() int {
	return f.depth/f.g.Taps*f.fourBytes() + 64
}

// fourBytes is the size of the frame of four channels.
func (f *qPlaneForm) fourBytes() int { return 4 * f.phases * f.frame[0] * f.frame[1] }

// scratch is the most scratch that a convolution takes in this form on some threads.
func (f *qPlaneForm) scratch(outChans, threads int) int {
	n := f.slots(threads) * (par.ScratchSize(f.panelBytes(), 1) + par.ScratchSize(4*qPlaneRest*operand.RoundUp(f.depth, 4), 1) + par.ScratchSize(qPlaneRest*outChans, 1))
	switch {
	case f.framed:
		return n + par.ScratchSize(f.frameBytes(), 1) + par.ScratchSize(f.g.Taps, 8)
	case f.listed:
		n += par.ScratchSize(4*f.depth, 16)
	}
	if f.phases > 1 {
		n += par.ScratchSize(f.chans*f.plane, 1)
	}
	return n + f.slots(threads)*par.ScratchSize(f.g.Taps*f.parts, 16)
}

// directScratch is the most scratch of an image that is computed directly on some threads.
func (p *qConvPlan) directScratch(out *array.Array, threads int) (n int) {
	if f, ok := p.directPlanes(); ok {
		n = f.scratch()
	}
	if f, ok := p.planes(); ok && out.DType().Size() == 1 {
		n = max(n, f.scratch(p.w.outChans/p.w.groups, threads))
	}
	if f, ok := p.byGroups(); ok && out.DType().Size() == 1 {
		n = max(n, f.scratch(threads))
	}
	return n
}

// epilogueScratch is the most scratch of an image's epilogues.
func (p *qConvPlan) epilogueScratch(in []*array.Array) int {
	return epilogueBytes(p.w.outChans, operand.At(in, qTableOperand)) +
		2*par.ScratchSize(p.w.outChans, 8) + 4*p.w.groups*par.ScratchSize(2*qCols, 4)
}

// apart is how many goroutines can each convolve whole images, on so many threads at once;
// 1 where goroutines share each image. One does so where all are busy for seven eighths of
// the time: an image stays in its caches, and nobody waits for the others.
func (p *qConvPlan) apart(threads int) int {
	rounds := (p.batch + threads - 1) / threads
	if threads < 2 || 8*p.batch < 7*rounds*threads {
		return 1
	}
	return threads
}

// mostApart is the most goroutines that convolve whole images on this machine.
func (p *qConvPlan) mostApart() int {
	for n := par.Machine(qPlaneThreads); n > 1; n-- {
		if p.apart(n) > 1 {
			return n
		}
	}
	return 1
}

// apartScratch is the scratch of one goroutine that convolves images.
func (p *qConvPlan) apartScratch(out *array.Array, in []*array.Array) int {
	return p.directScratch(out, 1) + p.epilogueScratch(in)
}

// qApartJob convolves images, each on one goroutine.
type qApartJob struct {
	c     qConvRun
	slots par.Slots
	lanes *par.Lanes
}

// apart convolves the images on n goroutines; none is computed through a copy.
func (c *qConvRun) apart(w *par.Workspace, n int) {
	mark := w.Mark()
	j := par.TakeJob[qApartJob](w)
	*j = qApartJob{c: *c, lanes: par.TakeLanes(w, n, c.p.apartScratch(c.out, c.in))}
	for i := range n { // later calls allocate nothing, whoever comes
		at := j.lanes.At(i)
		par.PutJob(at, par.TakeJob[qConvRun](at))
		switch v := &c.ways; {
		case v.grouped:
			par.PutJob(at, par.TakeJob[qGroupJob](at))
		case v.deep:
			par.PutJob(at, par.TakeJob[qDepthRowsJob](at))
			par.PutJob(at, par.TakeJob[qDepthPlaneJob](at))
		default:
			par.PutJob(at, par.TakeJob[qPlaneJob](at))
			par.PutJob(at, par.TakeJob[qFrameJob](at))
			par.PutJob(at, par.TakeJob[qSplitJob](at))
		}
		par.PutJob(at, par.TakeJob[qTableJob](at))
	}
	work := c.p.g.OutPlane * c.p.w.outChans * (c.p.w.chans / c.p.w.groups) * c.p.w.taps
	w.Within(n, c.p.batch, max(1, qWork/(work+1)), j)
	par.PutLanes(w, j.lanes)
	par.PutJob(w, j)
	w.Release(mark)
}

// Do convolves images [lo, hi).
func (j *qApartJob) Do(lo, hi int) {
	slot := j.slots.Take(0)
	defer j.slots.Give(slot)
	w := j.lanes.At(slot)
	c := par.TakeJob[qConvRun](w)
	*c = j.c
	for i := lo; i < hi; i++ {
		c.convolve(w, i)
	}
	par.PutJob(w, c)
}
