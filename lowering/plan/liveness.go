package plan

import "github.com/gofx-dev/gofx/lowering/internal/lifetimes"

// Live sets First and Last of every buffer: between which steps its memory is in
// use, both included. A view keeps the memory that it lies in alive. Memory that
// the caller or the model holds is in use throughout.
func (p *Plan) Live() {
	last := max(len(p.Steps)-1, 0)
	for i, s := range p.spans() {
		b := &p.Buffers[i]
		if b.Kind == Input || b.Kind == Output || b.Kind == Weight {
			s = lifetimes.Span{First: 0, Last: last}
		}
		b.First, b.Last = s.First, s.Last
	}
}

// spans returns between which steps the buffers are mentioned, those too in whose memory
// others lie.
func (p *Plan) spans() lifetimes.Spans {
	spans := lifetimes.NewSpans(len(p.Buffers))
	for s := range p.Steps {
		for _, list := range [3][]int{p.Steps[s].Out, p.Steps[s].In, p.Steps[s].Spare} {
			for _, i := range list {
				if i >= 0 {
					spans.Use(i, s)
					spans.Use(p.root(i), s)
				}
			}
		}
	}
	return spans
}

// span is First and Last.
func (b *Buffer) span() lifetimes.Span { return lifetimes.Span{First: b.First, Last: b.Last} }
