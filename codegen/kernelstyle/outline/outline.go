package outline

import "github.com/gofx-dev/gofx/lowering/plan"

// maxSteps is the most steps of one function; with comments and blank lines
// that stays below 400 lines.
const maxSteps = 130

// minPart is the fewest steps of a scope that get a function of their own when a
// model is cut.
const minPart = 40

// minRepeat is the fewest steps of a repeated block that get a function.
const minRepeat = 4

// Outline is a plan cut into functions.
type Outline struct {
	// Parts compute the plan, one after the other. A short plan has one.
	Parts []Part
	// Blocks are called by the parts, each more than once.
	Blocks []*Block
}

// Part is a function that computes a part of the plan, and is called once.
type Part struct {
	Scope string // that all items have in common, or ""
	Items []Item
}

// Item is a line of a function: a step, or the call of a block.
type Item struct {
	Step  int    // the step, or the first one that the call stands for
	Block *Block // nil for a step
	Call  int    // which of the block's calls
	// Gap tells that the item begins another scope than the one before it.
	Gap bool
}

// Block is a function for steps that occur several times.
type Block struct {
	Items []Item // the steps of the first call
	Calls []Call
}

// Call is one occurrence of a block: the steps from First up to Last, in a scope.
// The buffers that the steps mention are listed in the order of their first
// mention, so the same place in the lists of two calls is the same parameter.
type Call struct {
	First, Last int
	Scope       string
	Locals      []int // values that nothing else mentions
	Weights     []int // tensors of the scope that nothing else mentions
	Outer       []int // all others
}

// Of cuts a plan into functions. Steps of which key is the same have equal
// kernels; once reports the paths of tensors that the steps of one block may have to
// themselves: that one buffer reads, and none writes. Blocks come first, for a call of one counts as one line in the parts;
// where scopes change is marked last, since it depends on what a function's own
// scope is.
func Of(p *plan.Plan, key func(step int) string, once func(path string) bool) *Outline {
	scopes := scopesOf(p)
	blocks := findBlocks(scopes, describer{plan: p, key: key, uses: usesOf(p), once: once})
	c := cutter{plan: p, scopes: scopes}
	prog := &Outline{Parts: c.parts(items(len(p.Steps), blocks), 1), Blocks: blocks}
	for i := range prog.Parts {
		scopes.markGaps(prog.Parts[i].Items, prog.Parts[i].Scope)
	}
	for _, b := range blocks {
		for i := b.Calls[0].First; i < b.Calls[0].Last; i++ {
			b.Items = append(b.Items, Item{Step: i})
		}
		scopes.markGaps(b.Items, b.Calls[0].Scope)
	}
	return prog
}

// items lists so many steps, with each call of a block as one item. Calls do not
// overlap, so the steps of one are skipped as a whole.
func items(steps int, blocks []*Block) []Item {
	calls := map[int]Item{}
	for _, b := range blocks {
		for n, c := range b.Calls {
			calls[c.First] = Item{Step: c.First, Block: b, Call: n}
		}
	}
	var list []Item
	for i := 0; i < steps; i++ {
		it, ok := calls[i]
		if !ok {
			list = append(list, Item{Step: i})
			continue
		}
		list = append(list, it)
		i = it.Block.Calls[it.Call].Last - 1
	}
	return list
}
