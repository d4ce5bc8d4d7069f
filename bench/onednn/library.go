// Package onednn calls oneDNN 2.x (Debian's libdnnl2) without cgo, as a process
// that answers the requests of package peers. Its convolutions are measured
// through PyTorch; here are its matrix products and elementwise functions.
package onednn

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Values of oneDNN's enumerations, from its header dnnl_types.h.
const (
	engineCPU     = 1
	streamDefault = 1
	dataF32       = 3
	tagAny        = 1
	tagPlain1     = 2 // a; ab and abc follow
	inference     = 96
	queryWeights  = 131
	argSrc        = 1
	argDst        = 17
	argWeights    = 33
)

// algorithms are the elementwise functions by their name in the requests.
var algorithms = map[string]int32{
	"exp": 0xbf, "log": 0xef, "tanh": 0x2f, "sigmoid": 0xaf, "gelu": 0x30, "silu": 0xdf,
}

// descriptor has room for any of the library's descriptors, whose fields are not
// needed here: the largest are below 4 KiB.
type descriptor [1024]uint64

// argument is dnnl_exec_arg_t.
type argument struct {
	index  int32
	memory uintptr
}

// library is oneDNN with an engine and a stream.
type library struct {
	engine, stream uintptr

	engineCreate  func(engine *uintptr, kind int32, index uint64) int32
	streamCreate  func(stream *uintptr, engine uintptr, flags uint32) int32
	streamWait    func(stream uintptr) int32
	memoryDesc    func(md *descriptor, rank int32, dims *int64, dtype, tag int32) int32
	memoryCreate  func(memory *uintptr, md unsafe.Pointer, engine uintptr, data unsafe.Pointer) int32
	memoryDestroy func(memory uintptr) int32
	matmulDesc    func(d *descriptor, src, weights, bias, dst *descriptor) int32
	eltwiseDesc   func(d *descriptor, prop, algorithm int32, data *descriptor, alpha, beta float32) int32
	primitiveDesc func(pd *uintptr, d *descriptor, attr, engine, hint uintptr) int32
	queryMD       func(pd uintptr, what, index int32) unsafe.Pointer
	reorderDesc   func(pd *uintptr, src unsafe.Pointer, srcEngine uintptr, dst unsafe.Pointer, dstEngine, attr uintptr) int32
	primitive     func(p *uintptr, pd uintptr) int32
	execute       func(p, stream uintptr, n int32, args *argument) int32
	destroyPD     func(pd uintptr) int32
	destroy       func(p uintptr) int32
}

// names are the files that may hold a library of this interface.
var names = []string{"libdnnl.so.2"}

// open loads the library.
func open() (*library, error) {
	if runtime.GOOS != "linux" {
		return nil, errors.New("onednn: only looked for on Linux")
	}
	var handle uintptr
	var err error
	for _, n := range names {
		if handle, err = purego.Dlopen(n, purego.RTLD_NOW|purego.RTLD_LOCAL); err == nil {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("onednn: %w", err)
	}
	l := new(library)
	for name, f := range map[string]any{
		"dnnl_engine_create": &l.engineCreate, "dnnl_stream_create": &l.streamCreate, "dnnl_stream_wait": &l.streamWait,
		"dnnl_memory_desc_init_by_tag": &l.memoryDesc, "dnnl_memory_create": &l.memoryCreate, "dnnl_memory_destroy": &l.memoryDestroy,
		"dnnl_matmul_desc_init": &l.matmulDesc, "dnnl_eltwise_forward_desc_init": &l.eltwiseDesc,
		"dnnl_primitive_desc_create": &l.primitiveDesc, "dnnl_primitive_desc_query_md": &l.queryMD,
		"dnnl_reorder_primitive_desc_create": &l.reorderDesc, "dnnl_primitive_create": &l.primitive,
		"dnnl_primitive_execute": &l.execute, "dnnl_primitive_desc_destroy": &l.destroyPD, "dnnl_primitive_destroy": &l.destroy,
	} {
		if _, err := purego.Dlsym(handle, name); err != nil {
			return nil, fmt.Errorf("onednn: %w", err)
		}
		purego.RegisterLibFunc(f, handle, name)
	}
	if err := status("engine", l.engineCreate(&l.engine, engineCPU, 0)); err != nil {
		return nil, err
	}
	return l, status("stream", l.streamCreate(&l.stream, l.engine, streamDefault))
}

// status turns a status of the library into an error.
func status(what string, s int32) error {
	if s != 0 {
		return fmt.Errorf("onednn: %s: status %d", what, s)
	}
	return nil
}
