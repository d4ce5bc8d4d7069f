package cuda

import (
	"runtime"
	"unsafe"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

// program is a loaded module with the image that it was loaded from.
type program struct {
	d      *Device
	module uintptr
	image  []byte
	uses   usage
}

// Build implements device.Device. binary is PTX or machine code; without NVRTC only
// programs that have one can be loaded.
func (d *Device) Build(source string, binary []byte) (device.Program, bool, error) {
	leave, err := d.enter()
	if err != nil {
		return nil, false, err
	}
	defer leave()
	var refused error
	if len(binary) > 0 {
		p, _, err := d.module(binary)
		if err == nil {
			return p, false, nil
		}
		if refused = err; d.lost.Load() != nil {
			return nil, false, err
		}
	}
	c, err := d.nv()
	if err != nil && refused != nil {
		return nil, false, refused // what the driver says of the image is the way on
	}
	if err != nil {
		return nil, false, err
	}
	p, err := d.compile(c, source)
	if err != nil {
		return nil, false, err
	}
	return p, true, nil
}

// compile goes by PTX, and by machine code where the driver is older than the compiler.
func (d *Device) compile(c *compiler, source string) (*program, error) {
	image, err := c.compile(source, d.arch, ptx)
	if err != nil {
		return nil, err
	}
	p, s, err := d.module(image)
	if s != unsupportedPTX {
		return p, err
	}
	machine, failed := c.compile(source, d.arch, cubin)
	if failed != nil {
		return nil, err // that of the driver says what to update
	}
	p, _, err = d.module(machine)
	return p, err
}

// Numbers of options of cuModuleLoadDataEx (CUjit_option).
const (
	jitErrorLog     = 5
	jitErrorLogSize = 6
)

// module loads an image.
func (d *Device) module(image []byte) (*program, status, error) {
	text := append(image[:len(image):len(image)], 0) // PTX ends with a zero
	var pin runtime.Pinner
	defer pin.Unpin()
	log := make([]byte, 4096)
	pin.Pin(&log[0])
	options := [2]int32{jitErrorLog, jitErrorLogSize}
	values := [2]uintptr{uintptr(unsafe.Pointer(&log[0])), uintptr(len(log))}
	p := &program{d: d, image: image}
	s := d.drv.call(d.drv.moduleLoadDataEx, uintptr(unsafe.Pointer(&p.module)), uintptr(unsafe.Pointer(&text[0])),
		uintptr(len(options)), uintptr(unsafe.Pointer(&options[0])), uintptr(unsafe.Pointer(&values[0])))
	switch {
	case s == success:
		d.keep(p)
		return p, s, nil
	case losing[s] || s == outOfMemory:
		return nil, s, d.failed("loading kernels on", s)
	}
	said := ""
	if l := logText(log); l != "" {
		said = ": " + l
	}
	e := diag.New(device.BuildFailed, d.info.Name+" does not take the kernels: "+d.drv.describe(s)+said)
	if s == unsupportedPTX {
		e.Hint = "NVRTC is newer than the driver: update the driver, or install the NVRTC of its version"
	}
	return nil, s, e
}

// Binary implements device.Program.
func (p *program) Binary() ([]byte, error) { return p.image, nil }

// Free implements device.Program.
func (p *program) Free() { p.d.free(p) }

// release unloads the module once no command uses it.
func (p *program) release() {
	p.uses.wait()
	p.d.drv.call(p.d.drv.moduleUnload, p.module)
}

// kernel is a function of a module, which owns it.
type kernel struct {
	p        *program
	function uintptr
	name     string
	params   int // how many it has, -1 where the driver does not tell
}

// Kernel implements device.Program.
func (p *program) Kernel(name string) (device.Kernel, error) {
	leave, err := p.d.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	text := []byte(name + "\x00")
	k := &kernel{p: p, name: name, params: -1}
	if s := p.d.drv.call(p.d.drv.moduleGetFunction, uintptr(unsafe.Pointer(&k.function)), p.module, uintptr(unsafe.Pointer(&text[0]))); s != success {
		return nil, p.d.failed("looking for kernel "+name+" on", s)
	}
	k.count()
	return k, nil
}

// count finds out how many parameters the function has, since the driver reads as many
// whatever it is given.
func (k *kernel) count() {
	drv := k.p.d.drv
	if drv.funcGetParamInfo == 0 {
		return
	}
	const most = 1024 // parameters take 4 KB, 32 KB on newer devices
	for n := range most {
		var offset, size uintptr
		if drv.call(drv.funcGetParamInfo, k.function, uintptr(n), uintptr(unsafe.Pointer(&offset)), uintptr(unsafe.Pointer(&size))) != success {
			k.params = n
			return
		}
	}
}

// Free implements device.Kernel: functions live as long as their modules.
func (k *kernel) Free() {}
