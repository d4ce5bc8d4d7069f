package tensor

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// Cond returns then(in...) when pred (one bool element) is true, else
// els(in...). Under a trace both become regions of a cond node; both must return
// the same number of tensors of the same types, and use no traced value but
// their arguments.
func Cond(pred *Tensor, then, els func(in []*Tensor) []*Tensor, in ...*Tensor) []*Tensor {
	if r, ok := engineOf("cond", nil, append([]*Tensor{pred}, in...)).(Regioner); ok {
		return r.Cond(pred, then, els, in)
	}
	if pred.Bool() {
		return then(in)
	}
	return els(in)
}

// While repeats body on the carried tensors as long as cond (one bool element)
// is true, and returns the last carried ones. Their types must not change.
func While(cond func(in []*Tensor) *Tensor, body func(in []*Tensor) []*Tensor, in ...*Tensor) []*Tensor {
	if r, ok := engineOf("while", nil, in).(Regioner); ok {
		return r.While(cond, body, in)
	}
	for cond(in).Bool() {
		in = body(in)
	}
	return in
}

// Scan runs body once for every index of axis 0 of the sequences, passing the
// carried tensors along; it returns the last carried ones and the other results
// stacked along a new axis 0. An empty sequence gives results of size 0 only
// when body returns no stacked ones.
func Scan(body func(carry, slices []*Tensor) (next, out []*Tensor), carry, seqs []*Tensor) (last, stacked []*Tensor) {
	all := append(append([]*Tensor(nil), carry...), seqs...)
	if r, ok := engineOf("scan", nil, all).(Regioner); ok {
		return r.Scan(body, carry, seqs)
	}
	if len(seqs) == 0 {
		panic((&diag.Error{Code: NoSequence, Op: "scan", Msg: "there is no sequence to run over"}).At(diag.Here()))
	}
	steps := seqs[0].Dim(0)
	var rows [][]*Tensor
	for i := range steps {
		slices := make([]*Tensor, len(seqs))
		for k, s := range seqs {
			slices[k] = New(array.Select(s.c.val.(*array.Array), 0, i))
		}
		var out []*Tensor
		carry, out = body(carry, slices)
		rows = append(rows, out)
	}
	if steps == 0 {
		return carry, nil
	}
	for k := range rows[0] {
		column := make([]*array.Array, steps)
		for i := range rows {
			column[i] = rows[i][k].observe("Scan")
		}
		stacked = append(stacked, New(stackArrays(column)))
	}
	return carry, stacked
}

// NoSequence is the code of a scan without sequences.
const NoSequence diag.Code = "FX2026"

func stackArrays(a []*array.Array) *array.Array {
	out := array.New(a[0].DType(), append([]int{len(a)}, a[0].Shape()...)...)
	for i := range a {
		array.Copy(array.Select(out, 0, i), a[i])
	}
	return out
}
