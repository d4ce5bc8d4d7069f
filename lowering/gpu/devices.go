package gpu

import (
	"errors"
	"maps"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/turn"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/cuda"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/opencl"
)

// Info describes a device.
type Info = device.Info

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
func (d *Device) Info() Info { return d.dev.Info() }

// Builds returns what became of programs since the device was opened.
func (d *Device) Builds() BuildStats {
	return BuildStats{Built: int(d.built.Load()), Loaded: int(d.loaded.Load()), Shared: d.programs.Stats().Hits}
}

// Name returns what Open takes: the kind and the device's own name, "opencl:...".
func (d *Device) Name() string { return d.Info().Kind + ":" + d.Info().Name }

// using returns a device of a driver's.
func using(d device.Device) *Device {
	return &Device{dev: d, programs: lowering.NewCache(MostPrograms, device.Program.Free),
		prefers: func(kernel, library time.Duration) bool { return library < kernel }}
}

// drivers are asked for devices in this order.
var drivers = []struct {
	kind string
	open func() ([]device.Device, error)
}{{device.CUDA, cuda.Devices}, {device.OpenCL, opencl.Devices}}

// found is what the drivers of this machine have.
type found struct {
	devices []*Device
	absent  map[string]error // by kind, why a driver has no device
}

var opened = sync.OnceValue(func() *found {
	f := &found{absent: map[string]error{}}
	for _, driver := range drivers {
		list, err := driver.open()
		if err != nil {
			f.absent[driver.kind] = err
			continue
		}
		for _, d := range list {
			f.devices = append(f.devices, using(d))
		}
	}
	return f
})

// Devices returns the devices of this machine, opened once in a process. The error, of code
// NoDevice, says for each library why it has none.
func Devices() ([]*Device, error) {
	f := opened()
	if len(f.devices) > 0 {
		return f.devices, nil
	}
	var errs diag.List
	for _, driver := range drivers {
		errs.Add(f.absent[driver.kind])
	}
	return nil, errs.Err()
}

// Absent returns the kinds, "cuda" and "opencl", of which this machine has no device, each
// with the error, of code NoDevice, that says why in one line.
func Absent() map[string]error { return maps.Clone(opened().absent) }

// Variable names the environment variable that Open("") looks at.
const Variable = "GOFX_GPU"

// Open returns the first device whose name begins with name or has it after the colon; an
// empty name means what the environment variable GOFX_GPU says, or the first device.
func Open(name string) (*Device, error) {
	if name == "" {
		name = os.Getenv(Variable)
	}
	all, err := Devices()
	if err != nil {
		return nil, err
	}
	var known []string
	for _, d := range all {
		if strings.HasPrefix(d.Name(), name) || strings.HasPrefix(d.Info().Name, name) {
			return d, nil
		}
		known = append(known, d.Name())
	}
	msg := "there is no device " + diag.Quote(name)
	for kind, why := range opened().absent {
		if e, ok := errors.AsType[*diag.Error](why); ok && strings.HasPrefix(name, kind) {
			msg += ": " + e.Msg
		}
	}
	return nil, diag.New(NoDevice, msg).WithHint("devices of this machine: " + strings.Join(known, ", "))
}
