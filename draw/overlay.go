package draw

import (
	"fmt"
	"math"
)

// Overlay colours nodes by a value of each, in place of their class.
type Overlay struct {
	// Name names the values of the marks, such as "SQNR".
	Name string
	// Marks are those of nodes of the graph, by name.
	Marks map[string]Mark
	// Legend explains the colours.
	Legend []Mark
}

// Mark is a colour and the text after it.
type Mark struct {
	// Heat is from 0, which is good, to 1.
	Heat float64
	Text string
	// Plain leaves the node its own colour.
	Plain bool
}

// fill is the light green of no heat, the red of all, or a colour in between.
func (m Mark) fill() string {
	h := m.heat()
	between := func(a, b float64) int { return int(a + (b-a)*h + 0.5) }
	return fmt.Sprintf("#%02x%02x%02x", between(0xf0, 0xef), between(0xfd, 0x5b), between(0xf4, 0x5b))
}

// heat is between 0 and 1: NaN is worst.
func (m Mark) heat() float64 {
	if math.IsNaN(m.Heat) {
		return 1
	}
	return min(max(m.Heat, 0), 1)
}

// hotter orders marks of one vertex: colours come before texts alone.
func (m Mark) hotter(o Mark) bool {
	if m.Plain != o.Plain {
		return o.Plain
	}
	return m.Heat > o.Heat
}

// degree is the heat of a mark on a page, -1 for none.
func (m Mark) degree() float64 {
	if m.Plain {
		return -1
	}
	return m.heat()
}

// markLine is the colour around marked nodes.
const markLine = "#4b5563"

// mark gives every vertex the hottest mark of the nodes that it stands for, as the last
// line of its label.
func (d *drawing) mark() {
	if d.o.Overlay == nil {
		return
	}
	d.marks = map[*vertex]Mark{}
	for n := range d.m.All() {
		m, ok := d.o.Overlay.Marks[qualified(n)]
		v := d.vertices[d.drawn(n)]
		if !ok || v == nil {
			continue
		}
		if old, have := d.marks[v]; !have || m.hotter(old) {
			d.marks[v] = m
		}
	}
	for v, m := range d.marks {
		v.lines = append(v.lines[:len(v.lines):len(v.lines)], m.Text)
	}
}

// look says how a vertex is drawn.
func (d *drawing) look(v *vertex) string {
	m, ok := d.marks[v]
	if !ok || m.Plain {
		return lookStyle(v.style).attributes()
	}
	return style{shape: "box", fill: m.fill(), line: markLine}.attributes()
}
