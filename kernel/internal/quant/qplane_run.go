package quant

import (
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// qPlaneTile is the argument of the product by planes; the generator knows the
// places of its fields.
type qPlaneTile struct {
	x        *uint8
	b        *int8
	bias     *int32
	scale    *float32
	dst      *uint8
	ld       int
	groups   int
	step     int // bytes of a panel of weights
	channels int
	mask     uint64
	flip     uint32
	// For unsigned results, those that flip makes signed ones of.
	zero, lo, hi int32
	form         int // planeNatural and planePlain
	// Where the residual lies, less dst, if there is one.
	residual uintptr
	adds     int // 1 where there is
	addFlip  uint32
	addZero  int32
	addScale float32
}

// Bits of the form of a qPlaneTile.
const (
	planeNatural = 1 // 64 positions lie as interleaving leaves them
	planePlain   = 2 // no limits but those of unsigned bytes, and no flip
)

// qPlanePack is the argument of the packing of planes.
type qPlanePack struct {
	src        *uint8
	plane      int
	quads      int
	parts      *qPart
	count      int // parts of a tap
	rows       *qRow
	dst        *uint8
	vectors    int
	fill, flip uint32
}

// qPart is a part of a line among the positions of a panel: where its elements
// lie, less the place of the first among the positions, and which positions read
// an element for a tap, the others being padding.
type qPart struct {
	at    int64
	lanes uint64
}

// qRow is a row of a panel: where its plane lies, and its tap.
type qRow struct{ plane, tap int64 }

// qPlanes reports whether this processor computes by planes.
func qPlanes() bool { return qVNNI() }

// planesOf prepares image i for the packing of panels.
func (c *qConvRun) planesOf(w *par.Workspace, f *qPlaneForm, i int) {
	size := c.p.g.InPlane * c.p.w.chans
	c.img = c.src[i*size : (i+1)*size]
	if f.phases == 1 || f.framed {
		return
	}
	j := par.TakeJob[qSplitJob](w)
	*j = qSplitJob{f: *f, g: c.p.g, src: c.img, dst: par.Scratch[uint8](w, f.chans*f.plane)}
	w.Parallel(f.chans, max(1, elementwiseWork/(c.p.g.InPlane+1)), j)
	c.img = j.dst
	par.PutJob(w, j)
}

// qSplitJob parts columns of planes by their parity.
type qSplitJob struct {
	f        qPlaneForm
	g        geom.Spatial
	src, dst []uint8
}

// Do copies channels [lo, hi).
func (j *qSplitJob) Do(lo, hi int) {
	g, f := &j.g, &j.f
	lines, n := g.In[1], g.In[2]
	if n%2 == 0 {
		lines, n = 1, lines*n
	}
	for c := lo; c < hi; c++ {
		src, dst := j.src[c*g.InPlane:(c+1)*g.InPlane], j.dst[c*f.plane:(c+1)*f.plane]
		var odd *uint8
		if !f.even && n > 1 {
			odd = &dst[f.phase]
		}
		qSplitVNNI(lines, n, &src[0], &dst[0], odd, f.width)
	}
}

// planar convolves one group of channels by planes; e's bytes are the image's, from the
// group's on.
func (c *qConvRun) planar(w *par.Workspace, f *qPlaneForm, group int, b PackedQ, e qEpilogue) {
	per := c.p.w.chans / c.p.w.groups
	j := par.TakeJob[qPlaneJob](w)
	*j = qPlaneJob{f: *f, b: b, out: e, flip: uint32(c.x.flip) * 0x01010101}
	j.fill = uint32(uint8(c.x.zero)^c.x.flip) * 0x01010101
	slots := f.slots(w.Threads)
	for i := range slots {
		j.room[i] = qPlaneRoom{panel: par.Scratch[uint8](w, f.panelBytes()), rows: par.Scratch[uint8](w, 4*qPlaneRest*operand.RoundUp(f.depth, 4)),
			rest: par.Scratch[uint8](w, qPlaneRest*b.n)}
	}
	if f.framed {
		j.enframe(w, group*per*c.p.g.InPlane, c.img)
	} else {
		j.src = c.img[group*per*f.plane:]
		for i := range slots {
			j.room[i].parts = scratchOf[qPart](w, f.g.Taps*f.parts)
		}
	}
	if f.listed {
		j.list(scratchOf[qRow](w, 4*f.depth), per, c.p.w.runs)
	}
	panels := (b.n + qCols - 1) / qCols
	j.block = panels
	if t := 4 * w.Threads; w.Threads > 1 && f.panels < t {
		j.block = max((panels*f.panels+t-1)/t, min(panels, 4))
	}
	j.blocks = (panels + j.block - 1) / j.block
	j.rooms = max(1, min(w.Threads, slots))
	w.Within(slots, f.panels*j.blocks, max(1, qWork/(4*qPlaneLanes*f.depth*j.block*qCols+1)), j)
	par.PutJob(w, j)
	if e.table != nil {
		// Once over all of them: a piece of a channel at a time, calls take longest.
		done := e.bytes[:b.n*e.ld]
		lookupAll(w, done, done, e.table)
	}
}

// scratchOf returns n structures of 16 bytes without pointers.
func scratchOf[T qPart | qRow](w *par.Workspace, n int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(par.Scratch[int64](w, 2*n)))), n)
}

// qPlaneRoom is the memory into which one goroutine packs.
type qPlaneRoom struct {
	held        int // one more than the number of the panel in it
	panel, rows []uint8
	rest        []uint8
	parts       []qPart
}

// qPlaneJob is a convolution by planes in progress: units are panels of
// positions, times blocks of panels of weights.
type qPlaneJob struct {
	f             qPlaneForm
	b             PackedQ
	out           qEpilogue
	src           []uint8 // planes, or the frame
	taps          []int64 // within a frame
	rows          []qRow
	fill, flip    uint32
	block, blocks int
	rooms         int // which have goroutines
	slots         par.Slots
	room          [qPlaneThreads]qPlaneRoom
}

// list fills the rows of runs of whole lines of taps; taps that fill up a group
// have the weight 0.
func (j *qPlaneJob) list(rows []qRow, chans, runs int) {
	line := j.f.g.Taps / runs
	full := len(rows) / runs
	for r := range runs {
		for i := range full {
			k := min(i, line*chans-1)
			rows[r*full+i] = qRow{plane: int64(k % chans * j.f.plane), tap: int64(r*line + k/chans)}
		}
	}
	j.rows = rows
}

// Do computes units [lo, hi). A panel of positions is packed into the room of a
// goroutine, stays in its near cache while a block of weights passes, and serves
// the next block, too, if that goroutine takes it.
func (j *qPlaneJob) Do(lo, hi int) {
	f := &j.f
	slot := j.slots.Take(lo * j.rooms / (f.panels * j.blocks)) // where the goroutine's panel is
	room := &j.room[slot]
	for u := lo; u < hi; u++ {
		panel := u / j.blocks
		vectors := min(4, f.vectors-4*panel)
		first := panel * qPlaneLanes
		n := min(16*vectors, f.g.OutPlane-first)
		rest := f.rest > 0 && panel == f.panels-1
		if room.held != panel+1 {
			if rest {
				j.pack(room, 16*f.vectors, f.rest, 1)
				j.remainderRows(room)
			}
			j.pack(room, first, n, vectors)
			room.held = panel + 1
		}
		from := u % j.blocks * j.block
		to := min(from+j.block, (j.b.n+qCols-1)/qCols)
		if !rest {
			j.tile(room, from, to, first, n, vectors)
			continue
		}
		// While the weights are near.
		for p := from; p < to; p++ {
			j.tile(room, p, p+1, first, n, vectors)
			j.remainder(room, p, 16*f.vectors)
		}
	}
	j.slots.Give(slot)
}

// tile computes panels [from, to) of weights at n positions from first on.
func (j *qPlaneJob) tile(room *qPlaneRoom, from, to, first, n, vectors int) {
	e, col := &j.out, from*qCols
	channels := min(to*qCols, j.b.n) - col
	at := col*e.ld + first
	_ = e.bytes[at+(channels-1)*e.ld+n-1]
	zero := e.zero + int32(e.flip)
	b := j.b.panel(from)
	t := qPlaneTile{x: &room.panel[0], b: &b[0], bias: &e.bias[col], scale: &e.scale[col], dst: &e.bytes[at], ld: e.ld,
		groups: j.f.depth, step: len(b), channels: channels, mask: 1<<n - 1, flip: uint32(e.flip) * 0x01010101,
		zero: zero, lo: int32(e.lo) + zero, hi: int32(e.hi) + zero}
	if !j.f.framed {
		t.form = planeNatural
	}
	if t.lo == 0 && t.hi == 255 && t.flip == 0 {
		t.form |= planePlain
	}
	if r := e.res.from(at); r.bytes != nil {
		_ = r.bytes[(channels-1)*e.ld+n-1]
		t.adds, t.residual = 1, uintptr(unsafe.Pointer(&r.bytes[0]))-uintptr(unsafe.Pointer(t.dst))
		t.addFlip, t.addZero, t.addScale = uint32(r.flip)*0x01010101, r.zero, r.scale
	}
	p := (*uint8)(unsafe.Pointer(&t))
	switch vectors {
	case 1:
		qPlane1VNNI(p)
	case 2:
		qPlane2VNNI(p)
	case 3:
		qPlane3VNNI(p)
	default:
		qPlane4VNNI(p)
	}
}

// remainderRows makes rows of the packed positions that vectors leave.
func (j *qPlaneJob) remainderRows(room *qPlaneRoom) {
	ld := 4 * operand.RoundUp(j.f.depth, 4)
	_, _ = room.rows[4*ld-1], room.panel[16*ld-1]
	qFrameRowsVNNI(ld/16, &room.panel[0], &room.rows[0], ld)
}

// remainder computes panel p of weights at those positions, first and on.
func (j *qPlaneJob) remainder(room *qPlaneRoom, p, first int) {
	n, depth, ld := j.f.rest, j.f.depth, j.out.ld
	e := j.out
	e.ld, e.bytes = j.b.n, room.rest
	var one [1]int64
	col := p * qCols
	cols := min(qCols, j.b.n-col)
	step := 4 * operand.RoundUp(depth, 4)
	if e.res.bytes == nil {
		qTileBytes(n, cols, room.rows, 0, step, one[:], 4*depth, j.b.panel(p), &e, col, e.bytes[col:])
	} else {
		j.remainderAdd(&e, room.rows, p, first)
	}
	if n == 4 {
		r0, r1, r2, r3 := e.bytes[col:][:cols], e.bytes[e.ld+col:][:cols], e.bytes[2*e.ld+col:][:cols], e.bytes[3*e.ld+col:][:cols]
		for i := range cols {
			*(*[4]uint8)(j.out.bytes[(col+i)*ld+first:]) = [4]uint8{r0[i], r1[i], r2[i], r3[i]}
		}
		return
	}
	for c := col; c < col+cols; c++ {
		to := j.out.bytes[c*ld+first:][:n]
		for r := range to {
			to[r] = e.bytes[r*e.ld+c]
		}
	}
}

// remainderAdd is remainder's product where there is a residual, whose bytes are
// brought together first.
func (j *qPlaneJob) remainderAdd(e *qEpilogue, rows []uint8, p, first int) {
	var tile [qPlaneRest * qCols]int32
	var near, done [qPlaneRest * qCols]uint8
	var one [1]int64
	n, depth, col := j.f.rest, j.f.depth, p*qCols
	cols := min(qCols, j.b.n-col)
	for i := range cols {
		for r, v := range j.out.res.bytes[(col+i)*j.out.ld+first:][:n] {
			near[r*qCols+i] = v
		}
	}
	from := j.out.res
	from.bytes = near[:]
	qTile(n, rows, 0, 4*operand.RoundUp(depth, 4), one[:], 4*depth, &j.b, p, tile[:], qCols)
	t := qTileOut{rows: n, cols: cols, col: col, sums: tile[:], step: qCols, dst: done[:], ld: qCols, res: from}
	t.requant(e)
	for r := range n {
		copy(e.bytes[r*e.ld+col:][:cols], done[r*qCols:])
	}
}

// pack packs the windows of n positions from first on.
func (j *qPlaneJob) pack(room *qPlaneRoom, first, n, vectors int) {
	f := &j.f
	if f.framed {
		for v := range vectors {
			j.copyVector(room.panel[64*v:], first+16*v, min(16, n-16*v), 64*vectors)
		}
		return
	}
	count := j.split(room.parts, first, n)
	s := qPlanePack{src: &j.src[0], plane: f.plane, quads: f.depth, parts: &room.parts[0], count: count,
		dst: &room.panel[0], vectors: vectors, fill: j.fill, flip: j.flip}
	p := (*uint8)(unsafe.Pointer(&s))
	if f.listed {
		s.rows = &j.rows[0]
		qPlaneListVNNI(p)
		return
	}
	qPlanePackVNNI(p)
}

// split fills the parts of each tap and returns how many a tap has. A panel of
// positions is a few pieces of output lines; the part of each piece that a tap
// reads is found once for all channels, with a mask of what lies in the image.
func (j *qPlaneJob) split(parts []qPart, first, n int) (count int) {
	g := &j.f.g
	y, x := first/g.Out[2], first%g.Out[2]
	count = (x + n + g.Out[2] - 1) / g.Out[2]
	for s, lane := 0, 0; lane < n; s++ {
		width := min(g.Out[2]-x, n-lane)
		top := y*g.Stride[1] - g.PadLo[1]
		for kx := range g.Kernel[2] {
			d := kx*g.Dilate[2] - g.PadLo[2]
			phase, cols, step := 0, g.In[2], d
			if j.f.phases == 2 {
				phase, step = d&1, d>>1
				cols = (g.In[2] + 1 - phase) / 2
			}
			p := qPart{at: int64(phase*j.f.phase + top*j.f.width + x + step - lane)}
			a, b := max(0, -step-x), min(width, cols-step-x)
			if a < b {
				p.lanes = (1<<(b-a) - 1) << (lane + a)
			}
			for ky := range g.Kernel[1] {
				to := &parts[(ky*g.Kernel[2]+kx)*count+s]
				if *to = p; a >= b || uint(top+ky*g.Dilate[1]) >= uint(g.In[1]) {
					*to = qPart{}
				}
				p.at += int64(g.Dilate[1] * j.f.width)
			}
		}
		lane, x, y = lane+width, 0, y+1
	}
	return count
}

// qFrameCopy is the argument for packing one vector of positions.
type qFrameCopy struct {
	src   *uint8
	taps  *int64
	count int // taps
	quads int
	plane int // bytes of four channels
	dst   *uint8
	step  int // between vectors of one group and the next
	parts int
	at    [4]int64
	lanes [4]uint64
}

// enframe brings fours of channels together, with padding around them, in scratch
// memory that panels are then packed from.
func (j *qPlaneJob) enframe(w *par.Workspace, at int, img []uint8) {
	f, g := &j.f, &j.f.g
	j.taps = par.Scratch[int64](w, g.Taps)
	for t := range j.taps {
		y, x := t/g.Kernel[2]*g.Dilate[1], t%g.Kernel[2]*g.Dilate[2]
		j.taps[t] = int64(4 * ((x%f.phases*f.frame[0]+y)*f.frame[1] + x/f.phases))
	}
	e := par.TakeJob[qFrameJob](w)
	*e = qFrameJob{f: *f, src: img[at:], dst: par.Scratch[uint8](w, f.frameBytes()), fill: uint8(j.fill) ^ uint8(j.flip), flip: j.flip}
	w.Parallel(f.depth/g.Taps, max(1, elementwiseWork/(f.fourBytes()+1)), e)
	j.src = e.dst
	par.PutJob(w, e)
}

// qFrameJob lays an image out by fours of channels.
type qFrameJob struct {
	f        qPlaneForm
	src, dst []uint8
	fill     uint8 // a byte of padding
	flip     uint32
}

// Do lays out fours [lo, hi). Of a split line, even columns of the frame come
// first; with odd padding those are the odd columns of the image.
func (j *qFrameJob) Do(lo, hi int) {
	f, g := &j.f, &j.f.g
	size, step, pad := f.fourBytes(), 4*f.frame[1], g.PadLo[2]
	lines, n := min(g.In[1], f.frame[0]-g.PadLo[1]), min(g.In[2], f.phases*f.frame[1]-pad)
	for i := lo; i < hi; i++ {
		dst := j.dst[i*size : (i+1)*size]
		if g.PadLo != [3]int{} || lines < f.frame[0] || g.In[2] < f.frame[1]*f.phases {
			fillBytes(dst, j.fill)
		}
		if lines < 1 || n < 1 {
			continue
		}
		src := j.src[4*i*g.InPlane:]
		at := g.PadLo[1]*step + pad/f.phases*4
		if f.phases == 1 {
			qFrameVNNI(lines, n, g.In[2], &src[0], g.InPlane, &dst[at], &dst[0], step, j.flip)
			continue
		}
		even, odd := at, at+f.frame[0]*step
		if pad%2 == 1 {
			even, odd = at+f.frame[0]*step, at+4
		}
		qFrameSplitVNNI(lines, n, g.In[2], &src[0], g.InPlane, &dst[even], &dst[min(odd, len(dst)-1)], step, j.flip)
	}
}

// copyVector packs up to 16 positions from first on, of every tap and channel.
func (j *qPlaneJob) copyVector(dst []uint8, first, n, step int) {
	f, g := &j.f, &j.f.g
	s := qFrameCopy{src: &j.src[0], taps: &j.taps[0], count: len(j.taps), quads: f.depth / g.Taps, plane: f.fourBytes(), dst: &dst[0], step: step}
	y, x := first/g.Out[2], first%g.Out[2]
	for lane := 0; lane < n; s.parts++ {
		width := min(g.Out[2]-x, n-lane)
		s.at[s.parts] = int64(4 * (y*g.Stride[1]*f.frame[1] + x - lane))
		s.lanes[s.parts] = (1<<width - 1) << lane
		lane, x, y = lane+width, 0, y+1
	}
	qFrameCopyVNNI((*uint8)(unsafe.Pointer(&s)))
}
