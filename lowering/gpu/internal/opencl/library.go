package opencl

import (
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/dynlib"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

// library holds the addresses of the functions that are called, under their names without cl.
type library struct {
	getPlatformIDs, getPlatformInfo, getDeviceIDs, getDeviceInfo                   uintptr
	createContext, releaseContext, createCommandQueue, releaseCommandQueue         uintptr
	createBuffer, createSubBuffer, releaseMemObject                                uintptr
	createProgramWithSource, createProgramWithBinary, buildProgram                 uintptr
	getProgramInfo, getProgramBuildInfo, releaseProgram                            uintptr
	createKernel, setKernelArg, releaseKernel                                      uintptr
	enqueueNDRangeKernel, enqueueReadBuffer, enqueueWriteBuffer, enqueueCopyBuffer uintptr
	flush, finish                                                                  uintptr
}

func (l *library) functions() map[string]*uintptr {
	return map[string]*uintptr{
		"clGetPlatformIDs": &l.getPlatformIDs, "clGetPlatformInfo": &l.getPlatformInfo,
		"clGetDeviceIDs": &l.getDeviceIDs, "clGetDeviceInfo": &l.getDeviceInfo,
		"clCreateContext": &l.createContext, "clReleaseContext": &l.releaseContext,
		"clCreateCommandQueue": &l.createCommandQueue, "clReleaseCommandQueue": &l.releaseCommandQueue,
		"clCreateBuffer": &l.createBuffer, "clCreateSubBuffer": &l.createSubBuffer, "clReleaseMemObject": &l.releaseMemObject,
		"clCreateProgramWithSource": &l.createProgramWithSource, "clCreateProgramWithBinary": &l.createProgramWithBinary,
		"clBuildProgram": &l.buildProgram, "clGetProgramInfo": &l.getProgramInfo,
		"clGetProgramBuildInfo": &l.getProgramBuildInfo, "clReleaseProgram": &l.releaseProgram,
		"clCreateKernel": &l.createKernel, "clSetKernelArg": &l.setKernelArg, "clReleaseKernel": &l.releaseKernel,
		"clEnqueueNDRangeKernel": &l.enqueueNDRangeKernel, "clEnqueueReadBuffer": &l.enqueueReadBuffer,
		"clEnqueueWriteBuffer": &l.enqueueWriteBuffer, "clEnqueueCopyBuffer": &l.enqueueCopyBuffer,
		"clFlush": &l.flush, "clFinish": &l.finish,
	}
}

// candidates are the names of the library, the loader that finds drivers first.
func candidates() []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{"/System/Library/Frameworks/OpenCL.framework/OpenCL"}
	case "windows":
		return []string{"OpenCL.dll"}
	}
	return []string{"libOpenCL.so.1", "libOpenCL.so", "libpocl.so.2"}
}

// load opens the library once in a process.
var load = sync.OnceValues(func() (*library, error) { return open(candidates()) })

// open loads the first library of names that has all functions: Debian's libpocl, a driver for the loader, has none
// of them by its name.
func open(names []string) (*library, error) {
	var why []string
	for len(names) > 0 {
		lib, err := dynlib.Open(names...)
		if err != nil {
			why = append(why, err.Error())
			break
		}
		l := &library{}
		f := lib.Find(l.functions())
		if f == "" {
			return l, nil
		}
		why = append(why, lib.Name()+" has no function "+f)
		names = names[slices.Index(names, lib.Name())+1:]
	}
	return nil, diag.New(device.NoDevice, "no OpenCL library is installed: "+strings.Join(why, "; ")).
		WithHint("install a driver of OpenCL 1.2 or later and its loader (Debian: pocl-opencl-icd), or run the model on the cpu target")
}

// status is a result of the library; 0 is success.
type status int32

const (
	deviceNotFound     status = -1
	deviceNotAvailable status = -2
	memoryFailed       status = -4
	outOfResources     status = -5
	outOfHostMemory    status = -6
	invalidBinary      status = -42
	illegalAccess      status = -9999 // NVIDIA's: a kernel crashed the context
)

// call makes a call that returns a status. Go memory is passed as
// uintptr(unsafe.Pointer(&x)) in the list of arguments: it stays where it is until the call returns.
//
//go:uintptrescapes
func call(f uintptr, args ...uintptr) status {
	return status(int32(dynlib.Call(f, args...)))
}

// failed returns the error of a call, nil for success.
func failed(what string, s status) error {
	var e *diag.Error
	switch s {
	case 0:
		return nil
	case deviceNotAvailable, illegalAccess:
		e = diag.New(device.Lost, what+": the device is lost (OpenCL error "+strconv.Itoa(int(s))+")")
	case memoryFailed, outOfResources, outOfHostMemory:
		e = diag.New(device.DriverFailed, what+": the device has no memory left for it (OpenCL error "+strconv.Itoa(int(s))+")")
	default:
		e = diag.New(device.DriverFailed, what+" failed with OpenCL error "+strconv.Itoa(int(s)))
	}
	return e
}
