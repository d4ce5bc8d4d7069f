package conv

import (
	"slices"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/winograd"
)

// ConvWay is how a convolution with a packed weight is computed. A way that a processor or the sizes
// do not allow stands for ConvBySizes.
//
//gofx:kernel
type ConvWay uint8

// The ways. Direct sums have positions or channels along the lanes of a vector; the others go by
// Winograd's algorithm.
//
//gofx:kernel
const (
	ConvBySizes ConvWay = iota // the one with the least estimate
	ConvLanes                  // direct sums, positions along lanes
	ConvRows                   // direct sums, channels along lanes, a tile of positions at a time
	ConvTiles2                 // transforms, tiles of 2x2 outputs
	ConvTiles4                 // transforms, tiles of 4x4 outputs
)

// String returns the constant's name after Conv.
func (v ConvWay) String() string {
	return [...]string{"BySizes", "Lanes", "Rows", "Tiles2", "Tiles4"}[min(v, ConvTiles4)]
}

// side is that of a way's tiles, 0 for direct sums.
func (v ConvWay) side() int { return [...]int{0, 0, 0, 2, 4}[v] }

// way is the one that is asked for. Sums that are to be exact or that round their operands have none.
func (s PackConv) way() ConvWay {
	if s.Exact || s.BF16 || s.Way > ConvTiles4 {
		return ConvBySizes
	}
	return s.Way
}

// rowsAllowed reports whether a weight can be packed for tiles of positions and channels.
func rowsAllowed(l cpu.Level, g *geom.Spatial, m, perGroup int) bool {
	return hasConvTile(l) && m > 0 && perGroup > 0 && g.Reachable()
}

// rows reports whether direct sums have channels along the lanes. m and perGroup are those of a group,
// in words where pairs are multiplied.
func (s PackConv) rows(l cpu.Level, kernel []int, m, perGroup int) bool {
	switch g, ok := expected(s.Conv, s.In, kernel); {
	case s.way() == ConvLanes:
		return false
	case s.way() == ConvRows && ok && rowsAllowed(l, &g, m, perGroup):
		return true
	}
	return rowsForm(l, s.Conv, s.In, kernel, m, perGroup)
}

// Ways implements Chooser. There is one way only of sums that have to be exact or round their operands to
// bf16, of images of unknown sizes, and where each filter has a channel of its own.
func (s ConvPacked) Ways(x, weight []int) []par.Way {
	l, groups, kernel := cpu.Host.Level, max(s.Groups, 1), weight[2:]
	m, perGroup := weight[0]/groups, weight[1]
	g, ok := expected(s.Conv, s.In, kernel)
	if !ok || s.Exact || s.BF16 || !cpu.Assembly() || m == 0 || perGroup == 0 || depthwise32(l, perGroup, groups) {
		return nil
	}
	images := groups
	if len(x) == len(weight) {
		images *= x[0]
	}
	lanes, rows := directCycles(l, &g, m, perGroup)
	first := ConvLanes
	if s.pack().rows(l, kernel, m, perGroup) {
		first = ConvRows
	}
	if e := s.pack().tile(weight[0], perGroup, kernel); e > 0 {
		first = map[int]ConvWay{2: ConvTiles2, 4: ConvTiles4}[e]
	}
	var list []par.Way
	add := func(v ConvWay, cycles float64) { // of a group of an image
		step, pack := s, s.pack()
		if v != first {
			step.Way, pack.Way = v, v
		}
		list = append(list, par.Way{Name: v.String(), Cycles: cycles * float64(images), Step: &step, Pack: &pack})
	}
	add(ConvLanes, lanes)
	if rowsAllowed(l, &g, m, perGroup) {
		add(ConvRows, rows)
	}
	if winograd.Suits(l, &g, m, perGroup) {
		for _, v := range []ConvWay{ConvTiles2, ConvTiles4} {
			add(v, winograd.Cycles(l, v.side(), &g, m, perGroup))
		}
	}
	slices.SortStableFunc(list, func(a, b par.Way) int { // what sizes choose comes first
		switch first.String() {
		case a.Name:
			return -1
		case b.Name:
			return 1
		}
		return 0
	})
	return list
}

// directCycles estimates direct sums of both forms for a group of an image. The better one is compared with
// transforms by the estimate of theirs.
func directCycles(l cpu.Level, g *geom.Spatial, m, perGroup int) (lanes, rows float64) {
	if g.Pointwise() && g.OutPlane <= gemm.GemvCols {
		n := float64(m * perGroup) // weights, which both read once
		return n, n
	}
	lanes = float64(lanesCycles(l, g, m, perGroup)) / 2
	if !rowsAllowed(l, g, m, perGroup) {
		rows = lanes
	} else {
		rows = float64(rowsCycles(l, g, m, perGroup)) / 2
	}
	if least := min(lanes, rows); winograd.Suits(l, g, m, perGroup) && least > 0 {
		factor := winograd.Cycles(l, 0, g, m, perGroup) / least
		lanes, rows = lanes*factor, rows*factor
	}
	return lanes, rows
}
