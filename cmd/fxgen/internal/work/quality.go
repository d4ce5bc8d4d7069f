package work

import (
	"context"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/draw"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/tune"
)

// qualityJSON is the document of quant -report -json.
type qualityJSON struct {
	*tune.Quality
	Sensitivities []tune.Sensitivity `json:"sensitivities,omitempty"`
}

// compiled is the engine that reports measure with.
func compiled(m *graph.Module) (quant.Engine, error) { return cpu.Compile(m, lowering.Options{}) }

// quality quantises a copy of the graph, and measures how far its values are from those
// of the graph on the inputs of the calibration. ranked also asks for the cost of each
// operator alone.
func (c *captured) quality(ctx context.Context, j *Job, res *Result, config *quant.Config, backend *quant.Backend, ranked bool) (*qualityJSON, error) {
	copied := *c
	copied.gm = graph.Clone(c.gm)
	if err := copied.prepare(ctx, j, res, config, backend); err != nil {
		return nil, err
	}
	list, err := c.calibration(j)
	if err != nil {
		return nil, err
	}
	batches := func(yield func([]*array.Array, error) bool) {
		for _, in := range list {
			if !yield(in, nil) {
				return
			}
		}
	}
	q := &qualityJSON{}
	if ranked {
		trials, err := tune.NewTrials(ctx, copied.gm, config, backend, batches, compiled)
		if err != nil {
			return nil, err
		}
		if q.Sensitivities, err = trials.Sensitivities(ctx, nil); err != nil {
			return nil, err
		}
	}
	if _, err := passes.Run(ctx, copied.gm, []passes.Pass{quant.Convert(config, backend)}, passes.Options{}); err != nil {
		return nil, err
	}
	q.Quality, err = tune.Compare(ctx, c.gm, copied.gm, batches, compiled)
	return q, err
}

// text is the report as tables.
func (q *qualityJSON) text() string {
	var b strings.Builder
	b.WriteString(q.Quality.String())
	if len(q.Sensitivities) == 0 {
		return b.String()
	}
	b.WriteString("\nresults with one operator alone quantised, and with it alone in float, the most harmful first:\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, s := range q.Sensitivities {
		_, _ = w.Write([]byte("%" + s.Node + "\t" + s.Op + "\talone " + s.Alone.String() + "\twithout " + s.Without.String() + "\t" + s.Scope + "\n")) // a Builder does not fail
	}
	_ = w.Flush()
	return b.String()
}

// Decibels of the two ends of the colours of a drawing.
const (
	coldDecibels = 50
	hotDecibels  = 10
)

// overlay colours the values of a quality: each 10 dB are a quarter of the way.
func overlay(q *tune.Quality) *draw.Overlay {
	heat := func(d float64) float64 {
		return min(max((coldDecibels-d)/(coldDecibels-hotDecibels), 0), 1)
	}
	o := &draw.Overlay{Name: "SQNR", Marks: map[string]draw.Mark{}}
	for _, l := range q.Layers {
		if d := float64(l.SQNR); !math.IsNaN(d) {
			o.Marks[l.Node] = draw.Mark{Heat: heat(d), Text: l.SQNR.String()}
		}
	}
	for d := coldDecibels; d >= hotDecibels; d -= 10 {
		o.Legend = append(o.Legend, draw.Mark{Heat: heat(float64(d)), Text: strconv.Itoa(d) + " dB"})
	}
	return o
}
