package work

import (
	"github.com/gofx-dev/gofx/draw"
)

// draw writes the drawing's text: DOT, or a page around an SVG.
func (c *captured) draw(j *Job, res *Result) error {
	if j.Format == "html" {
		res.Text = string(draw.HTML(c.gm, j.SVG, j.Drawing))
		return nil
	}
	res.Text = draw.DOT(c.gm, j.Drawing)
	return nil
}
