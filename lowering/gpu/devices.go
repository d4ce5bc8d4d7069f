package gpu

import (
	"errors"
	"maps"
	"os"
	"strings"
	"sync"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/cuda"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/opencl"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
)

// Device is an opened device, which many executables may share; Info describes it, and
// BuildStats counts what became of the programs that executables asked for.
type (
	Device     = run.Device
	Info       = device.Info
	BuildStats = run.BuildStats
)

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
			f.devices = append(f.devices, run.NewDevice(d))
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
