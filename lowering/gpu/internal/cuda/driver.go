package cuda

import (
	"runtime"
	"strconv"
	"sync"
	"unsafe"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/dynlib"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

// driver holds the addresses of the driver's functions, under their names without cu.
type driver struct {
	name string // of the library

	init, driverGetVersion, getErrorName                            uintptr
	deviceGetCount, deviceGet, deviceGetName, deviceGetAttribute    uintptr
	deviceTotalMem, devicePrimaryCtxRetain, devicePrimaryCtxRelease uintptr
	ctxPushCurrent, ctxPopCurrent, ctxSynchronize                   uintptr
	memAlloc, memFree, memHostAlloc, memFreeHost                    uintptr
	memcpyHtoDAsync, memcpyDtoHAsync, memcpyDtoDAsync               uintptr
	moduleLoadDataEx, moduleUnload, moduleGetFunction               uintptr
	launchKernel                                                    uintptr
	streamCreate, streamDestroy, streamSynchronize                  uintptr
	eventCreate, eventDestroy, eventRecord, eventSynchronize        uintptr
	streamBeginCapture, streamEndCapture                            uintptr
	graphInstantiate, graphLaunch, graphExecDestroy, graphDestroy   uintptr

	funcGetParamInfo uintptr // since CUDA 12.4, 0 before
}

// functions returns the names that the driver must have. Several carry the version of
// their interface; cuda.h maps the plain names to these.
func (d *driver) functions() map[string]*uintptr {
	return map[string]*uintptr{
		"cuInit": &d.init, "cuDriverGetVersion": &d.driverGetVersion, "cuGetErrorName": &d.getErrorName,
		"cuDeviceGetCount": &d.deviceGetCount, "cuDeviceGet": &d.deviceGet, "cuDeviceGetName": &d.deviceGetName,
		"cuDeviceGetAttribute": &d.deviceGetAttribute, "cuDeviceTotalMem_v2": &d.deviceTotalMem,
		"cuDevicePrimaryCtxRetain": &d.devicePrimaryCtxRetain, "cuDevicePrimaryCtxRelease_v2": &d.devicePrimaryCtxRelease,
		"cuCtxPushCurrent_v2": &d.ctxPushCurrent, "cuCtxPopCurrent_v2": &d.ctxPopCurrent, "cuCtxSynchronize": &d.ctxSynchronize,
		"cuMemAlloc_v2": &d.memAlloc, "cuMemFree_v2": &d.memFree, "cuMemHostAlloc": &d.memHostAlloc, "cuMemFreeHost": &d.memFreeHost,
		"cuMemcpyHtoDAsync_v2": &d.memcpyHtoDAsync, "cuMemcpyDtoHAsync_v2": &d.memcpyDtoHAsync, "cuMemcpyDtoDAsync_v2": &d.memcpyDtoDAsync,
		"cuModuleLoadDataEx": &d.moduleLoadDataEx, "cuModuleUnload": &d.moduleUnload, "cuModuleGetFunction": &d.moduleGetFunction,
		"cuLaunchKernel": &d.launchKernel,
		"cuStreamCreate": &d.streamCreate, "cuStreamDestroy_v2": &d.streamDestroy, "cuStreamSynchronize": &d.streamSynchronize,
		"cuEventCreate": &d.eventCreate, "cuEventDestroy_v2": &d.eventDestroy, "cuEventRecord": &d.eventRecord, "cuEventSynchronize": &d.eventSynchronize,
		"cuStreamBeginCapture_v2": &d.streamBeginCapture, "cuStreamEndCapture": &d.streamEndCapture,
		"cuGraphInstantiateWithFlags": &d.graphInstantiate, "cuGraphLaunch": &d.graphLaunch,
		"cuGraphExecDestroy": &d.graphExecDestroy, "cuGraphDestroy": &d.graphDestroy,
	}
}

// libraries are the names that the driver has: the one with a version is what drivers
// install; that without is a toolkit's stub for linkers, which is no driver.
func libraries() []string {
	switch runtime.GOOS {
	case "windows":
		return []string{"nvcuda.dll"}
	case "darwin":
		return nil // the last driver for macOS is of 2019 and knows none of these devices
	}
	return []string{"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"}
}

// load opens the driver once in a process.
var load = sync.OnceValues(func() (*driver, error) { return open(libraries()) })

// open loads and starts the first driver of names.
func open(names []string) (*driver, error) {
	lib, err := dynlib.Open(names...)
	if err != nil {
		return nil, none("no CUDA driver is installed: "+err.Error(), "install NVIDIA's driver, or run the model on another device or the cpu target")
	}
	d := &driver{name: lib.Name()}
	if f := lib.Find(d.functions()); f != "" {
		return nil, none("the CUDA driver "+lib.Name()+" has no function "+f, "drivers since CUDA 11.4 (470) have all: update the driver")
	}
	d.funcGetParamInfo = lib.Lookup("cuFuncGetParamInfo")
	if s := d.call(d.init, 0); s != success {
		return nil, none("the CUDA driver "+lib.Name()+" does not start: "+d.describe(s), "see whether nvidia-smi lists the card")
	}
	return d, nil
}

func none(msg, hint string) *diag.Error { return diag.New(device.NoDevice, msg).WithHint(hint) }

// call makes a call. Go memory is passed as uintptr(unsafe.Pointer(&x)) in the list of
// arguments: it stays where it is until the call returns.
//
//go:uintptrescapes
func (d *driver) call(function uintptr, args ...uintptr) status {
	return status(uint32(dynlib.Call(function, args...)))
}

// describe returns the driver's name of a status with its number.
func (d *driver) describe(s status) string {
	var name *byte
	if d.call(d.getErrorName, uintptr(s), uintptr(unsafe.Pointer(&name))) != success || name == nil {
		return "CUDA error " + strconv.Itoa(int(s))
	}
	return cstring(name) + " (" + strconv.Itoa(int(s)) + ")"
}

// cstring copies text of the driver, which a zero ends; no such text is longer than 256 bytes.
func cstring(p *byte) string {
	b := unsafe.Slice(p, 256)
	n := 0
	for n < len(b) && b[n] != 0 {
		n++
	}
	return string(b[:n])
}

// version returns the version of CUDA that the driver serves: "12.4".
func (d *driver) version() string {
	var v int32
	if d.call(d.driverGetVersion, uintptr(unsafe.Pointer(&v))) != success {
		return "unknown"
	}
	return strconv.Itoa(int(v)/1000) + "." + strconv.Itoa(int(v)%1000/10)
}
