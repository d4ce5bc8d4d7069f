package gpu

import (
	"context"
	"encoding/binary"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/internal/turn"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
)

// program is what a graph of known sizes has become: steps whose kernels are built, and the
// memory of the device that all runs share.
type program struct {
	dev      *Device
	user     *graph.Module // the caller's, whose live weights are read at each run
	build    *builder
	inputs   []guard.Input // with these sizes
	source   *lowering.CacheEntry[device.Program]
	kernels  map[string]device.Kernel // by name, of source
	built    bool                     // the driver compiled the kernels
	arena    int
	fixed    []device.Buffer // by buffer: weights and what is made of them once
	launches []*step         // of a run, in the order of the steps, those of bodies too
	passages []passage       // of them
	checked  []*graph.Node   // of the calls that may refuse an operand, by step.call
	routines []device.Routine

	fresh turn.Lock // held by runs, which read what setUp writes
	since uint64    // when weights were copied, on array.Now's clock

	mu   sync.Mutex
	free []*instance
}

// newProgram lowers a module of known sizes, which was prepared from the user's.
func (t Target) newProgram(ctx context.Context, ready, user *graph.Module, d *Device, options string) (*program, error) {
	inputs := ready.Graph.Entry().Inputs
	if err := legalize(ready.Graph, d.Info().Doubles); err != nil {
		return nil, err
	}
	_, library := d.dev.(device.Library)
	library = library && !t.NoLibraries && t.Pack.Len() == 0 // what follows a library's product has kernels that are not in Text
	info := d.Info()
	if info.Kind == CUDA && t.Pack.Len() > 0 {
		info = reference(info)
	}
	b, err := build(ready, info, library, t.TF32)
	if err != nil {
		return nil, err
	}
	p := &program{dev: d, user: user, build: b, inputs: inputs, fixed: make([]device.Buffer, len(b.buffers))}
	if err := p.link(ctx, t, options); err != nil {
		p.close()
		return nil, err
	}
	if err := p.choose(lowering.UserFolder(name, t.Cache)); err != nil {
		p.close()
		return nil, err
	}
	p.arena = b.arena(max(d.Info().Align, 64))
	p.passages = p.schedule(b.steps)
	if err := p.setUp(); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// expanded counts the calls of the user's graph that others stand for in g.
func expanded(g *graph.Graph) int {
	stand := map[lowering.Source]bool{}
	for n := range g.Nodes() {
		if s := lowering.SourceOf(n); n.Op() != nil && s.Node != n.Name() && s.Op != n.Op().Name {
			stand[s] = true
		}
	}
	return len(stand)
}

// link builds the kernels.
func (p *program) link(ctx context.Context, t Target, options string) error {
	var all []*source.Kernel
	for s := range each(p.build.steps) {
		if s.kernel != nil {
			all = append(all, s.kernel)
		}
		if s.other != nil && s.other.then != nil {
			all = append(all, s.other.then.kernel)
		}
	}
	p.kernels = map[string]device.Kernel{}
	if len(all) == 0 {
		return nil
	}
	var err error
	if p.source, p.built, err = p.dev.program(ctx, source.Program(all), options, lowering.UserFolder(name, t.Cache), t.Pack); err != nil {
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

// setUp copies weights to the device and runs the steps that need nothing else.
func (p *program) setUp() error {
	q, err := p.dev.dev.NewQueue()
	if err != nil {
		return err
	}
	defer q.Free()
	used, since := p.used(), array.Now()
	for k, f := range p.build.buffers {
		if !f.setup || !used[k] {
			continue
		}
		if p.fixed[k] == nil {
			if p.fixed[k], err = p.dev.dev.Alloc(f.bytes); err != nil {
				return err
			}
		}
		if f.kind == weight {
			if err := write(q, p.fixed[k], f.array); err != nil {
				return err
			}
		}
	}
	for s := range each(p.build.steps) {
		if !s.setup {
			continue
		}
		l := p.launch(s, p.fixed, nil)
		if err := q.Launch(&l); err != nil {
			return at(s, err)
		}
	}
	if err := q.Finish(); err != nil {
		return err
	}
	p.dropSpent(used)
	p.since = since
	return nil
}

// used tells which buffers any step or result needs.
func (p *program) used() []bool {
	used := make([]bool, len(p.build.buffers))
	for s := range each(p.build.steps) {
		for _, k := range s.args {
			used[k] = true
		}
	}
	for _, v := range p.build.outputs {
		used[v.buf] = true
	}
	return used
}

// dropSpent frees what only steps that are done needed.
func (p *program) dropSpent(used []bool) {
	needed := make([]bool, len(used))
	for s := range each(p.build.steps) {
		if s.setup {
			continue
		}
		for _, k := range s.args {
			needed[k] = true
		}
	}
	for _, v := range p.build.outputs {
		needed[v.buf] = true
	}
	for k, b := range p.fixed {
		if b != nil && !needed[k] {
			b.Free()
			p.fixed[k] = nil
		}
	}
}

// write copies an array to the device, in row-major order.
func write(q device.Queue, to device.Buffer, a *array.Array) error {
	if a.Len() == 0 {
		return nil
	}
	return q.Write(to, array.Bytes(array.Contiguous(a)))
}

// launch fills in the arguments of a step.
func (p *program) launch(s *step, buffers []device.Buffer, status device.Buffer) device.Launch {
	l := device.Launch{Kernel: p.kernels[s.kernel.Name], Grid: s.kernel.Groups, Group: s.kernel.Group}
	for _, k := range s.args {
		l.Args = append(l.Args, device.Arg{Buffer: buffers[k]})
	}
	for _, n := range s.kernel.Numbers {
		l.Args = append(l.Args, device.Arg{Bits: uint64(uint32(n)), Size: 4}) // below MaxElements
	}
	if s.kernel.Status {
		l.Args = append(l.Args, device.Arg{Bits: uint64(s.call), Size: 4}, device.Arg{Buffer: status})
	}
	return l
}

// at gives an error the place of a step's call.
func at(s *step, err error) error {
	if e, ok := err.(*diag.Error); ok && s.node != nil && e.Node == "" {
		e.Node, e.Pos = lowering.SourceOf(s.node).Node, s.node.Pos()
	}
	return err
}

// run computes for checked inputs, and has results taken from the instance.
func (p *program) run(ctx context.Context, in []lowering.Value, take func(p *program, x *instance) error) error {
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
		err = take(p, x)
	}
	p.release(x, err != nil)
	return err
}

func (p *program) compute(ctx context.Context, x *instance, in []lowering.Value) error {
	if err := p.enter(ctx, x, in); err != nil {
		return err
	}
	return p.play(ctx, x, p.passages, 0)
}

// fetch copies the results to the host.
func (p *program) fetch(x *instance) ([]*array.Array, error) {
	out := make([]*array.Array, len(p.build.outputs))
	for i, v := range p.build.outputs {
		out[i] = array.New(v.dtype(), v.shape()...)
		if v.header.Len() == 0 {
			continue
		}
		if err := x.queue.Read(array.Bytes(out[i]), x.views[v.buf]); err != nil {
			return nil, err
		}
	}
	return out, p.refused(x)
}

// enter copies inputs and live weights into the memory of the run.
func (p *program) enter(ctx context.Context, x *instance, in []lowering.Value) error {
	for k, f := range p.build.buffers {
		if x.views[k] == nil || f.kind != input && f.kind != live {
			continue
		}
		if f.kind == input {
			if err := p.dev.move(ctx, x.queue, x.views[k], in[f.input]); err != nil {
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

// refused returns the error of the first call that refused an operand.
func (p *program) refused(x *instance) error {
	if len(p.checked) == 0 {
		return x.queue.Finish()
	}
	var word [statusBytes]byte
	if err := x.queue.Read(word[:], x.status); err != nil {
		return err
	}
	if call := int(binary.LittleEndian.Uint32(word[:])); call > 0 {
		return lowering.At(p.checked[call-1], OutOfRange, "an index is out of range").
			WithHint("the cpu target and the interpreter say which, and of what")
	}
	return nil
}

// close gives the device's memory back; no run may be in progress.
func (p *program) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.free {
		x.close()
	}
	p.free = nil
	for _, b := range p.fixed {
		if b != nil {
			b.Free()
		}
	}
	for _, k := range p.kernels {
		if k != nil {
			k.Free()
		}
	}
	for _, r := range p.routines {
		r.Free()
	}
	if p.source != nil {
		p.source.Release()
		p.source = nil
	}
}
