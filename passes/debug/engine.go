package debug

import (
	"context"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/passes"
)

// Engine runs a graph; a *cpu.Executable is one.
type Engine interface {
	Run(ctx context.Context, in []*array.Array) ([]*array.Array, error)
}

// EngineFor makes an engine of a graph; nil stands for interpretation.
type EngineFor func(m *graph.Module) (Engine, error)

// run runs a copy of a graph, so that buffers are as they were, once.
func (f EngineFor) run(ctx context.Context, m *graph.Module, in []*array.Array) (out []*array.Array, err error) {
	m = graph.Clone(m)
	if f == nil {
		p := interp.Interpreter{State: interp.NewState(m)}
		return p.RunArrays(ctx, in)
	}
	e, err := f(m)
	if err != nil {
		return nil, err
	}
	if c, ok := e.(interface{ Close() error }); ok {
		defer func() {
			if e := c.Close(); err == nil {
				err = e
			}
		}()
	}
	return e.Run(ctx, in)
}

// Case is a graph with inputs that it is run on.
type Case struct {
	Module *graph.Module
	Inputs []*array.Array // by placeholder; nil for one whose default is wanted
}

// Failure tells what is wrong with a case, nil for nothing. It does not change the case.
type Failure func(ctx context.Context, c Case) error

// Fails is what Minimise is mostly used with: the pipeline runs on a copy of the graph
// and fails, or changes what the graph computes; or, with an engine, that engine computes
// something else of what the pipeline made than the interpreter does of the graph.
// o.Numeric says how close results must be.
func Fails(pipeline []passes.Pass, o passes.Options, engine EngineFor) Failure {
	return func(ctx context.Context, c Case) error {
		spec := passes.Numeric{}
		if o.Numeric != nil {
			spec = *o.Numeric
		}
		spec.Inputs = c.Inputs
		o := o
		o.Numeric = &spec
		m := graph.Clone(c.Module)
		if _, err := passes.Run(ctx, m, pipeline, o); err != nil || engine == nil {
			return err
		}
		return Differs(c.Module, spec, engine)(ctx, Case{m, c.Inputs})
	}
}

// Differs is the failure of an engine that computes something else of a case than the
// interpreter does of a graph, beyond the bounds of spec.
func Differs(from *graph.Module, spec passes.Numeric, engine EngineFor) Failure {
	return func(ctx context.Context, c Case) error {
		want, err := EngineFor(nil).run(ctx, from, c.Inputs)
		if err != nil {
			return err
		}
		got, err := engine.run(ctx, c.Module, c.Inputs)
		if err != nil {
			return &diag.Error{Code: EngineDiffers, Msg: "the engine does not run the graph", Err: err}
		}
		if len(got) != len(want) {
			return diag.New(EngineDiffers, strconv.Itoa(len(got))+" results, expected "+strconv.Itoa(len(want)))
		}
		for i := range want {
			if why := spec.Differ(got[i], want[i]); why != "" {
				return diag.New(EngineDiffers, "result "+strconv.Itoa(i)+" of the engine "+why)
			}
		}
		return nil
	}
}
