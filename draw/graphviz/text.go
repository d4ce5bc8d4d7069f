//go:build !js

package graphviz

import (
	"bytes"
	"context"
	"html"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-graphviz/cgraph"
	"github.com/goccy/go-graphviz/gvc"
	"golang.org/x/image/font"
)

// Boxes are as wide as Graphviz expects of the text in them, by its own table of
// Helvetica. Programs that show pictures have other fonts, of which many are wider.
// So every text is drawn as wide as its box expects: an SVG says how wide each line
// is, and in a PNG wide text is drawn smaller.

// line is a line of text of a size in points.
type line struct {
	text string
	size float64
}

// space is the width of a blank in Helvetica, of one point.
const space = 0.278

// widths asks the layout of a graph for the width of every line in it, with a
// rendering that draws nothing.
func widths(ctx context.Context, g *cgraph.Graph) (map[line]float64, error) {
	p := engine.pixels
	p.widths = map[line]float64{}
	defer func() { p.widths = nil }()
	if err := engine.ctx.RenderData(ctx, g, "png", io.Discard); err != nil {
		return nil, err
	}
	return p.widths, nil
}

// plain is a text as both renderers agree on it.
func plain(text string) string {
	return strings.ReplaceAll(html.UnescapeString(text), "\u00a0", " ")
}

// note remembers the width of a line.
func (p *pixels) note(span *gvc.TextSpan) {
	p.widths[line{plain(span.Text()), span.Font().Size()}] = span.Size().X()
}

// textElement is a line of text as Graphviz writes it.
var textElement = regexp.MustCompile(`<text ([^>]*font-size="([0-9.]+)"[^>]*)>([^<]*)</text>`)

// fitSVG gives the lines of an SVG the widths that the layout has for them. Blanks at
// the ends of a line are not shown.
func fitSVG(svg []byte, widths map[line]float64) []byte {
	return textElement.ReplaceAllFunc(svg, func(element []byte) []byte {
		part := textElement.FindSubmatch(element)
		size, err := strconv.ParseFloat(string(part[2]), 64)
		text := plain(string(part[3]))
		width, ok := widths[line{text, size}]
		if err != nil || !ok {
			return element
		}
		shown := strings.Trim(text, " ")
		if width -= float64(len(text)-len(shown)) * space * size; width <= 0 {
			return element
		}
		var b bytes.Buffer
		b.WriteString("<text ")
		b.Write(part[1])
		b.WriteString(` textLength="` + strconv.FormatFloat(math.Floor(width*100)/100, 'f', -1, 64) + `" lengthAdjust="spacingAndGlyphs">`)
		b.Write(bytes.TrimSpace(part[3]))
		b.WriteString("</text>")
		return b.Bytes()
	})
}

// fit chooses the size at which the font of this program is no wider than the layout
// has room for, and tells the renderer how wide the text is then; it returns a
// function that undoes this, since the fonts of a layout belong to many texts.
func fit(ctx context.Context, job *gvc.Job, span *gvc.TextSpan) (undo func(), err error) {
	room, f := span.Size().X(), span.Font()
	size := f.Size()
	undo = func() { f.SetSize(size) }
	scale := job.Scale().X()
	if scale <= 0 {
		return undo, nil
	}
	for smaller := 1.0; smaller > 0.5; smaller -= 0.02 {
		f.SetSize(size * smaller)
		face, err := loadFace(ctx, job, f)
		if err != nil {
			return undo, err
		}
		width := float64(font.MeasureString(face, span.Text())) / 64 / scale
		span.Size().SetX(width)
		if width <= room || room <= 0 {
			break
		}
	}
	return undo, nil
}
