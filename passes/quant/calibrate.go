package quant

import (
	"context"
	"iter"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/shape"
)

// Engine runs a prepared graph and keeps the buffers that it writes; a
// *cpu.Executable is one.
type Engine interface {
	Run(ctx context.Context, in []*array.Array) ([]*array.Array, error)
	// State returns a buffer as the last run has left it.
	State(path string) *array.Array
}

// CalibrateOptions are the choices of Calibrate; the zero value is useful.
type CalibrateOptions struct {
	// Engine runs the graph; nil interprets it. It must be made of the module as it
	// is when Calibrate begins.
	Engine Engine
	// Progress is called after each batch with the number of batches that the
	// observers have seen, those of earlier calls included. The module can be saved
	// then. An error ends the calibration.
	Progress func(batches int) error
}

// Calibrate runs a prepared graph on batches of inputs, in the order of its
// placeholders, and returns how many its observers have seen. Batches that they have
// seen in an earlier call, which was interrupted, are passed over, so that a saved
// module goes on where it stopped and ends with the same bytes. When a batch fails,
// ctx ends, or a value is NaN or an input infinite, which is an error that names the layers,
// the observers are left as they were before that batch.
func Calibrate(ctx context.Context, m *graph.Module, batches iter.Seq2[[]*array.Array, error], o CalibrateOptions) (done int, err error) {
	counter := m.Param(batchesPath)
	if counter == nil || counter.Value == nil || counter.Value.Len() != 1 {
		return 0, diag.New(NotPrepared, "graph "+m.Graph.Name+" has no observers").WithHint("run the pass quant-prepare")
	}
	seen := int(array.Int64At(counter.Value, 0))
	engine := o.Engine
	if engine == nil {
		engine = NewInterpreter(m)
	}
	k := 0
	for in, err := range batches {
		if err != nil {
			return seen, err
		}
		if k++; k <= seen {
			continue
		}
		if err := ctx.Err(); err != nil {
			return seen, diag.Stop(err)
		}
		if _, err := engine.Run(ctx, in); err != nil {
			return seen, err
		}
		if err := take(m, engine, k); err != nil {
			return seen, err
		}
		seen = k
		if o.Progress != nil {
			if err := o.Progress(seen); err != nil {
				return seen, err
			}
		}
	}
	if seen == 0 {
		return 0, diag.New(NoBatches, "there are no batches to calibrate with").WithHint("give inputs that are like those of use")
	}
	return seen, nil
}

// take copies what the observers have seen from the engine, unless it is not finite.
func take(m *graph.Module, e Engine, batch int) error {
	if errs := nonFinite(observations(m.Graph, e.State), " in batch "+strconv.Itoa(batch)); len(errs) > 0 {
		return errs
	}
	var next []graph.Param
	for n := range m.Graph.Nodes() {
		if n.Opcode() != graph.GetAttr || !observes(n) {
			continue
		}
		p, now := *m.Param(n.Target()), e.State(n.Target())
		if now == nil || !shape.TypeOf(now).Same(p.TypeOf()) {
			return n.Error(NotPrepared, "the engine has no buffer "+strconv.Quote(p.Path)+" of type "+p.TypeOf().String()).
				WithHint("make the engine of the prepared module")
		}
		p.Value = array.Clone(now)
		next = append(next, p)
	}
	for _, p := range next {
		m.SetParam(p)
	}
	return nil
}

// interpreter is the engine that needs no target.
type interpreter struct{ p interp.Interpreter }

// NewInterpreter returns an engine that interprets a copy of the module.
func NewInterpreter(m *graph.Module) Engine {
	return &interpreter{interp.Interpreter{State: interp.NewState(graph.Clone(m))}}
}

// Run implements Engine.
func (e *interpreter) Run(ctx context.Context, in []*array.Array) ([]*array.Array, error) {
	return e.p.RunArrays(ctx, in)
}

// State implements Engine.
func (e *interpreter) State(path string) *array.Array {
	if t := e.p.State.Tensor(path); t != nil {
		return t.Array()
	}
	return nil
}
