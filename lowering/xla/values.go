package xla

import (
	"context"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
	"github.com/gofx-dev/gofx/shape"
)

var _ lowering.Resident = (*Executable)(nil)

// resident is a tensor on devices of a client.
type resident struct {
	*placed
	typ shape.Type
}

// Type implements lowering.Value.
func (v *resident) Type() shape.Type { return v.typ }

// Array implements lowering.Value.
func (v *resident) Array(ctx context.Context) (*array.Array, error) {
	_, dims, _ := v.typ.Concrete() // a value has sizes
	return v.get(ctx, dims)
}

// Close implements lowering.Value.
func (v *resident) Close() error { return v.close() }

// Put implements lowering.Resident. The value lies as the first input of the newest program does that
// takes such arrays: in parts where there is a layout, with room where there are bounds. What lies in
// another way than a run needs it crosses twice.
func (e *Executable) Put(ctx context.Context, a *array.Array) (lowering.Value, error) {
	if a == nil {
		return nil, diag.New(interp.MissingInput, "there is no array to copy to the device")
	}
	if err := e.runs.Begin(); err != nil {
		return nil, err
	}
	defer e.runs.End()
	to, err := e.placeOf(shape.TypeOf(a))
	if err != nil {
		return nil, err
	}
	p, err := to.put(ctx, e.runtime.client, a)
	if err != nil {
		return nil, err
	}
	return &resident{p, shape.TypeOf(a)}, nil
}

// placeOf returns where a tensor is put of which no more is known than its type.
func (e *Executable) placeOf(t shape.Type) (place, error) {
	if v, ok := e.sized.Newest(); ok && v != nil && v.program != nil { // it may have failed just now
		for i, a := range v.program.Inputs {
			if a.takes(t) {
				return v.args[i], nil
			}
		}
	}
	_, dims, _ := t.Concrete()
	return newPlace(e.devices[:1], dims, "")
}

// RunValues implements lowering.Resident. Values end with the client that they are on, which
// is that of the Runtime: where targets share that of their plugin, it ends with the last
// executable.
func (e *Executable) RunValues(ctx context.Context, in []lowering.Value) ([]lowering.Value, error) {
	results, err := e.entered(ctx, in)
	for _, i := range e.opts.Given() {
		if i < len(in) && in[i] != nil {
			if e := in[i].Close(); err == nil {
				err = e
			}
		}
	}
	if err != nil {
		for _, r := range results {
			_ = r.close() // the first error says more
		}
		return nil, err
	}
	out := make([]lowering.Value, len(results))
	for i, r := range results {
		out[i] = r
	}
	return out, nil
}

// entered is run, which Close waits for.
func (e *Executable) entered(ctx context.Context, in []lowering.Value) ([]*resident, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if err := e.runs.Begin(); err != nil {
		return nil, err
	}
	defer e.runs.End()
	return e.run(ctx, in)
}

// onDevice returns an operand at a place, and whether the run is to close it.
func (e *Executable) onDevice(ctx context.Context, v lowering.Value, at place) (p *placed, ours bool, err error) {
	if r, ok := v.(*resident); ok && r.client == e.runtime.client && r.key == at.key {
		return r.placed, false, nil
	}
	a, err := v.Array(ctx)
	if err != nil {
		return nil, false, err
	}
	p, err = at.put(ctx, e.runtime.client, a)
	return p, true, err
}

// donated lists the arguments that may be taken: those that options name, except what is
// another argument, too.
func (e *Executable) donated(args []*placed) (list []int) {
	has := func(p *placed) func(*placed) bool {
		return func(q *placed) bool {
			return slices.ContainsFunc(p.buffers, func(b *pjrt.Buffer) bool { return slices.Contains(q.buffers, b) })
		}
	}
	for _, i := range e.opts.Given() {
		if again := has(args[i]); !slices.ContainsFunc(args[:i], again) && !slices.ContainsFunc(args[i+1:], again) {
			list = append(list, i)
		}
	}
	return list
}
