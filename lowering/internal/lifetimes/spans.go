package lifetimes

// Span says between which steps a buffer is in use, both included. One that is never in use
// has -1 for both.
type Span struct{ First, Last int }

// Overlaps reports whether both are in use at some step.
func (s Span) Overlaps(o Span) bool { return s.First <= o.Last && o.First <= s.Last }

// Used reports whether a step uses the buffer.
func (s Span) Used() bool { return s.First >= 0 }

// Spans are those of buffers, by their numbers.
type Spans []Span

// NewSpans returns those of buffers that no step uses yet.
func NewSpans(buffers int) Spans {
	s := make(Spans, buffers)
	for i := range s {
		s[i] = Span{-1, -1}
	}
	return s
}

// Use says that a step uses a buffer. Steps come in any order.
func (s Spans) Use(buffer, step int) { s.merge(buffer, Span{step, step}) }

// Join says that a buffer has its values in the memory of another one, which is then in use
// whenever the buffer is.
func (s Spans) Join(memory, buffer int) {
	if s[buffer].Used() {
		s.merge(memory, s[buffer])
	}
}

func (s Spans) merge(buffer int, o Span) {
	b := &s[buffer]
	if !b.Used() || o.First < b.First {
		b.First = o.First
	}
	b.Last = max(b.Last, o.Last)
}

// Repeat says that the steps from one to another are those of a loop: a buffer that was in use
// before them, and that they use, is in use until the last round ends.
func (s Spans) Repeat(from, to int) {
	for i := range s {
		if b := &s[i]; b.Used() && b.First < from && b.Last >= from {
			b.Last = max(b.Last, to)
		}
	}
}
