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

// Costs of a cut, as parts of a column's length: of being so far from the place that makes
// columns of equal length, of each module that is cut in two, of each further value that
// has to go from column to column, and of a repetition that is cut.
const (
	moduleCost = 0.6
	valueCost  = 0.15
	loopCost   = 2.0
)

// columns cuts the drawing, at narrow places near those that make columns of equal length.
func (d *drawing) columns() {
	list, width := d.extents()
	length := 0.0
	for i := range list {
		length = max(length, list[i].to)
	}
	count := float64(d.o.Columns)
	if count == 0 && length >= shortest && length >= mostLong*width {
		count = math.Ceil(math.Sqrt(length / (wantLong * width)))
	}
	if count < 2 {
		return
	}
	around := d.around()
	at := 0
	for _, next := range d.places(list, around, length, int(count)) {
		d.cut(at, next)
		at = next
	}
	d.makeWires()
}

// places finds the vertices that begin columns: those of least cost, when a column that is
// longer or shorter than the others costs the square of the difference.
func (d *drawing) places(list []extent, around map[*vertex][]*block, length float64, count int) []int {
	column := length / float64(count)
	whole := d.fitting(around, list, 1.5*column)
	values, loops := d.crossings()
	n := len(d.order)
	best, from := make([]float64, n), make([][]int, 0, count) // cost of the columns so far, by the next column's first vertex
	for i := range best {
		best[i] = math.Inf(1)
	}
	best[0] = 0
	for range count - 1 {
		next, before := make([]float64, n), make([]int, n)
		for i := range n {
			next[i] = math.Inf(1)
			if i == 0 {
				continue
			}
			parts := moduleCost*float64(shared(whole[d.order[i-1]], whole[d.order[i]])) + valueCost*float64(values[i]-1) + loopCost*float64(loops[i])
			for k := i - 1; k >= 0; k-- {
				odd := (list[i].from-list[k].from)/column - 1
				if odd > 1 {
					break
				}
				if c := best[k] + odd*odd + parts; c < next[i] {
					next[i], before[i] = c, k
				}
			}
		}
		best, from = next, append(from, before)
	}
	last, least := -1, math.Inf(1)
	for i := 1; i < n; i++ {
		odd := (length-list[i].from)/column - 1
		if c := best[i] + odd*odd; c < least {
			last, least = i, c
		}
	}
	if last < 0 {
		return nil
	}
	places := []int{last}
	for k := len(from) - 1; k > 0; k-- {
		places = append(places, from[k][places[len(places)-1]])
	}
	slices.Reverse(places)
	return places
}

// crossings counts, for a cut before each vertex, the vertices whose values are read after
// the cut, and the edges that lead from one repetition to the next across it.
func (d *drawing) crossings() (values, loops []int) {
	index := map[*vertex]int{}
	for i, v := range d.order {
		index[v] = i
	}
	last := make([]int, len(d.order))
	values, loops = make([]int, len(d.order)), make([]int, len(d.order))
	for _, e := range d.edges {
		from, to := index[e.from], index[e.to]
		if e.carried {
			for i := min(from, to) + 1; i <= max(from, to); i++ {
				loops[i]++
			}
			continue
		}
		last[from] = max(last[from], to)
	}
	for from, to := range last {
		for i := from + 1; i <= to; i++ {
			values[i]++
		}
	}
	return values, loops
}

// cut begins a column at a vertex, next to the column that begins at another one.
func (d *drawing) cut(before, at int) {
	d.cuts = append(d.cuts, cut{beside: d.order[before], first: d.order[at]})
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
