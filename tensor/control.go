package tensor

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
)

// Cond returns then(in...) when pred (one bool element) is true, else
// els(in...). Under a trace both become regions of a cond node; both must return
// the same number of tensors of the same types. What they use besides their
// arguments is captured.
func Cond(pred *Tensor, then, els func(in []*Tensor) []*Tensor, in ...*Tensor) []*Tensor {
	if r, ok := engineOf("cond", nil, append([]*Tensor{pred}, in...)).(Capturer); ok {
		return r.Cond(pred, then, els, in)
	}
	if pred.Bool() {
		return then(in)
	}
	return els(in)
}

// While repeats body on the carried tensors as long as cond (one bool element)
// is true, and returns the last carried ones. Their types must not change. Under a trace
// it becomes a node when a carried tensor is traced, or as soon as what cond returns is;
// rounds before are run. What the functions use besides their arguments is captured.
func While(cond func(in []*Tensor) *Tensor, body func(in []*Tensor) []*Tensor, in ...*Tensor) []*Tensor {
	if r, ok := engineOf("while", nil, in).(Capturer); ok {
		return r.While(cond, body, in)
	}
	for {
		more := cond(in)
		if r, ok := engineOf("while", nil, []*Tensor{more}).(Capturer); ok {
			return r.While(cond, body, in)
		}
		if !more.Bool() {
			return in
		}
		in = body(in)
	}
}

// Scan runs body once for every index of axis 0 of the sequences, passing the
// carried tensors along; it returns the last carried ones and the other results, as
// they are when their step ends, stacked along a new axis 0. Under a trace it becomes a
// node when a carried tensor or a sequence is traced; what body uses besides its
// arguments is captured. For empty sequences body runs once on zeros, to
// learn the types of results that have no elements then: a body that writes to tensors
// other than its arguments does so in that run, too, unlike one that was captured.
func Scan(body func(carry, slices []*Tensor) (next, out []*Tensor), carry, seqs []*Tensor) (last, stacked []*Tensor) {
	all := append(append([]*Tensor(nil), carry...), seqs...)
	if r, ok := engineOf("scan", nil, all).(Capturer); ok {
		return r.Scan(body, carry, seqs)
	}
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
	if steps == 0 {
		return carry, noSteps(body, carry, seqs)
	}
	var columns [][]*Tensor
	for i := range steps {
		slices := make([]*Tensor, len(seqs))
		for k, s := range seqs {
			slices[k] = s.Select(0, i)
		}
		var out []*Tensor
		carry, out = body(carry, slices)
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
// values, which is run for that alone.
func noSteps(body func(carry, slices []*Tensor) (next, out []*Tensor), carry, seqs []*Tensor) []*Tensor {
	slices := make([]*Tensor, len(seqs))
	for k, s := range seqs {
		a := s.Array()
		slices[k] = New(array.New(a.DType(), a.Shape()[1:]...))
	}
	trial := make([]*Tensor, len(carry))
	for k, t := range carry {
		trial[k] = t.Clone() // a body may write to it
	}
	_, out := body(trial, slices)
	stacked := make([]*Tensor, len(out))
	for k, t := range out {
		a := t.Array()
		stacked[k] = New(array.New(a.DType(), append([]int{0}, a.Shape()...)...))
	}
	return stacked
}
