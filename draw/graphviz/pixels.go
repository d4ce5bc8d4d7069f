//go:build !js

package graphviz

import (
	"context"
	"strconv"

	"github.com/goccy/go-graphviz/gvc"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
)

// pixels draws PNG. It overrides how shapes are filled: the argument filled that
// the library's renderer goes by does not say what Graphviz means (its issue 106:
// edges become black areas, outlines vanish), but the state of the object being
// drawn does.
type pixels struct {
	*gvc.ImageRenderer
	err    error            // why nothing is drawn
	widths map[line]float64 // of lines of text, where they are asked for and nothing is drawn
}

// narrow makes Go Regular as wide as Helvetica, which Graphviz estimates with.
const narrow = 0.93

var faces struct {
	regular *opentype.Font
	sized   map[float64]font.Face
}

// loadFace gives every text the font that is linked into the program, so that
// pictures are the same on every machine, at the scale of the shapes around it.
// Only the holder of the turn calls it.
func loadFace(_ context.Context, job *gvc.Job, f *gvc.TextFont) (font.Face, error) {
	size := f.Size() * job.Scale().X() * narrow
	if face := faces.sized[size]; face != nil {
		return face, nil
	}
	if faces.regular == nil {
		regular, err := opentype.Parse(goregular.TTF)
		if err != nil {
			return nil, err
		}
		faces.regular, faces.sized = regular, map[float64]font.Face{}
	}
	if len(faces.sized) >= 64 {
		clear(faces.sized)
	}
	face, err := opentype.NewFace(faces.regular, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		return nil, err
	}
	faces.sized[size] = face
	return face, nil
}

// BeginPage makes the canvas, unless it would be too large.
func (p *pixels) BeginPage(ctx context.Context, job *gvc.Job) error {
	w, h := job.Width(), job.Height()
	if p.widths != nil {
		job.SetWidth(1)
		job.SetHeight(1)
		return p.ImageRenderer.BeginPage(ctx, job)
	}
	if w > maxPixels || h > maxPixels || w*h > maxPixels {
		size := strconv.FormatUint(w, 10) + " by " + strconv.FormatUint(h, 10) + " pixels"
		p.err = tooLarge(size, strconv.Itoa(maxPixels)+" pixels")
		w, h = 1, 1
		job.SetWidth(w)
		job.SetHeight(h)
	}
	return p.ImageRenderer.BeginPage(ctx, job)
}

// TextSpan draws one line of text. The library's renderer places it by the width
// that Graphviz estimated, for another font: it is told the true one.
func (p *pixels) TextSpan(ctx context.Context, job *gvc.Job, at *gvc.PointFloat, span *gvc.TextSpan) error {
	if p.err != nil {
		return nil
	}
	if p.widths != nil {
		p.note(span)
		return nil
	}
	undo, err := fit(ctx, job, span)
	defer undo()
	if err != nil {
		return err
	}
	return p.ImageRenderer.TextSpan(ctx, job, at, span)
}

// draw fills and outlines a shape as the object's state asks for.
func (p *pixels) draw(job *gvc.Job, area bool, shape func(filled bool) error) error {
	if p.err != nil || p.widths != nil {
		return nil
	}
	o := job.Object()
	fill := o.Fill() != gvc.FillNone
	switch o.Type() {
	case gvc.EdgeObjectType, gvc.RootGraphObjectType: // arrow heads and the background
		fill = true
	}
	if area && fill && opaque(o.FillColor()) {
		if err := shape(true); err != nil {
			return err
		}
	}
	if o.Pen() == gvc.PenNone || !opaque(o.PenColor()) {
		return nil
	}
	return shape(false)
}

// opaque reports whether a colour can be seen; the library draws all as if it could.
func opaque(c *gvc.Color) bool { return c.RGBAUint()[3] != 0 }

// Ellipse draws an ellipse given by its centre and a corner.
func (p *pixels) Ellipse(ctx context.Context, job *gvc.Job, at []*gvc.PointFloat, _ bool) error {
	return p.draw(job, true, func(filled bool) error { return p.ImageRenderer.Ellipse(ctx, job, at, filled) })
}

// Polygon draws a shape or an arrow head.
func (p *pixels) Polygon(ctx context.Context, job *gvc.Job, at []*gvc.PointFloat, _ bool) error {
	return p.draw(job, true, func(filled bool) error { return p.ImageRenderer.Polygon(ctx, job, at, filled) })
}

// BezierCurve draws an edge, or the outline of a rounded shape.
func (p *pixels) BezierCurve(ctx context.Context, job *gvc.Job, at []*gvc.PointFloat, _ bool) error {
	area := job.Object().Type() != gvc.EdgeObjectType
	return p.draw(job, area, func(filled bool) error { return p.ImageRenderer.BezierCurve(ctx, job, at, filled) })
}

// Polyline draws a line that has no inside.
func (p *pixels) Polyline(ctx context.Context, job *gvc.Job, at []*gvc.PointFloat) error {
	return p.draw(job, false, func(bool) error { return p.ImageRenderer.Polyline(ctx, job, at) })
}
