//go:build !js

package graphviz

import (
	"bytes"
	"regexp"
	"strconv"
)

// Graphviz draws clusters, then nodes and edges, each with its texts, so that edges run through the titles of
// clusters and through the texts of other edges. In an SVG such texts come last, each on a plate that hides what
// runs under it. A PNG is drawn while Graphviz lists the shapes, and keeps its order.

// shapes are the groups whose texts are raised, with the plate's colour, "" for that of the group, and how much it hides.
var shapes = map[string]struct {
	colour string
	hides  string
}{
	"cluster": {"", "0.9"},
	"edge":    {"white", "0.7"},
}

var (
	group  = regexp.MustCompile(`^<g id="[^"]*" class="(\w+)`)
	filled = regexp.MustCompile(`^<(?:path|polygon) fill="([^"]*)"`)
	placed = regexp.MustCompile(`^<text text-anchor="(\w+)" x="([-0-9.]+)" y="([-0-9.]+)"[^>]* font-size="([0-9.]+)"[^>]* textLength="([0-9.]+)"`)
)

// raise moves the texts of clusters and edges to the end of the SVG, so that they are drawn last.
func raise(svg []byte) []byte {
	end := bytes.LastIndex(svg, []byte("</g>\n</svg>"))
	if end < 0 {
		return svg
	}
	var low, high bytes.Buffer
	class, fill := "", ""
	for l := range bytes.Lines(svg[:end]) {
		if m := group.FindSubmatch(l); m != nil {
			class, fill = string(m[1]), ""
		}
		if m := filled.FindSubmatch(l); m != nil && fill == "" {
			fill = string(m[1])
		}
		s, moves := shapes[class]
		if s.colour == "" {
			s.colour = fill
		}
		if m := placed.FindSubmatch(l); moves && s.colour != "" && m != nil {
			high.WriteString(plate(m, s.colour, s.hides))
			high.Write(l)
		} else {
			low.Write(l)
		}
	}
	if high.Len() == 0 {
		return svg
	}
	low.WriteString("<g id=\"texts\" class=\"texts\">\n")
	low.Write(high.Bytes())
	low.WriteString("</g>\n")
	low.Write(svg[end:])
	return low.Bytes()
}

// plate is a rectangle that lies under a line of text: m are its anchor, place, size and width.
func plate(m [][]byte, colour, hides string) string {
	var n [4]float64 // a number that cannot be read is 0: the pattern has digits alone
	for i := range n {
		n[i], _ = strconv.ParseFloat(string(m[2+i]), 64)
	}
	x, y, size, width := n[0], n[1], n[2], n[3]
	switch string(m[1]) {
	case "middle":
		x -= width / 2
	case "end":
		x -= width
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }
	return `<rect x="` + number(x-1) + `" y="` + number(y-0.85*size) + `" width="` + number(width+2) + `" height="` + number(1.1*size) +
		`" fill="` + colour + `" fill-opacity="` + hides + "\"/>\n"
}
