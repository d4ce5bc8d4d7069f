package cuda

import (
	"strconv"
	"sync"
	"unsafe"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/dynlib"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

// blas is cuBLASLt: the functions of the library, under their names without cublasLt.
type blas struct {
	version string

	getVersion, create, destroy                        uintptr
	matmulDescCreate, matmulDescSet, matmulDescDestroy uintptr
	layoutCreate, layoutSet, layoutDestroy             uintptr
	preferenceCreate, preferenceSet, preferenceDestroy uintptr
	heuristic, matmul                                  uintptr
}

func (b *blas) functions() map[string]*uintptr {
	return map[string]*uintptr{
		"cublasLtGetVersion": &b.getVersion, "cublasLtCreate": &b.create, "cublasLtDestroy": &b.destroy,
		"cublasLtMatmulDescCreate": &b.matmulDescCreate, "cublasLtMatmulDescSetAttribute": &b.matmulDescSet, "cublasLtMatmulDescDestroy": &b.matmulDescDestroy,
		"cublasLtMatrixLayoutCreate": &b.layoutCreate, "cublasLtMatrixLayoutSetAttribute": &b.layoutSet, "cublasLtMatrixLayoutDestroy": &b.layoutDestroy,
		"cublasLtMatmulPreferenceCreate": &b.preferenceCreate, "cublasLtMatmulPreferenceSetAttribute": &b.preferenceSet, "cublasLtMatmulPreferenceDestroy": &b.preferenceDestroy,
		"cublasLtMatmulAlgoGetHeuristic": &b.heuristic, "cublasLtMatmul": &b.matmul,
	}
}

var loadBLAS = sync.OnceValues(func() (*blas, error) {
	return openBLAS(installed([]string{"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11", "libcublasLt.so"},
		[]string{"cublasLt64_13.dll", "cublasLt64_12.dll", "cublasLt64_11.dll"}))
})

// openBLAS loads the first cuBLASLt of names.
func openBLAS(names []string) (*blas, error) {
	const cure = "nothing is needed: kernels of gofx compute products; for NVIDIA's, install cuBLAS of the CUDA toolkit, or set CUDA_PATH to its folder"
	b := &blas{}
	if err := openLibrary("cuBLASLt", names, b.functions(), cure); err != nil {
		return nil, err
	}
	v := int(dynlib.Call(b.getVersion))
	b.version = strconv.Itoa(v/10000) + "." + strconv.Itoa(v/100%100) + "." + strconv.Itoa(v%100)
	return b, nil
}

// openLibrary loads the first of names and finds its functions.
func openLibrary(what string, names []string, functions map[string]*uintptr, cure string) error {
	lib, err := dynlib.Open(names...)
	if err != nil {
		return none("no "+what+" library is installed", cure)
	}
	if f := lib.Find(functions); f != "" {
		return none("the "+what+" library "+lib.Name()+" has no function "+f, cure)
	}
	return nil
}

//go:uintptrescapes
func (b *blas) call(function uintptr, args ...uintptr) status {
	return status(uint32(dynlib.Call(function, args...)))
}

// Numbers of cublasLt.h and library_types.h.
const (
	typeF32, typeF16, typeBF16 = 0, 2, 14 // cudaDataType
	computeF32, computeTF32    = 68, 77   // sums in f32, of f32 or of tf32
	attrTransA, attrTransB     = 3, 4     // of a product
	attrBatch, attrStride      = 5, 6     // of a layout
	attrWorkspace              = 1        // of a preference
	turned                     = 1        // CUBLAS_OP_T
	workspaceBytes             = 32 << 20 // of a queue, what NVIDIA advises for Hopper
)

// heuristicResult is cublasLtMatmulHeuristicResult_t.
type heuristicResult struct {
	algorithm [8]uint64
	workspace uintptr
	state     int32
	waves     float32
	_         [4]int32
}

// product is a prepared routine. Matrices of the library lie by columns: what is out by rows
// is its transpose by columns, so that b comes first.
type product struct {
	d                *Device
	b                *blas
	handle, desc     uintptr
	left, right, out uintptr // layouts of b, a and the result
	algorithm        heuristicResult
	of               device.Product
	size             int // of an element
}

// Product implements device.Library.
func (d *Device) Product(of device.Product) (device.Routine, string, error) {
	b, err := d.lt()
	if err != nil {
		return nil, "", err
	}
	leave, err := d.enter()
	if err != nil {
		return nil, "", err
	}
	defer leave()
	p := &product{d: d, b: b, of: of}
	if s := p.prepare(); s != success {
		p.release()
		return nil, "", none("cuBLASLt "+b.version+" takes no such product (status "+strconv.Itoa(int(s))+")", "nothing is needed: a kernel of gofx computes it")
	}
	d.keep(p)
	return p, "cuBLASLt " + b.version, nil
}

// prepare describes the product and asks for the algorithm.
func (p *product) prepare() status {
	b, of := p.b, p.of
	typ := map[string]uintptr{"": typeF32, "f16": typeF16, "bf16": typeBF16}[of.Half]
	to := typ
	if of.Sums {
		to = typeF32
	}
	if p.size = 4; of.Half != "" {
		p.size = 2
	}
	var s status
	if p.handle, s = p.d.ltHandle(b); s != success {
		return s
	}
	compute := uintptr(computeF32)
	if of.TF32 {
		compute = computeTF32
	}
	if s := b.call(b.matmulDescCreate, uintptr(unsafe.Pointer(&p.desc)), compute, typeF32); s != success {
		return s
	}
	for attr, m := range map[uintptr]device.Matrix{attrTransA: of.B, attrTransB: of.A} {
		if !m.Turned {
			continue // rows of a row-major matrix are columns here: as it is
		}
		op := int32(turned)
		if s := b.call(b.matmulDescSet, p.desc, attr, uintptr(unsafe.Pointer(&op)), unsafe.Sizeof(op)); s != success {
			return s
		}
	}
	for _, l := range []struct {
		at         *uintptr
		typ        uintptr
		rows, cols int
		m          device.Matrix
	}{
		{&p.left, typ, of.N, of.K, of.B}, {&p.right, typ, of.K, of.M, of.A},
		{&p.out, to, of.N, of.M, device.Matrix{Lead: of.N, Batch: of.M * of.N}},
	} {
		if l.m.Turned {
			l.rows, l.cols = l.cols, l.rows
		}
		if s := p.layout(l.at, l.typ, l.rows, l.cols, l.m); s != success {
			return s
		}
	}
	return p.choose()
}

func (p *product) layout(at *uintptr, typ uintptr, rows, cols int, m device.Matrix) status {
	b := p.b
	if s := b.call(b.layoutCreate, uintptr(unsafe.Pointer(at)), typ, uintptr(rows), uintptr(cols), uintptr(m.Lead)); s != success {
		return s
	}
	count, stride := int32(p.of.Batch), int64(m.Batch)
	if count == 1 {
		return success
	}
	if s := b.call(b.layoutSet, *at, attrBatch, uintptr(unsafe.Pointer(&count)), unsafe.Sizeof(count)); s != success {
		return s
	}
	return b.call(b.layoutSet, *at, attrStride, uintptr(unsafe.Pointer(&stride)), unsafe.Sizeof(stride))
}

// choose asks for the first algorithm that the library advises.
func (p *product) choose() status {
	b := p.b
	var preference uintptr
	if s := b.call(b.preferenceCreate, uintptr(unsafe.Pointer(&preference))); s != success {
		return s
	}
	defer b.call(b.preferenceDestroy, preference)
	most := uint64(workspaceBytes)
	if s := b.call(b.preferenceSet, preference, attrWorkspace, uintptr(unsafe.Pointer(&most)), unsafe.Sizeof(most)); s != success {
		return s
	}
	var found int32
	s := b.call(b.heuristic, p.handle, p.desc, p.left, p.right, p.out, p.out, preference, 1, uintptr(unsafe.Pointer(&p.algorithm)), uintptr(unsafe.Pointer(&found)))
	if s == success && (found < 1 || p.algorithm.state != 0 || p.algorithm.workspace > workspaceBytes) {
		const notSupported = 15
		return notSupported
	}
	return s
}

// Reserve implements device.Routine.
func (p *product) Reserve(on device.Queue) error { return p.d.reserve(on, p.algorithm.workspace) }

// reserve gives a queue the memory of a routine.
func (d *Device) reserve(on device.Queue, bytes uintptr) error {
	q, ok := on.(*queue)
	if !ok || q.d != d {
		return diag.Bug("cuda: a routine of another device")
	}
	leave, err := d.enter()
	if err != nil {
		return err
	}
	defer leave()
	return q.scratch(bytes)
}

// operands begins a routine of two operands: the addresses are those of the result and of them.
func (d *Device) operands(on device.Queue, out device.Buffer, in []device.Buffer) (q *queue, at [3]uint64, leave func(), err error) {
	q, ok := on.(*queue)
	if !ok || q.d != d || len(in) != 2 {
		return nil, at, nil, diag.Bug("cuda: a routine of another device, or of other operands")
	}
	if leave, err = d.enter(); err != nil {
		return nil, at, nil, err
	}
	q.issued++
	for i, m := range []device.Buffer{out, in[0], in[1]} {
		b, err := d.memory(m, 0)
		if err != nil {
			leave()
			return nil, at, nil, err
		}
		q.used(b)
		at[i] = b.address()
	}
	return q, at, leave, nil
}

// Run implements device.Routine.
func (p *product) Run(on device.Queue, out device.Buffer, in ...device.Buffer) error {
	q, at, leave, err := p.d.operands(on, out, in)
	if err != nil {
		return err
	}
	defer leave()
	if err := q.scratch(p.algorithm.workspace); err != nil {
		return err
	}
	alpha, beta := float32(1), float32(0)
	a, b := at[1]+uint64(p.of.A.Offset*p.size), at[2]+uint64(p.of.B.Offset*p.size)
	s := p.b.call(p.b.matmul, p.handle, p.desc, uintptr(unsafe.Pointer(&alpha)), uintptr(b), p.left, uintptr(a), p.right,
		uintptr(unsafe.Pointer(&beta)), uintptr(at[0]), p.out, uintptr(at[0]), p.out,
		uintptr(unsafe.Pointer(&p.algorithm.algorithm)), q.workspace, p.algorithm.workspace, q.stream)
	if s != success {
		return diag.New(device.DriverFailed, "cuBLASLt "+p.b.version+" fails on "+q.d.info.Name+" (status "+strconv.Itoa(int(s))+")")
	}
	return nil
}

// scratch gives a queue memory that routines compute with, one after the other.
func (q *queue) scratch(bytes uintptr) error {
	if bytes == 0 || q.workspace != 0 {
		return nil
	}
	return q.d.failed("memory of", q.d.drv.call(q.d.drv.memAlloc, uintptr(unsafe.Pointer(&q.workspace)), workspaceBytes))
}

// Free implements device.Routine.
func (p *product) Free() { p.d.free(p) }

// release ends what prepare made, as far as it came.
func (p *product) release() {
	for _, end := range []struct{ function, object uintptr }{
		{p.b.layoutDestroy, p.left}, {p.b.layoutDestroy, p.right}, {p.b.layoutDestroy, p.out},
		{p.b.matmulDescDestroy, p.desc},
	} {
		if end.object != 0 {
			p.b.call(end.function, end.object)
		}
	}
	p.left, p.right, p.out, p.desc = 0, 0, 0, 0
}

// ltHandle returns the device's handle of the library, which Close ends.
func (d *Device) ltHandle(b *blas) (uintptr, status) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.open {
		if h, ok := c.(*blasHandle); ok {
			return h.handle, success
		}
	}
	h := &blasHandle{b: b}
	if s := b.call(b.create, uintptr(unsafe.Pointer(&h.handle))); s != success {
		return 0, s
	}
	d.open[h] = struct{}{}
	return h.handle, success
}

type blasHandle struct {
	b      *blas
	handle uintptr
}

func (h *blasHandle) release() { h.b.call(h.b.destroy, h.handle) }
