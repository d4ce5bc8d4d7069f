package cpu

import (
	"context"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/internal/measure"
)

// CompileMetered is Compile in a process that has chosen nothing yet, with times from a meter.
func CompileMetered(m *graph.Module, o lowering.Options, meter measure.Meter) (*Executable, error) {
	return compile(m, o, measure.New(meter))
}

// Soil fills the memory that idle instances of the executable keep between runs,
// arena and scratch, and those of the bodies of its control flow.
func (e *Executable) Soil(v byte) {
	fill := func(b []byte) {
		for i := range b {
			b[i] = v
		}
	}
	for _, x := range e.free {
		if x.arena != nil {
			fill(x.arena.Bytes())
		}
		mark := x.ws.Mark()
		fill(kernel.Scratch[uint8](&x.ws, x.ws.Reserved()))
		x.ws.Release(mark)
		for _, s := range x.dense {
			if s != nil {
				fill(s.Bytes())
			}
		}
	}
	for _, list := range e.regions {
		for _, r := range list {
			if r != nil {
				r.Soil(v)
			}
		}
	}
}

// Packings counts how often weights were packed again.
func (e *Executable) Packings() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.packings
}

// Waiting returns how many runs wait for one that writes state, or packs weights.
func (e *Executable) Waiting() int { return e.state.Waiting() + e.packing.Waiting() }

// Packing calls f as if weights were being packed meanwhile.
func (e *Executable) Packing(f func()) error {
	if err := e.packing.Lock(context.Background()); err != nil {
		return err
	}
	defer e.packing.Unlock()
	f()
	return nil
}

// Specialising calls f as if a plan for sizes was being made meanwhile.
func (e *Executable) Specialising(f func()) {
	set := func(busy bool) {
		e.special.mu.Lock()
		e.special.busy = busy
		e.special.mu.Unlock()
	}
	set(true)
	f()
	set(false)
}
