package draw

import (
	"cmp"
	"math"
	"slices"
	"unicode/utf8"
)

// A drawing of a deep network without branches would be a ribbon. One that is much
// longer than wide is cut into columns, which are read like those of a newspaper:
// edges from one column to the next do not take part in the layout.

// Sizes of drawn elements, in points, as far as they can be told before the layout.
const (
	charWidth, smallWidth = 5.5, 4.5 // of characters in boxes and next to edges
	lineHeight            = 13.0
	nodeGap, rankGap      = 18.0, 38.0 // between boxes; between ranks, with the text of an edge
	margins               = 40.0       // of clusters
)

// A drawing is cut if it is longer than shortest and mostLong times as long as wide,
// by this estimate, into as few columns as make it wantLong times as long as wide.
const shortest, mostLong, wantLong = 1500.0, 4.0, 2.0

// extent is where a vertex, or an edge that passes others, is expected to lie along
// the flow, and the width that it takes across.
type extent struct{ from, to, across float64 }

// columns cuts the drawing. The places of cuts are chosen near those that make
// columns of equal length, where few modules are cut in two.
func (d *drawing) columns() {
	list, width := d.extents()
	length := 0.0
	for i := range list {
		length = max(length, list[i].to)
	}
	if length < shortest || length < mostLong*width {
		return
	}
	count := math.Ceil(math.Sqrt(length / (wantLong * width)))
	column := length / count
	around := d.around()
	whole := d.fitting(around, list, 1.5*column)
	at := 0
	for k := 1.0; k < count; k++ {
		best, cost := -1, math.Inf(1)
		for i := at + 1; i < len(d.order); i++ {
			c := math.Abs(list[i].from-k*column) + 0.6*column*float64(shared(whole[d.order[i-1]], whole[d.order[i]]))
			if c < cost {
				best, cost = i, c
			}
		}
		if best < 0 {
			break
		}
		d.cut(at, best, around)
		at = best
	}
}

// cut begins a column at a vertex, next to that of another vertex: at the place of
// the first vertex there that is in the same blocks, so that neither block is torn
// apart and the column stands to the right.
func (d *drawing) cut(column, at int, around map[*vertex][]*block) {
	first := d.order[at]
	both := shared(around[d.order[at-1]], around[first])
	beside := column
	for shared(around[d.order[beside]], around[first]) < both {
		beside++
	}
	d.cuts = append(d.cuts, cut{d.order[beside], first})
	for _, v := range d.order[at:] {
		v.column++
	}
}

// extents lays the vertices out by the longest paths to them, and tells how wide the
// drawing is where it is widest.
func (d *drawing) extents() (list []extent, width float64) {
	index := map[*vertex]int{}
	list = make([]extent, len(d.order))
	for i, v := range d.order {
		index[v] = i
		chars := 0
		for _, l := range v.lines {
			chars = max(chars, min(utf8.RuneCountInString(l), maxLine))
		}
		list[i] = extent{to: lineHeight*float64(len(v.lines)) + 8, across: charWidth*float64(chars) + 20 + nodeGap}
		if d.o.LeftToRight {
			list[i].to, list[i].across = list[i].across, list[i].to
		}
	}
	before := make([][]*edge, len(list))
	for _, e := range d.edges {
		if to := index[e.to]; index[e.from] < to && !e.carried {
			before[to] = append(before[to], e)
		}
	}
	for i := range list {
		for _, e := range before[i] {
			list[i].from = max(list[i].from, list[index[e.from]].to+rankGap)
		}
		list[i].to += list[i].from
	}
	all := slices.Clone(list)
	for i := range list {
		for _, e := range before[i] {
			if from := list[index[e.from]].to + rankGap; from+rankGap < list[i].from {
				chars := 0
				for _, t := range d.edgeText(e) {
					chars = max(chars, utf8.RuneCountInString(t))
				}
				all = append(all, extent{from, list[i].from, smallWidth*float64(chars) + nodeGap})
			}
		}
	}
	return list, widest(all) + margins
}

// widest adds up elements side by side, and returns the largest sum.
func widest(list []extent) (most float64) {
	type end struct{ at, across float64 }
	var ends []end
	for _, e := range list {
		ends = append(ends, end{e.from, e.across}, end{e.to, -e.across})
	}
	slices.SortFunc(ends, func(a, b end) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.across, b.across)) })
	sum := 0.0
	for _, e := range ends {
		sum += e.across
		most = max(most, sum)
	}
	return most
}

// around lists the blocks around every vertex, outermost first.
func (d *drawing) around() map[*vertex][]*block {
	out := map[*vertex][]*block{}
	var visit func(b *block, outer []*block)
	visit = func(b *block, outer []*block) {
		for _, it := range b.items {
			switch {
			case it.node != nil:
				out[d.vertices[it.node]] = outer
			case it.block.collapsed:
				out[d.boxes[it.block]] = outer
			default:
				visit(it.block, append(outer[:len(outer):len(outer)], it.block))
			}
		}
	}
	visit(d.root, nil)
	return out
}

// fitting leaves out the blocks that are too long for a column and have to be cut.
func (d *drawing) fitting(around map[*vertex][]*block, list []extent, most float64) map[*vertex][]*block {
	begin, end := map[*block]float64{}, map[*block]float64{}
	for i, v := range d.order {
		for _, b := range around[v] {
			if _, ok := begin[b]; !ok {
				begin[b] = list[i].from
			}
			end[b] = max(end[b], list[i].to)
		}
	}
	out := map[*vertex][]*block{}
	for v, blocks := range around {
		out[v] = slices.DeleteFunc(slices.Clone(blocks), func(b *block) bool { return end[b]-begin[b] > most })
	}
	return out
}

// shared counts the blocks that two vertices are in.
func shared(a, b []*block) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
