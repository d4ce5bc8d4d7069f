package xla

import (
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering/shard"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// EmitSharded returns the program of a plan for the partitions of its mesh: the layouts of
// inputs, weights and results are attributes of main's arguments and results (mhlo.sharding),
// those of values within are custom calls to @Sharding. XLA's partitioner makes of it the
// program of one partition, with the exchanges; the results are those of the module.
func EmitSharded(plan *shard.Plan) (*Program, error) { return emitSharded(plan, nil) }

// emitSharded returns the program of a plan with inputs that are given up.
func emitSharded(plan *shard.Plan, donate []int) (p *Program, err error) {
	defer diag.Catch(&err)
	m := plan.Module.WithGraph(plan.Module.Graph.Clone())
	if err := apart(m.Graph); err != nil {
		return nil, err
	}
	members(m.Graph)
	return emitted(&emitter{module: m, plan: plan, donate: donate})
}

// members lays out the members of the tuples of calls that are expanded: these are left then.
func members(g *graph.Graph) {
	for n := range g.Nodes() {
		splits, ok := shard.Laid.Get(n)
		if kept, _ := direct(n); !ok || kept || n.Type().Kind() != shape.Tuple {
			continue
		}
		for u := range n.Users() {
			if i, ok := u.Attrs().(op.GetItemAttrs); ok {
				shard.Laid.Set(u, splits[i.Index:i.Index+1])
			}
		}
	}
}

// laid returns the results of a node as the plan has them laid out.
func (e *emitter) laid(n *graph.Node, values []*value) []*value {
	splits, ok := shard.Laid.Get(n)
	if e.plan == nil || !ok || len(splits) != len(values) || len(*e.errs) > 0 {
		return values
	}
	out := make([]*value, len(values))
	for i, v := range values {
		out[i] = e.build.Sharded(v, e.plan.Mesh.Sharding(splits[i]))
	}
	return out
}

// shard writes the layouts of arguments and results to the program.
func (e *emitter) shard(p *Program) {
	if e.plan == nil {
		return
	}
	mesh := e.plan.Mesh
	p.code.Partitions = mesh.Partitions()
	known := map[string]shard.Split{}
	arguments := func(list []Argument, values []shard.Value) {
		clear(known)
		for _, v := range values {
			known[v.Name] = v.Split
		}
		for i, a := range list { // what only bodies of loops read is not cut
			list[i].Local = mesh.Local(a.Dims, known[a.Name])
			p.code.Shardings = append(p.code.Shardings, mesh.Sharding(known[a.Name]))
		}
	}
	arguments(p.Inputs, e.plan.Inputs)
	arguments(p.Weights, e.plan.Weights)
	for _, v := range e.plan.Outputs {
		p.code.ResultShardings = append(p.code.ResultShardings, mesh.Sharding(v.Split))
	}
}

// Bytes returns what one partition holds of the inputs and of the weights; the whole of
// both where the program is not sharded.
func (p *Program) Bytes() (inputs, weights int) {
	sum := func(list []Argument) (n int) {
		for _, a := range list {
			dims := a.Dims
			if a.Local != nil {
				dims = a.Local
			}
			one := a.DType.Size()
			for _, d := range dims {
				one *= d
			}
			n += one
		}
		return n
	}
	return sum(p.Inputs), sum(p.Weights)
}
