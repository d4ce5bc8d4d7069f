package main

import (
	"fmt"
	"math"
	"strings"
)

// curve draws losses by steps as SVG: those of the batches, and their mean over the last 20.
func curve(losses []float64) string {
	const w, h, left, bottom = 640, 320, 50, 30
	top := 0.0
	for _, v := range losses {
		top = max(top, v)
	}
	top = math.Ceil(max(top, 1))
	x := func(i int) float64 { return left + float64(i)/float64(max(len(losses)-1, 1))*(w-left-10) }
	y := func(v float64) float64 { return 10 + (1-v/top)*(h-bottom-10) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n<title>loss of %d steps</title>\n", w, h, len(losses))
	fmt.Fprintf(&b, "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n", w, h)
	for v := 0.0; v <= top; v++ {
		fmt.Fprintf(&b, "<path d=\"M%d %.1fH%d\" stroke=\"#ddd\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", left, y(v), w-10, left-8, y(v)+4, v)
	}
	fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\">step 1</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">step %d</text>\n", left, h-8, w-10, h-8, len(losses))
	line := func(value func(i int) float64, colour string) {
		b.WriteString(`<polyline fill="none" stroke="` + colour + `" points="`)
		for i := range losses {
			fmt.Fprintf(&b, "%.1f,%.1f ", x(i), y(value(i)))
		}
		b.WriteString("\"/>\n")
	}
	line(func(i int) float64 { return losses[i] }, "#9bd")
	line(func(i int) float64 { return mean(losses[max(0, i-19) : i+1]) }, "#036")
	b.WriteString("</svg>\n")
	return b.String()
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}
