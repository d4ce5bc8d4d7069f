package plan

import (
	"slices"

	"github.com/gofx-dev/gofx/kernel"
)

// Updates reports whether result i of a plan, a body, may be made in the memory of input k:
// one step makes it of that input and changes little of it, and nothing reads the input after.
// A loop that carries such a value copies it once, not in each round.
func (p *Plan) Updates(i, k int) bool {
	out, in := p.Outputs[i], p.Inputs[k]
	made := p.maker(out)
	if made < 0 || !p.Buffers[out].Type.Same(p.Buffers[in].Type) || p.Buffers[out].Late || p.Buffers[in].Donated || p.Buffers[in].Updated {
		return false
	}
	st := &p.Steps[made]
	if _, ok := st.Kernel.(kernel.Updater); !ok || len(st.Out) != 1 || st.In[0] != in || !p.alone(st, in) {
		return false
	}
	for s := made + 1; s < len(p.Steps); s++ {
		if slices.ContainsFunc(p.Steps[s].In, func(j int) bool { return j >= 0 && p.root(j) == in }) {
			return false
		}
	}
	return true
}
