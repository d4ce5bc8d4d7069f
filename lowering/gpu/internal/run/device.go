package run

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/turn"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

// Device is an opened device, which many executables may share.
type Device struct {
	dev device.Device

	programs      *lowering.Cache[device.Program]
	built, loaded atomic.Int64
	prefers       func(kernel, library time.Duration) bool // which of two ways is taken

	copies   turn.Lock // of what copies to and from the device outside of runs
	transfer device.Queue
}

// BuildStats counts what became of the programs that executables asked for.
type BuildStats struct {
	Built  int // compiled by the driver
	Loaded int // taken from the cache on disk
	Shared int // had been built or loaded for this device before
}

// Info returns the description.
func (d *Device) Info() device.Info { return d.dev.Info() }

// Builds returns what became of programs since the device was opened.
func (d *Device) Builds() BuildStats {
	return BuildStats{Built: int(d.built.Load()), Loaded: int(d.loaded.Load()), Shared: d.programs.Stats().Hits}
}

// Name returns what Open takes: the kind and the device's own name, "opencl:...".
func (d *Device) Name() string { return d.Info().Kind + ":" + d.Info().Name }

// NewDevice returns a device of a driver's.
func NewDevice(d device.Device) *Device {
	return &Device{dev: d, programs: lowering.NewCache(MostPrograms, device.Program.Free),
		prefers: func(kernel, library time.Duration) bool { return library < kernel }}
}

// copying runs commands outside of a run, one at a time.
func (d *Device) copying(ctx context.Context, by func(q device.Queue) error) (err error) {
	if ctx != nil && ctx.Err() != nil {
		return diag.Stop(ctx.Err())
	}
	if err := d.copies.Lock(ctx); err != nil {
		return err
	}
	defer d.copies.Unlock()
	if d.transfer == nil {
		if d.transfer, err = d.dev.NewQueue(); err != nil {
			return err
		}
	}
	if err := by(d.transfer); err != nil {
		return err
	}
	return d.transfer.Finish()
}

// write copies an array to the device, in row-major order.
func write(q device.Queue, to device.Buffer, a *array.Array) error {
	if a.Len() == 0 {
		return nil
	}
	return q.Write(to, array.Bytes(array.Contiguous(a)))
}

// Driver returns the driver of a device, for tests.
func Driver(d *Device) device.Device { return d.dev }

// Prefer has a device take the library of its vendor, or kernels, whatever takes less time,
// for tests.
func Prefer(d *Device, library bool) {
	d.prefers = func(time.Duration, time.Duration) bool { return library }
}

// MostPrograms is how many built programs a device keeps that no executable uses.
const MostPrograms = 256
