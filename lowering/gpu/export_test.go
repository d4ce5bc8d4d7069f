package gpu

import (
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/lower"
)

// Direct reports whether a call is not expanded.
func Direct(n *graph.Node) bool { ok, _ := lower.Direct(true)(n); return ok || n.Op().Composite() }

// Steps returns the operators of the launches of a run, for the sizes that were used last.
func Steps(e *Executable) []string {
	p, _ := e.sized.Newest()
	return p.Steps()
}

// Waiting returns how many runs wait for others that read weights, or make them again, for the sizes that were
// used last, and how many copies wait for others.
func Waiting(e *Executable) (runs, copies int) {
	if p, ok := e.sized.Newest(); ok {
		runs = p.Waiting()
	}
	return runs, e.device.Waiting()
}

// Arena returns how many bytes a run takes on a usual GPU, and how many buffers of one time take when each begins at a
// multiple of 256.
func Arena(m *graph.Module, o lowering.Options) (bytes, used int, err error) {
	b, err := Target{}.withoutDevice(m, o, OpenCL)
	if err != nil {
		return 0, 0, err
	}
	return b.Arena(256), b.LeastArena(256), nil
}
