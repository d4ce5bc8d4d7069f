package graph

import (
	"sync/atomic"

	"github.com/gofx-dev/gofx/internal/kept"
)

// Analysis is a question about a graph whose answer is kept: it is computed when somebody
// asks first, and again after the next edit. Make one with NewAnalysis, in a variable of a
// package; it is compared by identity.
type Analysis[T any] struct {
	name string
	of   func(g *Graph) T
}

// NewAnalysis returns the analysis that of computes; the name is for people. of may ask
// other analyses and must change nothing. Answers are shared by all who ask, which may be
// many goroutines at once, so that nobody may change one.
func NewAnalysis[T any](name string, of func(g *Graph) T) *Analysis[T] { return &Analysis[T]{name, of} }

// Name returns the name.
func (a *Analysis[T]) Name() string { return a.name }

// Of returns the answer for g. Any edit of the program that g belongs to ends it: of g, of a
// body in it, of a graph around it, of another graph of its module, of the state, of what leaf
// modules do, of symbols, guards or side data. What changes without a method of this package
// being called (an element of an array, a field of a Param) is not seen. An answer that somebody
// holds stays what it was.
func (a *Analysis[T]) Of(g *Graph) T {
	r := answersOf(g)
	if r == nil {
		kept.Count(a.name)
		return a.of(g)
	}
	v := r.Get(asked{a, g}, a.name, func() stamp { return stampOf(g) }, func() any { return a.of(g) })
	t, _ := v.(T) // not where T is an interface and the answer nil
	return t
}

// asked is the key of an answer.
type asked struct {
	analysis any
	g        *Graph
}

// answers are those about the graphs of one program: those of a module, or a graph
// that has none with its bodies.
type answers struct {
	edits atomic.Uint64 // several goroutines may give side data to nodes
	kept.Store[stamp]
}

// stamp tells two states of a program apart.
type stamp struct {
	edits   uint64
	mod     *Module
	main    *Graph
	version uint32 // of mod
}

// answersOf returns where answers about g are kept, nil where nothing keeps them.
func answersOf(g *Graph) *answers {
	if g = g.root(); g.mod != nil {
		return g.mod.answers
	}
	return g.own
}

func stampOf(g *Graph) stamp {
	r := answersOf(g)
	s := stamp{edits: r.edits.Load()}
	if s.mod = g.root().mod; s.mod != nil {
		s.main, s.version = s.mod.Graph, s.mod.version
	}
	return s
}

// edited ends the answers about the program of g.
func edited(g *Graph) {
	if r := answersOf(g); r != nil {
		r.edits.Add(1)
	}
}
