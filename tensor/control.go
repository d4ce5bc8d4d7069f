package tensor

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Cond returns then(in...) when pred (one bool element) is true, else
// els(in...). Both must return the same number of tensors of the same element types;
// otherwise it panics with RegionMismatch. Under a trace both become regions of a cond
// node. At once, one of them is run; the other one is called for the types of its
// results: no operator computes and no tensor is written in it, and it is given up,
// unchecked, where it needs values. Go code of both runs either way. What they use
// besides their arguments is captured. Lists are copied: code may write to the one that it gives, and to the one that it gets.
func Cond(pred *Tensor, then, els func(in []*Tensor) []*Tensor, in ...*Tensor) []*Tensor {
	return Flow{}.Cond(pred, then, els, in)
}

// While repeats body on the carried tensors as long as cond (one bool element)
// is true, and returns the last carried ones. Body returns as many as it is given, of the
// same types, sizes included; otherwise While panics with RegionMismatch. Under a trace
// it becomes a node when a carried tensor is traced, or as soon as the result of cond is;
// rounds before are run. What the functions use besides their arguments is captured. When
// no round is run, body is called for the types of its results, as a branch of Cond is.
func While(cond func(in []*Tensor) *Tensor, body func(in []*Tensor) []*Tensor, in ...*Tensor) []*Tensor {
	return Flow{}.While(cond, body, in)
}

// WhileAtMost is While with a bound: it panics with TooManyTrips when cond is true after so
// many rounds, one or more. The gradient of a loop keeps what the loop carries of each round,
// in buffers of that many rows, and is not made without a bound.
func WhileAtMost(trips int, cond func(in []*Tensor) *Tensor, body func(in []*Tensor) []*Tensor, in ...*Tensor) []*Tensor {
	if trips < 1 {
		panic((&diag.Error{Code: op.BadAttr, Op: "while", Msg: "at most " + strconv.Itoa(trips) + " trips, expected 1 or more"}).At(diag.Here()))
	}
	return Flow{MaxTrips: trips}.While(cond, body, in)
}

// Scan runs body once for every index of axis 0 of the sequences, passing the
// carried tensors along; it returns the last carried ones and the other results, as
// they are when their step ends, stacked along a new axis 0. Carried tensors keep their
// number and types, as in While. Under a trace it becomes a
// node when a carried tensor or a sequence is traced; what body uses besides its
// arguments is captured. For empty sequences body runs once, to learn the types of
// results, which have no elements then: its calls compute nothing and write nothing. A body
// that needs values for that, as by Item, runs on zeros: what it writes to tensors other than
// its arguments is written. Such a body cannot be captured.
func Scan(body func(carry, slices []*Tensor) (next, out []*Tensor), carry, seqs []*Tensor) (last, stacked []*Tensor) {
	return Flow{}.Scan(body, carry, seqs)
}

// Flow runs control flow. Cond, While and Scan are those of the zero Flow. For engines only.
type Flow struct {
	// Checked tells that the functions are regions of a graph, whose lint has compared
	// them: they are not compared again, and sizes that the graph does not know may change.
	Checked bool
	// MaxTrips is the most rounds that While runs; 0 does not bound them.
	MaxTrips int
	// Plain runs the functions as Go code whichever engine the operands have: for a Brancher that does not record them.
	Plain bool
}

// brancher returns the engine of operands that records control flow, nil where the functions run as Go code.
func (f Flow) brancher(what string, in []*Tensor) Brancher {
	if e, ok := engineOf(what, nil, in).(Brancher); ok && !f.Plain {
		return e
	}
	return nil
}

// Cond is the function Cond.
func (f Flow) Cond(pred *Tensor, then, els func(in []*Tensor) []*Tensor, in []*Tensor) []*Tensor {
	if r := f.brancher("cond", append([]*Tensor{pred}, in...)); r != nil {
		return r.Cond(pred, then, els, in)
	}
	f.given("cond", in)
	in = copyOf(in)
	if pred.Bool() {
		types, known := f.unrun(true, els, in)
		out := then(in)
		if known {
			agree(typesOf(out), types)
		}
		return copyOf(out)
	}
	types, known := f.unrun(true, then, in)
	out := els(in)
	if known {
		agree(types, typesOf(out))
	}
	return copyOf(out)
}

// copyOf copies a list that code of a program has, or may be given: a node has lists of its own, and so has control flow that is run.
func copyOf(list []*Tensor) []*Tensor {
	own := make([]*Tensor, len(list))
	copy(own, list)
	return own
}

// While is the function While.
func (f Flow) While(cond func(in []*Tensor) *Tensor, body func(in []*Tensor) []*Tensor, in []*Tensor) []*Tensor {
	if r := f.brancher("while", in); r != nil {
		return r.While(f.MaxTrips, cond, body, in)
	}
	f.given("while", in)
	if len(in) == 0 && !f.Checked {
		panic(unfit("while", "the loop carries no tensor, expected one or more").
			WithHint("pass what changes from round to round, and return it from the body"))
	}
	in = copyOf(in)
	types := typesOf(in)
	for round := 0; ; round++ {
		more := cond(copyOf(in))
		if r := f.brancher("while", []*Tensor{more}); r != nil {
			return r.While(f.left(round), cond, body, in)
		}
		if more.Bool() && f.MaxTrips > 0 && round == f.MaxTrips {
			panic(f.tooMany())
		}
		if !more.Bool() {
			if next, known := f.unrun(round == 0, body, in); known {
				keepTypes("while", types, next)
			}
			return copyOf(in)
		}
		in = body(in)
		f.carried("while", types, in)
	}
}

// left is how many rounds may follow so many.
func (f Flow) left(rounds int) int {
	if f.MaxTrips == 0 {
		return 0
	}
	if rounds == f.MaxTrips {
		panic(f.tooMany())
	}
	return f.MaxTrips - rounds
}

func (f Flow) tooMany() *diag.Error {
	e := &diag.Error{Code: TooManyTrips, Op: "while", Msg: "the loop goes on after " + strconv.Itoa(f.MaxTrips) + " trips, the most that it says it makes",
		Hint: "raise the bound, or end the loop earlier"}
	if f.Checked {
		return e // the engine knows where
	}
	return e.At(diag.Here())
}

// Scan is the function Scan.
func (f Flow) Scan(body func(carry, slices []*Tensor) (next, out []*Tensor), carry, seqs []*Tensor) (last, stacked []*Tensor) {
	all := append(append([]*Tensor(nil), carry...), seqs...)
	if r := f.brancher("scan", all); r != nil {
		return r.Scan(body, carry, seqs)
	}
	f.given("scan", all)
	if len(seqs) == 0 {
		panic((&diag.Error{Code: NoSequence, Op: "scan", Msg: "there is no sequence to run over"}).At(diag.Here()))
	}
	steps := seqs[0].Dim(0)
	for k, s := range seqs {
		if n := s.Dim(0); n != steps {
			panic((&diag.Error{Code: op.SizeMismatch, Op: "scan", Msg: "sequence " + strconv.Itoa(k) + " has " + strconv.Itoa(n) +
				" slices, expected as many as the first, " + strconv.Itoa(steps)}).At(diag.Here()))
		}
	}
	types := typesOf(carry)
	step := func(carry, slices []*Tensor) (next, out []*Tensor) {
		next, out = body(carry, slices)
		f.carried("scan", types, next)
		present(out, len(carry))
		return next, out
	}
	if steps == 0 {
		last = copyOf(carry)
		return last, f.noSteps(step, carry, seqs)
	}
	last, stacked = scan(step, copyOf(carry), seqs, steps)
	return copyOf(last), stacked
}

// scan runs the steps, of which there is one or more.
func scan(step func(carry, slices []*Tensor) (next, out []*Tensor), carry, seqs []*Tensor, steps int) (last, stacked []*Tensor) {
	var columns [][]*Tensor
	for i := range steps {
		slices := make([]*Tensor, len(seqs))
		for k, s := range seqs {
			slices[k] = s.Select(0, i)
		}
		var out []*Tensor
		carry, out = step(carry, slices)
		if i == 0 {
			columns = make([][]*Tensor, len(out))
		}
		if len(out) != len(columns) {
			panic((&diag.Error{Code: op.OperandCount, Op: "scan", Msg: "step " + strconv.Itoa(i) + " returns " + strconv.Itoa(len(out)) +
				" results, expected as many as the first, " + strconv.Itoa(len(columns))}).At(diag.Here()))
		}
		for k, t := range out {
			columns[k] = append(columns[k], t.Clone()) // a later step may write to it
		}
	}
	for _, c := range columns {
		stacked = append(stacked, Stack(c, 0))
	}
	return carry, stacked
}

// noSteps returns what a scan over empty sequences stacks: tensors without
// elements. Their types are those of a step on zeros and on copies of the carried
// values, which is run only where its types do not follow from theirs.
func (f Flow) noSteps(step func(carry, slices []*Tensor) (next, out []*Tensor), carry, seqs []*Tensor) []*Tensor {
	slices := make([]*Tensor, len(seqs))
	for k, s := range seqs {
		a := s.Array()
		slices[k] = New(array.New(a.DType(), a.Shape()[1:]...))
	}
	trial := make([]*Tensor, len(carry))
	for k, t := range carry {
		trial[k] = t.Clone() // a body may write to it
	}
	types, known := f.unrun(true, func(in []*Tensor) []*Tensor {
		_, out := step(in[:len(carry):len(carry)], in[len(carry):])
		return out
	}, append(trial, slices...))
	if stacked := empties(types); known && len(stacked) == len(types) {
		return stacked
	}
	_, out := step(trial, slices)
	types = types[:0]
	for _, x := range out {
		types = append(types, shape.TypeOf(x.Array()))
	}
	return empties(types)
}

// empties returns stacks of no tensors of types, up to the first one whose sizes are not known.
func empties(types []shape.Type) (list []*Tensor) {
	for _, t := range types {
		d, dims, ok := t.Concrete()
		if !ok {
			break
		}
		list = append(list, New(array.New(d, append([]int{0}, dims...)...)))
	}
	return list
}
