package run

import (
	"encoding/binary"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/internal/turn"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/lower"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/pack"
)

// Compiled is what a graph of known sizes has become: steps whose kernels are built, and the
// memory of the device that all runs share.
type Compiled struct {
	dev      *Device
	user     *graph.Module // the caller's, whose live weights are read at each run
	build    *lower.Builder
	inputs   []guard.Input // with these sizes
	source   *lowering.CacheEntry[device.Program]
	kernels  map[string]device.Kernel // by name, of source
	built    bool                     // the driver compiled the kernels
	arena    int
	fixed    []device.Buffer // by buffer: weights and what is made of them once
	launches []*lower.Step   // of a run, in the order of the steps, those of bodies too
	passages []passage       // of them
	checked  []*graph.Node   // of the calls that may refuse an operand, by step.call
	routines []device.Routine

	fresh turn.Lock // held by runs, which read what setUp writes
	since uint64    // when weights were copied, on array.Now's clock

	mu   sync.Mutex
	free []*instance
}

// Settings are what a program depends on besides its graph and device.
type Settings struct {
	Key         string // the options of the compilation, which belong to the key of what is built
	Folder      lowering.Folder
	NoLibraries bool
	TF32        bool
	Pack        *pack.Pack
}

// setUp copies weights to the device and runs the steps that need nothing else.
func (p *Compiled) setUp() error {
	q, err := p.dev.dev.NewQueue()
	if err != nil {
		return err
	}
	defer q.Free()
	used, since := p.used(), array.Now()
	for k, f := range p.build.Buffers {
		if !f.Setup || !used[k] {
			continue
		}
		if p.fixed[k] == nil {
			if p.fixed[k], err = p.dev.dev.Alloc(f.Bytes); err != nil {
				return err
			}
		}
		if f.Kind == lower.Weight {
			if err := write(q, p.fixed[k], f.Array); err != nil {
				return err
			}
		}
	}
	for s := range lower.Each(p.build.Steps) {
		if !s.Setup {
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
func (p *Compiled) used() []bool {
	used := make([]bool, len(p.build.Buffers))
	for s := range lower.Each(p.build.Steps) {
		for _, k := range s.Args {
			used[k] = true
		}
	}
	for _, v := range p.build.Outputs {
		used[v.Buf] = true
	}
	return used
}

// dropSpent frees what only steps that are done needed.
func (p *Compiled) dropSpent(used []bool) {
	needed := make([]bool, len(used))
	for s := range lower.Each(p.build.Steps) {
		if s.Setup {
			continue
		}
		for _, k := range s.Args {
			needed[k] = true
		}
	}
	for _, v := range p.build.Outputs {
		needed[v.Buf] = true
	}
	for k, b := range p.fixed {
		if b != nil && !needed[k] {
			b.Free()
			p.fixed[k] = nil
		}
	}
}

// launch fills in the arguments of a step.
func (p *Compiled) launch(s *lower.Step, buffers []device.Buffer, status device.Buffer) device.Launch {
	l := device.Launch{Kernel: p.kernels[s.Kernel.Name], Grid: s.Kernel.Groups, Group: s.Kernel.Group}
	for _, k := range s.Args {
		l.Args = append(l.Args, device.Arg{Buffer: buffers[k]})
	}
	for _, n := range s.Kernel.Numbers {
		l.Args = append(l.Args, device.Arg{Bits: uint64(uint32(n)), Size: 4}) // below MaxElements
	}
	if s.Kernel.Status {
		l.Args = append(l.Args, device.Arg{Bits: uint64(s.Call), Size: 4}, device.Arg{Buffer: status})
	}
	return l
}

// at gives an error the place of a step's call.
func at(s *lower.Step, err error) error {
	if e, ok := err.(*diag.Error); ok && s.Node != nil && e.Node == "" {
		e.Node, e.Pos = lowering.SourceOf(s.Node).Node, s.Node.Pos()
	}
	return err
}

// refused returns the error of the first call that refused an operand.
func (p *Compiled) refused(x *instance) error {
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

// Close gives the device's memory back; no run may be in progress.
func (p *Compiled) Close() {
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

// instance is the memory and the queue of one run at a time.
type instance struct {
	queue    device.Queue
	arena    device.Buffer
	status   device.Buffer
	views    []device.Buffer    // by buffer
	launches []device.Launch    // as those of the program; empty ones for routines
	replays  []device.Recording // of passages, by their first launch; nil where nothing is recorded
	ahead    int                // rounds of scans since the host last waited for the device
}

// statusBytes is the size of the status word, which has the number of the first call that
// refused an operand.
const statusBytes = 4

func (x *instance) close() {
	for _, r := range x.replays {
		if r != nil {
			r.Free()
		}
	}
	if x.queue != nil {
		x.queue.Free()
	}
	for _, b := range []device.Buffer{x.arena, x.status} {
		if b != nil {
			b.Free()
		}
	}
}

// passage is what a run does between two decisions of the host: launches that follow one
// another, or control flow, whose bodies are passages again.
type passage struct {
	from, to int  // of the program's launches
	shifts   bool // where these read or write depends on the round: they are not recorded
	control  *lower.Step
	bodies   [][]passage
}
