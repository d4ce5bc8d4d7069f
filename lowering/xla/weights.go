package xla

import (
	"context"
	"strconv"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/turn"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
	"github.com/gofx-dev/gofx/shape"
)

// weight is a tensor of the module's state and its copies on devices, each of which is made once,
// and again when the tensor was written or, where it is live, replaced. There is one for each place that
// programs have it at: for most modules one.
type weight struct {
	param *graph.Param // the caller's where live, else a copy that keeps the array
	live  bool

	typ shape.Type

	upload turn.Lock // of the run that uploads it

	mu     sync.Mutex
	from   *array.Array
	since  uint64               // when the first of the copies was uploaded, on array.Now's clock
	copies map[string]*uploaded // by the key of the place
}

// uploaded is a copy that runs use; the last one that leaves an old one closes it.
type uploaded struct {
	*placed
	users int // 1 for being a present one; guarded by weight.mu
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

// use returns the weight at a place, for one run, which leaves it. Runs wait for the one that uploads it.
func (w *weight) use(ctx context.Context, c *pjrt.Client, at place) (*uploaded, error) {
	if u, _, _, err := w.present(at); u != nil || err != nil {
		return u, err
	}
	if err := w.upload.Lock(ctx); err != nil {
		return nil, err
	}
	defer w.upload.Unlock()
	u, a, old, err := w.present(at)
	if u != nil || err != nil {
		return u, err
	}
	since := array.Now()
	p, err := at.put(ctx, c, a)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if old {
		w.clear()
		w.from, w.since = a, since
	}
	u = &uploaded{placed: p, users: 2}
	w.copies[at.key] = u
	return u, nil
}

// present returns the copy at a place, for one more run; where there is none, the array to upload, and whether
// the copies at other places are old, too.
func (w *weight) present(at place) (u *uploaded, a *array.Array, old bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a, err = w.array(); err != nil {
		return nil, nil, false, err
	}
	old = w.from != a || a.Storage().Version() > w.since
	if u = w.copies[at.key]; u == nil || old {
		return nil, a, old, nil
	}
	u.users++
	return u, a, old, nil
}

func (w *weight) leave(u *uploaded) {
	w.mu.Lock()
	w.drop(u)
	w.mu.Unlock()
}

// drop ends a use, with mu. What a buffer's end reports has no one to be told to.
func (w *weight) drop(u *uploaded) {
	if u.users--; u.users == 0 {
		_ = u.close()
	}
}

// clear ends the use of the present copies, with mu.
func (w *weight) clear() {
	for _, u := range w.copies {
		w.drop(u)
	}
	w.copies = map[string]*uploaded{}
}

// close ends the use of the present copies.
func (w *weight) close() {
	w.mu.Lock()
	w.clear()
	w.mu.Unlock()
}
