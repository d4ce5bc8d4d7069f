package opencl

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"unsafe"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/dynlib"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

// Numbers of what is asked for, from the headers of the specification.
const (
	platformVersion = 0x0901
	platformName    = 0x0902

	deviceAll        = 0xFFFFFFFF
	deviceType       = 0x1000
	deviceUnits      = 0x1002
	deviceGroup      = 0x1004
	deviceAlign      = 0x1019
	deviceFloats     = 0x101B // what floats of 32 bits can
	deviceMemory     = 0x101F
	deviceLocal      = 0x1023
	deviceName       = 0x102B
	deviceVendor     = 0x102C
	deviceDriver     = 0x102D
	deviceVersion    = 0x102F
	deviceExtensions = 0x1030
	deviceVector     = 0x103A // native width in floats
	deviceLanguages  = 0x1066 // versions of OpenCL C

	typeCPU = 1 << 1

	roundedQuotients = 1 << 7 // of deviceFloats
)

// Devices opens every device of every platform, each with a context of its own. The error,
// of code device.NoDevice, says why there is none.
func Devices() ([]device.Device, error) {
	l, err := load()
	if err != nil {
		return nil, err
	}
	return l.devices()
}

// devices opens those that can be opened: a card that is broken, or has no memory left, does not take the others away.
func (l *library) devices() ([]device.Device, error) {
	platforms, err := l.list("platforms", func(n int, out *uintptr, count *uint32) status {
		return call(l.getPlatformIDs, uintptr(n), uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(count)))
	})
	if err != nil {
		return nil, unusable(err)
	}
	var found []device.Device
	var broken error // the first
	for _, p := range platforms {
		ids, err := l.list("devices", func(n int, out *uintptr, count *uint32) status {
			return call(l.getDeviceIDs, p, deviceAll, uintptr(n), uintptr(unsafe.Pointer(out)), uintptr(unsafe.Pointer(count)))
		})
		if err != nil {
			continue // a platform without devices is none
		}
		for _, id := range ids {
			d, err := l.open(p, id)
			if err != nil {
				broken = cmp.Or(broken, err)
				continue
			}
			found = append(found, d)
		}
	}
	switch {
	case len(found) > 0:
		return found, nil
	case broken != nil:
		return nil, unusable(broken)
	}
	return nil, diag.New(device.NoDevice, "OpenCL has no device: no driver is installed, or none finds its hardware").
		WithHint("install a driver (Debian: pocl-opencl-icd computes on the processor)")
}

// unusable says that there is no device because of what a driver reports.
func unusable(err error) error {
	if errors.Is(err, device.NoDevice) {
		return err
	}
	why := err.Error()
	if e, ok := errors.AsType[*diag.Error](err); ok {
		why = e.Msg
	}
	return diag.New(device.NoDevice, "OpenCL has no device that can be used: "+why).WithHint("see whether clinfo lists it, and update its driver")
}

// list asks for how many there are, and for these.
func (l *library) list(what string, ask func(n int, out *uintptr, count *uint32) status) ([]uintptr, error) {
	var count uint32
	s := ask(0, nil, &count)
	const noPlatform = -1001 // of the loader, when no driver is installed
	if s == deviceNotFound || s == noPlatform || s == 0 && count == 0 {
		return nil, diag.New(device.NoDevice, "OpenCL has no "+what).WithHint("install a driver (Debian: pocl-opencl-icd)")
	}
	if s != 0 {
		return nil, failed("asking OpenCL for "+what, s)
	}
	out := make([]uintptr, count)
	return out, failed("asking OpenCL for "+what, ask(int(count), &out[0], &count))
}

// info returns what a query of a device or platform gives, nil where that fails.
func info(f, id uintptr, what int) []byte {
	var size uintptr
	if call(f, id, uintptr(what), 0, 0, uintptr(unsafe.Pointer(&size))) != 0 || size == 0 {
		return nil
	}
	b := make([]byte, size)
	if call(f, id, uintptr(what), size, uintptr(unsafe.Pointer(&b[0])), 0) != 0 {
		return nil
	}
	return b
}

func text(b []byte) string { return strings.TrimRight(string(b), "\x00 ") }

// number reads an unsigned number of 4 or 8 bytes.
func number(b []byte) uint64 {
	n := uint64(0)
	for i := range b {
		n |= uint64(b[i]) << (8 * i)
	}
	return n
}

// languages reads versions of OpenCL C, each a number with the major one in its upper 10 bits and a name of 64 bytes.
func languages(b []byte) (major []int) {
	const size = 4 + 64
	for ; len(b) >= size; b = b[size:] {
		major = append(major, int(number(b[:4])>>22))
	}
	return major
}

// options of the compiler: contraction is off in the source. Version 1.2 is what every device has; products of four bytes are
// functions of 3.0, where the device has them. Quotients and roots of f32 may be off by some units in the last place
// unless the compiler is told otherwise, which it takes where the device can: a quantised value lies between two of them often.
func options(extensions string, versions []byte, floats uint64) string {
	standard := "1.2"
	if slices.Contains(strings.Fields(extensions), "cl_khr_integer_dot_product") && slices.Contains(languages(versions), 3) {
		standard = "3.0"
	}
	options := "-cl-std=CL" + standard + " -w"
	if floats&roundedQuotients != 0 {
		options += " -cl-fp32-correctly-rounded-divide-sqrt"
	}
	return options
}

// open makes the context of a device.
func (l *library) open(platform, id uintptr) (*Device, error) {
	ask := func(what int) []byte { return info(l.getDeviceInfo, id, what) }
	d := &Device{l: l, id: id}
	cpu := number(ask(deviceType))&typeCPU != 0
	d.info = device.Info{
		Kind: device.OpenCL, Name: text(ask(deviceName)), Vendor: text(ask(deviceVendor)),
		Driver: text(ask(deviceDriver)) + "; " + text(ask(deviceVersion)) + "; " + text(info(l.getPlatformInfo, platform, platformName)) + " " +
			text(info(l.getPlatformInfo, platform, platformVersion)),
		Memory: int64(number(ask(deviceMemory))), Units: int(number(ask(deviceUnits))), Group: int(number(ask(deviceGroup))),
		Local: int(number(ask(deviceLocal))), Vector: 1, Align: max(int(number(ask(deviceAlign)))/8, 64), Host: cpu,
		Doubles: strings.Contains(text(ask(deviceExtensions)), "cl_khr_fp64"),
	}
	d.options = options(text(ask(deviceExtensions)), ask(deviceLanguages), number(ask(deviceFloats)))
	if cpu {
		d.info.Vector = min(max(int(number(ask(deviceVector))), 4), 16)
	}
	var s status
	ids := [1]uintptr{id}
	d.context = dynlib.Call(l.createContext, 0, 1, uintptr(unsafe.Pointer(&ids[0])), 0, 0, uintptr(unsafe.Pointer(&s)))
	return d, failed("opening "+d.info.Name, s)
}
