package gpu

import (
	"time"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

// Using makes a device of a driver that a test has.
func Using(d device.Device) *Device { return using(d) }

// Driver returns the driver of a device.
func Driver(d *Device) device.Device { return d.dev }

// Direct reports whether a call is not expanded.
func Direct(n *graph.Node) bool { ok, _ := direct(true)(n); return ok || n.Op().Composite() }

// Steps returns the operators of the launches of a run, for the sizes that were used last.
func Steps(e *Executable) []string {
	p, _ := e.sized.Newest()
	var l []string
	for s := range each(p.build.steps) {
		if !s.setup && s.node != nil {
			l = append(l, s.node.Op().Name)
		}
	}
	return l
}

// Prefer has a device take the library of its vendor, or kernels, whatever takes less time.
func Prefer(d *Device, library bool) {
	d.prefers = func(time.Duration, time.Duration) bool { return library }
}

// Waiting returns how many runs wait for others that read weights, or make them again, for the sizes that were
// used last, and how many copies wait for others.
func Waiting(e *Executable) (runs, copies int) {
	if p, ok := e.sized.Newest(); ok {
		runs = p.fresh.Waiting()
	}
	return runs, e.device.copies.Waiting()
}

// Arena returns how many bytes a run takes on a usual GPU, and how many buffers of one time take when each begins at a
// multiple of 256.
func Arena(m *graph.Module, o lowering.Options) (bytes, used int, err error) {
	b, err := Target{}.withoutDevice(m, o, OpenCL)
	if err != nil {
		return 0, 0, err
	}
	spans := b.spans()
	for _, at := range spans {
		if !at.Used() {
			continue
		}
		sum := 0
		for k, s := range spans {
			if s.First <= at.First && at.First <= s.Last {
				sum += (b.buffers[k].bytes + 255) / 256 * 256
			}
		}
		used = max(used, sum)
	}
	return b.arena(256), used, nil
}
