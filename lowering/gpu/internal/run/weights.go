package run

import (
	"context"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/lower"
	"github.com/gofx-dev/gofx/shape"
)

// live returns the array of a weight that is read at each run.
func (p *Compiled) live(f lower.Buffer) (*array.Array, error) {
	w := p.user.Param(f.Path)
	is, want := "gone", shape.TypeOf(f.Array)
	if w != nil && w.Value != nil {
		is = shape.TypeOf(w.Value).String()
	}
	if is != want.String() {
		return nil, diag.New(interp.GuardFailed, "tensor "+f.Path+" is "+is+", the graph was compiled for "+want.String()).
			WithHint("compile the module again")
	}
	return w.Value, nil
}

// refresh has weights that were written since they were copied, and what is made of them, made
// again when no run reads them; a run that begins holds them until it ends.
func (p *Compiled) refresh(ctx context.Context) error {
	for {
		if err := p.fresh.RLock(ctx); err != nil {
			return err
		}
		if !p.stale() {
			return nil
		}
		p.fresh.RUnlock()
		if err := p.fresh.Lock(ctx); err != nil {
			return err
		}
		var err error
		if p.stale() {
			err = p.setUp()
		}
		p.fresh.Unlock()
		if err != nil {
			return err
		}
	}
}

// stale reports whether a weight was written since it was copied.
func (p *Compiled) stale() bool {
	return slices.ContainsFunc(p.build.Buffers, func(f lower.Buffer) bool {
		return f.Kind == lower.Weight && f.Path != "" && f.Array.Storage().Version() > p.since
	})
}
