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
func (f *qPlaneForm) slots() int { return max(4, min(f.panels, qPlaneThreads)) }

// panelBytes is the size of a packed panel.
func (f *qPlaneForm) panelBytes() int { return f.depth * 4 * qPlaneLanes }

// frameBytes is the size of the frame of a group of channels: beyond it, a vector
// may reach.
func (f *qPlaneForm) frameBytes() int {
	return f.depth/f.g.Taps*f.fourBytes() + 64
}

// fourBytes is the size of the frame of four channels.
func (f *qPlaneForm) fourBytes() int { return 4 * f.phases * f.frame[0] * f.frame[1] }

// scratch is the most scratch that a convolution takes in this form.
func (f *qPlaneForm) scratch(outChans int) int {
	n := f.slots() * (par.ScratchSize(f.panelBytes(), 1) + par.ScratchSize(4*qPlaneRest*operand.RoundUp(f.depth, 4), 1) + par.ScratchSize(qPlaneRest*outChans, 1))
	switch {
	case f.framed:
		return n + par.ScratchSize(f.frameBytes(), 1) + par.ScratchSize(f.g.Taps, 8)
	case f.listed:
		n += par.ScratchSize(4*f.depth, 16)
	}
	if f.phases > 1 {
		n += par.ScratchSize(f.chans*f.plane, 1)
	}
	return n + f.slots()*par.ScratchSize(f.g.Taps*f.parts, 16)
}
