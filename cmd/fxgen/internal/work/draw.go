package work

import (
	"github.com/gofx-dev/gofx/draw"
)

// draw writes the drawing's text: DOT, or a page around an SVG.
func (c *captured) draw(j *Job, res *Result) error {
	o := draw.Options{Depth: j.Depth}
	if j.Format == "html" {
		res.Text = string(draw.HTML(c.gm, j.SVG, o))
		return nil
	}
	res.Text = draw.DOT(c.gm, o)
	return nil
}
