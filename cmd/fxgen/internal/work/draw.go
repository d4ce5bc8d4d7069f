package work

import (
	"context"
	"os"
	"time"

	"github.com/gofx-dev/gofx/draw"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
)

// Colourings of a drawing.
const (
	OverlaySQNR = "sqnr" // cost of quantisation for each value
	OverlayCost = "cost" // operations
	OverlayTime = "time" // of the steps of the plan
	OverlayFile = "file" // the numbers and texts of Job.Marks
)

// Formats of pages: one file, and the data for a viewer.
const (
	FormatHTML = "html"
	FormatJSON = "json"
)

// report begins a page, which needs the graph before and after each pass.
func (c *captured) report(j *Job, o *passes.Options) error {
	sizes, err := c.sizes(j)
	if err != nil {
		return err
	}
	drawing := j.Drawing
	drawing.Sizes, drawing.Source = sizes, os.ReadFile
	drawing.Origin, _ = c.weightsOrigin(j)
	c.page = draw.NewReport(c.gm, drawing)
	o.OnPass = c.page.OnPass
	return nil
}

// draw writes the drawing's text: DOT, or a page.
func (c *captured) draw(ctx context.Context, j *Job, res *Result) error {
	overlay, err := c.overlay(ctx, j, res)
	if err != nil {
		return err
	}
	if c.page != nil {
		c.page.Overlay = overlay
		page := c.page.HTML
		if j.Format == FormatJSON {
			page = c.page.Data
		}
		res.Text = string(page())
		return nil
	}
	j.Drawing.Overlay = overlay
	res.Text = draw.DOT(c.gm, j.Drawing)
	return nil
}

// overlay makes the overlay that the job asks for, nil for none.
func (c *captured) overlay(ctx context.Context, j *Job, res *Result) (*draw.Overlay, error) {
	switch j.Overlay {
	case OverlayCost:
		if j.Device.Name != "" {
			return predicted(c, j)
		}
		sizes, err := c.sizes(j)
		return draw.Cost(c.gm, sizes), err
	case OverlayTime:
		return c.times(ctx, j)
	case OverlayFile:
		return draw.ParseOverlay([]byte(j.Marks.Value), j.Marks.Name, c.gm)
	case OverlaySQNR:
		config, backend, err := c.quantisation(ctx, j)
		if err != nil {
			return nil, err
		}
		q, err := c.quality(ctx, j, res, config, backend, false)
		if err != nil {
			return nil, err
		}
		return overlay(q.Quality), nil
	}
	return nil, nil
}

// timedRuns are those of which the overlay of times has the medians.
const timedRuns = 10

// times colours calls by the time of the step that computes them, which may compute
// their neighbours, too.
func (c *captured) times(ctx context.Context, j *Job) (*draw.Overlay, error) {
	in, _, err := c.values(j)
	if err != nil {
		return nil, err
	}
	exe, err := cpu.Compile(c.gm, lowering.Options{})
	if err != nil {
		return nil, err
	}
	defer exe.Close()
	steps, err := exe.Profile(ctx, in, timedRuns)
	if err != nil {
		return nil, err
	}
	took := map[string]time.Duration{}
	for _, s := range steps {
		for _, name := range s.Step.Nodes {
			took[name] = s.Time
		}
	}
	return timeOverlay("time", took), nil
}
