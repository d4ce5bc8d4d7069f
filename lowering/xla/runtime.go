package xla

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
)

// MaxCompiled is the most compiled programs that a Runtime keeps beyond those in use.
const MaxCompiled = 64

// Runtime is a client of a plugin and the programs that were compiled for its first
// device. It may be shared by targets and goroutines.
type Runtime struct {
	client   *pjrt.Client
	versions string // of plugin and platform
	programs *lowering.Cache[*pjrt.Executable]

	compiles, loaded atomic.Int64

	mu     sync.Mutex
	closed bool
	users  int // of a shared runtime; guarded by shared
}

// Stats counts what a Runtime did. Hits are requests for a program that was at hand; others
// were loaded from the cache on disk, or compiled.
type Stats struct {
	Compiles, Loaded, Hits, Evicted int
	Kept                            int // programs at hand
}

// NewRuntime makes a client of a plugin, which is a name or a path as for pjrt.Open.
func NewRuntime(plugin string) (*Runtime, error) {
	p, err := pjrt.Open(plugin)
	if err != nil {
		return nil, err
	}
	client, err := p.NewClient()
	if err != nil {
		return nil, err
	}
	// What the end of a program reports has no one to be told to.
	r := &Runtime{client: client, programs: lowering.NewCache(MaxCompiled, func(e *pjrt.Executable) { _ = e.Close() })}
	r.versions = versions(client)
	return r, nil
}

// versions names all that a compiled program depends on beside its text: the interface, the
// file of the plugin, its platform and the device.
func versions(c *pjrt.Client) string {
	p := c.Plugin()
	major, minor := p.Version()
	file := ""
	if info, err := os.Stat(p.Path()); err == nil {
		file = fmt.Sprint(info.Size(), info.ModTime().UnixNano())
	}
	device := ""
	if d := c.Devices(); len(d) > 0 {
		device = d[0].Kind()
	}
	return fmt.Sprintf("%d.%d %q %s %q %q %q %v", major, minor, p.Path(), file, c.Platform(), c.PlatformVersion(), device, p.Attributes())
}

// Client returns the client.
func (r *Runtime) Client() *pjrt.Client { return r.client }

// Stats returns what the runtime did so far.
func (r *Runtime) Stats() Stats {
	c := r.programs.Stats()
	return Stats{Compiles: int(r.compiles.Load()), Loaded: int(r.loaded.Load()), Hits: c.Hits, Evicted: c.Evicted, Kept: c.Kept}
}

// Close closes the client, with all programs. Executables that use it cannot run any more.
func (r *Runtime) Close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.programs.Close()
	return r.client.Close()
}

// compile returns the program of a text, compiled at most once, for one more user. The
// text holds all that matters: sizes, chosen results and donated inputs stand in it, and
// weights are arguments, so that modules which differ in them alone share a program. The
// options, which belong to every key, are those of the compilation.
func (r *Runtime) compile(ctx context.Context, text, options string, folder lowering.Folder) (*lowering.Held[*pjrt.Executable], error) {
	key := lowering.Key("1", r.versions, options, text)
	return r.programs.Hold(ctx, key, func() (*pjrt.Executable, error) {
		if data := folder.Load(key); data != nil {
			if e, err := r.client.Load(data); err == nil { // else it is made again
				r.loaded.Add(1)
				return e, nil
			}
		}
		r.compiles.Add(1)
		e, err := r.client.Compile(text, pjrt.CompileOptions{})
		if err != nil {
			return nil, err
		}
		if folder != "" {
			if data, err := e.Serialize(); err == nil { // not all plugins can
				folder.Save(key, data)
			}
		}
		return e, nil
	})
}

// shared holds the runtimes that targets without one of their own use, by plugin: a client
// may take most of a device's memory, so that a process has one.
var shared struct {
	sync.Mutex
	byPlugin map[string]*Runtime
}

// acquire returns the runtime of a target, and what ends the use of it.
func (t Target) acquire() (*Runtime, func() error, error) {
	if t.Runtime != nil {
		t.Runtime.mu.Lock()
		defer t.Runtime.mu.Unlock()
		if t.Runtime.closed {
			return nil, nil, closed("runtime")
		}
		return t.Runtime, func() error { return nil }, nil
	}
	shared.Lock()
	defer shared.Unlock()
	r := shared.byPlugin[t.Plugin]
	if r == nil {
		var err error
		if r, err = NewRuntime(t.Plugin); err != nil {
			return nil, nil, err
		}
		if shared.byPlugin == nil {
			shared.byPlugin = map[string]*Runtime{}
		}
		shared.byPlugin[t.Plugin] = r
	}
	r.users++
	return r, func() error {
		shared.Lock()
		r.users--
		last := r.users == 0
		if last {
			delete(shared.byPlugin, t.Plugin)
		}
		shared.Unlock()
		if last {
			return r.Close()
		}
		return nil
	}, nil
}

var _ lowering.Target = Target{}
