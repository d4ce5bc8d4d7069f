package par

import (
	"unsafe"

	"github.com/gofx-dev/gofx/array"
)

// Workspace is the per-call state of kernels: scratch memory and the number of
// threads a call may use. It is used by one call at a time; callers keep a free
// list of them. The zero value works and runs on one thread.
//
//gofx:kernel
type Workspace struct {
	// Threads is the most goroutines a kernel may use; 0 and 1 mean the caller's alone.
	Threads int
	// Meter watches calls of Parallel; nil for most workspaces.
	Meter *Meter

	buf  *array.Storage
	lent []byte // scratch of another workspace, instead of buf; see Lanes
	top  int
	high int
	Jobs []any // idle job structures, kept between calls; see TakeJob
}

// Mark returns the current scratch position, for Release.
func (w *Workspace) Mark() int { return w.top }

// Release gives back all scratch taken since Mark returned m.
func (w *Workspace) Release(m int) { w.top = m }

// HighWater returns the most scratch bytes that were in use at once.
func (w *Workspace) HighWater() int { return w.high }

// Reserved returns the bytes of scratch memory that the workspace holds. More
// than was asked for with Reserve tells that a kernel took more than it said.
func (w *Workspace) Reserved() int {
	return len(w.memory())
}

func (w *Workspace) memory() []byte {
	if w.lent != nil || w.buf == nil {
		return w.lent
	}
	return w.buf.Bytes()
}

// Reserve allocates n bytes of scratch ahead, so that later calls do not allocate.
func (w *Workspace) Reserve(n int) {
	if w.top == 0 && (w.buf == nil || len(w.buf.Bytes()) < n) {
		w.buf = array.NewStorage(n)
	}
}

// Scratch returns n elements of scratch with unspecified contents, aligned to
// array.Align and valid until they are released.
//
//gofx:kernel
func Scratch[T array.Elem](w *Workspace, n int) []T {
	var z T
	b := w.scratch(ScratchSize(n, int(unsafe.Sizeof(z))))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// scratch is the part of Scratch that is the same for all types: programs, and the
// packages that take scratch of many, have it once. size is a multiple of array.Align.
func (w *Workspace) scratch(size int) []byte {
	have := w.memory()
	if w.top+size > len(have) {
		// Slices handed out earlier keep the old storage alive; the top restarts
		// in the new one at the same position so that Release still works.
		need := max(w.top+size, 4096)
		w.buf, w.lent = array.NewStorage(max(need, min(2*need, int(array.MaxBytes())))), nil
		have = w.buf.Bytes()
	}
	b := have[w.top:]
	w.top += size
	w.high = max(w.high, w.top)
	return b
}

// ScratchSize returns the scratch bytes that Scratch takes for n elements.
func ScratchSize(n, size int) int { return (n*size + array.Align - 1) &^ (array.Align - 1) }
