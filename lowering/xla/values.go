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

// resident is a tensor on the first device of a client.
type resident struct {
	client *pjrt.Client
	buffer *pjrt.Buffer
}

// Type implements lowering.Value.
func (v *resident) Type() shape.Type {
	return shape.TensorType(v.buffer.DType(), shape.Ints(v.buffer.Shape()...))
}

// Array implements lowering.Value.
func (v *resident) Array(ctx context.Context) (*array.Array, error) { return v.buffer.Download(ctx) }

// Close implements lowering.Value.
func (v *resident) Close() error { return v.buffer.Close() }

// Put implements lowering.Resident.
func (e *Executable) Put(ctx context.Context, a *array.Array) (lowering.Value, error) {
	if a == nil {
		return nil, diag.New(interp.MissingInput, "there is no array to copy to the device")
	}
	e.alive.RLock()
	defer e.alive.RUnlock()
	if e.closed {
		return nil, closed("executable")
	}
	b, err := e.runtime.client.Upload(ctx, a, nil)
	if err != nil {
		return nil, err
	}
	return &resident{e.runtime.client, b}, nil
}

// RunValues implements lowering.Resident. Values end with the client that they are on, which
// is that of the Runtime: where targets share one by the plugin's name, it ends with the last
// executable.
func (e *Executable) RunValues(ctx context.Context, in []lowering.Value) ([]lowering.Value, error) {
	results, err := e.run(ctx, in)
	for _, i := range e.opts.Donate {
		if i < len(in) && in[i] != nil {
			if e := in[i].Close(); err == nil {
				err = e
			}
		}
	}
	if err != nil {
		for _, b := range results {
			_ = b.Close() // the first error says more
		}
		return nil, err
	}
	out := make([]lowering.Value, len(results))
	for i, b := range results {
		out[i] = &resident{e.runtime.client, b}
	}
	return out, nil
}

// onDevice returns an operand on the device, and whether the run is to close it.
func (e *Executable) onDevice(ctx context.Context, v lowering.Value) (b *pjrt.Buffer, ours bool, err error) {
	if r, ok := v.(*resident); ok && r.client == e.runtime.client {
		return r.buffer, false, nil
	}
	a, err := v.Array(ctx)
	if err != nil {
		return nil, false, err
	}
	b, err = e.runtime.client.Upload(ctx, a, nil)
	return b, true, err
}

// donated lists the arguments that may be taken: those that options name, but for what is
// another argument, too.
func (e *Executable) donated(args []*pjrt.Buffer) (list []int) {
	for _, i := range e.opts.Donate {
		again := func(b *pjrt.Buffer) bool { return b == args[i] }
		if !slices.ContainsFunc(args[:i], again) && !slices.ContainsFunc(args[i+1:], again) {
			list = append(list, i)
		}
	}
	return list
}
