package repeat

import (
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/graph"
)

// Signature describes a group of nodes as it is written: two groups with equal texts
// are isomorphic. Values from outside are numbered in the order of their first use;
// which tensor of the state a get_attr node reads does not count.
type Signature struct {
	b            strings.Builder
	inner, outer map[*graph.Node]int
	outside      []*graph.Node
}

// String returns the description so far.
func (s *Signature) String() string { return s.b.String() }

// Outside returns the values from outside that the nodes use, in the order of their
// numbers.
func (s *Signature) Outside() []*graph.Node { return s.outside }

// Text adds words to the description.
func (s *Signature) Text(parts ...string) {
	for _, p := range parts {
		s.b.WriteString(strconv.Itoa(len(p)))
		s.b.WriteByte(':')
		s.b.WriteString(p)
	}
}

// Node adds a node.
func (s *Signature) Node(n *graph.Node) {
	if s.inner == nil {
		s.inner, s.outer = map[*graph.Node]int{}, map[*graph.Node]int{}
	}
	s.Text(n.Opcode().String(), operator(n), n.Type().String())
	if b := n.Bound(); b != nil {
		s.module(n, b)
	}
	for i := range n.NumArgs() {
		s.operand(n.Arg(i))
	}
	s.inner[n] = len(s.inner)
}

// operator is the operator of a call with its attributes.
func operator(n *graph.Node) string {
	o := n.Op()
	switch {
	case o == nil:
		return ""
	case o.Codec() == nil || !o.Codec().Accepts(n.Attrs()):
		return o.Key()
	}
	return o.Key() + o.Codec().Print(n.Attrs())
}

// module adds what a called module is: where it is does not count, numbers aside.
func (s *Signature) module(n *graph.Node, b *graph.Bound) {
	path := n.Target()
	s.Text(WithoutDigits(path[strings.LastIndexByte(path, '.')+1:]))
	for _, p := range b.Params {
		if q := n.Graph().Module().Param(p); q != nil {
			s.Text(q.TypeOf().String())
		}
	}
}

func (s *Signature) operand(a *graph.Node) {
	if a == nil {
		s.Text("_")
		return
	}
	if k, ok := s.inner[a]; ok {
		s.Text("i", strconv.Itoa(k))
		return
	}
	if _, ok := s.outer[a]; !ok {
		s.outer[a] = len(s.outer)
		s.outside = append(s.outside, a)
	}
	s.Text("e", strconv.Itoa(s.outer[a]), a.Type().String())
}

// WithoutDigits takes the numbers out of a name, by which repeated modules differ.
func WithoutDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, s)
}
