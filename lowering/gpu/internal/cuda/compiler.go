package cuda

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/dynlib"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

// compiler is NVRTC: the functions of the library, under their names without nvrtc.
type compiler struct {
	name    string
	version string // "12.4"
	archs   []int  // virtual architectures that it can compile for, ascending: 50, ..., 90

	getVersion, getNumSupportedArchs, getSupportedArchs                             uintptr
	createProgram, destroyProgram, compileProgram, getProgramLogSize, getProgramLog uintptr
	getPTXSize, getPTX, getCUBINSize, getCUBIN                                      uintptr
}

func (c *compiler) functions() map[string]*uintptr {
	return map[string]*uintptr{
		"nvrtcVersion": &c.getVersion, "nvrtcGetNumSupportedArchs": &c.getNumSupportedArchs, "nvrtcGetSupportedArchs": &c.getSupportedArchs,
		"nvrtcCreateProgram": &c.createProgram, "nvrtcDestroyProgram": &c.destroyProgram,
		"nvrtcCompileProgram": &c.compileProgram, "nvrtcGetProgramLogSize": &c.getProgramLogSize, "nvrtcGetProgramLog": &c.getProgramLog,
		"nvrtcGetPTXSize": &c.getPTXSize, "nvrtcGetPTX": &c.getPTX, "nvrtcGetCUBINSize": &c.getCUBINSize, "nvrtcGetCUBIN": &c.getCUBIN,
	}
}

// compilers are the names that NVRTC has, newest first. A toolkit that is not where the
// loader looks is found through CUDA_PATH or CUDA_HOME, or in its usual folder.
func compilers() []string {
	return installed([]string{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"},
		[]string{"nvrtc64_130_0.dll", "nvrtc64_120_0.dll", "nvrtc64_112_0.dll"})
}

// installed lists where a library of the toolkit may be.
func installed(names, windows []string) []string {
	folder, usual := "lib64", "/usr/local/cuda"
	if runtime.GOOS == "windows" {
		names, folder, usual = windows, "bin", ""
	}
	all := names
	for _, root := range []string{os.Getenv("CUDA_PATH"), os.Getenv("CUDA_HOME"), usual} {
		if !filepath.IsAbs(root) {
			continue
		}
		for _, n := range names {
			all = append(all[:len(all):len(all)], filepath.Join(root, folder, n))
		}
	}
	return all
}

var loadCompiler = sync.OnceValues(func() (*compiler, error) { return openCompiler(compilers()) })

// openCompiler loads the first NVRTC of names.
func openCompiler(names []string) (*compiler, error) {
	const cure = "install NVIDIA's NVRTC (of the CUDA toolkit, 11.4 or later), or set CUDA_PATH to the toolkit's folder"
	lib, err := dynlib.Open(names...)
	if err != nil {
		const most = 4
		return nil, none("no NVRTC library is installed to compile kernels for CUDA with: none of "+
			strings.Join(names[:min(most, len(names))], ", ")+" can be loaded", cure)
	}
	c := &compiler{name: lib.Name()}
	if f := lib.Find(c.functions()); f != "" {
		return nil, none("the NVRTC library "+lib.Name()+" has no function "+f, cure)
	}
	var major, minor, count int32
	c.call(c.getVersion, uintptr(unsafe.Pointer(&major)), uintptr(unsafe.Pointer(&minor)))
	c.version = strconv.Itoa(int(major)) + "." + strconv.Itoa(int(minor))
	if s := c.call(c.getNumSupportedArchs, uintptr(unsafe.Pointer(&count))); s != success || count < 1 || count > 1000 {
		return nil, none("the NVRTC library "+lib.Name()+" does not say what it compiles for", cure)
	}
	archs := make([]int32, count)
	c.call(c.getSupportedArchs, uintptr(unsafe.Pointer(&archs[0])))
	for _, a := range archs {
		c.archs = append(c.archs, int(a))
	}
	return c, nil
}

//go:uintptrescapes
func (c *compiler) call(function uintptr, args ...uintptr) status {
	return status(uint32(dynlib.Call(function, args...)))
}

// virtual returns the newest architecture that the compiler knows and the device runs,
// 0 where there is none: PTX for an older one runs on newer devices.
func (c *compiler) virtual(arch int) int {
	best := 0
	for _, a := range c.archs {
		if a <= arch {
			best = max(best, a)
		}
	}
	return best
}

// outOf names the kinds of images: PTX, which the driver compiles on, and machine code
// of one architecture, which also drivers that are older than the compiler take.
type outOf int

const (
	ptx outOf = iota
	cubin
)

// compile returns the image of CUDA C source for an architecture. Products and sums are
// not contracted; a kernel says fmaf where it wants one rounding.
func (c *compiler) compile(source string, arch int, kind outOf) ([]byte, error) {
	target := "compute_" + strconv.Itoa(c.virtual(arch))
	if kind == cubin {
		target = "sm_" + strconv.Itoa(arch)
	} else if c.virtual(arch) == 0 {
		return nil, diag.New(device.BuildFailed, "NVRTC "+c.version+" compiles nothing that an sm_"+strconv.Itoa(arch)+" runs").
			WithHint("install a version of NVRTC that knows the device")
	}
	text, name := []byte(source+"\x00"), []byte("kernels.cu\x00")
	var program uintptr
	if s := c.call(c.createProgram, uintptr(unsafe.Pointer(&program)), uintptr(unsafe.Pointer(&text[0])), uintptr(unsafe.Pointer(&name[0])), 0, 0, 0); s != success {
		return nil, c.refused("no program can be made", s)
	}
	defer func() { c.call(c.destroyProgram, uintptr(unsafe.Pointer(&program))) }()
	var pin runtime.Pinner
	defer pin.Unpin()
	var options []*byte
	for _, o := range []string{"--gpu-architecture=" + target, "--fmad=false"} {
		b := []byte(o + "\x00")
		pin.Pin(&b[0])
		options = append(options, &b[0])
	}
	if s := c.call(c.compileProgram, program, uintptr(len(options)), uintptr(unsafe.Pointer(&options[0]))); s != success {
		return nil, c.refused(c.log(program), s)
	}
	if kind == cubin {
		return c.bytes(program, c.getCUBINSize, c.getCUBIN)
	}
	return c.bytes(program, c.getPTXSize, c.getPTX)
}

// bytes reads a result of a program.
func (c *compiler) bytes(program, sizeOf, get uintptr) ([]byte, error) {
	var size uintptr
	if s := c.call(sizeOf, program, uintptr(unsafe.Pointer(&size))); s != success || size == 0 {
		return nil, c.refused("it gives no image", s)
	}
	b := make([]byte, size)
	if s := c.call(get, program, uintptr(unsafe.Pointer(&b[0]))); s != success {
		return nil, c.refused("it gives no image", s)
	}
	return b, nil
}

// log returns what the compiler says, at most the first 4000 bytes.
func (c *compiler) log(program uintptr) string {
	b, err := c.bytes(program, c.getProgramLogSize, c.getProgramLog)
	if err != nil {
		return "no log"
	}
	return logText(b)
}

func logText(b []byte) string {
	const most = 4000
	s, _, _ := strings.Cut(string(b), "\x00")
	return strings.TrimSpace(s[:min(len(s), most)])
}

// refused returns the error of a call; 6 is a source with mistakes, which the log names.
func (c *compiler) refused(said string, s status) error {
	return diag.New(device.BuildFailed, "NVRTC "+c.version+" does not take the kernels (error "+strconv.Itoa(int(s))+"): "+said)
}
