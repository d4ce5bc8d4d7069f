// Package plot draws the pictures of the measurements as SVG.
package plot

import (
	"fmt"
	"math"
	"strings"
)

// Sizes of the plot of ratios, and the range of its logarithmic axis.
const (
	barW, barRow          = 860, 16
	barLeft, barRight     = 200, 110
	barTop, barBottom     = 44, 20
	leastRatio, mostRatio = 0.1, 4.0
)

// Bar is a ratio with its name, and those to others.
type Bar struct {
	Name   string
	Than   string // the denominator of the ratio
	Ratio  float64
	Others []Dot
}

// Dot is the ratio to another.
type Dot struct {
	Than  string
	Ratio float64
}

// Bars draws a bar for each ratio from 1 on, to the left where it is less, and its dots.
func Bars(title string, rows []Bar) string {
	var b strings.Builder
	height := barTop + barRow*len(rows) + barBottom
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n", barW, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", barW, height)
	text := func(x, y float64, anchor, s string) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, s)
	}
	text(barLeft, 14, "start", title)
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
		text(barLeft-6, y+barRow-5, "end", r.Name)
		text(barW-barRight+8, y+barRow-5, "start", fmt.Sprintf("%.2f %s", r.Ratio, r.Than))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func drawBar(b *strings.Builder, r Bar, y float64) {
	from, to, colour := barX(r.Ratio), barX(1), "#1b9e77"
	if r.Ratio > 1 {
		from, to, colour = to, from, "#d95f02"
	}
	fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s"><title>%s: %.2f of %s</title></rect>`+"\n",
		from, y+2, max(1, to-from), barRow-4, colour, r.Name, r.Ratio, r.Than)
	for _, d := range r.Others {
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="2" fill="#555"><title>%s: %.2f of %s</title></circle>`+"\n", barX(d.Ratio), y+barRow/2, r.Name, d.Ratio, d.Than)
	}
}

// barX is the place of a ratio on the axis.
func barX(ratio float64) float64 {
	lo, hi := math.Log(leastRatio), math.Log(mostRatio)
	v := min(max(math.Log(ratio), lo), hi)
	return barLeft + (v-lo)/(hi-lo)*(barW-barLeft-barRight)
}
