package xla

import (
	"context"
	"strconv"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
	"github.com/gofx-dev/gofx/shape"
)

// weight is a tensor of the module's state and its copy on the device, which is made once,
// and again when the tensor was written or, where it is live, replaced.
type weight struct {
	param *graph.Param // the caller's where live, else a copy that keeps the array
	live  bool

	typ shape.Type

	mu    sync.Mutex
	from  *array.Array
	since uint64 // when it was uploaded, on array.Now's clock
	copy  *uploaded
}

// uploaded is a buffer that runs use; the last one that leaves an old one closes it.
type uploaded struct {
	buffer *pjrt.Buffer
	users  int // 1 for being the present one; guarded by weight.mu
}

func (w *weight) array() (*array.Array, error) {
	a := w.param.Value
	if a == nil {
		return nil, diag.New(interp.GuardFailed, "tensor "+strconv.Quote(w.param.Path)+" has no data").WithHint("load the weights before the module is compiled")
	}
	if t := shape.TypeOf(a); w.typ.Ranked() && !t.Same(w.typ) {
		return nil, diag.New(interp.GuardFailed, "tensor "+w.param.Path+" is "+t.String()+", the graph was compiled for "+w.typ.String()).WithHint("compile the module again")
	}
	return a, nil
}

// use returns the weight on the device, for one run, which leaves it.
func (w *weight) use(ctx context.Context, c *pjrt.Client) (*uploaded, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a, err := w.array()
	if err != nil {
		return nil, err
	}
	if w.copy == nil || w.from != a || a.Storage().Version() > w.since {
		since := array.Now()
		b, err := c.Upload(ctx, a, nil)
		if err != nil {
			return nil, err
		}
		w.drop(w.copy)
		w.copy, w.from, w.since = &uploaded{buffer: b, users: 1}, a, since
	}
	w.copy.users++
	return w.copy, nil
}

func (w *weight) leave(u *uploaded) {
	w.mu.Lock()
	w.drop(u)
	w.mu.Unlock()
}

// drop ends a use, with mu. What a buffer's end reports has no one to be told to.
func (w *weight) drop(u *uploaded) {
	if u == nil {
		return
	}
	if u.users--; u.users == 0 {
		_ = u.buffer.Close()
	}
}

// close ends the use of the present copy.
func (w *weight) close() {
	w.mu.Lock()
	w.drop(w.copy)
	w.copy = nil
	w.mu.Unlock()
}
