package cpu

import "github.com/gofx-dev/gofx/kernel"

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
