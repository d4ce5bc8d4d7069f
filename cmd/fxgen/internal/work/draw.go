package work

import (
	"context"

	"github.com/gofx-dev/gofx/draw"
)

// draw writes the drawing's text: DOT, or a page around an SVG.
func (c *captured) draw(ctx context.Context, j *Job, res *Result) error {
	if j.Overlay != "" {
		config, backend, err := c.quantisation(ctx, j)
		if err != nil {
			return err
		}
		q, err := c.quality(ctx, j, res, config, backend, false)
		if err != nil {
			return err
		}
		j.Drawing.Overlay = overlay(q.Quality)
	}
	if j.Format == "html" {
		res.Text = string(draw.HTML(c.gm, j.SVG, j.Drawing))
		return nil
	}
	res.Text = draw.DOT(c.gm, j.Drawing)
	return nil
}
