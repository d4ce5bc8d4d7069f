package run

import (
	"context"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/lower"
)

// Refuse reports an input that is not what the program was made for.
func (p *Compiled) Refuse(in []lowering.Value) error {
	for i := range p.inputs {
		if err := p.inputs[i].Refuse(guard.Of(in[i].Type())); err != nil {
			return err
		}
	}
	return nil
}

// Run computes for inputs that Refuse accepts, and copies the results to the host.
func (p *Compiled) Run(ctx context.Context, in []lowering.Value) (out []*array.Array, err error) {
	err = p.run(ctx, in, func(x *instance) (err error) {
		out, err = p.fetch(x)
		return err
	})
	return out, err
}

// RunValues is Run with results that stay on the device: in the memory of given values of as
// many bytes, where there are such, else in memory of their own.
func (p *Compiled) RunValues(ctx context.Context, in []lowering.Value, given Gift) (out []lowering.Value, err error) {
	err = p.run(ctx, in, func(x *instance) (err error) {
		out, err = p.keep(x, given)
		return err
	})
	return out, err
}

// run computes, and has results taken from the instance.
func (p *Compiled) run(ctx context.Context, in []lowering.Value, take func(x *instance) error) error {
	if err := p.refresh(ctx); err != nil {
		return err
	}
	defer p.fresh.RUnlock()
	x, err := p.acquire()
	if err != nil {
		return err
	}
	err = p.compute(ctx, x, in)
	if err == nil {
		err = take(x)
	}
	p.release(x, err != nil)
	return err
}

func (p *Compiled) compute(ctx context.Context, x *instance, in []lowering.Value) error {
	if err := p.enter(ctx, x, in); err != nil {
		return err
	}
	return p.play(ctx, x, p.passages, 0)
}

// fetch copies the results to the host.
func (p *Compiled) fetch(x *instance) ([]*array.Array, error) {
	out := make([]*array.Array, len(p.build.Outputs))
	for i, v := range p.build.Outputs {
		out[i] = array.New(v.DType(), v.Shape()...)
		if v.Header.Len() == 0 {
			continue
		}
		if err := x.queue.Read(array.Bytes(out[i]), x.views[v.Buf]); err != nil {
			return nil, err
		}
	}
	return out, p.refused(x)
}

// enter copies inputs and live weights into the memory of the run.
func (p *Compiled) enter(ctx context.Context, x *instance, in []lowering.Value) error {
	for k, f := range p.build.Buffers {
		if x.views[k] == nil || f.Kind != lower.Input && f.Kind != lower.Live {
			continue
		}
		if f.Kind == lower.Input {
			if err := p.dev.move(ctx, x.queue, x.views[k], in[f.Input]); err != nil {
				return err
			}
			continue
		}
		a, err := p.live(f)
		if err != nil {
			return err
		}
		if err := write(x.queue, x.views[k], a); err != nil {
			return err
		}
	}
	if len(p.checked) == 0 {
		return nil
	}
	return x.queue.Write(x.status, make([]byte, statusBytes))
}

// Steps returns the operators of the launches of a run, for tests.
func (p *Compiled) Steps() (list []string) {
	for s := range lower.Each(p.build.Steps) {
		if !s.Setup && s.Node != nil {
			list = append(list, s.Node.Op().Name)
		}
	}
	return list
}

// Waiting returns how many runs wait for others that read weights or make them again, for tests.
func (p *Compiled) Waiting() int { return p.fresh.Waiting() }

// Waiting returns how many copies wait for others, for tests.
func (d *Device) Waiting() int { return d.copies.Waiting() }
