package compile

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// rolling makes the graph of a program: code that makes its calls, with tensor.Scan for its loops, is traced.
type rolling struct {
	p      *program
	counts []count // see opened.counts
	rounds []rounds
	of     []int // the rounds of each loop, by number
	sizes  *sizes
	data   []*array.Array // the data tensors of the call, for their types

	reads  []int // numbers of data tensors, and ^n for rounds n
	leaves []*tensor.Tensor
	inputs []*tensor.Tensor // numbers of rounds
	made   [][]*tensor.Tensor
	loops  []run
}

// run is a loop that was traced.
type run struct {
	last    map[ref]*tensor.Tensor
	stacked map[ref]*tensor.Tensor
}

// builder makes calls of tensors.
type builder struct{}

// Call implements op.Builder.
func (builder) Call(o *op.Op, attrs any, in ...op.Value) op.Value {
	args := make([]*tensor.Tensor, len(in))
	for i, v := range in {
		if v != nil {
			args[i] = v.(*tensor.Tensor)
		}
	}
	if out := tensor.Apply(o, attrs, args...); len(out) > 1 {
		return tuple(out)
	} else {
		return out[0]
	}
}

// Item implements op.Builder.
func (builder) Item(t op.Value, i int) op.Value { return t.(tuple)[i] }

// tuple is the results of a call.
type tuple []*tensor.Tensor

// Type implements op.Value.
func (t tuple) Type() shape.Type {
	list := make([]shape.Type, len(t))
	for i, x := range t {
		list[i] = x.Type()
	}
	return shape.TupleType(list...)
}

// rounds are an input of a graph: the numbers of the rounds of a loop.
type rounds struct {
	count int // of opened.counts
	first int // the first number
}

var errRows = errors.New("an operator takes a list whose length it has to know")

// graph traces the program. The inputs of the module are reads.
func (r *rolling) graph(ctx context.Context) (m *graph.Module, err error) {
	defer diag.Catch(&err)
	var args []any
	for _, l := range r.p.leaves {
		if l.Tensor >= 0 {
			r.reads = append(r.reads, l.Tensor)
			args = append(args, tracer.Meta(r.typeOf(l.Tensor)))
		}
	}
	for n := range r.rounds {
		r.reads = append(r.reads, ^n)
		args = append(args, tracer.Meta(shape.TensorType(array.I64, shape.Of(r.size(n)))))
	}
	t := tracer.Tracer{Name: "rolled", Args: args, IsLeaf: func(any, string, bool) bool { return false }}
	failed := error(nil)
	m, err = t.Trace(ctx, func(in ...*tensor.Tensor) []*tensor.Tensor {
		out, err := r.run(in)
		failed = err
		return out
	})
	if err == nil {
		err = failed
	}
	return m, err
}

// size is how many rounds there are: the symbol of a size, or one of its own.
func (r *rolling) size(n int) shape.Dim {
	if y := r.counts[r.rounds[n].count].symbol; y > 0 && r.rounds[n].first == 0 {
		return r.symbol(y)
	}
	return shape.Sym("n" + strconv.Itoa(n))
}

func (r *rolling) symbol(y int) shape.Dim { return shape.Sym("s" + strconv.Itoa(y-1)) }

// typeOf is the type of a data tensor, with symbols.
func (r *rolling) typeOf(n int) shape.Type {
	t := shape.TypeOf(r.data[n])
	dims := t.Dims().Slice()
	if len(r.sizes.of) > 0 {
		for axis, y := range r.sizes.of[n] {
			if y > 0 {
				dims[axis] = r.symbol(y)
			}
		}
	}
	return t.WithDims(shape.Of(dims...))
}

// run makes the calls.
func (r *rolling) run(in []*tensor.Tensor) (out []*tensor.Tensor, err error) {
	r.leaves, r.made, r.loops, r.inputs = nil, make([][]*tensor.Tensor, len(r.p.steps)), make([]run, len(r.p.loops)), nil
	for _, l := range r.p.leaves {
		if l.Tensor < 0 {
			r.leaves = append(r.leaves, tensor.Owned(l.Array))
			continue
		}
		r.leaves = append(r.leaves, in[0])
		in = in[1:]
	}
	r.inputs = in
	loop := 0
	for i := 0; i <= len(r.p.steps); i++ {
		for ; loop < len(r.p.loops) && r.p.loops[loop].before == i; loop++ {
			r.scan(loop)
		}
		if i == len(r.p.steps) {
			break
		}
		s := &r.p.steps[i]
		if s.all >= 0 {
			if r.made[i], err = r.joined(s); err != nil {
				return nil, err
			}
			continue
		}
		r.made[i] = tensor.Apply(s.call.Op, s.call.Attrs, r.args(s, nil)...)
	}
	for _, v := range r.p.results {
		out = append(out, r.value(v, nil))
	}
	return out, nil
}

// body is a round of a loop that is traced.
type body struct {
	carry []*tensor.Tensor
	made  [][]*tensor.Tensor
}

func item(list []*tensor.Tensor, v ref) *tensor.Tensor { return list[max(v.item-1, 0)] }

// value is the tensor of a ref.
func (r *rolling) value(v ref, b *body) *tensor.Tensor {
	switch v.kind {
	case leafRef:
		return r.leaves[v.n]
	case stepRef:
		return item(r.made[v.n], v)
	case roundRef:
		return item(b.made[v.step], v)
	case carryRef:
		return b.carry[v.n]
	case lastRef:
		return r.loops[v.n].last[ref{kind: roundRef, step: v.step, item: v.item}]
	case eachRef:
		return r.loops[v.n].stacked[ref{kind: roundRef, step: v.step, item: v.item}]
	}
	return nil
}

func (r *rolling) args(s *step, b *body) []*tensor.Tensor {
	list := make([]*tensor.Tensor, len(s.args))
	for i, a := range s.args {
		list[i] = r.value(a, b)
	}
	return list
}

// joined calls an operator on a list that a loop has made, with tensors before and after.
func (r *rolling) joined(s *step) ([]*tensor.Tensor, error) {
	if s.call.Op.Rows == nil {
		return nil, errRows
	}
	rows := r.args(s, nil)
	for i := range rows {
		if i != s.all {
			rows[i] = rows[i].Unsqueeze(0)
		}
	}
	all := rows[0]
	if len(rows) > 1 {
		all = tensor.Cat(rows, 0)
	}
	return []*tensor.Tensor{s.call.Op.Rows(builder{}, s.call.Attrs, all).(*tensor.Tensor)}, nil
}

// scan makes the loop.
func (r *rolling) scan(n int) {
	l := &r.p.loops[n]
	first := make([]*tensor.Tensor, len(l.carry))
	for i, c := range l.carry {
		first[i] = r.value(c.first, nil)
	}
	kept := r.kept(n)
	seqs, of := r.sequences(n)
	last, stacked := tensor.Scan(func(carry, slices []*tensor.Tensor) (next, out []*tensor.Tensor) {
		b := &body{carry: carry, made: make([][]*tensor.Tensor, len(l.steps))}
		for i := range l.steps {
			s := &l.steps[i]
			if k, ok := of[i]; ok {
				b.made[i] = []*tensor.Tensor{slices[k]}
				continue
			}
			if s.at == nil {
				b.made[i] = tensor.Apply(s.call.Op, s.call.Attrs, r.args(s, b)...)
				continue
			}
			in := make([]op.Value, len(s.args))
			for k, x := range r.args(s, b) {
				if x != nil {
					in[k] = x
				}
			}
			b.made[i] = []*tensor.Tensor{s.at.Call(builder{}, in, []op.Value{slices[len(seqs)-1]}).(*tensor.Tensor)}
		}
		for _, c := range l.carry {
			next = append(next, r.value(c.step, b))
		}
		for _, v := range kept {
			out = append(out, r.value(v, b))
		}
		return next, out
	}, first, seqs)
	r.loops[n] = run{map[ref]*tensor.Tensor{}, map[ref]*tensor.Tensor{}}
	for i, c := range l.carry {
		r.loops[n].last[c.step] = last[i]
	}
	for i, v := range kept {
		r.loops[n].stacked[v] = stacked[i]
		if r.loops[n].last[v] == nil {
			r.loops[n].last[v] = stacked[i].Select(0, -1)
		}
	}
}

// sequences are what a scan takes the slices of: tensors of before the loop that its rounds take the slice of their number from, and the numbers, last,
// where a round does anything else with its own, or takes no slice. of has the sequences of steps.
func (r *rolling) sequences(n int) (seqs []*tensor.Tensor, of map[int]int) {
	l := &r.p.loops[n]
	numbers := r.inputs[r.of[n]]
	known, rest := map[sequence]int{}, false
	of = map[int]int{}
	for i := range l.steps {
		s := &l.steps[i]
		if s.at == nil {
			continue
		}
		if s.call.Op.Sliced == nil || s.args[0].kind == roundRef || s.args[0].kind == carryRef {
			rest = true
			continue
		}
		x := r.value(s.args[0], nil)
		axis, err := op.Axis(s.call.Op.Sliced(s.call.Attrs), x.Rank())
		if err != nil {
			rest = true
			continue
		}
		k, met := known[sequence{s.args[0], axis}]
		if !met {
			k = len(seqs)
			known[sequence{s.args[0], axis}] = k
			seqs = append(seqs, rowsOf(x, axis, l.first, numbers))
		}
		of[i] = k
	}
	if rest || len(seqs) == 0 {
		seqs = append(seqs, numbers)
	}
	return seqs, of
}

// sequence is an axis of a tensor of before a loop.
type sequence struct {
	x    ref
	axis int
}

// rowsOf are the slices of a tensor along an axis, in order, as many as there are numbers, from the first one on.
func rowsOf(x *tensor.Tensor, axis, first int, numbers *tensor.Tensor) *tensor.Tensor {
	if n := numbers.Size(0); first > 0 || !x.Size(axis).Dim().Same(n.Dim()) {
		x = x.Narrow(axis, first, n)
	}
	if axis > 0 {
		x = x.Movedim(axis, 0)
	}
	return x
}

// kept lists what code after a loop takes of all its rounds, and what it takes of the last one and no round hands on.
func (r *rolling) kept(n int) (list []ref) {
	add := func(v ref) {
		own := ref{kind: roundRef, step: v.step, item: v.item}
		if v.n != n || v.kind != eachRef && (v.kind != lastRef || slices.ContainsFunc(r.p.loops[n].carry, func(c carried) bool { return c.step == own })) || slices.Contains(list, own) {
			return
		}
		list = append(list, own)
	}
	all := [][]step{r.p.steps}
	for i := range r.p.loops {
		all = append(all, r.p.loops[i].steps)
		for _, c := range r.p.loops[i].carry {
			add(c.first)
		}
	}
	for _, steps := range all {
		for i := range steps {
			for _, a := range steps[i].args {
				add(a)
			}
		}
	}
	for _, v := range r.p.results {
		add(v)
	}
	return list
}

// sameProgram reports whether two captures have made the calls of one program.
func sameProgram(a, b *program) bool {
	sameStep := func(x, y step) bool {
		if x.call.Op != y.call.Op || x.call.Index != y.call.Index || x.all != y.all || x.of != y.of || (x.at == nil) != (y.at == nil) || !slices.Equal(x.args, y.args) {
			return false
		}
		if x.at != nil {
			return x.call.Op.Codec().Equal(x.at.Attrs, y.at.Attrs)
		}
		return x.call.Op.Codec().Equal(x.call.Attrs, y.call.Attrs)
	}
	return slices.EqualFunc(a.leaves, b.leaves, func(x, y lazy.CapturedLeaf) bool { return sameLeaf(x, y) }) &&
		slices.EqualFunc(a.steps, b.steps, sameStep) && slices.Equal(a.results, b.results) &&
		slices.EqualFunc(a.loops, b.loops, func(x, y rolledLoop) bool {
			return x.mark == y.mark && x.before == y.before && x.first == y.first && slices.EqualFunc(x.steps, y.steps, sameStep) && slices.Equal(x.carry, y.carry)
		})
}
