package gpu

import (
	"context"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// span is the time in which a buffer holds something, in steps of a run.
type span struct{ buf, from, to, bytes int }

// arena gives every buffer that is not there for the life of the program a place in one piece
// of memory: the lowest that no buffer alive at the same time has, the largest first. Places
// are multiples of align. It returns how many bytes that takes.
func (b *builder) arena(align int) int {
	spans := b.spans()
	slices.SortStableFunc(spans, func(x, y span) int { return y.bytes - x.bytes })
	size := 0
	var placed []span
	for _, s := range spans {
		at := b.lowest(placed, s, align)
		b.buffers[s.buf].off = at
		placed = append(placed, s)
		size = max(size, at+s.bytes)
	}
	return size
}

// spans returns the spans of the buffers that are used. Inputs are there from the start,
// results to the end, and what is there when a loop begins until it ends, if its rounds need it.
func (b *builder) spans() []span {
	at := make([]int, len(b.buffers))
	for i := range at {
		at[i] = -1
	}
	var spans []span
	touch := func(k, time int) {
		f := b.buffers[k]
		if f.setup {
			return
		}
		if at[k] < 0 {
			at[k] = len(spans)
			from := time
			if f.kind != temporary {
				from = 0
			}
			spans = append(spans, span{k, from, time, f.bytes})
		}
		spans[at[k]].to = max(spans[at[k]].to, time)
	}
	time := 0
	var walk func(list []step)
	walk = func(list []step) {
		for _, s := range list {
			time++
			begin := time
			for _, k := range s.args {
				touch(k, time)
			}
			if s.flow == nil {
				continue
			}
			for _, body := range s.flow.bodies {
				walk(body)
			}
			time++
			for _, k := range s.args {
				touch(k, time)
			}
			for i := range spans {
				if x := &spans[i]; s.flow.op != op.Cond && x.from < begin && x.to >= begin {
					x.to = time
				}
			}
		}
	}
	walk(b.steps)
	for _, v := range b.outputs {
		touch(v.buf, time+1)
	}
	return spans
}

// lowest finds the place of s among those that have one.
func (b *builder) lowest(placed []span, s span, align int) int {
	var busy []span // as places: from and to are bytes
	for _, p := range placed {
		if p.from <= s.to && s.from <= p.to {
			off := b.buffers[p.buf].off
			busy = append(busy, span{from: off, to: off + p.bytes})
		}
	}
	slices.SortFunc(busy, func(x, y span) int { return x.from - y.from })
	at := 0
	for _, p := range busy {
		if at+s.bytes <= p.from {
			break
		}
		at = max(at, (p.to+align-1)/align*align)
	}
	return at
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
