package pjrt

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"unsafe"

	"github.com/gofx-dev/gofx/diag"
)

// Plugin is a loaded library. It stays loaded until the process ends.
type Plugin struct {
	path       string
	table      *apiTable
	attributes []NamedValue
}

// plugins holds what was loaded, by absolute path: a plugin is initialised once a process.
var plugins struct {
	sync.Mutex
	loaded map[string]*Plugin
}

// Load loads the plugin at a path and initialises it; the same path gives the same plugin.
// The error has the code NoPlugin where the file is no library or no plugin, BadVersion
// where its interface is not understood, PluginFailed where it refuses to start. Loading
// runs the library's code: the path must be trusted.
func Load(path string) (*Plugin, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, noPlugin("no PJRT plugin at "+strconv.Quote(path), "", err)
	}
	plugins.Lock()
	defer plugins.Unlock()
	if p := plugins.loaded[full]; p != nil {
		return p, nil
	}
	if info, err := os.Stat(full); err == nil && !info.Mode().IsRegular() {
		return nil, noPlugin("the PJRT plugin "+strconv.Quote(full)+" cannot be loaded: it is no file", "", nil) // a loader waits for what a pipe gives
	}
	table, err := open(full)
	if err != nil {
		return nil, noPlugin("the PJRT plugin "+strconv.Quote(full)+" cannot be loaded", "", err)
	}
	p := &Plugin{path: full, table: table}
	if err := p.start(); err != nil {
		return nil, err
	}
	if plugins.loaded == nil {
		plugins.loaded = map[string]*Plugin{}
	}
	plugins.loaded[full] = p
	return p, nil
}

// start checks the version and initialises the plugin.
func (p *Plugin) start() error {
	t := p.table
	if t == nil {
		return noPlugin("the PJRT plugin "+strconv.Quote(p.path)+" gives no interface", "", nil)
	}
	if t.size < unsafe.Sizeof(apiTable{}) || t.major != apiMajor || t.minor < apiMinMinor || t.size < minTableSize {
		msg := p.name() + " has version " + strconv.Itoa(int(t.major)) + "." + strconv.Itoa(int(t.minor)) + " of the PJRT C API with a table of " + strconv.Itoa(int(t.size)) + " bytes"
		return diag.New(BadVersion, msg+", expected major version 0, minor version 40 or later, and "+strconv.Itoa(int(minTableSize))+" bytes").
			WithHint("take a plugin that was built with a supported version of XLA")
	}
	if err := p.call(fnPluginInitialize, unsafe.Pointer(&objectArgs{head: head{size: unsafe.Sizeof(objectArgs{})}})); err != nil {
		return err
	}
	if p.function(fnPluginAttributes) == 0 {
		return nil
	}
	attrs := &attributesArgs{head: head{size: unsafe.Sizeof(attributesArgs{})}}
	if err := p.call(fnPluginAttributes, unsafe.Pointer(attrs)); err != nil {
		return err
	}
	p.attributes = readNamed(attrs.data, attrs.n)
	return nil
}

// Path returns the absolute path of the library.
func (p *Plugin) Path() string { return p.path }

// Version returns the version of the interface that the plugin was built with.
func (p *Plugin) Version() (major, minor int) { return int(p.table.major), int(p.table.minor) }

// Attributes returns what the plugin tells of itself, such as the versions of StableHLO
// that it reads ("stablehlo_current_version", three numbers).
func (p *Plugin) Attributes() []NamedValue { return slices.Clone(p.attributes) }

// name is how messages call the plugin.
func (p *Plugin) name() string { return "PJRT plugin " + filepath.Base(p.path) }

// function returns the address of a function, 0 where the plugin has none.
func (p *Plugin) function(f fn) uintptr {
	at := unsafe.Sizeof(apiTable{}) + uintptr(f)*unsafe.Sizeof(uintptr(0))
	if at+unsafe.Sizeof(uintptr(0)) > p.table.size {
		return 0
	}
	return *(*uintptr)(unsafe.Add(unsafe.Pointer(p.table), at))
}

// call calls a function with a pointer to its arguments and returns what it reports.
func (p *Plugin) call(f fn, args unsafe.Pointer) error {
	addr := p.function(f)
	if addr == 0 {
		why := &Failure{Func: fnNames[f], Status: Unimplemented, Text: "the plugin does not have it"}
		return &diag.Error{Code: PluginFailed, Msg: p.name() + ": " + why.Func + " failed", Err: why}
	}
	return p.failure(f, invoke(addr, args))
}

// The calls of the forms that many functions have.

func (p *Plugin) onObject(f fn, object uintptr) error {
	return p.call(f, unsafe.Pointer(&objectArgs{head: head{size: unsafe.Sizeof(objectArgs{})}, object: object}))
}

func (p *Plugin) flagOf(f fn, object uintptr) (bool, error) {
	a := &flagArgs{head: head{size: unsafe.Sizeof(flagArgs{})}, object: object}
	err := p.call(f, unsafe.Pointer(a))
	return a.flag != 0, err
}

func (p *Plugin) intOf(f fn, object uintptr) (int, error) {
	a := &intArgs{head: head{size: unsafe.Sizeof(intArgs{})}, object: object}
	err := p.call(f, unsafe.Pointer(a))
	return int(a.n), err
}

func (p *Plugin) wordOf(f fn, object uintptr) (uintptr, error) {
	a := &wordArgs{head: head{size: unsafe.Sizeof(wordArgs{})}, object: object}
	err := p.call(f, unsafe.Pointer(a))
	return a.word, err
}

func (p *Plugin) textOf(f fn, object uintptr) (string, error) {
	a := &listArgs{head: head{size: unsafe.Sizeof(listArgs{})}, object: object}
	err := p.call(f, unsafe.Pointer(a))
	if err != nil {
		return "", err
	}
	return text(a.data, a.n), nil
}

// listOf copies a list that the object owns.
func listOf[T any](p *Plugin, f fn, object uintptr) ([]T, error) {
	a := &listArgs{head: head{size: unsafe.Sizeof(listArgs{})}, object: object}
	if err := p.call(f, unsafe.Pointer(a)); err != nil {
		return nil, err
	}
	return slices.Clone(list[T](a.data, a.n)), nil
}
