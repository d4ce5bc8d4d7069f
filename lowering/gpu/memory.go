package gpu

import (
	"context"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering/internal/lifetimes"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// arena gives every buffer that is not there for the life of the program a place in one piece
// of memory, a multiple of align, and returns how many bytes that takes.
func (b *builder) arena(align int) int {
	var buffers []int
	var blocks []lifetimes.Block
	for k, s := range b.spans() {
		if s.Used() {
			buffers = append(buffers, k)
			blocks = append(blocks, lifetimes.Block{Span: s, Size: b.buffers[k].bytes})
		}
	}
	size := lifetimes.Place(blocks, align)
	for i, k := range buffers {
		b.buffers[k].off = blocks[i].Offset
	}
	return size
}

// spans returns when the buffers are in use. Inputs are there from the start,
// results to the end, and what is there when a loop begins until it ends, if its rounds need it.
func (b *builder) spans() lifetimes.Spans {
	spans := lifetimes.NewSpans(len(b.buffers))
	use := func(time int, buffers ...int) {
		for _, k := range buffers {
			f := b.buffers[k]
			if f.setup {
				continue
			}
			if f.kind != temporary {
				spans.Use(k, 0)
			}
			spans.Use(k, time)
		}
	}
	time := 0
	var walk func(list []step)
	walk = func(list []step) {
		for _, s := range list {
			time++
			begin := time
			use(time, s.args...)
			if s.flow == nil {
				continue
			}
			for _, body := range s.flow.bodies {
				walk(body)
			}
			time++
			use(time, s.args...)
			if s.flow.op != op.Cond {
				spans.Repeat(begin, time)
			}
		}
	}
	walk(b.steps)
	for _, v := range b.outputs {
		use(time+1, v.buf)
	}
	return spans
}

// live returns the array of a weight that is read at each run.
func (p *program) live(f buffer) (*array.Array, error) {
	w := p.user.Param(f.path)
	is, want := "gone", shape.TypeOf(f.array)
	if w != nil && w.Value != nil {
		is = shape.TypeOf(w.Value).String()
	}
	if is != want.String() {
		return nil, diag.New(interp.GuardFailed, "tensor "+f.path+" is "+is+", the graph was compiled for "+want.String()).
			WithHint("compile the module again")
	}
	return w.Value, nil
}

// refresh has weights that were written since they were copied, and what is made of them, made
// anew when no run reads them; a run that begins holds them until it ends.
func (p *program) refresh(ctx context.Context) error {
	for {
		if err := p.fresh.RLock(ctx); err != nil {
			return err
		}
		if !p.stale() {
			return nil
		}
		p.fresh.RUnlock()
		if err := p.fresh.Lock(ctx); err != nil {
			return err
		}
		var err error
		if p.stale() {
			err = p.setUp()
		}
		p.fresh.Unlock()
		if err != nil {
			return err
		}
	}
}

// stale reports whether a weight was written since it was copied.
func (p *program) stale() bool {
	return slices.ContainsFunc(p.build.buffers, func(f buffer) bool {
		return f.kind == weight && f.path != "" && f.array.Storage().Version() > p.since
	})
}
