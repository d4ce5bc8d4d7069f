package gpu

import (
	"context"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
)

var _ lowering.Resident = (*Executable)(nil)

// Put implements lowering.Resident.
func (e *Executable) Put(ctx context.Context, a *array.Array) (lowering.Value, error) {
	if a == nil {
		return nil, diag.New(interp.MissingInput, "there is no array to copy to the device")
	}
	if err := e.runs.Begin(); err != nil {
		return nil, err
	}
	defer e.runs.End()
	return run.Put(ctx, e.device, a)
}

// RunValues implements lowering.Resident. Results of Options.Into lie in the memory of their inputs, others in that of
// donated values of as many bytes, where there are such, else in memory of their own.
func (e *Executable) RunValues(ctx context.Context, in []lowering.Value) ([]lowering.Value, error) {
	given := run.Donated(e.device, in, e.donated, e.opts.Into)
	var out []lowering.Value
	err := e.run(ctx, in, func(p *run.Compiled, checked []lowering.Value) (err error) {
		out, err = p.RunValues(ctx, checked, given)
		return err
	})
	for i, v := range in {
		if v != nil && i < len(e.donated) && e.donated[i] {
			_ = v.Close() // of this package, or a host's: no error
		}
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}
