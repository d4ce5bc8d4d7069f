package judge

import (
	"context"
	"reflect"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/generated"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// tabled runs a program in a session that records its graphs, and then, from the same state, in one
// that has them as generated code. Plans stand in for the code, which has the same steps.
func tabled(p Entry, list []variant) []Verdict {
	want := sequence(p, list, asModel(p.New()), nil)
	in := func(s *lazy.Session, name string) Verdict {
		v := Verdict{ID: p.ID, Capture: "session", Engine: name, Size: p.N}
		got := sequence(p, list, asModel(p.New()), func(f reflect.Value, in []*array.Array) ([]*array.Array, error) { return invokeIn(s, f, in) })
		v.Detail = got.otherBits(want)
		if v.Kind = Different; v.Detail == "" {
			v.Kind, v.Code, v.Detail = (engine{name: name, exclude: []diag.Code{alias.NoInverse}}).verdict(got, want, false)
		}
		return v
	}
	record := lazy.New(lazy.Options{Record: true, Threads: 1})
	first := in(record, "lazy-record")
	if first.Kind != Agree {
		return []Verdict{first}
	}
	graphs, modules := record.Recorded()
	for i := range graphs.List {
		graphs.List[i].New = modelOf(modules[i])
	}
	s := lazy.New(lazy.Options{Generated: graphs, Threads: 1})
	second := in(s, "lazy-generated")
	if second.Kind == Agree && s.Stats().Hits > 0 {
		second.Code = "generated"
	}
	return []Verdict{first, second}
}

// standIn is a plan with copies of its weights, as generated code packs them.
type standIn struct {
	module *graph.Module
	run    lowering.Executable
}

func modelOf(m *graph.Module) func(find generated.Find, pack generated.Pack, threads int) (generated.Model, error) {
	return func(find generated.Find, pack generated.Pack, _ int) (generated.Model, error) {
		p := &standIn{module: m}
		return p, p.Bind(find, pack)
	}
}

func (p *standIn) Call(ctx context.Context, in []*array.Array) ([]*array.Array, error) {
	return p.run.Run(ctx, in)
}

func (p *standIn) Bind(find generated.Find, _ generated.Pack) error {
	m := graph.Clone(p.module)
	for _, param := range m.Params() {
		a, err := find(param.Path)
		if err != nil {
			return err
		}
		q := *param
		q.Value = array.Clone(a)
		m.SetParam(q)
	}
	run, err := cpu.Target{}.Compile(m, lowering.Options{Exact: true, Threads: 1})
	p.run = run
	return err
}
