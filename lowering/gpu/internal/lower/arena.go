package lower

import (
	"github.com/gofx-dev/gofx/lowering/internal/lifetimes"
	"github.com/gofx-dev/gofx/op"
)

// Arena gives every buffer that is not there for the life of the program a place in one piece
// of memory, a multiple of align, and returns how many bytes that takes.
func (b *Builder) Arena(align int) int {
	var buffers []int
	var blocks []lifetimes.Block
	for k, s := range b.spans() {
		if s.Used() {
			buffers = append(buffers, k)
			blocks = append(blocks, lifetimes.Block{Span: s, Size: b.Buffers[k].Bytes})
		}
	}
	size := lifetimes.Place(blocks, align)
	for i, k := range buffers {
		b.Buffers[k].Off = blocks[i].Offset
	}
	return size
}

// spans returns when the buffers are in use. Inputs are there from the start,
// results to the end, and what is there when a loop begins until it ends, if its rounds need it.
func (b *Builder) spans() lifetimes.Spans {
	spans := lifetimes.NewSpans(len(b.Buffers))
	use := func(time int, buffers ...int) {
		for _, k := range buffers {
			f := b.Buffers[k]
			if f.Setup {
				continue
			}
			if f.Kind != temporary {
				spans.Use(k, 0)
			}
			spans.Use(k, time)
		}
	}
	time := 0
	var walk func(list []Step)
	walk = func(list []Step) {
		for _, s := range list {
			time++
			begin := time
			use(time, s.Args...)
			if s.Flow == nil {
				continue
			}
			for _, body := range s.Flow.Bodies {
				walk(body)
			}
			time++
			use(time, s.Args...)
			if s.Flow.Op != op.Cond {
				spans.Repeat(begin, time)
			}
		}
	}
	walk(b.Steps)
	for _, v := range b.Outputs {
		use(time+1, v.Buf)
	}
	return spans
}

// LeastArena returns how many bytes the buffers of one time take when each begins at a
// multiple of align: no arena is smaller. It is for tests.
func (b *Builder) LeastArena(align int) (least int) {
	spans := b.spans()
	for _, at := range spans {
		if !at.Used() {
			continue
		}
		sum := 0
		for k, s := range spans {
			if s.First <= at.First && at.First <= s.Last {
				sum += (b.Buffers[k].Bytes + align - 1) / align * align
			}
		}
		least = max(least, sum)
	}
	return least
}
