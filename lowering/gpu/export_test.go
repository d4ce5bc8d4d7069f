package gpu

import (
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

// Using makes a device of a driver that a test has.
func Using(d device.Device) *Device { return using(d) }

// Driver returns the driver of a device.
func Driver(d *Device) device.Device { return d.dev }

// Direct reports whether a call is not expanded.
func Direct(n *graph.Node) bool { ok, _ := direct(true)(n); return ok || n.Op().Composite() }
