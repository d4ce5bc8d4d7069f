package work

import (
	"context"
	"runtime"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/accel"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/internal/near"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
)

// The engines of this package; module and gen are run by the command, from the
// result of the verb Feed.
const (
	Eager  = "eager"
	Interp = "interp"
	Plan   = "plan"
	Int8   = "int8" // the plan of the quantised graph
	Lazy   = "lazy" // the Go function in a lazy session; the verb of this name tells what the session did
)

// runner computes the outputs of a graph.
type runner struct {
	run   func(ctx context.Context, in []*array.Array) ([]*array.Array, error)
	peak  func(dims map[string]int) int64
	close func() error
}

func noPeak(map[string]int) int64 { return 0 }

func noClose() error { return nil }

// runner prepares the job's engine. The note names the replacement of an engine
// that the source does not have.
func (c *captured) runner(j *Job) (r runner, note string, err error) {
	if j.Threads > 0 {
		runtime.GOMAXPROCS(j.Threads)
	}
	r = runner{peak: noPeak, close: noClose}
	switch j.Engine {
	case Eager, Lazy:
		switch {
		case c.src.Graph != nil:
			r.run = fx.NewGraphModule(c.gm).RunArrays
			return r, "a graph file has no Go function; engine interp stands in for " + j.Engine, nil
		case j.Engine == Lazy:
			return sessionOf(c, j), "", nil
		}
		r.run = c.eager
		return r, "", nil
	case Interp:
		r.run = fx.NewGraphModule(c.gm).RunArrays
		return r, "", nil
	case Plan, Int8:
		o, err := measured(c, j)
		if err != nil {
			return r, "", err
		}
		exe, err := cpu.Compile(c.gm, o)
		if err != nil {
			return r, "", err
		}
		r.run, r.close = exe.Run, exe.Close
		r.peak = func(dims map[string]int) int64 {
			n, err := exe.PeakBytes(dims)
			if err != nil {
				return 0
			}
			return n
		}
		return r, "", nil
	}
	if j.Engine == accel.GPU || j.Engine == accel.XLA {
		return c.accelerated(j, r)
	}
	return r, "", noEngine(j.Engine)
}

// noted prepares the job's engine, with the note in the result.
func (c *captured) noted(j *Job, res *Result) (runner, error) {
	r, note, err := c.runner(j)
	if err == nil && note != "" {
		res.Notes.Add(&diag.Error{Note: true, Msg: note})
	}
	return r, err
}

// accelerated prepares an engine on a device, for the sizes of the job: devices compute with
// known sizes. The note names the operators that the processor runs.
func (c *captured) accelerated(j *Job, r runner) (runner, string, error) {
	o := lowering.Options{Threads: j.Threads}
	if c.src.values == nil {
		sizes, err := c.sizes(j)
		if err != nil {
			return r, "", err
		}
		o.Shapes = pinned(c.gm.Graph, sizes)
	}
	exe, note, err := accel.Compile(j.Engine, j.On, c.gm, o)
	if err != nil {
		return r, "", err
	}
	r.run, r.close = exe.Run, exe.Close
	return r, note, nil
}

// options are those of plans that the job compiles.
func (j *Job) options() lowering.Options {
	o := lowering.Options{Threads: j.Threads}
	if j.Products != "" {
		o.Products = array.BF16
	}
	return o
}

// measured are the options of a plan whose steps may be measured: that needs sizes that are numbers, those of
// the job.
func measured(c *captured, j *Job) (lowering.Options, error) {
	o := j.options()
	if o.Measure.On = j.Measure; j.Measure && c.src.values == nil {
		sizes, err := c.sizes(j)
		if err != nil {
			return o, err
		}
		o.Shapes = pinned(c.gm.Graph, sizes)
	}
	return o, nil
}

var engines = []string{Eager, Lazy, Interp, Plan, Int8, accel.GPU, accel.XLA, "module", "gen"}

func noEngine(name string) error {
	return diag.New(BadEngine, "engine "+name+" is not part of this program").
		WithHint(near.Hint(name, engines, "the engines are "+strings.Join(engines, ", ")))
}

// lower prints the program of a target for the job's sizes, those of symbols that have no bound;
// comments before it describe the arguments.
func (c *captured) lower(j *Job, res *Result) error {
	sizes, err := c.sizes(j)
	if err != nil {
		return err
	}
	pins := pinned(c.gm.Graph, sizes)
	for name := range j.Bounds {
		delete(pins, name)
	}
	res.Text, err = accel.Text(j.Target, c.src.Name, c.gm, lowering.Options{Shapes: pins}, j.Bounds)
	return err
}
