package shard_test

import (
	"fmt"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/shard"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// machine runs a plan as its partitions would: each has only its parts of the values, runs the
// steps of the graph on them, and learns of the others what the plan's exchanges tell it.
type machine struct {
	plan   *shard.Plan
	values map[*graph.Node][][]*array.Array // result, partition
	kept   map[string][]*array.Array        // operands that were brought into another layout
}

// at returns the coordinate of a partition along an axis.
func (m *machine) at(partition int, axis string) int {
	for k := len(m.plan.Mesh) - 1; k >= 0; k-- {
		a := m.plan.Mesh[k]
		if a.Name == axis {
			return partition % a.Size
		}
		partition /= a.Size
	}
	panic("no axis " + axis)
}

func (m *machine) size(axis string) int {
	for _, a := range m.plan.Mesh {
		if a.Name == axis {
			return a.Size
		}
	}
	panic("no axis " + axis)
}

// group returns the partitions that differ from one along an axis only, in order.
func (m *machine) group(partition int, axis string) []int {
	stride := 1
	for k := len(m.plan.Mesh) - 1; m.plan.Mesh[k].Name != axis; k-- {
		stride *= m.plan.Mesh[k].Size
	}
	first := partition - m.at(partition, axis)*stride
	var list []int
	for i := range m.size(axis) {
		list = append(list, first+i*stride)
	}
	return list
}

// part takes one of n equal parts of a dimension.
func part(a *array.Array, dim, i, n int) *array.Array {
	w := a.Dim(dim) / n
	return array.Contiguous(array.Slice(a, dim, i*w, (i+1)*w, 1))
}

// cut gives every partition its part of an array.
func (m *machine) cut(a *array.Array, s shard.Split) []*array.Array {
	var list []*array.Array
	for p := range m.plan.Mesh.Partitions() {
		mine := a
		for d, axis := range s {
			if axis != "" {
				mine = part(mine, d, m.at(p, axis), m.size(axis))
			}
		}
		list = append(list, mine)
	}
	return list
}

// join puts the parts of all partitions together; copies have to agree.
func (m *machine) join(parts []*array.Array, s shard.Split, dims []int) (*array.Array, error) {
	whole := array.New(parts[0].DType(), dims...)
	for p, a := range parts {
		view := whole
		for d, axis := range s {
			if axis != "" {
				w := view.Dim(d) / m.size(axis)
				view = array.Slice(view, d, m.at(p, axis)*w, (m.at(p, axis)+1)*w, 1)
			}
		}
		if !slices.Equal(view.Shape(), a.Shape()) {
			return nil, fmt.Errorf("partition %d has %v of %v cut as %v", p, a.Shape(), dims, s)
		}
		array.Copy(view, a)
	}
	return whole, nil
}

// run computes the outputs for inputs and weights by name.
func (m *machine) run(in map[string]*array.Array) ([]*array.Array, error) {
	m.values, m.kept = map[*graph.Node][][]*array.Array{}, map[string][]*array.Array{}
	splits := map[string]shard.Split{}
	for _, v := range append(slices.Clone(m.plan.Inputs), m.plan.Weights...) {
		splits[v.Name] = v.Split
	}
	at := 0
	for n := range m.plan.Module.Graph.Nodes() {
		switch n.Opcode() {
		case graph.Placeholder, graph.GetAttr:
			name := n.Name()
			if n.Opcode() == graph.GetAttr {
				name = n.Target()
			}
			parts := m.cut(in[name], splits[name])
			if laid, ok := shard.Laid.Get(n); ok { // a weight that is stored otherwise
				var err error
				if parts, err = m.weight(n, parts, splits[name], laid[0]); err != nil {
					return nil, fmt.Errorf("%v: %w", n, err)
				}
			}
			m.values[n] = [][]*array.Array{parts}
		case graph.Output:
			return m.outputs(n)
		default:
			if n.Op() == op.GetItem {
				k := n.Attrs().(op.GetItemAttrs).Index
				m.values[n] = m.values[n.Arg(0)][k : k+1]
				continue
			}
			w := m.plan.Work[at]
			at++
			if w.Node != n {
				return nil, fmt.Errorf("work %d is of %v, expected %v", at-1, w.Node, n)
			}
			if err := m.call(n, w); err != nil {
				return nil, fmt.Errorf("%v: %w", n, err)
			}
		}
	}
	return nil, fmt.Errorf("no output")
}

func (m *machine) outputs(n *graph.Node) (list []*array.Array, err error) {
	for i, a := range n.Args() {
		v := m.plan.Outputs[i]
		whole, err := m.join(m.values[a][0], v.Split, v.Dims)
		if err != nil {
			return nil, err
		}
		list = append(list, whole)
	}
	return list, nil
}

// layouts returns the layouts of a node's results.
func (m *machine) layouts(n *graph.Node) []shard.Split {
	if n.Op() == op.GetItem {
		k := n.Attrs().(op.GetItemAttrs).Index
		return m.layouts(n.Arg(0))[k : k+1]
	}
	if list, ok := shard.Laid.Get(n); ok {
		return list
	}
	for _, v := range append(slices.Clone(m.plan.Inputs), m.plan.Weights...) {
		if n.Opcode() == graph.Placeholder && v.Name == n.Name() || n.Opcode() == graph.GetAttr && v.Name == n.Target() {
			return []shard.Split{v.Split}
		}
	}
	count, _ := n.Op().NumResults(n.Attrs())
	list := make([]shard.Split, count)
	for i := range list {
		list[i] = make(shard.Split, len(members(n.Type())[i]))
	}
	return list
}

func members(t shape.Type) (list [][]int) {
	if t.Kind() != shape.Tuple {
		_, dims, _ := t.Concrete()
		return [][]int{dims}
	}
	for i := range t.Len() {
		_, dims, _ := t.Member(i).Concrete()
		list = append(list, dims)
	}
	return list
}

// layout is how a call has one of its tensors, by the cuts along which it is computed.
func layout(w shard.Work, rank int, dim func(c kernel.Cut) int) shard.Split {
	s := make(shard.Split, rank)
	for j, c := range w.Cuts {
		if d := dim(c); d >= 0 {
			s[d] = w.Axes[j]
		}
	}
	return s
}

func (m *machine) call(n *graph.Node, w shard.Work) error {
	all := m.plan.Mesh.Partitions()
	in := make([][]*array.Array, n.NumArgs())
	for i, a := range n.Args() {
		if a == nil {
			continue
		}
		have := m.layouts(a)[0]
		want := layout(w, len(have), func(c kernel.Cut) int { return c.In[i] })
		parts, err := m.brought(n, i, -1, m.values[a][0], have, want)
		if err != nil {
			return fmt.Errorf("operand %d: %w", i, err)
		}
		in[i] = parts
	}
	dims := members(n.Type())
	out := make([][]*array.Array, len(dims))
	for r := range out {
		out[r] = make([]*array.Array, all)
	}
	for p := range all {
		mine := make([]*array.Array, len(in))
		for i := range in {
			if in[i] != nil && !m.once(w, i, p) {
				mine[i] = in[i][p]
			}
		}
		results, err := m.step(n, w, mine, dims)
		if err != nil {
			return err
		}
		for r, a := range results {
			out[r][p] = a
		}
	}
	for r := range out {
		have := layout(w, len(dims[r]), func(c kernel.Cut) int { return c.Out[r] })
		parts, err := m.brought(n, -1, r, out[r], have, m.layouts(n)[r])
		if err != nil {
			return fmt.Errorf("result %d: %w", r, err)
		}
		out[r] = parts
	}
	m.values[n] = out
	return nil
}

// once reports whether a partition is not the first part of a cut of which that one alone is
// given an operand.
func (m *machine) once(w shard.Work, i, partition int) bool {
	for j, c := range w.Cuts {
		if c.In[i] == kernel.Once && m.at(partition, w.Axes[j]) > 0 {
			return true
		}
	}
	return false
}

// step runs a call on the parts of one partition.
func (m *machine) step(n *graph.Node, w shard.Work, in []*array.Array, dims [][]int) ([]*array.Array, error) {
	if len(w.Cuts) == 0 {
		return n.Op().Eval(&kernel.Workspace{}, n.Attrs(), in)
	}
	s, err := n.Op().Step(n.Attrs(), n.OperandTypes())
	if err != nil {
		return nil, err
	}
	var out []*array.Array
	for r, d := range dims {
		split := layout(w, len(d), func(c kernel.Cut) int { return c.Out[r] })
		t := n.Type()
		if t.Kind() == shape.Tuple {
			t = t.Member(r)
		}
		out = append(out, array.New(t.DType(), m.plan.Mesh.Local(d, split)...))
	}
	s.Run(&kernel.Workspace{}, out, in)
	return out, nil
}

// brought brings the parts of a tensor into another layout, by the exchanges of the plan.
func (m *machine) brought(n *graph.Node, in, out int, parts []*array.Array, have, want shard.Split) ([]*array.Array, error) {
	have = slices.Clone(have)
	var key string
	if in >= 0 {
		key = fmt.Sprintf("%p %v", parts[0], want)
		if known := m.kept[key]; known != nil {
			return known, nil
		}
	}
	take := func() {
		for d, axis := range want {
			if axis != "" && have[d] == "" && !slices.Contains(have, axis) {
				for p := range parts {
					parts[p] = part(parts[p], d, m.at(p, axis), m.size(axis))
				}
				have[d] = axis
			}
		}
	}
	parts = slices.Clone(parts)
	if in >= 0 {
		take()
	}
	for _, e := range m.plan.Exchanges {
		if e.Call == n && e.In == in && e.Out == out {
			if (e.Kind == shard.AllGather || e.Kind == shard.AllToAll) && out >= 0 {
				take()
			}
			parts = m.exchange(e, parts, have)
		}
	}
	take()
	for d, axis := range have { // along one partition there is nothing to exchange
		if axis != "" && want[d] == "" && m.size(axis) == 1 {
			have[d] = ""
		}
	}
	take()
	if !slices.Equal(have, want) {
		return nil, fmt.Errorf("lies as %v, is needed as %v, and the plan has no exchange for it", have, want)
	}
	if in >= 0 {
		m.kept[key] = parts
	}
	return parts, nil
}

// weight brings a stored weight to its uses; reads of it after the first have it already.
func (m *machine) weight(n *graph.Node, parts []*array.Array, have, want shard.Split) ([]*array.Array, error) {
	if known := m.kept[n.Target()]; known != nil {
		return known, nil
	}
	parts, err := m.brought(n, -1, 0, parts, have, want)
	m.kept[n.Target()] = parts
	return parts, err
}

// exchange does what an exchange says, and notes the new layout in have.
func (m *machine) exchange(e shard.Exchange, parts []*array.Array, have shard.Split) []*array.Array {
	next := make([]*array.Array, len(parts))
	n := m.size(e.Axis)
	for p := range parts {
		var group []*array.Array
		for _, q := range m.group(p, e.Axis) {
			group = append(group, parts[q])
		}
		mine := m.at(p, e.Axis)
		switch e.Kind {
		case shard.AllReduce:
			next[p] = combined(e.Combine, group)
		case shard.ReduceScatter:
			next[p] = part(combined(e.Combine, group), e.Dim, mine, n)
		case shard.AllGather:
			next[p] = joined(group, e.Dim)
		case shard.AllToAll:
			next[p] = part(joined(group, e.Dim), e.To, mine, n)
		}
	}
	switch e.Kind {
	case shard.ReduceScatter:
		have[e.Dim] = e.Axis
	case shard.AllGather:
		have[e.Dim] = ""
	case shard.AllToAll:
		have[e.Dim], have[e.To] = "", e.Axis
	}
	return next
}

func joined(group []*array.Array, dim int) *array.Array {
	dims := slices.Clone(group[0].Shape())
	w := dims[dim]
	dims[dim] *= len(group)
	out := array.New(group[0].DType(), dims...)
	for i, a := range group {
		array.Copy(array.Slice(out, dim, i*w, (i+1)*w, 1), a)
	}
	return out
}

// combined folds the values of parts element by element, in f64 or i64.
func combined(how string, group []*array.Array) *array.Array {
	out := array.New(group[0].DType(), group[0].Shape()...)
	for i := range out.Len() {
		if out.DType().IsFloat() {
			x := array.Float64At(group[0], i)
			for _, a := range group[1:] {
				x = fold(how, x, array.Float64At(a, i))
			}
			if how == "mean" {
				x /= float64(len(group))
			}
			array.SetFloat64At(out, i, x)
			continue
		}
		x := array.Int64At(group[0], i)
		for _, a := range group[1:] {
			x = fold(how, x, array.Int64At(a, i))
		}
		array.SetInt64At(out, i, x)
	}
	return out
}

func fold[T int64 | float64](how string, x, y T) T {
	switch how {
	case "sum", "mean":
		return x + y
	case "prod":
		return x * y
	case "max":
		if x != x || y != y { // NaN wins
			return x + y
		}
		return max(x, y)
	case "min":
		if x != x || y != y {
			return x + y
		}
		return min(x, y)
	}
	panic("unknown combination " + how)
}
