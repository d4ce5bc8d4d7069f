package draw

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Values that go from one column to a later one run through lanes: the gaps between
// columns. A wire is the line of one value. It leaves its node at the side, turns into
// the lane right of the column, follows it up, and enters each reader at the side that
// faces the lane. A value that is read further to the right crosses above the columns
// in between, and comes down in the lane before its reader. The turns of a wire are
// points, which Graphviz places like nodes, so that it keeps the lane free.

// Weights of edges where there are columns. Graphviz keeps heavy edges short and
// straight: the flow of values inside a column counts most. An edge that keeps the
// columns at one height outweighs the wires that would pull a column down.
func (d *drawing) flowWeight() int { return 4 * (len(d.wires) + 1) }

const wireWeight = 1

// wire is a value, or values of one kind, from one vertex to vertices of later columns.
type wire struct {
	from  *vertex
	text  []string // types
	look  string
	lanes []*lane
}

// lane is the part of a wire in front of one column: turns from the top down.
type lane struct {
	column int
	turns  []*turning
}

// turning is a point of a wire: where its source enters the lane, where it leaves for
// readers, or with neither where it comes from above. Points of one level are one.
type turning struct {
	id      string
	source  bool
	readers []*edge
	level   int // of the vertices next to it, by the longest path from the top of the column
}

// crosses reports whether an edge goes to a later column.
func (e *edge) crosses() bool { return !e.carried && e.from.column < e.to.column }

// makeWires collects the edges between columns.
func (d *drawing) makeWires() {
	d.makeRoofs()
	level := d.levels()
	known := map[string]*wire{}
	for _, e := range d.edges {
		if !e.crosses() {
			continue
		}
		text := d.edgeText(e)
		key := strings.Join(append([]string{e.from.id, e.look()}, text...), "\n")
		w := known[key]
		if w == nil {
			w = &wire{from: e.from, text: text, look: e.look()}
			w.lane(e.from.column+1).at(d, level[e.from]).source = true
			known[key] = w
			d.wires = append(d.wires, w)
		}
		t := w.lane(e.to.column).at(d, level[e.to])
		t.readers = append(t.readers, e)
	}
	for _, w := range d.wires {
		slices.SortFunc(w.lanes, func(a, b *lane) int { return a.column - b.column })
		for _, l := range w.lanes {
			if len(w.lanes) > 1 {
				l.at(d, above)
			}
			slices.SortFunc(l.turns, func(a, b *turning) int { return a.level - b.level })
		}
	}
}

// lane returns the lane of a wire in front of a column.
func (w *wire) lane(column int) *lane {
	for _, l := range w.lanes {
		if l.column == column {
			return l
		}
	}
	l := &lane{column: column}
	w.lanes = append(w.lanes, l)
	return l
}

// above is the level above all columns.
const above = -1

// at returns the point of a level.
func (l *lane) at(d *drawing, level int) *turning {
	for _, t := range l.turns {
		if t.level == level {
			return t
		}
	}
	t := &turning{id: d.id("turn"), level: level}
	l.turns = append(l.turns, t)
	return t
}

// levels tells how far down in their columns the vertices are: by the longest paths to
// them, and as far down as their readers allow where that shortens more edges than it makes
// longer.
func (d *drawing) levels() map[*vertex]int {
	before, after, level := map[*vertex][]*vertex{}, map[*vertex][]*vertex{}, map[*vertex]int{}
	for _, e := range d.edges {
		if !e.carried && e.from.column == e.to.column {
			before[e.to] = append(before[e.to], e.from)
			after[e.from] = append(after[e.from], e.to)
		}
	}
	for _, v := range d.order {
		for _, from := range before[v] {
			level[v] = max(level[v], level[from]+1)
		}
	}
	for _, v := range slices.Backward(d.order) {
		if len(after[v]) == 0 || len(before[v]) > len(after[v]) {
			continue
		}
		low := math.MaxInt
		for _, to := range after[v] {
			low = min(low, level[to]-1)
		}
		level[v] = max(level[v], low)
	}
	return level
}

// source is the place of the point where a value enters the lane, -1 where it comes from above.
func (l *lane) source() int {
	return slices.IndexFunc(l.turns, func(t *turning) bool { return t.source })
}

// labelled is the place of the point below the longest part of a lane, where text has
// room; 0 when no part is long.
func (l *lane) labelled() (at int) {
	longest := 1
	for k := 1; k < len(l.turns); k++ {
		if long := l.turns[k].level - l.turns[k-1].level; long > longest {
			longest, at = long, k
		}
	}
	return at
}

// points writes the points of roofs and wires. They stand in no cluster: Graphviz keeps
// the order of points only outside of clusters.
func (w *dotWriter) points() {
	const indent = 1
	done := map[roof]bool{}
	for i, c := range w.d.cuts {
		for _, r := range c.roofs(i) {
			if !done[r] {
				done[r] = true
				w.line(indent, quote(w.d.roofs[r]), " [shape=point, style=invis, width=0.01];")
			}
		}
	}
	for _, wire := range w.d.wires {
		for i, l := range wire.lanes {
			for k, t := range l.turns {
				size := "0.01"
				if k > 0 && k < len(l.turns)-1 || len(t.readers) > 1 {
					size = "0.05" // a branch: the wire goes on
				}
				text := ""
				if i == 0 && t.source && len(wire.text) > 0 && l.labelled() == 0 {
					text = ", xlabel=" + label(wire.text) + `, fontsize=9, fontcolor="` + lineColor + `"`
				}
				w.line(indent, quote(t.id), " [shape=point, width=", size, `, color="`, lineColor, `", tooltip=" "`, text, "];")
			}
		}
	}
}

// wire writes the lines of a wire.
func (w *dotWriter) wire(wire *wire) {
	shade := ""
	if wire.look != "solid" {
		shade = ", style=" + wire.look
	}
	look := ", weight=" + strconv.Itoa(wireWeight) + shade
	for i, l := range wire.lanes {
		if i > 0 {
			w.across(wire.lanes[i-1].turns[0].id, l.turns[0].id, crossed{attributes: shade})
		}
		source, labelled := l.source(), 0
		if i == 0 {
			labelled = l.labelled()
		}
		for k, t := range l.turns {
			if k > 0 {
				w.segment(l.turns[k-1].id, t.id, k <= source, k == labelled, wire.text, look)
			}
			if t.source {
				w.across(wire.from.id, t.id, crossed{leaves: true, attributes: shade})
			}
			for _, e := range t.readers {
				name := ""
				if len(e.names) > 0 {
					name = ", tooltip=" + label([]string{strings.Join(e.names, ", ")})
				}
				w.across(t.id, e.to.id, crossed{enters: true, attributes: name + shade})
			}
		}
	}
}

// crossed is how an edge across the flow looks: whether it leaves a vertex at its side,
// whether it enters one there, with an arrow, and further attributes.
type crossed struct {
	leaves, enters bool
	attributes     string
}

// across writes an edge between neighbours of one level. Graphviz puts the end of such an
// edge right of its beginning, but above it in a drawing from left to right: there the edge
// is written backwards. It is heavy there, because the end is then held from the wrong side
// only. It has no ports there: Graphviz forgets the direction of neighbours with ports.
func (w *dotWriter) across(from, to string, c crossed) {
	text := "minlen=0"
	if w.d.o.LeftToRight {
		from, to = to, from
		if c.enters {
			text += ", dir=back"
		} else {
			text += ", dir=none"
		}
	} else {
		if c.leaves {
			text += ", tailport=e"
		}
		if c.enters {
			text += ", headport=w"
		} else {
			text += ", arrowhead=none"
		}
		text += ", weight=" + strconv.Itoa(wireWeight)
	}
	w.line(1, quote(from), " -> ", quote(to), " [", text, c.attributes, "];")
}

// segment writes a part of a lane, from the top down, as Graphviz places its ends: where
// the value goes up, the edge is against the flow.
func (w *dotWriter) segment(above, below string, up, labelled bool, text []string, look string) {
	flow := "arrowhead=none"
	if up {
		flow = "dir=back, arrowtail=none"
	}
	if labelled && len(text) > 0 {
		flow += ", label=" + label(padded(text))
	}
	w.line(1, quote(above), " -> ", quote(below), " [", flow, look, "];")
}

// roof is an unseen point above a column, or above a lane.
type roof struct {
	below *vertex // first of the column; nil above a lane
	lane  int
}

// makeRoofs makes a point above both columns of each cut, and above the lane between them.
// Graphviz keeps their order, which is all that it keeps of an order of columns.
func (d *drawing) makeRoofs() {
	d.roofs = map[roof]string{}
	for i, c := range d.cuts {
		for _, r := range c.roofs(i) {
			if d.roofs[r] == "" {
				d.roofs[r] = d.id("roof")
			}
		}
	}
}

func (c cut) roofs(i int) []roof {
	return []roof{{below: c.beside}, {lane: i + 1}, {below: c.first}}
}

// roofs puts columns side by side, in the order of execution, at one height, with room for
// the wires that cross above them. Roofs hold each other more than their columns: Graphviz
// heeds their order only where they are of one level.
func (w *dotWriter) roofs() {
	d := w.d
	heavy, heavier, room := strconv.Itoa(len(d.wires)+1), strconv.Itoa(2*len(d.wires)+2), strconv.Itoa(d.crossing()+1)
	done := map[roof]bool{}
	for i, c := range d.cuts {
		list := c.roofs(i)
		for k, r := range list {
			if k > 0 {
				left, right := d.roofs[list[k-1]], d.roofs[r]
				if d.o.LeftToRight {
					left, right = right, left
				}
				w.line(1, quote(left), " -> ", quote(right), " [style=invis, minlen=0, weight=", heavier, "];")
			}
			if r.below != nil && !done[r] {
				w.line(1, quote(d.roofs[r]), " -> ", quote(r.below.id), " [style=invis, minlen=", room, ", weight=", heavy, "];")
			}
			done[r] = true
		}
		for _, wire := range d.wires {
			for _, l := range wire.lanes {
				if l.column == i+1 {
					w.line(1, quote(d.roofs[list[1]]), " -> ", quote(l.turns[0].id), " [style=invis, weight=0];")
				}
			}
		}
	}
	w.stack()
}

// crossing counts the wires that cross above columns.
func (d *drawing) crossing() (n int) {
	for _, w := range d.wires {
		if len(w.lanes) > 1 {
			n++
		}
	}
	return n
}

// stack keeps the wires that cross above columns above them, each above the one before.
func (w *dotWriter) stack() {
	last := ""
	for _, wire := range w.d.wires {
		if len(wire.lanes) < 2 {
			continue
		}
		for _, l := range wire.lanes {
			w.line(1, quote(l.turns[0].id), " -> ", quote(w.d.cuts[l.column-1].first.id), " [style=invis, weight=0];")
			if last != "" {
				w.line(1, quote(l.turns[0].id), " -> ", quote(last), " [style=invis, weight=0];")
			}
		}
		last = wire.lanes[0].turns[0].id
	}
}

// padded keeps text off the lines.
func padded(text []string) []string {
	out := make([]string, len(text))
	for i, s := range text {
		out[i] = " " + s + " "
	}
	return out
}
