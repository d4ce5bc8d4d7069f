package train

import (
	"context"
	"strconv"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/tensor"
)

// Metrics are numbers that a loss function gives next to the loss, each a tensor with one
// element. A Trainer averages them over the examples of an epoch.
type Metrics = map[string]*tensor.Tensor

// program is a graph over the tensors of a model, and its plan.
type program struct {
	module *fx.GraphModule
	names  []string // of the results

	mu  sync.Mutex
	exe *cpu.Executable
}

// Graph returns the graph. Edits before the first run and before Compile take effect.
func (p *program) Graph() *fx.GraphModule { return p.module }

// Names returns the names of the results: "loss", and those of the metrics.
func (p *program) Names() []string { return p.names }

// Compile plans the graph, optimised, with other options than the zero ones, which Run takes. The
// state goes on.
func (p *program) Compile(ctx context.Context, o lowering.Options) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	exe, err := plan(ctx, p.module.Module, o)
	if err != nil {
		return err
	}
	p.sync()
	p.exe = exe
	p.load()
	return nil
}

// plan optimises a copy of a module, whose arrays it shares, and compiles it.
func plan(ctx context.Context, m *graph.Module, o lowering.Options) (*cpu.Executable, error) {
	own := fx.NewGraphModule(m.WithGraph(m.Graph.Clone()))
	if _, err := own.Apply(ctx, fx.Optimise(), fx.PassOptions{}); err != nil {
		return nil, err
	}
	return cpu.Compile(own.Module, o)
}

// Run computes the results for a batch by the plan, which the first run makes.
func (p *program) Run(ctx context.Context, batch ...*array.Array) ([]*array.Array, error) {
	if err := p.ready(ctx); err != nil {
		return nil, err
	}
	return p.exe.Run(ctx, batch)
}

func (p *program) ready(ctx context.Context) error {
	p.mu.Lock()
	planned := p.exe != nil
	p.mu.Unlock()
	if planned {
		return nil
	}
	return p.Compile(ctx, lowering.Options{})
}

// sync copies the state of the plan to the module's arrays.
func (p *program) sync() {
	p.each(func(own, shared *array.Array) {
		array.Copy(shared, own)
		shared.Storage().Bump()
	})
}

// load copies the module's arrays to the state of the plan.
func (p *program) load() { p.each(func(own, shared *array.Array) { array.Copy(own, shared) }) }

func (p *program) each(visit func(own, shared *array.Array)) {
	if p.exe == nil {
		return
	}
	for path := range p.exe.Plan().Written() {
		if q := p.module.Param(path); q != nil {
			visit(p.exe.State(path), q.Value)
		}
	}
}

// metricNames returns the names of the results of a graph: the first is the loss, others are
// called by their keys.
func metricNames(out *graph.Node) []string {
	list := make([]string, out.NumArgs())
	if s := out.Structure(); s != nil {
		s.NameLeaves(list)
	}
	for i := range list {
		switch {
		case i == 0:
			list[i] = "loss"
		case list[i] == "":
			list[i] = "metric" + strconv.Itoa(i)
		}
	}
	return list
}
