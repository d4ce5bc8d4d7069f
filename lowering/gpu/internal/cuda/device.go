package cuda

import (
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

// Device is a card with its primary context, which is made when it is first needed:
// listing devices costs none of their memory.
type Device struct {
	drv  *driver
	nv   func() (*compiler, error)
	lt   func() (*blas, error)
	nn   func() (*dnn, error)
	id   uintptr
	info device.Info
	arch int // compute capability: 90 for 9.0

	// use is held for reading by every call, for writing by what begins and ends them.
	use     sync.RWMutex
	context uintptr
	closed  bool
	lost    atomic.Pointer[diag.Error]

	pool pool
	mu   sync.Mutex
	open map[closer]struct{} // queues, programs and recordings that Close releases
}

// closer is something that Close of the device releases; it is called with the context
// current and the device idle.
type closer interface{ release() }

// Numbers of attributes (CUdevice_attribute).
const (
	attrGroup  = 1
	attrLocal  = 8
	attrUnits  = 16
	attrMajor  = 75
	attrMinor  = 76
	attrMode   = 20
	alignment  = 256 // cuMemAlloc aligns to 256 bytes at least
	prohibited = 2   // compute mode in which no context can be made
	nameBytes  = 256
)

// Devices returns the devices of the driver that can compute. The error, of code
// device.NoDevice, says in one line why there is none.
func Devices() ([]device.Device, error) {
	d, err := load()
	if err != nil {
		return nil, err
	}
	return d.devices(toolkit{loadCompiler, loadBLAS, loadDNN})
}

// toolkit opens the libraries that may stand next to a driver.
type toolkit struct {
	nv func() (*compiler, error)
	lt func() (*blas, error)
	nn func() (*dnn, error)
}

// DevicesOf is Devices for libraries of the caller's: a driver, NVRTC, cuBLASLt and cuDNN, the
// first of each list that can be loaded.
func DevicesOf(driver, nvrtc, blas, dnn []string) ([]device.Device, error) {
	d, err := open(driver)
	if err != nil {
		return nil, err
	}
	return d.devices(toolkit{once(openCompiler, nvrtc), once(openBLAS, blas), once(openDNN, dnn)})
}

// once opens a library when it is first asked for.
func once[L any](open func(names []string) (*L, error), names []string) func() (*L, error) {
	return sync.OnceValues(func() (*L, error) { return open(names) })
}

func (d *driver) devices(with toolkit) ([]device.Device, error) {
	var count int32
	if s := d.call(d.deviceGetCount, uintptr(unsafe.Pointer(&count))); s != success {
		return nil, none("the CUDA driver does not list its devices: "+d.describe(s), "see whether nvidia-smi lists the card")
	}
	var found []device.Device
	for i := range count {
		var id int32
		if d.call(d.deviceGet, uintptr(unsafe.Pointer(&id)), uintptr(i)) != success {
			continue
		}
		if dev := d.describeDevice(uintptr(id), with); dev != nil {
			found = append(found, dev)
		}
	}
	if len(found) == 0 {
		return nil, none("the CUDA driver finds no device that can compute", "see whether nvidia-smi lists the card, and CUDA_VISIBLE_DEVICES and the compute mode let it be used")
	}
	return found, nil
}

// describeDevice returns what the driver says of a device, nil for one that takes no context.
func (d *driver) describeDevice(id uintptr, with toolkit) *Device {
	attr := func(what int) int {
		var v int32
		d.call(d.deviceGetAttribute, uintptr(unsafe.Pointer(&v)), uintptr(what), id)
		return int(v)
	}
	if attr(attrMode) == prohibited {
		return nil
	}
	var name [nameBytes]byte
	d.call(d.deviceGetName, uintptr(unsafe.Pointer(&name[0])), nameBytes-1, id)
	var memory uint64
	d.call(d.deviceTotalMem, uintptr(unsafe.Pointer(&memory)), id)
	dev := &Device{drv: d, nv: with.nv, lt: with.lt, nn: with.nn, id: id, arch: 10*attr(attrMajor) + attr(attrMinor), open: map[closer]struct{}{}}
	versions := "CUDA " + d.version()
	if c, err := with.nv(); err == nil {
		versions += "; NVRTC " + c.version
	}
	dev.info = device.Info{
		Kind: device.CUDA, Name: strings.TrimSpace(cstring(&name[0])), Vendor: "NVIDIA", Driver: versions,
		Memory: int64(memory), Units: attr(attrUnits), Group: attr(attrGroup), Local: attr(attrLocal),
		Vector: 1, Align: alignment, Doubles: true, Arch: "sm_" + strconv.Itoa(dev.arch),
	}
	return dev
}

// Info implements device.Device.
func (d *Device) Info() device.Info { return d.info }

// Close waits for the device and releases what was made of it and is not freed yet. It may
// be called again; every other call after it fails with device.Lost.
func (d *Device) Close() error {
	d.use.Lock()
	defer d.use.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	if d.context == 0 {
		return nil
	}
	defer d.current()()
	err := d.failed("waiting for", d.drv.call(d.drv.ctxSynchronize))
	for c := range d.open {
		c.release()
	}
	clear(d.open)
	d.pool.release(d)
	s := d.drv.call(d.drv.devicePrimaryCtxRelease, d.id)
	if d.lost.Load() != nil {
		return nil // whoever used the device when it was lost was told; what could be released is
	}
	if err == nil {
		err = d.failed("closing", s)
	}
	return err
}

// current makes the device's context that of this thread, and returns what restores the
// thread. Contexts belong to threads and goroutines move between these, so that the thread
// is locked meanwhile. The stack of contexts is left as it was found, since other libraries
// of the process may have put contexts of their own there (decision 0051).
func (d *Device) current() (restore func()) {
	runtime.LockOSThread()
	d.drv.call(d.drv.ctxPushCurrent, d.context)
	return d.restore
}

func (d *Device) restore() {
	var old uintptr
	d.drv.call(d.drv.ctxPopCurrent, uintptr(unsafe.Pointer(&old)))
	runtime.UnlockOSThread()
}

// enter begins calls to the driver: it fails when the device is closed or lost. What it
// returns ends them.
func (d *Device) enter() (leave func(), err error) {
	d.use.RLock()
	if err := d.usable(); err != nil {
		d.use.RUnlock()
		return nil, err
	}
	if d.context == 0 {
		d.use.RUnlock()
		if err := d.start(); err != nil {
			return nil, err
		}
		return d.enter()
	}
	d.current()
	return d.leave, nil
}

func (d *Device) leave() {
	d.restore()
	d.use.RUnlock()
}

// usable reports why the device cannot be used any more.
func (d *Device) usable() error {
	if e := d.lost.Load(); e != nil {
		return diag.New(device.Lost, d.info.Name+" was lost before").WithHint(e.Hint)
	}
	if d.closed {
		return diag.New(device.Lost, d.info.Name+" is closed").WithHint("open the device again")
	}
	return nil
}

// start makes the context.
func (d *Device) start() error {
	d.use.Lock()
	defer d.use.Unlock()
	if d.context != 0 || d.closed {
		return nil
	}
	var context uintptr
	if s := d.drv.call(d.drv.devicePrimaryCtxRetain, uintptr(unsafe.Pointer(&context)), d.id); s != success {
		return d.failed("a context of", s)
	}
	d.context = context
	return nil
}

// failed returns the error of a call, nil for success. The first result that says so makes
// the device a lost one for all later calls.
func (d *Device) failed(what string, s status) error {
	if s == success {
		return nil
	}
	if s == outOfMemory {
		return diag.New(device.DriverFailed, what+" "+d.info.Name+": no memory is left for it: "+d.drv.describe(s)).
			WithHint("close executables that are not used any more, or run smaller batches")
	}
	if losing[s] {
		e := diag.New(device.Lost, what+" "+d.info.Name+": the device is lost: "+d.drv.describe(s)).
			WithHint("run the model on the cpu target; a process that has lost a CUDA device must be restarted to use it again")
		d.lost.CompareAndSwap(nil, e)
		return e
	}
	return diag.New(device.DriverFailed, what+" "+d.info.Name+" failed: "+d.drv.describe(s))
}

// keep makes Close release c, forget undoes it and tells whether it was kept.
func (d *Device) keep(c closer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open[c] = struct{}{}
}

func (d *Device) forget(c closer) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.open[c]
	delete(d.open, c)
	return ok
}

// free releases c unless Close or an earlier call did. On a lost device nothing can be
// released one by one: Close gives its context back.
func (d *Device) free(c closer) {
	leave, err := d.enter()
	if err != nil {
		return
	}
	defer leave()
	if d.forget(c) {
		c.release()
	}
}
