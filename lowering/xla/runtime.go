package xla

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/shard"
	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
)

// MaxCompiled is the most compiled programs that a Runtime keeps beyond those in use.
const MaxCompiled = 64

// Runtime is a client of a plugin and the programs that were compiled for its
// devices. It may be shared by targets and goroutines.
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

// NewRuntime makes a client of a plugin, which is a name or a path as for pjrt.Open, with the
// plugin's own options, as for pjrt.Plugin.NewClient.
func NewRuntime(plugin string, options ...pjrt.NamedValue) (*Runtime, error) {
	p, err := pjrt.Open(plugin)
	if err != nil {
		return nil, err
	}
	return runtimeOf(p, options...)
}

func runtimeOf(p *pjrt.Plugin, options ...pjrt.NamedValue) (*Runtime, error) {
	client, err := p.NewClient(options...)
	if err != nil {
		return nil, err
	}
	// What the end of a program reports has no one to be told to.
	r := &Runtime{client: client, programs: lowering.NewCache(MaxCompiled, func(e *pjrt.Executable) { _ = e.Close() })}
	r.versions = versions(client)
	return r, nil
}

// versions names all that a compiled program depends on besides its text: the interface, the
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
	if c.Platform() == "cpu" {
		device += processor()
	}
	return fmt.Sprintf("%d.%d %q %s %q %q %q %v", major, minor, p.Path(), file, c.Platform(), c.PlatformVersion(), device, p.Attributes())
}

// processor is what XLA compiles for where the device is this machine's processor, of which the plugin
// tells nothing: machines may share the folder of programs, and one that lacks an instruction stops there.
func processor() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(info), "\n\n")
	var out string
	for line := range strings.Lines(first) {
		key, value, _ := strings.Cut(line, ":")
		if slices.Contains([]string{"vendor_id", "cpu family", "model", "flags", "CPU implementer", "CPU part", "Features"}, strings.TrimSpace(key)) {
			out += " " + strings.TrimSpace(value)
		}
	}
	return out
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
// options, which belong to every key, are those of the compilation. on are the devices of the
// partitions, nil where the program is for one device.
func (r *Runtime) compile(ctx context.Context, text, options string, folder lowering.Folder, on []*pjrt.Device) (*lowering.CacheEntry[*pjrt.Executable], error) {
	var o pjrt.CompileOptions
	devices := ""
	for _, d := range on {
		o.Partitions, o.Devices = len(on), append(o.Devices, d.ID())
		devices += fmt.Sprintf("%d %q ", d.ID(), d.Kind())
	}
	key := lowering.Key("2", r.versions, options, text, devices)
	return r.programs.Hold(ctx, key, func() (*pjrt.Executable, error) {
		if data := folder.Load(key); data != nil {
			if e, err := r.client.Load(data); err == nil { // else it is made again
				if runsOn(e, on) {
					r.loaded.Add(1)
					return e, nil
				}
				_ = e.Close() // it is made again, for these devices
			}
		}
		r.compiles.Add(1)
		e, err := r.compiled(text, o)
		if err != nil {
			return nil, err
		}
		if !runsOn(e, on) {
			_ = e.Close() // the error says more
			return nil, diag.New(pjrt.PluginFailed, "the plugin compiled for other devices than it was asked to").WithHint("leave the layout out: a program for one device runs where the plugin puts it")
		}
		if folder != "" {
			if data, err := e.Serialize(); err == nil { // not all plugins can
				folder.Save(key, data)
			}
		}
		return e, nil
	})
}

// dropsNaN is the option by which XLA's maximum and minimum on processors give the first operand where the
// second is NaN. It is on unless a client says otherwise, as JAX does.
const dropsNaN = "xla_cpu_enable_fast_min_max"

// compiled compiles a program in which NaN stays NaN.
func (r *Runtime) compiled(text string, o pjrt.CompileOptions) (*pjrt.Executable, error) {
	if r.client.Platform() != "cpu" {
		return r.client.Compile(text, o)
	}
	exact := o
	exact.Flags = map[string]bool{dropsNaN: false}
	e, err := r.client.Compile(text, exact)
	if err != nil && strings.Contains(err.Error(), dropsNaN) { // a plugin without the option
		return r.client.Compile(text, o)
	}
	return e, err
}

// runsOn reports whether a program runs on these devices, in any order, where they were asked for.
func runsOn(e *pjrt.Executable, on []*pjrt.Device) bool {
	have := e.Devices()
	return on == nil || len(have) == len(on) && !slices.ContainsFunc(on, func(d *pjrt.Device) bool { return !slices.Contains(have, d) })
}

// partitions returns the devices that a layout's partitions run on, in their order: the first ones
// of this process. Without a layout it is the first one.
func (r *Runtime) partitions(l *shard.Layout) ([]*pjrt.Device, error) {
	n := 1
	if l != nil {
		n = l.Mesh.Partitions()
	}
	var list []*pjrt.Device
	all := r.client.Devices()
	for _, d := range all {
		if d.Addressable() {
			list = append(list, d)
		}
	}
	if l == nil && len(list) == 0 {
		return nil, diag.New(pjrt.BadArgument, "the client has no device that this process can use").WithHint("compile for another target")
	}
	if n < 1 || n > len(list) {
		others := ""
		if len(all) > len(list) {
			others = fmt.Sprintf(", and %d of other processes", len(all)-len(list))
		}
		return nil, diag.New(lowering.BadOption, fmt.Sprintf("the mesh has %d partitions (%s), devices of the client that this process can use: %d%s", n, l.Mesh, len(list), others)).
			WithHint("give axes sizes whose product is at most the number of devices")
	}
	return list[:n], nil
}

// shared holds the runtimes that targets without one of their own use, by plugin: a client
// may take most of a device's memory, so that a process has one, whatever the plugin is called. It is
// locked while clients begin and end.
var shared struct {
	sync.Mutex
	byPlugin map[*pjrt.Plugin]*Runtime
}

// acquire returns the runtime of a target, and what ends the use of it.
func (t Target) acquire() (*Runtime, func() error, error) {
	if t.Runtime != nil {
		t.Runtime.mu.Lock()
		defer t.Runtime.mu.Unlock()
		if t.Runtime.closed {
			return nil, nil, diag.New(lowering.Closed, "the runtime is closed").WithHint("close it after its last run")
		}
		return t.Runtime, func() error { return nil }, nil
	}
	p, err := pjrt.Open(t.Plugin)
	if err != nil {
		return nil, nil, err
	}
	shared.Lock()
	defer shared.Unlock()
	r := shared.byPlugin[p]
	if r == nil {
		if r, err = runtimeOf(p); err != nil {
			return nil, nil, err
		}
		if shared.byPlugin == nil {
			shared.byPlugin = map[*pjrt.Plugin]*Runtime{}
		}
		shared.byPlugin[p] = r
	}
	r.users++
	return r, func() error {
		shared.Lock()
		defer shared.Unlock()
		if r.users--; r.users > 0 {
			return nil
		}
		delete(shared.byPlugin, p)
		return r.Close()
	}, nil
}

var _ lowering.Target = Target{}
