package draw

import (
	"html"
	"slices"
	"strings"
)

// perRow is how many entries of the legend stand side by side.
const perRow = 3

// entry is one line of the legend: a cell that looks like the element that it explains.
type entry struct{ cell, name string }

// heading is the text above the drawing: its title, the number of nodes, and the
// meaning of the drawing's fills and lines. It is a table, so that it takes no place
// among the nodes.
func (d *drawing) heading() string {
	var b strings.Builder
	b.WriteString(`<<table border="0" cellborder="0" cellspacing="3">`)
	row := func(text, size string) {
		b.WriteString(`<tr><td colspan="6"><font point-size="` + size + `">` + html.EscapeString(clip(clean(text), maxLine)) + `</font></td></tr>`)
	}
	row(d.title(), "14")
	row(plural(d.size(), "node"), "11")
	for list := range slices.Chunk(d.entries(), perRow) {
		b.WriteString("<tr>")
		for _, e := range list {
			b.WriteString(e.cell + `<td align="left"><font point-size="9">` + e.name + ` </font></td>`)
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</table>>")
	return b.String()
}

// entries explain the fills and lines that the drawing has. Looks that differ in
// shape alone are one entry.
func (d *drawing) entries() (list []entry) {
	used := map[string]bool{}
	for _, v := range d.order {
		if m, marked := d.marks[v]; !marked || m.Plain {
			used[v.style] = true
		}
	}
	names := map[string]int{} // entries by fill
	for _, s := range styles {
		if !used[s.key] {
			continue
		}
		if at, ok := names[s.fill]; ok {
			list[at].name += ", " + s.name
			continue
		}
		names[s.fill] = len(list)
		list = append(list, entry{s.cell(), s.name})
	}
	if o := d.o.Overlay; o != nil {
		for _, m := range o.Legend {
			list = append(list, entry{style{shape: "box", fill: m.fill(), line: markLine}.cell(), html.EscapeString(clean(o.Name + " " + m.Text))})
		}
	}
	lines := map[string]bool{}
	for _, e := range d.edges {
		lines[e.look()] = true
	}
	for _, l := range lineStyles {
		if lines[l.look] {
			style := ""
			if l.look != "solid" {
				style = `style="` + l.look + `" `
			}
			list = append(list, entry{`<td ` + style + `border="1" sides="t" color="` + lineColor + `" width="18" height="1" fixedsize="true"></td>`, l.name})
		}
	}
	return list
}

// cell is a small picture of a style.
func (s style) cell() string {
	look := ""
	if s.shape == "box" {
		look = `style="rounded" `
	}
	return `<td ` + look + `border="1" bgcolor="` + s.fill + `" color="` + s.line + `" width="18" height="11" fixedsize="true"></td>`
}

// lineColor is the colour of all lines.
const lineColor = "#4b5563"

// lineStyles are the looks of edges.
var lineStyles = []struct{ look, name string }{
	{"solid", "value"}, {"dashed", "to the next repetition"}, {"dotted", "to inputs of a region"},
}

// look is how an edge is drawn.
func (e *edge) look() string {
	switch {
	case e.carried:
		return "dashed"
	case e.inner:
		return "dotted"
	}
	return "solid"
}
