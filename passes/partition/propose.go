package partition

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
)

// Supports says whether a node may be in a part; if not, why. It is not asked about
// getitem, which goes with its call, nor about inputs and state.
type Supports func(n *graph.Node) (ok bool, reason string)

// All makes a predicate of what every one of some accepts; the first refusal counts.
func All(list ...Supports) Supports {
	return func(n *graph.Node) (bool, string) {
		for _, s := range list {
			if ok, why := s(n); !ok {
				return false, why
			}
		}
		return true, ""
	}
}

// Any makes a predicate of what one of some accepts; the reason names all refusals.
func Any(list ...Supports) Supports {
	return func(n *graph.Node) (bool, string) {
		reasons := make([]string, 0, len(list))
		for _, s := range list {
			ok, why := s(n)
			if ok {
				return true, ""
			}
			reasons = append(reasons, why)
		}
		return false, strings.Join(reasons, "; ")
	}
}

// Deep makes a predicate of what is accepted with all that it runs: the calls in the
// bodies of control flow and in called sub-graphs, which go where their node goes.
func Deep(s Supports) Supports {
	return func(n *graph.Node) (bool, string) {
		if ok, why := s(n); !ok {
			return false, why
		}
		for m := range n.Inner() {
			if !m.Opcode().IsCall() || m.Op() == op.GetItem {
				continue
			}
			if ok, why := s(m); !ok {
				return false, m.String() + " inside of it: " + why
			}
		}
		return true, ""
	}
}

// Options are the wishes for a proposal.
type Options struct {
	// Name is a hint for the names of parts, which are numbered; "" stands for "part".
	Name string
	// Min is the least number of calls of a part; smaller ones are given up.
	Min int
	// Counts says which calls count for Min; nil: all of them. getitem never does.
	Counts func(n *graph.Node) bool
}

// Part is a set of calls that can be one sub-graph.
type Part struct {
	Name  string
	Nodes []*graph.Node // in the order of the graph
}

// OwnReads gives the part reads of its own of the parameters that keep accepts, in the place of
// those that its calls read now.
func (p *Part) OwnReads(g *graph.Graph, keep func(read *graph.Node) bool) {
	own := map[*graph.Node]*graph.Node{}
	for _, n := range slices.Clone(p.Nodes) {
		for i, a := range n.Args() {
			if a == nil || a.Opcode() != graph.GetAttr || !keep(a) {
				continue
			}
			if own[a] == nil {
				own[a] = g.Before(n).From(a).GetAttr(a.Target())
				own[a].SetType(a.Type())
				p.Nodes = append(p.Nodes, own[a])
			}
			n.SetArg(i, own[a])
			if a.NumUses() == 0 {
				_ = g.Erase(a) // nothing refers to it
			}
		}
	}
}

// Left is a call that is in no part.
type Left struct {
	Node   *graph.Node
	Reason string
}

// Proposal is what Propose found. Nothing is changed until Fuse.
type Proposal struct {
	Parts []Part // in an order in which they can run, what is left running between them
	Left  []Left // in the order of the graph
}

// Propose finds parts of the calls that the predicate accepts with all that they run
// (Deep). Each part is convex: no way leads from it through other nodes back to it; and no
// two need each other, so that Fuse can make sub-graphs of all. They are as few as
// possible and maximal: no two could be one. A part need not hang together. Calls with
// effects, and reads of what they write, keep their order; assign, which writes state, is
// in no part; getitem goes with its call; what is computed from state alone goes to its
// first user. Time and memory grow with the nodes and their operands.
//
// It is an error when the predicate panics (FX3024).
func Propose(g *graph.Graph, supports Supports, o Options) (*Proposal, error) {
	p, deep := newProposer(g), Deep(supports)
	for i, n := range p.nodes {
		if err := p.ask(i, n, deep); err != nil {
			return nil, err
		}
	}
	p.place()
	p.sink()
	return p.collect(o), nil
}

// proposer gives each node of g a slot: even ones have what stays, odd ones what goes into
// parts. A node is never in an earlier slot than what it needs, and what is on a way
// between two nodes of one slot is in it, too: so the nodes of an odd slot can be a part,
// and slot after slot can run. Taking the first slot possible makes as many as the way
// through the graph that alternates most often has.
type proposer struct {
	nodes  []*graph.Node
	at     map[*graph.Node]int
	bonds  map[*graph.Node][]*graph.Node
	goes   []bool
	reason []string
	slot   []int
}

func newProposer(g *graph.Graph) *proposer {
	p := &proposer{nodes: slices.Collect(g.Nodes()), bonds: g.Bonds()}
	p.at = make(map[*graph.Node]int, len(p.nodes))
	for i, n := range p.nodes {
		p.at[n] = i
	}
	p.goes, p.reason, p.slot = make([]bool, len(p.nodes)), make([]string, len(p.nodes)), make([]int, len(p.nodes))
	return p
}

// ask asks about node i. Inputs, state and results stay.
func (p *proposer) ask(i int, n *graph.Node, supports Supports) (err error) {
	from, known := p.at[n.Arg(0)]
	switch {
	case !n.Opcode().IsCall():
	case n.Op() == op.GetItem && known:
		p.goes[i] = p.goes[from]
	case n.Op() == op.Assign:
		p.reason[i] = "it writes state"
	default:
		err = guarded(n, func() { p.goes[i], p.reason[i] = supports(n) })
	}
	return err
}

// guarded asks the user about a node. A panic becomes an error about the node.
func guarded(n *graph.Node, question func()) (err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *diag.Error:
			err = e
		default:
			d := n.Error(passes.Panicked, "the function that chooses a part panicked: "+fmt.Sprint(e)).WithHint("mend it; the note says where it panicked")
			d.Related = append(d.Related, diag.Related{Pos: diag.PanicPos(), Msg: "here"})
			err = d
		}
	}()
	question()
	return nil
}

// needs yields the places of what node i needs.
func (p *proposer) needs(i int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for a := range p.nodes[i].Inputs() {
			if k, here := p.at[a]; here && !yield(k) {
				return
			}
		}
		for _, a := range p.bonds[p.nodes[i]] {
			if k, here := p.at[a]; here && !yield(k) {
				return
			}
		}
	}
}

// place gives each node the first slot that it can have.
func (p *proposer) place() {
	for i := range p.nodes {
		first := 0
		for k := range p.needs(i) {
			first = max(first, p.slot[k])
		}
		if p.goes[i] != (first%2 == 1) {
			first++
		}
		p.slot[i] = first
	}
}

// sink moves what is computed from nothing but state to where it is first used, so that no
// part gives it to others. No slot comes to be empty: what makes another one late has a
// user in the next slot, and stays.
func (p *proposer) sink() {
	free := make([]bool, len(p.nodes))
	bound := map[*graph.Node]bool{}
	for n, before := range p.bonds {
		bound[n] = true
		for _, b := range before {
			bound[b] = true
		}
	}
	for i, n := range p.nodes {
		free[i] = (n.Opcode().IsCall() || n.Opcode() == graph.GetAttr) && !bound[n]
		for k := range p.needs(i) {
			free[i] = free[i] && free[k]
		}
	}
	for i, n := range slices.Backward(p.nodes) {
		if !free[i] || !p.goes[i] || n.NumUses() == 0 || n.Op() == op.GetItem {
			continue
		}
		if last := p.latest(n); last > p.slot[i] {
			p.slot[i] = last - (last+1)%2
			p.follow(n, p.slot[i])
		}
	}
}

// latest returns the first slot that uses n, through getitem; -1 when it cannot move.
func (p *proposer) latest(n *graph.Node) int {
	last := -1
	for u := range n.Users() {
		k, here := p.at[u]
		s := p.slot[k]
		switch {
		case !here || u.Opcode() == graph.Output:
			return -1
		case u.Op() == op.GetItem:
			if s = p.latest(u); s < 0 {
				return -1
			}
		}
		if last < 0 || s < last {
			last = s
		}
	}
	return last
}

// follow moves the getitem nodes of n with it.
func (p *proposer) follow(n *graph.Node, slot int) {
	for u := range n.Users() {
		if u.Op() == op.GetItem {
			p.slot[p.at[u]] = slot
			p.follow(u, slot)
		}
	}
}

// collect makes the proposal: the odd slots as parts, without those that are too small.
func (p *proposer) collect(o Options) *Proposal {
	members := make([][]int, 1+slices.Max(append(p.slot, 0)))
	for i := range p.nodes {
		if p.goes[i] {
			members[p.slot[i]] = append(members[p.slot[i]], i)
		}
	}
	out, name := &Proposal{}, o.Name
	if name == "" {
		name = "part"
	}
	for _, list := range members {
		if len(list) == 0 {
			continue
		}
		if why := p.small(list, o); why != "" {
			for _, i := range list {
				p.goes[i], p.reason[i] = false, why
			}
			continue
		}
		part := Part{Name: name + strconv.Itoa(len(out.Parts))}
		for _, i := range list {
			part.Nodes = append(part.Nodes, p.nodes[i])
		}
		out.Parts = append(out.Parts, part)
	}
	for i, n := range p.nodes {
		if !p.goes[i] && n.Opcode().IsCall() && n.Op() != op.GetItem {
			out.Left = append(out.Left, Left{n, p.reason[i]})
		}
	}
	return out
}

// small says that a part has too few calls, "" when it has enough.
func (p *proposer) small(list []int, o Options) string {
	count := 0
	for _, i := range list {
		if n := p.nodes[i]; n.Op() != op.GetItem && (o.Counts == nil || o.Counts(n)) {
			count++
		}
	}
	if count >= o.Min {
		return ""
	}
	return "the part would have " + strconv.Itoa(count) + " calls that count, expected " + strconv.Itoa(o.Min) + " or more"
}

// String lists the parts and what is left, for people.
func (p *Proposal) String() string {
	var b strings.Builder
	for _, part := range p.Parts {
		b.WriteString(part.Name + ":")
		for _, n := range part.Nodes {
			b.WriteString(" " + n.String())
		}
		b.WriteByte('\n')
	}
	for _, l := range p.Left {
		b.WriteString("left: " + l.Node.String() + ": " + l.Reason + "\n")
	}
	return b.String()
}
