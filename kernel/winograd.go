package kernel

import "runtime"

// winogradTile returns the side e of the tiles F(exe,3x3) that a convolution is
// computed by, 0 for direct sums. It compares what each way is thought to take,
// in cycles: its multiply-adds at the rate that the product's loop reaches, its
// transforms, and the weights on their way from memory, which overlap with the
// arithmetic only in part.
//
// g is the geometry that is expected, m the output channels of a group.
func winogradTile(l cpuLevel, g *spatial, m, perGroup int) int {
	one := [3]int{1, 1, 1}
	if l == levelGeneric || g.kernel != [3]int{1, 3, 3} || g.stride != one || g.dilate != one ||
		m < winogradLeast || perGroup < winogradLeast {
		return 0
	}
	bl := blockingOf(l)
	rate := float64(bl.nr) // multiply-adds a cycle: two vectors, as wide as a panel
	best, e := float64(g.outPlane*9)*float64(m*perGroup)/rate/0.8+streamed(9*m*perGroup), 0
	for _, try := range []int{4, 2} {
		if c := winogradCost(l, try, g, m, perGroup); c < best {
			best, e = c, try
		}
	}
	return e
}

// winogradLeast is the fewest channels of either kind for which the transforms
// are worth their while.
const winogradLeast = 16

// winogradCost estimates the cycles of one group of one image.
func winogradCost(l cpuLevel, e int, g *spatial, m, perGroup int) float64 {
	bl := blockingOf(l)
	lanes := bl.nr / 2
	t := e + 2
	vecs := ((g.out[1]+e-1)/e*((g.out[2]+e-1)/e) + lanes - 1) / lanes
	sums := float64(vecs*t*t*m) / 2 * float64(perGroup+8) / 0.9
	perInput, perOutput := 150.0, 130.0 // for one channel of one vector of tiles
	if e == 2 {
		perInput, perOutput = 60, 50
	}
	if l == levelNEON { // the transforms are in Go there
		perInput, perOutput = 6*perInput, 6*perOutput
	}
	return sums + float64(vecs)*(perInput*float64(perGroup)+perOutput*float64(m)) + streamed(t*t*m*perGroup)
}

// streamed estimates the cycles that reading weights adds, given their number:
// few from a cache, more from memory.
func streamed(weights int) float64 {
	const cache = 4 << 20
	bytes := float64(4 * weights)
	return bytes/64 + max(0, bytes-cache)/20
}

// winogradConv is what is convolved, with the transformed weights of all groups.
type winogradConv struct {
	g                     spatial
	batch, groups         int
	perGroup, outPerGroup int
	dst, src, packed      []float32
	end                   epilogue // for one image: rows are output channels, columns positions
}

// winograd is a convolution with transformed weights: for each position of a
// patch a product of the filters [m, channels] with the patches [channels, tiles].
// Tiles are counted along rows, and cut into panels of bl.nr. A block is tiles
// of an image, or all tiles of some images.
type winograd struct {
	winogradConv
	level        cpuLevel
	bl           blocking
	e, t         int
	tilesX       int
	tiles        int // of an image
	span, images int // tiles and images of a block
	panels       int // of an image of a block
	blocks       int
	workers      int  // pieces that a block's transforms, or the blocks, are cut into
	apart        bool // whole blocks are the work of one goroutine each

	ps, ldy      int // elements between positions of inputs and of sums
	plane        int // elements of a plane of sorted inputs
	sizeV, sizeY int
	sizeP, sizeO int
}

// Bytes of transformed inputs and sums in a block: what stays in the cache of a
// core, and where weights are so many that reading them again costs more.
const (
	winogradNear = 640 << 10
	winogradFar  = 12 << 20
)

// newWinograd plans a convolution on the given number of threads. The plan
// changes what is done when, not what is computed.
func newWinograd(v winogradConv, l cpuLevel, e, threads int) winograd {
	j := winograd{winogradConv: v, level: l, bl: blockingOf(l), e: e, t: e + 2, workers: winogradThreads(threads)}
	nr := j.bl.nr
	j.tilesX = (v.g.out[2] + e - 1) / e
	j.tiles = (v.g.out[1] + e - 1) / e * j.tilesX
	// Positions are a cache line off multiples of the page size.
	j.ps, j.ldy = v.perGroup*nr+16, v.outPerGroup*nr+16
	if 4*j.t*j.t*packedRows(l, v.outPerGroup, v.perGroup) <= winogradFar/2 {
		j.cut(winogradNear)
		j.apart = j.workers == 1 || j.blocks >= 4*j.workers
	}
	if !j.apart {
		j.cut(winogradFar)
	}
	rows := (j.span+j.tilesX-2)/j.tilesX + 1
	j.plane = roundUp((min(rows, (v.g.out[1]+e-1)/e)+1)*j.tilesX+nr, 16)
	j.sizeV, j.sizeY = j.images*j.panels*j.t*j.t*j.ps, j.images*j.panels*j.t*j.t*j.ldy
	j.sizeP, j.sizeO = e*j.t*j.plane, winogradGroup*nr*e*e
	return j
}

// winogradThreads returns how many of the given threads are used: what there is
// memory for, which cannot know how many a workspace will have.
func winogradThreads(threads int) int { return max(1, min(threads, runtime.NumCPU(), 64)) }

// cut divides the work into blocks of at most the given bytes.
func (j *winograd) cut(budget int) {
	nr := j.bl.nr
	most := max(1, budget/(4*j.t*j.t*(j.ps+j.ldy)))
	whole := (j.tiles + nr - 1) / nr
	if most < whole {
		// Equal shares, not a short last one.
		parts := (whole + most - 1) / most
		j.images, j.panels = 1, (whole+parts-1)/parts
		j.span = j.panels * nr
		j.blocks = j.batch * ((j.tiles + j.span - 1) / j.span)
		return
	}
	j.images, j.span, j.panels = min(j.batch, max(1, most/whole)), j.tiles, whole
	j.blocks = (j.batch + j.images - 1) / j.images
}

// winogradGroup is the channels whose outputs are laid out before they are stored.
const winogradGroup = 4

// scratchSizes are the elements of the scratch that run takes.
func (j *winograd) scratchSizes() [4]int {
	n := 1
	if j.apart {
		n = j.workers
	}
	return [4]int{n * j.sizeV, n * j.sizeY, j.workers * j.sizeP, j.workers * j.sizeO}
}

// winogradScratch is the most scratch that a convolution takes.
func winogradScratch(v winogradConv, l cpuLevel, e int) int {
	most := 0
	for threads := 1; threads <= winogradThreads(threads); threads++ {
		n, j := 0, newWinograd(v, l, e, threads)
		for _, size := range j.scratchSizes() {
			n += scratchSize(size, 4)
		}
		most = max(most, n)
	}
	return most
}

// winogradLen is the elements of the transformed weight of all groups.
func winogradLen(l cpuLevel, e, groups, m, perGroup int) int {
	return groups * (e + 2) * (e + 2) * packedRows(l, m, perGroup)
}

// packWinograd transforms and packs the weight [groups*m, perGroup, 3, 3].
func packWinograd(w *Workspace, l cpuLevel, e int, dst, weight []float32, groups, m, perGroup int) {
	mark := w.Mark()
	size, t := packedRows(l, m, perGroup), e+2
	j := takeJob[winogradFilterJob](w)
	*j = winogradFilterJob{dst: Scratch[float32](w, m*perGroup), perGroup: perGroup}
	g := winogradFilter(e)
	for i := range groups {
		j.src = weight[i*m*perGroup*9:]
		for p := range t * t {
			j.down, j.along = g[p/t], g[p%t]
			w.Parallel(m, max(1, simdPack/(9*perGroup)), j)
			packWhole(w, l, dst[(i*t*t+p)*size:][:size], j.dst, perGroup, false, m, perGroup)
		}
	}
	putJob(w, j)
	w.Release(mark)
}

// winogradFilterJob computes one position of transformed filters, in float64,
// rounded once.
type winogradFilterJob struct {
	dst, src    []float32
	perGroup    int
	down, along [3]float64
}

// Do transforms filters [lo, hi).
func (j *winogradFilterJob) Do(lo, hi int) {
	for i := lo * j.perGroup; i < hi*j.perGroup; i++ {
		sum := 0.0
		for y, d := range j.down {
			f := j.src[9*i+3*y:][:3]
			row := float64(float64(f[0])*j.along[0]) + float64(float64(f[1])*j.along[1]) + float64(float64(f[2])*j.along[2])
			sum += float64(d * row)
		}
		j.dst[i] = float32(sum)
	}
}
