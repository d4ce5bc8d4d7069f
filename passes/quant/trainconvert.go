package quant

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/tensor"
)

// convert writes the quantised form by what training has learned.
func (t *trainee) convert() error {
	t.findPlaces()
	k := &converter{resolution: t.resolution, ctx: t.ctx, at: map[*ranged]*parameter{}, stored: map[string]stored{},
		dynamic: map[*graph.Node]*graph.Node{}, learned: map[*weight]*steps{}}
	var errs diag.List
	for _, q := range t.order {
		if q != q.lead {
			continue
		}
		p := t.places[q]
		k.at[q] = &parameter{fixed: p.fixed}
		if p.fixed {
			continue
		}
		in, err := t.stateTensors(q.node, p.key, p.seen)
		if err != nil {
			errs.Add(err)
			continue
		}
		scale, zero := p.learned(q, in, 1)
		k.at[q].learned = stepsOf(scale, zero)
	}
	keys := map[string]string{}
	for _, u := range t.units {
		for _, w := range u.weights {
			if keys[w.form()] == "" {
				keys[w.form()] = keyOf(u, w)
			}
			key := keys[w.form()]
			in, err := t.stateTensors(u.head, key, []string{key + ".least", key + ".most"})
			if err != nil {
				errs.Add(err)
				continue
			}
			k.learned[w] = stepsOf(w.learned(in, 1))
		}
	}
	if err := errs.Err(); err != nil {
		return err
	}
	k.rewrite()
	t.module.DropUnused()
	return nil
}

// stateTensors returns the state that training has left for a value or weight.
func (t *trainee) stateTensors(n *graph.Node, key string, seen []string) ([]*tensor.Tensor, error) {
	var in []*tensor.Tensor
	for _, s := range seen {
		p := t.module.Param(statePath + "." + s)
		if p == nil || p.Value == nil {
			return nil, n.Error(NotPrepared, "training has left no "+strconv.Quote(statePath+"."+s)).
				WithHint("train with the same model, configuration and backend; the module is to have the state of the graph that was trained")
		}
		in = append(in, tensor.New(p.Value))
		if lo := array.Float64At(p.Value, 0); math.IsInf(lo, 1) {
			return nil, n.Error(Uncalibrated, "observer "+strconv.Quote(p.Path)+" has seen nothing").WithHint("train for a step and more before")
		}
	}
	if p := t.module.Param(statePath + "." + key + ".delta"); p != nil {
		in = append(in, tensor.New(p.Value))
	}
	return in, nil
}

// stepsOf are computed steps.
func stepsOf(scale, zero *tensor.Tensor) *steps {
	s, z := array.Contiguous(scale.Array()), zero.Array()
	out := &steps{scales: array.Data[float32](array.Clone(s)), zeros: make([]int, s.Len())}
	for i := range out.zeros {
		out.zeros[i] = int(array.Float64At(z, i))
	}
	return out
}
