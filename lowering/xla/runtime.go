package xla

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"

	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
)

// MaxCompiled is the most compiled programs that a Runtime keeps beyond those in use.
const MaxCompiled = 64

// Runtime is a client of a plugin and the programs that were compiled for its first
// device. It may be shared by targets and goroutines.
type Runtime struct {
	client *pjrt.Client

	mu     sync.Mutex
	closed bool
	byText map[[sha256.Size]byte]*compiled
	recent []*compiled // those of byText, the last used one last
	stats  Stats
	users  int // of a shared runtime; guarded by shared
}

// Stats counts what a Runtime did. Compiles and Hits are requests for a program that was
// not, or was, compiled already.
type Stats struct {
	Compiles, Hits, Evicted int
	Kept                    int // programs at hand
}

// compiled is a program on the device. users are those that may run it.
type compiled struct {
	text  [sha256.Size]byte
	ready chan struct{} // closed when exec or err is set
	exec  *pjrt.Executable
	err   error
	users int // guarded by Runtime.mu
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
	return &Runtime{client: client, byText: map[[sha256.Size]byte]*compiled{}}, nil
}

// Client returns the client.
func (r *Runtime) Client() *pjrt.Client { return r.client }

// Stats returns what the runtime did so far.
func (r *Runtime) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.stats
	s.Kept = len(r.recent)
	return s
}

// Close closes the client, with all programs. Executables that use it cannot run any more.
func (r *Runtime) Close() error {
	r.mu.Lock()
	r.closed, r.byText, r.recent = true, map[[sha256.Size]byte]*compiled{}, nil
	r.mu.Unlock()
	return r.client.Close()
}

// compile returns the program of a text, compiled at most once, for one more user. The
// text holds all that matters: sizes and chosen results stand in it, and weights are
// arguments, so that modules which differ in them alone share a program.
func (r *Runtime) compile(ctx context.Context, text string) (*compiled, error) {
	key := sha256.Sum256([]byte(text))
	r.mu.Lock()
	c := r.byText[key]
	if c != nil {
		r.stats.Hits++
		c.users++
		r.touch(c)
		r.mu.Unlock()
		select {
		case <-c.ready:
		case <-ctx.Done():
			r.release(c)
			return nil, ctx.Err()
		}
		if c.err != nil {
			r.release(c)
			return nil, c.err
		}
		return c, nil
	}
	c = &compiled{text: key, ready: make(chan struct{}), users: 1}
	r.stats.Compiles++
	r.byText[key] = c
	r.recent = append(r.recent, c)
	r.mu.Unlock()
	c.exec, c.err = r.client.Compile(text, pjrt.CompileOptions{})
	close(c.ready)
	if c.err != nil {
		r.forget(c)
		return nil, c.err
	}
	r.trim()
	return c, nil
}

// touch makes c the last used one.
func (r *Runtime) touch(c *compiled) {
	if i := slices.Index(r.recent, c); i >= 0 {
		r.recent = append(slices.Delete(r.recent, i, i+1), c)
	}
}

// hold adds a user to a program that has one.
func (r *Runtime) hold(c *compiled) {
	r.mu.Lock()
	c.users++
	r.mu.Unlock()
}

// release ends a user's use of a program.
func (r *Runtime) release(c *compiled) {
	r.mu.Lock()
	c.users--
	r.mu.Unlock()
	r.trim()
}

// forget drops a program that could not be compiled, so that it is tried again.
func (r *Runtime) forget(c *compiled) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.users--
	if r.byText[c.text] == c {
		delete(r.byText, c.text)
	}
	if i := slices.Index(r.recent, c); i >= 0 {
		r.recent = slices.Delete(r.recent, i, i+1)
	}
}

// trim drops programs beyond MaxCompiled that nobody uses, the least recently used first.
// What their end reports has no one to be told to.
func (r *Runtime) trim() {
	r.mu.Lock()
	var old []*compiled
	for i := 0; i < len(r.recent) && len(r.recent) > MaxCompiled; {
		if c := r.recent[i]; c.users == 0 {
			r.recent = slices.Delete(r.recent, i, i+1)
			delete(r.byText, c.text)
			r.stats.Evicted++
			old = append(old, c)
			continue
		}
		i++
	}
	r.mu.Unlock()
	for _, c := range old {
		_ = c.exec.Close()
	}
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
