package work

import (
	"bytes"
	"context"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen/certificate"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/onnx"
)

// mostSteps is how many calls of a model with state are made up, one next to the other.
const mostSteps = 4

// interpreted runs the interpreter, on a state of its own for each sample, except where a
// sample continues another.
type interpreted struct {
	module *graph.Module
	state  *graph.Module
	before []*array.Array
}

func (r *interpreted) run(ctx context.Context, s *certificate.Sample) (out []*array.Array, err error) {
	if r.state == nil || !s.Continues {
		r.state = fresh(r.module)
	}
	out, err = interpret(ctx, r.state, s.Arrays(r.before...))
	r.before = copies(out)
	return out, err
}

// copies are arrays whose memory no later run takes.
func copies(list []*array.Array) []*array.Array {
	out := make([]*array.Array, len(list))
	for i, a := range list {
		if a != nil {
			out[i] = array.Clone(a)
		}
	}
	return out
}

// chained makes steps of samples that are: those with an input that is, to the bit, a result
// of the sample before. Results that say nothing, such as zeros, make no steps.
func chained(list []certificate.Sample, sets []onnx.Sample) []certificate.Sample {
	for k := 1; k < len(list); k++ {
		s := &list[k]
		for i := range s.Inputs {
			in := &s.Inputs[i]
			at := slices.IndexFunc(sets[k-1].Outputs, func(a *array.Array) bool { return telling(a) && identical(in.Value, a) })
			if at >= 0 {
				*in, s.Continues = certificate.Input{From: at + 1}, true
			}
		}
	}
	return list
}

// telling reports whether an array has different elements.
func telling(a *array.Array) bool {
	for i := 1; i < a.Len(); i++ {
		if array.Float64At(a, i) != array.Float64At(a, 0) {
			return true
		}
	}
	return false
}

func identical(a, b *array.Array) bool {
	return a.DType() == b.DType() && slices.Equal(a.Shape(), b.Shape()) &&
		bytes.Equal(array.Bytes(array.Contiguous(a)), array.Bytes(array.Contiguous(b)))
}

// carried says for each input which result the next call takes for it, 1 for the first, and 0
// for data. Inputs and results of a type are taken for a state where there are as many of both
// in one order, and there are other inputs, which are data.
func (c *captured) carried() []int {
	g := c.gm.Graph
	of := make([]int, len(g.Inputs()))
	data := false
	for i, n := range g.Inputs() {
		place, inputs := 0, 0
		for k, other := range g.Inputs() {
			if other.Type().Same(n.Type()) {
				inputs++
				if k < i {
					place++
				}
			}
		}
		var results []int
		for k, a := range output(g).Args() {
			if a != nil && a.Type().Same(n.Type()) {
				results = append(results, k+1)
			}
		}
		if n.Default() == nil && len(results) == inputs {
			of[i] = results[place]
			continue
		}
		data = true
	}
	if !data {
		clear(of)
	}
	return of
}

// steps adds calls next to that of a made-up sample, with data of their own, where the model has
// state: parameters that calls write, or results that are inputs of the next call.
func (c *captured) steps(ctx context.Context, s certificate.Sample) ([]certificate.Sample, error) {
	list := []certificate.Sample{s}
	from := c.carried()
	writes := remembers(c.gm)
	if !writes && !slices.ContainsFunc(from, func(k int) bool { return k > 0 }) {
		return list, nil
	}
	m := c.gm
	if c.origin != nil {
		m = c.origin
	}
	r := interpreted{module: m}
	if _, err := r.run(ctx, &s); err != nil {
		return nil, err
	}
	for k := 1; k < mostSteps; k++ {
		next := certificate.Sample{Name: s.Name + ", call " + strconv.Itoa(k+1), Continues: true}
		for i, in := range s.Inputs {
			if from[i] > 0 {
				next.Inputs = append(next.Inputs, certificate.Input{From: from[i]})
				continue
			}
			next.Inputs = append(next.Inputs, certificate.Made(in.Value.DType(), in.Value.Shape(), in.Seed+uint64(k*len(s.Inputs))))
		}
		out, err := r.run(ctx, &next)
		if err != nil {
			break // a state may count, and end
		}
		for _, a := range out {
			next.Outputs = append(next.Outputs, certificate.Expect(a))
		}
		list = append(list, next)
	}
	return list, nil
}
