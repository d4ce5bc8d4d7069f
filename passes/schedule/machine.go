package schedule

import (
	"time"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
)

// Resource names what runs nodes: "gpu0", "remote:embedding". The empty one is the
// host, which walks the graph.
type Resource string

// Host is the resource of nodes that say nothing.
const Host Resource = ""

// String returns the name of the resource.
func (r Resource) String() string {
	if r == Host {
		return "host"
	}
	return string(r)
}

// On is the resource that runs a node. What is made of the node inherits it.
var On = graph.NewInheritedKey[Resource]("resource")

// Takes is the time that a node needs on its resource, where Machine.Cost does not say.
var Takes = graph.NewKey[time.Duration]("takes")

// Link is a way for values from one resource to another; they pass one after the other.
type Link struct {
	Latency   time.Duration // until the first byte arrives
	Bandwidth float64       // bytes a second; 0 is without bound
}

// Way is the two ends of a link.
type Way struct{ From, To Resource }

// Machine describes what a graph is scheduled for.
type Machine struct {
	// Cost is the time of one node on its resource. nil: what Takes says, else none.
	Cost func(n *graph.Node) time.Duration
	// Issue is the host's time to start a node elsewhere.
	Issue time.Duration
	// Links are the ways between resources; one that is missing takes no time.
	Links map[Way]Link
}

func (m *Machine) cost(n *graph.Node) time.Duration {
	if m.Cost != nil {
		return m.Cost(n)
	}
	t, _ := Takes.Get(n)
	return t
}

// transfer is the time that n's value needs on the way between two resources.
// The size of a value that depends on a symbol is not known, and counts as none.
func (m *Machine) transfer(n *graph.Node, w Way) time.Duration {
	l := m.Links[w]
	if l.Bandwidth <= 0 {
		return l.Latency
	}
	bytes, _ := n.Type().Bytes().Int()
	return l.Latency + time.Duration(float64(bytes)/l.Bandwidth*float64(time.Second))
}

// resource is where a node runs. Inputs, state, results and waits are the host's.
func resource(n *graph.Node) Resource {
	if !n.Opcode().IsCall() || waits(n) {
		return Host
	}
	if n.Op() == op.GetItem && n.Arg(0) != nil {
		return resource(n.Arg(0)) // a tuple is taken apart where it is
	}
	r, _ := On.Get(n)
	return r
}

func waits(n *graph.Node) bool { return n.Op() == std.Wait }

// Place makes a pass that writes down where nodes run: calls for which where says
// another resource than the host. It removes what an earlier one wrote.
func Place(name, doc string, where func(n *graph.Node) Resource) passes.Pass {
	return passes.Pass{Name: name, Doc: doc, Run: func(c *passes.Ctx, g *graph.Graph) (changed bool, err error) {
		for n := range g.Nodes() {
			was := resource(n)
			if On.Delete(n); !n.Opcode().IsCall() || waits(n) {
				continue
			}
			r := where(n)
			if r != Host {
				On.Set(n, r)
			}
			changed = changed || r != was
		}
		return changed, nil
	}}
}

// acts tells of nodes that must keep their order. Waits do not change anything.
func acts(n *graph.Node) bool { return !waits(n) && n.Effect() == op.Effectful }
