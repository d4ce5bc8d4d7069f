package xla

import (
	"slices"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering/shard"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// EmitSharded returns the program of a plan for the partitions of its mesh: the layouts of
// inputs, weights and results are attributes of main's arguments and results (mhlo.sharding),
// those of values within are custom calls to @Sharding: for operands as a call needs them where
// they lie otherwise, and for results as they are computed and as they lie then. XLA's partitioner
// makes of it the program of one partition, with the plan's exchanges; the results are those of the module.
func EmitSharded(plan *shard.Plan) (*Program, error) { return emitSharded(plan, nil) }

// emitSharded returns the program of a plan with inputs that are given up.
func emitSharded(plan *shard.Plan, donate []int) (p *Program, err error) {
	defer diag.Catch(&err)
	m := plan.Module.WithGraph(plan.Module.Graph.Clone())
	if err := returnTupleMembers(m.Graph); err != nil {
		return nil, err
	}
	e := &emitter{module: m, plan: plan, donate: donate}
	for n := range m.Graph.Nodes() {
		if n.Opcode().IsCall() && n.Op() != op.GetItem {
			e.spread(n)
		}
	}
	return emitted(e)
}

// spread writes down how a call has its operands and makes its results, such that it is there once the
// call is expanded. Calls of which nothing is cut are laid out as whole: the partitioner cuts what
// is left open, and has to gather it then.
func (e *emitter) spread(n *graph.Node) {
	how, _ := shard.Computed.Get(n)
	for i, a := range n.Args() {
		if i >= len(how.In) || how.In[i] == nil || slices.Equal(e.lies(a), how.In[i]) {
			continue
		}
		brought := e.module.Graph.Before(n).From(n).Function(std.Clone, op.None{}, a)
		shard.Laid.Set(brought, how.In[i:i+1])
		n.SetArg(i, brought)
	}
	splits, cut := shard.Laid.Get(n)
	switch {
	case n.Type().Kind() == shape.Tensor && !cut:
		shard.Laid.Set(n, []shard.Split{make(shard.Split, n.Type().Rank())})
	case n.Type().Kind() == shape.Tuple && cut: // which is gone then
		for u := range n.Users() {
			if i, ok := u.Attrs().(op.GetItemAttrs); ok {
				shard.Laid.Set(u, splits[i.Index:i.Index+1])
				shard.Computed.Set(u, shard.Computation{Out: how.Out[i.Index : i.Index+1]})
			}
		}
	}
}

// lies returns how a value lies.
func (e *emitter) lies(n *graph.Node) shard.Split {
	if n.Op() == op.GetItem {
		if splits, ok := shard.Laid.Get(n.Arg(0)); ok {
			return splits[n.Attrs().(op.GetItemAttrs).Index]
		}
	}
	values, name := e.plan.Inputs, n.Name()
	if n.Opcode() == graph.GetAttr {
		values, name = e.plan.Weights, n.Target()
	}
	if _, ok := shard.Laid.Get(n); !ok && !n.Opcode().IsCall() {
		for _, v := range values {
			if v.Name == name {
				return v.Split
			}
		}
	}
	return e.plan.Split(n)
}

// laid returns the results of a node as the plan has them laid out.
func (e *emitter) laid(n *graph.Node, values []*value) []*value {
	splits, ok := shard.Laid.Get(n)
	if e.plan == nil || !ok || len(splits) != len(values) || len(*e.errs) > 0 {
		return values
	}
	how, _ := shard.Computed.Get(n)
	out := make([]*value, len(values))
	for i, v := range values {
		if how.Out != nil && !slices.Equal(how.Out[i], splits[i]) { // else the partitioner computes it otherwise
			v = e.sharded(v, how.Out[i])
		}
		out[i] = e.sharded(v, splits[i])
	}
	return out
}

// sharded lays a value out; scalars are everywhere.
func (e *emitter) sharded(v *value, s shard.Split) *value {
	if v.Type.Rank() == 0 {
		return v
	}
	return e.build.Sharded(v, e.plan.Mesh.Sharding(s))
}

// pin lays constants out as whole. Equal ones become one in XLA, and the layout that one reader gives
// that would reach all others.
func (e *emitter) pin() {
	if e.plan == nil {
		return
	}
	whole := map[*value]*value{}
	all, made := &stablehlo.Builder{Region: &stablehlo.Region{}}, []*graph.Node{}
	for i, o := range e.build.Region.Ops {
		readers(o, whole)
		all.Region.Ops = append(all.Region.Ops, o)
		if (o.Name == "constant" || o.Name == "iota") && o.Results[0].Type.Rank() > 0 {
			whole[o.Results[0]] = all.Sharded(o.Results[0], e.plan.Mesh.Sharding(nil))
		}
		for i < len(e.made) && len(made) < len(all.Region.Ops) {
			made = append(made, e.made[i])
		}
	}
	e.build.Region.Ops, e.made = all.Region.Ops, made
}

// readers has an operation, and those in it, read other values.
func readers(o *stablehlo.Op, by map[*value]*value) {
	for k, v := range o.Operands {
		if w := by[v]; w != nil {
			o.Operands[k] = w
		}
	}
	for _, r := range o.Regions {
		for _, inner := range r.Ops {
			readers(inner, by)
		}
	}
}

// shard writes the layouts of arguments and results to the program.
func (e *emitter) shard(p *Program) {
	if e.plan == nil {
		return
	}
	mesh := e.plan.Mesh
	p.code.Partitions = mesh.Partitions()
	known := map[string]shard.Split{}
	arguments := func(list []Argument, values []shard.Tensor) {
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
