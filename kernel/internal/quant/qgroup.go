package quant

import (
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// qGroupForm is how a convolution in groups of channels first is computed: each
// group's fours of channels are brought together in a frame with padding, which stays
// in the first cache, and products read windows where they lie in it. Places of the
// frame next to each other are computed together, and those that are no positions left
// out when results are written. Of a stride of two, even lines and columns of the frame
// lie apart from odd ones, so that neighbours are next to each other.
type qGroupForm struct {
	g           geom.Spatial
	groups      int
	quads, outs int // of a group: fours of channels, and channels of the result
	rows, bands int // output lines of a frame, frames of a plane
	lines       int // of each part of a frame by the parity of lines
	width       int // of each part of a line by the parity of columns
	plane       int // bytes of a frame of four channels
}

// byGroups returns the form of a convolution to bytes, and false where there is none,
// or panels of positions are as fast: few groups, or wide ones.
func (p *qConvPlan) byGroups() (f qGroupForm, ok bool) {
	g := p.g
	f = qGroupForm{g: g, groups: p.w.groups, quads: p.w.chans / p.w.groups / 4, outs: p.w.outChans / p.w.groups}
	flat := g.In[0] == 1 && g.Out[0] == 1 && g.Kernel[0] == 1 && g.PadLo[0] == 0
	whole := f.quads > 0 && f.outs > 0 && p.w.chans/p.w.groups%4 == 0 && f.outs%4 == 0
	if !p.transposed || p.w.depthwise || !flat || !whole || g.Stride[1] > 2 || g.Stride[2] > 2 {
		return f, false
	}
	most := qGroupMost
	if g.Taps == 1 {
		most = qGroupMost / 2 // which share a frame less
	}
	if f.groups < qGroupLeast || f.outs > most || g.Out[2] < 5 || g.OutPlane < 16 {
		return f, false
	}
	f.width = (f.extent(2, g.Out[2]) + g.Stride[2] - 1) / g.Stride[2]
	f.rows = g.Out[1]
	for f.size(f.rows) > qGroupFrame && f.rows > 1 {
		f.rows = (f.rows + 1) / 2
	}
	f.bands = (g.Out[1] + f.rows - 1) / f.rows
	f.rows = (g.Out[1] + f.bands - 1) / f.bands
	f.bands = (g.Out[1] + f.rows - 1) / f.rows
	f.lines = (f.extent(1, f.rows) + g.Stride[1] - 1) / g.Stride[1]
	f.plane = 4 * g.Stride[1] * g.Stride[2] * f.lines * f.width
	return f, f.size(1) <= 4*qGroupFrame
}

// extent is the elements that some results read along a dimension.
func (f *qGroupForm) extent(d, n int) int {
	return (n-1)*f.g.Stride[d] + (f.g.Kernel[d]-1)*f.g.Dilate[d] + 1
}

// size is the bytes of a frame for some output lines.
func (f *qGroupForm) size(rows int) int {
	return 4 * f.quads * (f.extent(1, rows) + f.g.Stride[1] - 1) * f.g.Stride[2] * f.width
}

// places is the number of places from the first position of some lines to the last.
func (f *qGroupForm) places(rows int) int { return (rows-1)*f.width + f.g.Out[2] }

// parts is the most parts of the lines of a frame, with the ends of lists.
func (f *qGroupForm) parts() int { return f.rows + 2*((f.places(f.rows)+qPlaneLanes-1)/qPlaneLanes) }

// slots is the number of frames in memory at once.
func (f *qGroupForm) slots(threads int) int {
	if threads <= 1 {
		return 1
	}
	return min(f.groups*f.bands, qPlaneThreads)
}

// frameBytes is the size of a frame: beyond it, vectors may reach.
func (f *qGroupForm) frameBytes() int { return f.quads*f.plane + 4*qPlaneLanes }

// scratch is the scratch that a convolution takes in this form on some threads.
func (f *qGroupForm) scratch(threads int) int {
	n := f.groups * f.outs
	return f.slots(threads)*par.ScratchSize(f.frameBytes(), 1) + par.ScratchSize(f.g.Taps, 8) + 2*par.ScratchSize(2*f.parts(), 8) +
		par.ScratchSize(operand.RoundUp(n, qCols), 4)
}

// qGroupTile is the argument of the product of a group; the generator knows the places
// of its fields.
type qGroupTile struct {
	x        *uint8 // the frame
	taps     *int64 // places of taps in it
	count    int    // of them
	quads    int
	plane    int
	b        *int8
	step     int // bytes of a panel of weights
	bias     *int32
	scale    *float32
	dst      *uint8
	ld       int
	parts    *qPart
	blocks   int
	channels int
	flip     uint32
	// For unsigned results, those that flip makes signed ones of.
	zero, lo, hi int32
}

// grouped convolves all groups of image i; e's bytes are the image's.
func (c *qConvRun) grouped(w *par.Workspace, f *qGroupForm, i int, e qEpilogue) {
	e.ld = f.g.OutPlane
	size := c.p.g.InPlane * c.p.w.chans
	j := par.TakeJob[qGroupJob](w)
	*j = qGroupJob{f: *f, mem: c.mem, out: e, src: c.src[i*size : (i+1)*size], zero: uint8(c.x.zero), flip: uint32(c.x.flip) * 0x01010101}
	j.bytes = len(c.mem) / f.groups
	j.panel = c.p.w.runs * f.quads * qGroup
	j.taps = par.Scratch[int64](w, f.g.Taps)
	for t := range j.taps {
		y, x := t/f.g.Kernel[2]*f.g.Dilate[1], t%f.g.Kernel[2]*f.g.Dilate[2]
		j.taps[t] = int64(f.at(y, x))
	}
	j.parts[0], j.rest[0] = f.split(scratchOf[qPart](w, f.parts()), f.rows)
	j.parts[1], j.rest[1] = f.split(scratchOf[qPart](w, f.parts()), f.g.Out[1]-(f.bands-1)*f.rows)
	slots := f.slots(w.Threads)
	for i := range slots {
		j.room[i] = par.Scratch[uint8](w, f.frameBytes())
	}
	units := f.groups * f.bands
	j.rooms = max(1, min(w.Threads, slots))
	w.Within(slots, units, max(1, qWork/(f.rows*f.width*f.g.Taps*f.quads*4*f.outs+1)), j)
	par.PutJob(w, j)
	if e.table != nil {
		done := e.bytes[:f.groups*f.outs*e.ld]
		lookupAll(w, done, done, e.table)
	}
}

// at is the place of a line and a column of a frame of four channels, in bytes.
func (f *qGroupForm) at(y, x int) int {
	sy, sx := f.g.Stride[1], f.g.Stride[2]
	return 4 * (((y%sy*sx+x%sx)*f.lines+y/sy)*f.width + x/sx)
}

// split lists the parts of output lines in each block of places of a frame of some
// lines, and returns where the parts of the last block begin.
func (f *qGroupForm) split(parts []qPart, rows int) (list []qPart, last int) {
	n, cols := f.places(rows), f.g.Out[2]
	list = parts[:0]
	for first := 0; first < n; first += qPlaneLanes {
		last = len(list)
		for y := first / f.width; y < rows && y*f.width < first+qPlaneLanes; y++ {
			at := y*f.width - first // of its first position, in the block
			if from, to := max(0, at), min(qPlaneLanes, at+cols); from < to {
				list = append(list, qPart{at: int64(y*cols - at), lanes: (1<<(to-from) - 1) << from})
			}
		}
		list = append(list, qPart{})
	}
	return list, last
}

// qGroupJob is a convolution in groups in progress: units are bands of groups.
type qGroupJob struct {
	f            qGroupForm
	mem          []int8
	bytes, panel int // of a group's weights, and of a panel of them
	out          qEpilogue
	src          []uint8
	taps         []int64
	parts        [2][]qPart // of a band, and of the last one
	rest         [2]int     // where the parts of its last block begin
	zero         uint8
	flip         uint32
	rooms        int // which have goroutines
	slots        par.Slots
	room         [qPlaneThreads][]uint8
}

// Do computes units [lo, hi). Padding stays in frames of whole planes.
func (j *qGroupJob) Do(lo, hi int) {
	f := &j.f
	slot := j.slots.Take(lo * j.rooms / (f.groups * f.bands))
	frame := j.room[slot]
	for u := lo; u < hi; u++ {
		group, band := u/f.bands, u%f.bands
		if u == lo || f.bands > 1 {
			fillBytes(frame[:f.quads*f.plane], j.zero)
		}
		for q := range f.quads {
			j.enframe(frame[q*f.plane:(q+1)*f.plane], 4*(group*f.quads+q), band)
		}
		j.compute(frame, group, band)
	}
	j.slots.Give(slot)
}

// enframe lays the lines of four channels out that a band reads.
func (j *qGroupJob) enframe(to []uint8, channel, band int) {
	f, g := &j.f, &j.f.g
	sy, sx, pad := g.Stride[1], g.Stride[2], g.PadLo[2]
	top := band*f.rows*sy - g.PadLo[1]
	cols := min(g.In[2], sx*f.width-pad)
	for phase := range sy {
		first := max(0, -top)
		first += (phase - first%sy + sy) % sy
		lines := (min(sy*f.lines, g.In[1]-top) - first + sy - 1) / sy
		if first >= sy*f.lines || lines < 1 || cols < 1 {
			continue
		}
		src := j.src[channel*g.InPlane+(top+first)*g.In[2]:]
		_ = src[3*g.InPlane+(lines-1)*sy*g.In[2]+cols-1]
		even, odd := f.at(first, pad), f.at(first, pad+1)
		if sx == 1 {
			qFrameVNNI(lines, cols, sy*g.In[2], &src[0], g.InPlane, &to[even], &to[even], 4*f.width, j.flip)
			continue
		}
		qFrameSplitVNNI(lines, cols, sy*g.In[2], &src[0], g.InPlane, &to[even], &to[min(odd, len(to)-1)], 4*f.width, j.flip)
	}
}

// compute computes a band of a group.
func (j *qGroupJob) compute(frame []uint8, group, band int) {
	f, e := &j.f, &j.out
	rows := min(f.rows, f.g.Out[1]-band*f.rows)
	last := 0
	if band == f.bands-1 {
		last = 1
	}
	vectors := (f.places(rows) + 15) / 16
	blocks, rest := vectors/4, vectors%4
	if rest == 3 {
		blocks, rest = blocks+1, 0
	}
	first := group * f.outs
	at := first*e.ld + band*f.rows*f.g.Out[2]
	_ = e.bytes[at+(f.outs-1)*e.ld+rows*f.g.Out[2]-1]
	parts, zero := j.parts[last], e.zero+int32(e.flip)
	t := qGroupTile{x: &frame[0], taps: &j.taps[0], count: len(j.taps), quads: f.quads, plane: f.plane, b: &j.mem[group*j.bytes], step: j.panel,
		bias: &e.bias[first], scale: &e.scale[first], dst: &e.bytes[at], ld: e.ld, parts: &parts[0], blocks: blocks, channels: f.outs,
		flip: uint32(e.flip) * 0x01010101, zero: zero, lo: int32(e.lo) + zero, hi: int32(e.hi) + zero}
	p := (*uint8)(unsafe.Pointer(&t))
	if blocks > 0 {
		qGroup4VNNI(p)
	}
	if rest > 0 {
		t.x, t.parts, t.blocks = &frame[256*blocks], &parts[j.rest[last]], 1
		qGroup2VNNI(p)
	}
}

// joined sees the weights of all groups as one filter's, for its columns' sums.
func (f *qFilter) joined(w *par.Workspace, mem []int8) PackedQ {
	b := f.group(mem, 0)
	per := b.n
	sums := par.Scratch[int32](w, operand.RoundUp(f.outChans, qCols))
	clear(sums)
	for g := range f.groups {
		one := f.group(mem, g)
		copy(sums[g*per:], one.sums[:per])
	}
	b.n, b.data, b.sums = f.outChans, nil, sums
	return b
}
