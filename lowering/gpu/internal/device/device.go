package device

// Kinds of devices, by the library that drives them. The kind decides how macros of kernel
// source are defined.
const (
	OpenCL = "opencl"
	CUDA   = "cuda"
)

// Info describes a device.
type Info struct {
	Kind    string // OpenCL or CUDA
	Name    string // the device's own name
	Vendor  string
	Driver  string // driver and library versions: part of the key of built programs
	Memory  int64  // bytes of global memory
	Units   int    // processors that run groups side by side
	Group   int    // the most work-items of a group
	Local   int    // bytes of local memory of a group
	Vector  int    // f32 lanes of a register that one work-item computes with; 1 where work-items are the lanes
	Align   int    // bytes that a View's offset is a multiple of
	Doubles bool   // 64-bit floats
	Host    bool   // a CPU, whose caches serve as local memory
	Arch    string // CUDA: "sm_90"
}

// Device is an opened accelerator. Methods may be called by many goroutines. Errors of all
// methods are *diag.Error; one of code gpu.Lost says that the device cannot be used any more.
type Device interface {
	Info() Info
	// Alloc returns memory of the device, whose contents are arbitrary. bytes is at least 1.
	Alloc(bytes int) (Buffer, error)
	// Build compiles source. Where binary is what Binary of an equal source on an equal
	// device returned, it may be loaded instead; one that does not load is no error, the
	// source is compiled then. built tells whether it was.
	Build(source string, binary []byte) (p Program, built bool, err error)
	// NewQueue returns a queue of its own, whose commands run in order.
	NewQueue() (Queue, error)
	Close() error
}

// Buffer is memory of a device.
type Buffer interface {
	// View returns part of the memory, which is freed with the whole. offset is a multiple of Info.Align.
	View(offset, bytes int) (Buffer, error)
	Bytes() int
	// Free gives the memory back once no command uses it.
	Free()
}

// Program is a built source.
type Program interface {
	// Kernel returns a function of the source.
	Kernel(name string) (Kernel, error)
	// Binary returns what Build takes; nil where there is none.
	Binary() ([]byte, error)
	Free()
}

// Kernel is a function of a program. One of them may be launched by several goroutines.
type Kernel interface{ Free() }

// Arg is an argument of a kernel: memory, or a number of 4 or 8 bytes.
type Arg struct {
	Buffer Buffer
	Bits   uint64 // the low bytes of the number
	Size   int    // 4 or 8; unused for memory
}

// Launch is a run of a kernel over a grid of groups. Sizes count work-items in groups and
// groups in the grid, x first; zero stands for 1.
type Launch struct {
	Kernel Kernel
	Grid   [3]int // groups
	Group  [3]int // work-items of a group
	Args   []Arg
}

// Queue runs commands in order. Its methods enqueue; a failure may come from a later call.
// A queue is used by one goroutine at a time.
type Queue interface {
	// Write copies host memory to the start of dst; src may be changed when it returns.
	Write(dst Buffer, src []byte) error
	// Read copies from the start of src and waits for it and all before it.
	Read(dst []byte, src Buffer) error
	// Copy copies bytes from the start of src to the start of dst, which do not overlap.
	Copy(dst, src Buffer, bytes int) error
	Launch(l *Launch) error
	// Flush begins what is enqueued; Finish waits for it.
	Flush() error
	Finish() error
	Free()
}
