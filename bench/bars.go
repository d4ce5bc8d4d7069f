package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Sizes of the plot of ratios, and the range of its logarithmic axis.
const (
	barW, barRow          = 860, 16
	barLeft, barRight     = 200, 110
	barTop, barBottom     = 44, 20
	leastRatio, mostRatio = 0.1, 4.0
)

// bars draws a bar for each row from 1 to gofx's time by that of the fastest peer, to the left
// where gofx is faster, and a dot for each other peer that has turns.
func bars(rows []*Row, precision string, threads int) string {
	var b strings.Builder
	height := barTop + barRow*len(rows) + barBottom
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n", barW, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", barW, height)
	text := func(x, y float64, anchor, s string) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, s)
	}
	text(barLeft, 14, "start", fmt.Sprintf("gofx's time by that of the fastest peer, %s, threads: %d; dots: other peers", precision, threads))
	floor := float64(height - barBottom)
	for _, v := range []float64{0.1, 0.2, 0.5, 1, 2, 4} {
		colour := "#e4e4e4"
		if v == 1 {
			colour = "#333"
		}
		fmt.Fprintf(&b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", barX(v), barTop-8, barX(v), floor, colour)
		text(barX(v), barTop-12, "middle", fmt.Sprintf("%g", v))
	}
	for i, r := range rows {
		y := float64(barTop + barRow*i)
		drawBar(&b, r, y)
		text(barLeft-6, y+barRow-5, "end", r.Shape)
		text(barW-barRight+8, y+barRow-5, "start", fmt.Sprintf("%.2f %s", r.Ratio, r.Peer))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func drawBar(b *strings.Builder, r *Row, y float64) {
	from, to, colour := barX(r.Ratio), barX(1), "#1b9e77"
	if r.Ratio > 1 {
		from, to, colour = to, from, "#d95f02"
	}
	fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s"><title>%s: %.2f of %s</title></rect>`+"\n",
		from, y+2, max(1, to-from), barRow-4, colour, r.Shape, r.Ratio, r.Peer)
	var names []string
	for n := range r.Peers {
		if n != r.Peer && r.Once[n] == 0 {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	for _, n := range names {
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="2" fill="#555"><title>%s: %.2f of %s</title></circle>`+"\n", barX(r.OursMS/r.Peers[n]), y+barRow/2, r.Shape, r.OursMS/r.Peers[n], n)
	}
}

// barX is the place of a ratio on the axis.
func barX(ratio float64) float64 {
	lo, hi := math.Log(leastRatio), math.Log(mostRatio)
	v := min(max(math.Log(ratio), lo), hi)
	return barLeft + (v-lo)/(hi-lo)*(barW-barLeft-barRight)
}
