package kernelstyle

import (
	"cmp"
	"strings"

	"github.com/gofx-dev/gofx/lowering/plan"
)

// hints are the bases of names of values and kernels: the model's own modules, and
// operators within them. The numbers that nodes of a graph have are left out, so
// that names change where the model does and nowhere else; a set of names puts
// numbers where they are needed.
type hints struct {
	plan   *plan.Plan
	values map[int]string // of results of steps, by buffer
	shares map[string]int // steps that a node has a part in
}

func newHints(p *plan.Plan) *hints {
	h := &hints{plan: p, values: map[int]string{}, shares: map[string]int{}}
	for i := range p.Steps {
		for _, n := range p.Steps[i].Nodes {
			h.shares[n]++
		}
	}
	for i := range p.Steps {
		for _, k := range p.Steps[i].Out {
			if k >= 0 && h.values[k] == "" {
				h.values[k] = h.value(&p.Steps[i], k)
			}
		}
	}
	return h
}

// of is the base of a buffer's name.
func (h *hints) of(k int) string { return cmp.Or(h.values[k], h.plan.Buffers[k].Name) }

// result is the base of a name for a result of the model: its name within the last
// block that makes it, so that the name has no block numbers.
func (h *hints) result(k int) string {
	parts := strings.Split(h.of(k), ".")
	for i := len(parts) - 2; i >= 0; i-- {
		if strings.Trim(parts[i], "0123456789") == "" {
			return strings.Join(parts[i+1:], ".")
		}
	}
	return h.of(k)
}

// value is the base of a name for the result of a step: the module that computes
// it, the name that the author of the graph chose, or the operator in its module.
func (h *hints) value(s *plan.Step, k int) string {
	path := s.Scope.Path
	if h.module(s) {
		return path
	}
	last := len(s.Nodes) - 1
	if last < 0 {
		return h.plan.Buffers[k].Name
	}
	what := lastOp(s.Op)
	if name := unnumbered(s.Nodes[last]); h.shares[s.Nodes[last]] > 1 {
		what = lastOp(cmp.Or(s.Part, s.Op))
	} else if name == strings.ReplaceAll(path, ".", "_") && path != "" {
		return path
	} else if name != what && !strings.HasSuffix(name, "_"+what) && strings.Trim(name, "_") != "" {
		return s.Nodes[last]
	}
	if path == "" || path == what || strings.HasSuffix(path, "."+what) {
		return cmp.Or(path, what)
	}
	return path + "." + what
}

// module reports whether a step does the work of a module with tensors: it reads
// tensors of that module alone.
func (h *hints) module(s *plan.Step) bool {
	owner, ok := h.owner(s)
	return ok && owner == s.Scope.Path && owner != ""
}

// owner returns the path of the module whose tensors a step reads; none where it
// reads those of several, or of none.
func (h *hints) owner(s *plan.Step) (path string, ok bool) {
	for _, k := range s.In {
		if k < 0 || h.plan.Buffers[k].Kind != plan.Weight {
			continue
		}
		p := h.plan.Buffers[k].Path
		p = p[:max(0, strings.LastIndexByte(p, '.'))]
		if ok && p != path {
			return "", false
		}
		path, ok = p, true
	}
	return path, ok
}

// part is the part that a step computes of an operator that takes several, "" for all.
func (h *hints) part(s *plan.Step) string {
	if last := len(s.Nodes) - 1; last < 0 || h.shares[s.Nodes[last]] < 2 {
		return ""
	}
	return s.Part
}

// lastOp is the last of the operators that a step computes.
func lastOp(ops string) string { return ops[strings.LastIndexByte(ops, '+')+1:] }

// unnumbered is the name of a node without the number that tells it from others.
func unnumbered(name string) string {
	if i := strings.LastIndexByte(name, '_'); i > 0 && strings.Trim(name[i+1:], "0123456789") == "" {
		return name[:i]
	}
	return name
}

// scopePattern is a text for several scopes: where they differ it has a star.
func scopePattern(scopes []string) string {
	parts := strings.Split(scopes[0], ".")
	for _, s := range scopes[1:] {
		other := strings.Split(s, ".")
		if len(other) != len(parts) {
			return strings.Join(scopes, ", ")
		}
		for i := range parts {
			if parts[i] != other[i] {
				parts[i] = "*"
			}
		}
	}
	return strings.Join(parts, ".")
}
