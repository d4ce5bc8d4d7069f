package plot

import (
	"fmt"
	"math"
	"strings"
)

// The picture's size and the ranges of its logarithmic axes.
const (
	plotW, plotH           = 860, 520
	plotLeft, plotTop      = 70, 20
	plotRight, plotBottom  = 190, 60
	minIntensity, maxInten = 0.05, 1024.0
	decadesBelowPeak       = 4.0
)

// Point is a rate in 10⁹ operations a second at a number of operations a byte.
type Point struct {
	Intensity, Rate float64
	Title, Colour   string
}

// Key explains a colour.
type Key struct{ Colour, Text string }

// Roof are the peaks of a machine, in 10⁹ operations and bytes a second.
type Roof struct {
	Threads                int
	Peak, Peak8, Bandwidth float64
}

// Roofline draws rates against the work a byte, under the roofs of memory and arithmetic
// (Williams, Waterman and Patterson, "Roofline", CACM 52(4), 2009).
func Roofline(r Roof, points []Point, keys []Key) string {
	top := math.Ceil(math.Log10(max(r.Peak, r.Peak8, 1)))
	p := plot{top: top, bottom: top - decadesBelowPeak}
	p.axes()
	p.roof(r.Bandwidth, r.Peak, "#333", fmt.Sprintf("%.0f GFLOP/s", r.Peak))
	if r.Peak8 > 0 {
		p.roof(r.Bandwidth, r.Peak8, "#999", fmt.Sprintf("%.0f Gop/s, 8 bits", r.Peak8))
	}
	for _, v := range points {
		fmt.Fprintf(&p.b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s" fill-opacity="0.75"><title>%s</title></circle>`+"\n",
			p.x(v.Intensity), p.y(v.Rate), v.Colour, v.Title)
	}
	p.legend(r, keys)
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", plotW, plotH) +
		fmt.Sprintf(`<rect width="%d" height="%d" fill="#fff"/>`+"\n", plotW, plotH) + p.b.String() + "</svg>\n"
}

// plot collects the picture; top and bottom are powers of ten in GFLOP/s.
type plot struct {
	b           strings.Builder
	top, bottom float64
}

func (p *plot) x(intensity float64) float64 {
	lo, hi := math.Log2(minIntensity), math.Log2(maxInten)
	v := min(max(math.Log2(intensity), lo), hi)
	return plotLeft + (v-lo)/(hi-lo)*(plotW-plotLeft-plotRight)
}

func (p *plot) y(rate float64) float64 {
	v := min(max(math.Log10(rate), p.bottom), p.top)
	return plotTop + (p.top-v)/(p.top-p.bottom)*(plotH-plotTop-plotBottom)
}

func (p *plot) text(x, y float64, anchor, s string) {
	fmt.Fprintf(&p.b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, s)
}

func (p *plot) line(x1, y1, x2, y2 float64, colour string, width float64) {
	fmt.Fprintf(&p.b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="%g"/>`+"\n", x1, y1, x2, y2, colour, width)
}

func (p *plot) axes() {
	right, floor := float64(plotW-plotRight), float64(plotH-plotBottom)
	for e := p.bottom; e <= p.top; e++ {
		y := p.y(math.Pow(10, e))
		p.line(plotLeft, y, right, y, "#ddd", 1)
		p.text(plotLeft-6, y+4, "end", fmt.Sprintf("%g", math.Pow(10, e)))
	}
	for v := 0.0625; v <= maxInten; v *= 4 {
		p.line(p.x(v), plotTop, p.x(v), floor, "#eee", 1)
		p.text(p.x(v), floor+16, "middle", fmt.Sprintf("%g", v))
	}
	p.text((plotLeft+right)/2, floor+38, "middle", "operations a byte")
	fmt.Fprintf(&p.b, `<text transform="translate(18 %d) rotate(-90)" text-anchor="middle">10⁹ operations a second</text>`+"\n", (plotTop+plotH-plotBottom)/2)
}

// roof draws memory's slope up to a peak and the peak from there on.
func (p *plot) roof(bandwidth, peak float64, colour, label string) {
	knee := peak / bandwidth
	p.line(p.x(minIntensity), p.y(minIntensity*bandwidth), p.x(knee), p.y(peak), colour, 1.5)
	p.line(p.x(knee), p.y(peak), p.x(maxInten), p.y(peak), colour, 1.5)
	p.text(float64(plotW-plotRight)-4, p.y(peak)-6, "end", label)
}

func (p *plot) legend(r Roof, keys []Key) {
	x, y := float64(plotW-plotRight)+14, 150.0
	p.text(x, y-40, "start", fmt.Sprintf("threads: %d", r.Threads))
	p.text(x, y-22, "start", fmt.Sprintf("memory: %.1f GB/s", r.Bandwidth))
	for _, k := range keys {
		fmt.Fprintf(&p.b, `<circle cx="%.1f" cy="%.1f" r="4" fill="%s"/>`+"\n", x+4, y-4, k.Colour)
		p.text(x+14, y, "start", k.Text)
		y += 18
	}
}
