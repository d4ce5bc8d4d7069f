package winograd

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Tile returns the side e of the tiles F(exe,3x3) that a convolution is
// computed by, 0 for direct sums. It compares the estimated cycles of each way:
// its multiply-adds at the rate that the product's loop reaches, its
// transforms, and the weights on their way from memory, which overlap with the
// arithmetic only in part.
//
// g is the geometry that is expected, m the output channels of a group.
func Tile(l cpu.Level, g *geom.Spatial, m, perGroup int) int {
	return choose(l, g, m, perGroup, 1, false)
}

// BeatsPairs reports whether the way by transforms takes less time than direct sums of two
// bf16 at a time. It answers for a processor with AVX-512, whatever the processor is: sizes alone
// decide what is rounded to bf16.
func BeatsPairs(g *geom.Spatial, m, perGroup int) bool {
	e := Tile(cpu.AVX512, g, m, perGroup)
	return e > 0 && winogradCost(cpu.AVX512, e, g, m, perGroup) < directCost(cpu.AVX512, g, m, perGroup)/2
}

// directCost estimates the cycles of direct sums.
func directCost(l cpu.Level, g *geom.Spatial, m, perGroup int) float64 {
	rate := float64(gemm.BlockingOf(l).Nr) // multiply-adds a cycle: two vectors, as wide as a panel
	return float64(g.OutPlane*9)*float64(m*perGroup)/rate/0.8 + streamed(9*m*perGroup)
}

// TileOnce is Tile of so many images by filters that are transformed for them alone.
func TileOnce(l cpu.Level, g *geom.Spatial, m, perGroup, images int) int {
	return choose(l, g, m, perGroup, images, true)
}

// Suits reports whether a convolution can be computed by tiles, and has channels enough for it.
func Suits(l cpu.Level, g *geom.Spatial, m, perGroup int) bool {
	one := [3]int{1, 1, 1}
	return l != cpu.Generic && g.Kernel == [3]int{1, 3, 3} && g.Stride == one && g.Dilate == one &&
		m >= winogradLeast && perGroup >= winogradLeast
}

// Cycles estimates the cycles of a group of an image by tiles of the side e, 0 for direct sums.
func Cycles(l cpu.Level, e int, g *geom.Spatial, m, perGroup int) float64 {
	if e == 0 {
		return directCost(l, g, m, perGroup)
	}
	return winogradCost(l, e, g, m, perGroup)
}

func choose(l cpu.Level, g *geom.Spatial, m, perGroup, images int, once bool) int {
	if !Suits(l, g, m, perGroup) {
		return 0
	}
	n := float64(images)
	best, e := n*directCost(l, g, m, perGroup), 0
	for _, try := range []int{4, 2} {
		c := n * winogradCost(l, try, g, m, perGroup)
		if once {
			c += float64(m*perGroup) * filterCost(l, try)
		}
		if c < best {
			best, e = c, try
		}
	}
	return e
}

// filterCost estimates the cycles of the transform of a filter: arithmetic, a vector of
// filters at a time, and numbers that are written.
func filterCost(l cpu.Level, e int) float64 {
	sums, t := 400.0, float64(e+2)
	if e == 2 {
		sums = 160
	}
	if l == cpu.NEON { // in Go
		sums *= 4
	}
	return sums/float64(gemm.PanelLanes(l)) + t*t*4/3
}

// winogradCost estimates the cycles of one group of one image.
func winogradCost(l cpu.Level, e int, g *geom.Spatial, m, perGroup int) float64 {
	bl := gemm.BlockingOf(l)
	lanes := bl.Nr / 2
	t := e + 2
	vecs := ((g.Out[1]+e-1)/e*((g.Out[2]+e-1)/e) + lanes - 1) / lanes
	sums := float64(vecs*t*t*m) / 2 * float64(perGroup+8) / 0.9
	if l == cpu.AVX512 {
		sums += float64((vecs+1)/2*t*t*bl.Panels(m)) * perProduct
	}
	perInput, perOutput := 150.0, 130.0 // for one channel of one vector of tiles
	if e == 2 {
		perInput, perOutput = 60, 50
	}
	return sums + float64(vecs)*(perInput*float64(perGroup)+perOutput*float64(m)) + streamed(t*t*m*perGroup)
}

// streamed estimates the cycles that reading weights adds, given their number:
// few from a cache, more from memory.
func streamed(weights int) float64 {
	bytes := float64(4 * weights)
	return bytes/64 + max(0, bytes-weightsCached)/20
}

// Conv is a convolution's operands, with the transformed weights of all groups.
type Conv struct {
	G                     geom.Spatial
	Batch, Groups         int
	PerGroup, OutPerGroup int
	Dst, Src, Packed      []float32
	End                   gemm.Finish // for one image: rows are output channels, columns positions
}

// winograd is a convolution with transformed weights: for each position of a
// patch a product of the filters [m, channels] with the patches [channels, tiles].
// Tiles are counted along rows, and cut into panels of bl.nr. A block is tiles
// of an image, or all tiles of some images. Two images that fill no more than a vector each share
// a panel.
type winograd struct {
	Conv
	level        cpu.Level
	Bl           gemm.Blocking
	e, T         int
	tilesX       int
	Tiles        int  // of an image
	span, Images int  // tiles and images of a block
	panels       int  // of an image of a block
	paired       bool // two images have one
	Blocks       int  // of a group
	workers      int  // goroutines that have memory, each for itself
	Apart        bool // whole blocks of a group are the work of one goroutine each

	Ps, ldy      int // elements between positions of inputs and of sums
	plane        int // elements of a plane of sorted inputs
	SizeV, sizeY int
	sizeP, sizeO int
}

// New plans a convolution on so many threads that run at once. The plan changes the
// order of the work, not the results.
func New(v Conv, l cpu.Level, e, threads int) winograd {
	j := winograd{Conv: v, level: l, Bl: gemm.BlockingOf(l), e: e, T: e + 2, workers: threads}
	nr := j.Bl.Nr
	j.tilesX = (v.G.Out[2] + e - 1) / e
	j.Tiles = (v.G.Out[1] + e - 1) / e * j.tilesX
	j.paired = v.Batch > 1 && fewColumns < j.Tiles && j.Tiles <= gemm.PanelLanes(l) && nr == 2*gemm.PanelLanes(l)
	// Positions are a cache line off multiples of the page size.
	j.Ps, j.ldy = v.PerGroup*nr+16, v.OutPerGroup*nr+16
	far := blockFar()
	if 4*j.T*j.T*gemm.PackedRows(l, v.OutPerGroup, v.PerGroup) <= far/2 {
		j.cut(blockNear())
		j.Apart = evenly(v.Groups*j.Blocks, j.workers)
	}
	if !j.Apart {
		j.cut(far)
	}
	rows := (j.span+j.tilesX-2)/j.tilesX + 1
	j.plane = operand.RoundUp((min(rows, (v.G.Out[1]+e-1)/e)+1)*j.tilesX+nr, 16)
	panels := j.BlockPanels(j.Images)
	j.SizeV, j.sizeY = panels*j.T*j.T*j.Ps, panels*j.T*j.T*j.ldy
	j.sizeP, j.sizeO = e*j.T*j.plane, winogradGroup*nr*e*e
	return j
}

// evenly reports whether goroutines that take so many units are busy for seven eighths of the time
// at least. Where all share a phase, what one has transformed goes to the others: that takes a quarter
// of the time of 64 channels of 56x56.
func evenly(units, workers int) bool {
	turns := (units + workers - 1) / workers
	return 8*units >= 7*turns*workers
}

// cut divides the work into blocks of at most the given bytes.
func (j *winograd) cut(budget int) {
	nr := j.Bl.Nr
	most := max(1, budget/(4*j.T*j.T*(j.Ps+j.ldy)))
	whole := (j.Tiles + nr - 1) / nr
	if j.paired {
		blocks := (j.Batch + 2*most - 1) / (2 * most)
		j.Images, j.span, j.panels = (j.Batch+blocks-1)/blocks, j.Tiles, 1
		j.Images = operand.RoundUp(j.Images, 2)
		j.Blocks = (j.Batch + j.Images - 1) / j.Images
		return
	}
	if most < whole {
		// Equal shares, not a short last one.
		parts := (whole + most - 1) / most
		j.Images, j.panels = 1, (whole+parts-1)/parts
		j.span = j.panels * nr
		j.Blocks = j.Batch * ((j.Tiles + j.span - 1) / j.span)
		return
	}
	j.Images, j.span, j.panels = min(j.Batch, max(1, most/whole)), j.Tiles, whole
	j.Blocks = (j.Batch + j.Images - 1) / j.Images
}

// BlockPanels returns the panels of a block of so many images.
func (j *winograd) BlockPanels(images int) int {
	if j.paired {
		return (images + 1) / 2
	}
	return images * j.panels
}

// panel returns which of a block's panels has tiles of an image, and their column: those of panel i
// of the image.
func (j *winograd) panel(image, i int) (panel, column int) {
	if j.paired {
		return image / 2, image % 2 * j.Bl.Nr / 2
	}
	return image*j.panels + i, 0
}

// columns returns how many columns of a block's panel have tiles.
func (j *winograd) columns(b winogradBlock, panel int) int {
	if j.paired {
		return min(1, b.Images-1-2*panel)*j.Bl.Nr/2 + j.Tiles
	}
	return min(j.Bl.Nr, b.Tiles()-panel%j.panels*j.Bl.Nr)
}

// ScratchSizes are the elements of the scratch that run takes.
func (j *winograd) ScratchSizes() [4]int {
	n := 1
	if j.Apart {
		n = j.workers
	}
	return [4]int{n * j.SizeV, n * j.sizeY, j.workers * j.sizeP, j.workers * j.sizeO}
}

// Scratch is the most scratch that a convolution takes.
func Scratch(v Conv, l cpu.Level, e int) int {
	most := 0
	for threads := 1; threads <= par.Machine(par.MostSlots); threads++ {
		n, j := 0, New(v, l, e, threads)
		for _, size := range j.ScratchSizes() {
			n += par.ScratchSize(size, 4)
		}
		most = max(most, n)
	}
	return most
}

// Len is the elements of the transformed weight of all groups.
func Len(l cpu.Level, e, groups, m, perGroup int) int {
	return groups * (e + 2) * (e + 2) * gemm.PackedRows(l, m, perGroup)
}

// Pack transforms and packs the weight [groups*m, perGroup, 3, 3]: for each position of the
// tile a matrix of all filters, packed as a product packs it.
func Pack(w *par.Workspace, l cpu.Level, e int, dst, weight []float32, groups, m, perGroup int) {
	pack(w, filterJob{level: l, e: e, dst: dst, src: weight, m: m, perGroup: perGroup}, groups)
}

// PackTurned is Pack of the weight [groups*perGroup, m, 3, 3] of a transposed convolution, whose
// filters are turned by half a circle.
func PackTurned(w *par.Workspace, l cpu.Level, e int, dst, weight []float32, groups, m, perGroup int) {
	pack(w, filterJob{level: l, e: e, dst: dst, src: weight, m: m, perGroup: perGroup, turned: true}, groups)
}

func pack(w *par.Workspace, job filterJob, groups int) {
	j := par.TakeJob[filterJob](w)
	*j = job
	j.bl, j.size = gemm.BlockingOf(j.level), gemm.PackedRows(j.level, j.m, j.perGroup)
	n, size := j.bl.Panels(j.m), j.bl.Stride*j.perGroup
	if j.turned {
		n, size = j.runs(), filterRun*n
	}
	w.Parallel(groups*n, max(1, par.SimdPack/(4*size)), j)
	par.PutJob(w, j)
}

// filterRun is the numbers of a position that are computed at a time: some channels of the
// filters of a panel. They are computed next to each other and copied from there, because
// the matrices of positions are often a power of two apart, where a cache keeps few lines.
const filterRun = 128

// filterJob transforms filters: panel by panel of all groups, or if they are turned, some channels
// of all panels at a time. So it reads the weight in the order in which it lies.
type filterJob struct {
	level          cpu.Level
	bl             gemm.Blocking
	e, m, perGroup int
	size           int // of the packed matrix of a position
	dst, src       []float32
	turned         bool
}

// filterSpace is where a run of filters is transformed.
type filterSpace struct {
	taps [9 * filterRun]float32
	near [36 * (filterRun + 16)]float32
	seen float32
}

// runs returns how many runs the channels of a filter are.
func (j *filterJob) runs() int { return (j.perGroup*j.bl.Stride + filterRun - 1) / filterRun }

// Do transforms panels, or runs of channels, [lo, hi) of all groups.
func (j *filterJob) Do(lo, hi int) {
	var space filterSpace
	panels, runs := j.bl.Panels(j.m), j.runs()
	for i := lo; i < hi; i++ {
		if j.turned {
			space.seen += j.touch(i/runs, i%runs)
			for panel := range panels {
				j.run(&space, i/runs, panel, i%runs)
			}
			continue
		}
		for run := range runs {
			j.run(&space, i/panels, i%panels, run)
		}
	}
}

// touch reads a run of channels of turned filters once, a number of each cache line in order, which
// hardware follows: panels read few lines at a time of many pages, where it does not.
func (j *filterJob) touch(group, run int) (sum float32) {
	c, end := run*filterRun/j.bl.Stride, min(j.perGroup, (run+1)*filterRun/j.bl.Stride)
	lines := j.src[(group*j.perGroup+c)*j.m*9 : (group*j.perGroup+end)*j.m*9]
	for i := 0; i < len(lines); i += 16 {
		sum += lines[i]
	}
	return sum
}

// run brings a run of channels of a panel's filters into lanes, tap by tap, as a product packs
// rows, and computes all positions from there.
func (j *filterJob) run(space *filterSpace, group, panel, run int) {
	panels, depth, stride, t := j.bl.Panels(j.m), j.bl.Depth(j.perGroup), j.bl.Stride, j.e+2
	r0, r1 := j.bl.Rows(j.m, panel)
	c, end := run*filterRun/stride, min(j.perGroup, (run+1)*filterRun/stride)
	for c < end {
		p := c / depth * depth // a block of k
		kc := min(depth, j.perGroup-p)
		n := min(end, p+kc) - c
		taps := space.taps[:n*9*stride]
		j.lanes(taps, group, r0, r1-r0, c, n)
		const ps = filterRun + 16
		filter(j.level, j.e, n, space.near[:], ps, taps)
		at := group*t*t*j.size + p*panels*stride + panel*stride*kc + (c-p)*stride
		for q := range t * t {
			copy(j.dst[at+q*j.size:][:n*stride], space.near[q*ps:])
		}
		c += n
	}
}

// lanes brings n channels, from c on, of so many filters of a group, from r on, into lanes.
func (j *filterJob) lanes(taps []float32, group, r, rows, c, n int) {
	stride := j.bl.Stride
	if !j.turned {
		gemm.PackAlong(j.level, taps, stride, j.src[((group*j.m+r)*j.perGroup+c)*9:], j.perGroup*9, rows, n*9)
		return
	}
	var lane [16]float32
	for i := range n {
		t := taps[i*9*stride:][:9*stride]
		gemm.PackAlong(j.level, t, stride, j.src[((group*j.perGroup+c+i)*j.m+r)*9:], 9, rows, 9)
		for tap := range 4 {
			a, b := t[tap*stride:][:stride], t[(8-tap)*stride:][:stride]
			copy(lane[:stride], a)
			copy(a, b)
			copy(b, lane[:stride])
		}
	}
}
