package run

import (
	"context"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/lower"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
)

// NewCompiled lowers a module of known sizes, which was prepared from the user's.
func NewCompiled(ctx context.Context, ready, user *graph.Module, d *Device, o Settings) (*Compiled, error) {
	inputs := ready.Graph.Entry().Inputs
	if err := lower.Legalize(ready.Graph, d.Info().Doubles); err != nil {
		return nil, err
	}
	_, library := d.dev.(device.Library)
	library = library && !o.NoLibraries && o.Pack.Len() == 0 // what follows a library's product has kernels that are not in Text
	info := d.Info()
	if info.Kind == device.CUDA && o.Pack.Len() > 0 {
		info = lower.Reference(info)
	}
	b, err := lower.Build(ready, info, library, o.TF32)
	if err != nil {
		return nil, err
	}
	p := &Compiled{dev: d, user: user, build: b, inputs: inputs, fixed: make([]device.Buffer, len(b.Buffers))}
	if err := p.link(ctx, o); err != nil {
		p.Close()
		return nil, err
	}
	if err := p.choose(o.Folder); err != nil {
		p.Close()
		return nil, err
	}
	p.arena = b.Arena(max(d.Info().Align, 64))
	p.passages = p.schedule(b.Steps)
	if err := p.setUp(); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// link builds the kernels.
func (p *Compiled) link(ctx context.Context, o Settings) error {
	var all []*source.Kernel
	for s := range lower.Each(p.build.Steps) {
		if s.Kernel != nil {
			all = append(all, s.Kernel)
		}
		if s.Other != nil && s.Other.Then != nil {
			all = append(all, s.Other.Then.Kernel)
		}
	}
	p.kernels = map[string]device.Kernel{}
	if len(all) == 0 {
		return nil
	}
	var err error
	if p.source, p.built, err = p.dev.program(ctx, source.Program(all), o); err != nil {
		return err
	}
	for _, k := range all {
		if p.kernels[k.Name] != nil {
			continue
		}
		if p.kernels[k.Name], err = p.source.Value.Kernel(k.Name); err != nil {
			return err
		}
	}
	return nil
}
