package cuda

import (
	"strconv"
	"sync"
	"unsafe"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/dynlib"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

// dnn is cuDNN: the functions of the library, under their names without cudnn.
type dnn struct {
	version string

	getVersion, create, destroy, setStream                 uintptr
	tensorCreate, tensorSet, tensorDestroy                 uintptr
	filterCreate, filterSet, filterDestroy                 uintptr
	convCreate, convSet, convGroups, convMath, convDestroy uintptr
	algorithms, forward                                    uintptr
}

func (n *dnn) functions() map[string]*uintptr {
	return map[string]*uintptr{
		"cudnnGetVersion": &n.getVersion, "cudnnCreate": &n.create, "cudnnDestroy": &n.destroy, "cudnnSetStream": &n.setStream,
		"cudnnCreateTensorDescriptor": &n.tensorCreate, "cudnnSetTensor4dDescriptor": &n.tensorSet, "cudnnDestroyTensorDescriptor": &n.tensorDestroy,
		"cudnnCreateFilterDescriptor": &n.filterCreate, "cudnnSetFilter4dDescriptor": &n.filterSet, "cudnnDestroyFilterDescriptor": &n.filterDestroy,
		"cudnnCreateConvolutionDescriptor": &n.convCreate, "cudnnSetConvolution2dDescriptor": &n.convSet, "cudnnSetConvolutionGroupCount": &n.convGroups,
		"cudnnSetConvolutionMathType": &n.convMath, "cudnnDestroyConvolutionDescriptor": &n.convDestroy,
		"cudnnGetConvolutionForwardAlgorithm_v7": &n.algorithms, "cudnnConvolutionForward": &n.forward,
	}
}

var loadDNN = sync.OnceValues(func() (*dnn, error) {
	return openDNN(installed([]string{"libcudnn.so.9", "libcudnn.so.8", "libcudnn.so"}, []string{"cudnn64_9.dll", "cudnn64_8.dll"}))
})

// openDNN loads the first cuDNN of names.
func openDNN(names []string) (*dnn, error) {
	const cure = "nothing is needed: kernels of gofx compute convolutions; for NVIDIA's, install cuDNN"
	n := &dnn{}
	if err := openLibrary("cuDNN", names, n.functions(), cure); err != nil {
		return nil, err
	}
	v := int(dynlib.Call(n.getVersion))
	major := 1000 // until version 9
	if v >= 90000 {
		major = 10000
	}
	n.version = strconv.Itoa(v/major) + "." + strconv.Itoa(v%major/100) + "." + strconv.Itoa(v%100)
	return n, nil
}

//go:uintptrescapes
func (n *dnn) call(function uintptr, args ...uintptr) status {
	return status(uint32(dynlib.Call(function, args...)))
}

// Numbers of cudnn.h.
const (
	dnnF32, dnnF16, dnnBF16 = 0, 2, 9
	dnnNCHW                 = 0
	crossCorrelation        = 1
	tensorMath, fmaMath     = 1, 3 // the latter: products and sums of f32, no tf32
)

// algorithmPerf is cudnnConvolutionFwdAlgoPerf_t.
type algorithmPerf struct {
	algorithm, status int32
	time              float32
	memory            uintptr
	determinism, math int32
	_                 [3]int32
}

// convolution is a prepared routine.
type convolution struct {
	d             *Device
	h             *dnnHandle
	x, w, y, conv uintptr
	algorithm     int32
	workspace     uintptr
}

// dnnHandle is the device's handle of the library. It belongs to one thread at a time, and to
// the stream that was set last.
type dnnHandle struct {
	n      *dnn
	mu     sync.Mutex
	handle uintptr
}

func (h *dnnHandle) release() { h.n.call(h.n.destroy, h.handle) }

// dnnHandle returns the device's handle, which Close ends.
func (d *Device) dnnHandle(n *dnn) (*dnnHandle, status) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.open {
		if h, ok := c.(*dnnHandle); ok {
			return h, success
		}
	}
	h := &dnnHandle{n: n}
	if s := n.call(n.create, uintptr(unsafe.Pointer(&h.handle))); s != success {
		return nil, s
	}
	d.open[h] = struct{}{}
	return h, success
}

// Convolution implements device.Library.
func (d *Device) Convolution(of device.Convolution) (device.Routine, string, error) {
	n, err := d.nn()
	if err != nil {
		return nil, "", err
	}
	leave, err := d.enter()
	if err != nil {
		return nil, "", err
	}
	defer leave()
	c := &convolution{d: d}
	var s status
	if c.h, s = d.dnnHandle(n); s == success {
		s = c.prepare(of)
		if s != success {
			c.release()
		}
	}
	if s != success {
		return nil, "", none("cuDNN "+n.version+" takes no such convolution (status "+strconv.Itoa(int(s))+")", "nothing is needed: a kernel of gofx computes it")
	}
	d.keep(c)
	return c, "cuDNN " + n.version, nil
}

// prepare describes the convolution and chooses the algorithm.
func (c *convolution) prepare(of device.Convolution) status {
	n := c.h.n
	typ, math := uintptr(dnnF32), uintptr(fmaMath)
	if of.Half != "" {
		typ, math = map[string]uintptr{"f16": dnnF16, "bf16": dnnBF16}[of.Half], tensorMath
	}
	u := func(v int) uintptr { return uintptr(v) }
	for _, call := range []func() status{
		func() status { return n.call(n.tensorCreate, uintptr(unsafe.Pointer(&c.x))) },
		func() status { return n.call(n.tensorSet, c.x, dnnNCHW, typ, u(of.N), u(of.C), u(of.H), u(of.W)) },
		func() status { return n.call(n.tensorCreate, uintptr(unsafe.Pointer(&c.y))) },
		func() status { return n.call(n.tensorSet, c.y, dnnNCHW, typ, u(of.N), u(of.M), u(of.OutH), u(of.OutW)) },
		func() status { return n.call(n.filterCreate, uintptr(unsafe.Pointer(&c.w))) },
		func() status {
			return n.call(n.filterSet, c.w, typ, dnnNCHW, u(of.M), u(of.C/of.Groups), u(of.KernelH), u(of.KernelW))
		},
		func() status { return n.call(n.convCreate, uintptr(unsafe.Pointer(&c.conv))) },
		func() status {
			return n.call(n.convSet, c.conv, 0, 0, u(of.StrideH), u(of.StrideW), u(of.DilationH), u(of.DilationW), crossCorrelation, dnnF32)
		},
		func() status { return n.call(n.convGroups, c.conv, u(of.Groups)) },
		func() status { return n.call(n.convMath, c.conv, math) },
		c.choose,
	} {
		if s := call(); s != success {
			return s
		}
	}
	return success
}

// choose takes the first algorithm that the library advises whose memory a queue has.
func (c *convolution) choose() status {
	const most, notSupported = 8, 3000
	n := c.h.n
	var perf [most]algorithmPerf
	var found int32
	c.h.mu.Lock()
	s := n.call(n.algorithms, c.h.handle, c.x, c.w, c.conv, c.y, most, uintptr(unsafe.Pointer(&found)), uintptr(unsafe.Pointer(&perf[0])))
	c.h.mu.Unlock()
	if s != success {
		return s
	}
	for _, p := range perf[:min(max(int(found), 0), most)] {
		if p.status == 0 && p.memory <= workspaceBytes {
			c.algorithm, c.workspace = p.algorithm, p.memory
			return n.call(n.convMath, c.conv, uintptr(p.math))
		}
	}
	return notSupported
}

// Reserve implements device.Routine.
func (c *convolution) Reserve(on device.Queue) error { return c.d.reserve(on, c.workspace) }

// Run implements device.Routine.
func (c *convolution) Run(on device.Queue, out device.Buffer, in ...device.Buffer) error {
	q, at, leave, err := c.d.operands(on, out, in)
	if err != nil {
		return err
	}
	defer leave()
	if err := q.scratch(c.workspace); err != nil {
		return err
	}
	alpha, beta := float32(1), float32(0)
	n := c.h.n
	c.h.mu.Lock()
	defer c.h.mu.Unlock()
	s := n.call(n.setStream, c.h.handle, q.stream)
	if s == success {
		s = n.call(n.forward, c.h.handle, uintptr(unsafe.Pointer(&alpha)), c.x, uintptr(at[1]), c.w, uintptr(at[2]), c.conv,
			uintptr(c.algorithm), q.workspace, c.workspace, uintptr(unsafe.Pointer(&beta)), c.y, uintptr(at[0]))
	}
	if s != success {
		return diag.New(device.DriverFailed, "cuDNN "+n.version+" fails on "+c.d.info.Name+" (status "+strconv.Itoa(int(s))+")")
	}
	return nil
}

// Free implements device.Routine.
func (c *convolution) Free() { c.d.free(c) }

// release ends what prepare made, as far as it came.
func (c *convolution) release() {
	n := c.h.n
	for _, end := range []struct{ function, object uintptr }{
		{n.tensorDestroy, c.x}, {n.tensorDestroy, c.y}, {n.filterDestroy, c.w}, {n.convDestroy, c.conv},
	} {
		if end.object != 0 {
			n.call(end.function, end.object)
		}
	}
	c.x, c.y, c.w, c.conv = 0, 0, 0, 0
}
