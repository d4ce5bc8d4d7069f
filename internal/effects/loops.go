package effects

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// A loop of Go rolls where all its rounds do the same. Rounds differ in their number and in the tensors that one hands to
// the next, and in nothing else: quiet.go lists what a round may do.

// Loop is a loop whose rounds do the same.
type Loop struct {
	Body         // the package and file of its code; Line is that of its for
	From, To int // lines of its body, To the last of them
}

// loop is a loop of one function.
type loop struct {
	f      *facts
	head   *ssa.BasicBlock
	blocks map[*ssa.BasicBlock]bool
	latch  []*ssa.BasicBlock
	entry  *ssa.BasicBlock // the block before it
	number *ssa.Phi        // of the round
	next   *ssa.BinOp      // number + 1
	cond   *ssa.BinOp      // on which it goes on
	count  ssa.Value       // its rounds
	Loop
	why Place // why it does not roll, where What is not ""
}

// loops finds the loops of the function, and which of them roll.
func (f *facts) loops() {
	for _, b := range f.fn.Blocks {
		for _, head := range b.Succs {
			if !f.skip[b] && head.Dominates(b) {
				f.latched(head, b)
			}
		}
	}
	for _, l := range f.looped {
		l.counted()
	}
	for _, l := range f.looped {
		if l.why.What == "" && l.counts() && l.indexes() && l.carries() && l.repeats() {
			l.body()
		}
	}
	for range f.looped { // a count of several loops, of which one does not roll
		for _, l := range f.looped {
			if l.why.What == "" && slices.ContainsFunc(f.looped, func(o *loop) bool { return o.count == l.count && o.why.What != "" }) {
				l.refuse(l.count.Pos(), "a count of rounds", "another loop depends on it, which does not roll")
			}
		}
	}
	for _, l := range f.looped {
		if l.why.What != "" && l.why.Line == "" {
			l.why.Line = f.line(l.head.Instrs[0].Pos())
		}
	}
}

// latched adds the blocks from which a way back to the head leads.
func (f *facts) latched(head, b *ssa.BasicBlock) {
	i := slices.IndexFunc(f.looped, func(l *loop) bool { return l.head == head })
	if i < 0 {
		i = len(f.looped)
		f.looped = append(f.looped, &loop{f: f, head: head, blocks: map[*ssa.BasicBlock]bool{head: true}})
	}
	l := f.looped[i]
	l.latch = append(l.latch, b)
	for queue := []*ssa.BasicBlock{b}; len(queue) > 0; {
		next := queue[0]
		queue = queue[1:]
		if l.blocks[next] {
			continue
		}
		l.blocks[next] = true
		queue = append(queue, next.Preds...)
	}
}

// refuse notes why a loop does not roll. It returns false.
func (l *loop) refuse(pos token.Pos, what, why string) bool {
	if l.why.What == "" {
		l.why = Place{What: what, Why: why}
		if pos.IsValid() {
			l.why.Line = l.f.line(pos)
		}
	}
	return false
}

// counted finds what a loop counts, and what it counts to.
func (l *loop) counted() bool {
	for _, p := range l.head.Preds {
		switch {
		case l.blocks[p]:
		case l.entry != nil:
			return l.refuse(0, "a loop", "it has two ways in")
		default:
			l.entry = p
		}
	}
	var exit *ssa.If
	for b := range l.blocks {
		for _, s := range b.Succs {
			if l.blocks[s] || l.f.skip[s] {
				continue
			}
			i, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
			if !ok || exit != nil {
				return l.refuse(b.Instrs[len(b.Instrs)-1].Pos(), "a loop", "a break or return ends it")
			}
			exit = i
		}
	}
	if exit == nil || l.entry == nil {
		return l.refuse(0, "a loop", "no condition ends it")
	}
	var ok bool
	if l.cond, ok = exit.Cond.(*ssa.BinOp); !ok || l.cond.Op != token.LSS || !l.blocks[exit.Block().Succs[0]] {
		return l.refuse(exit.Cond.Pos(), "a loop", "it does not count up to a number of rounds")
	}
	l.count = l.cond.Y
	if !l.numbered(exit.Block()) {
		return l.refuse(l.cond.Pos(), "a loop", "it does not count up from 0 by 1")
	}
	return true
}

// numbered finds the number of the round.
func (l *loop) numbered(at *ssa.BasicBlock) bool {
	x := l.cond.X
	if b, ok := x.(*ssa.BinOp); ok {
		x, l.next = b.X, b
	}
	var ok bool
	if l.number, ok = x.(*ssa.Phi); !ok || l.number.Block() != l.head {
		return false
	}
	first := int64(-1)
	for i, e := range l.number.Edges {
		if !l.blocks[l.head.Preds[i]] {
			k, ok := e.(*ssa.Const)
			if !ok || k.Value == nil || k.Value.Kind() != constant.Int {
				return false
			}
			first = k.Int64()
			continue
		}
		b, ok := e.(*ssa.BinOp)
		if !ok || l.next != nil && l.next != b {
			return false
		}
		l.next = b
	}
	if l.next == nil || l.next.Op != token.ADD || l.next.X != ssa.Value(l.number) || !isOne(l.next.Y) {
		return false
	}
	if l.cond.X == ssa.Value(l.number) { // for i := 0; i < n; i++
		return first == 0 && at == l.head && l.asksFirst()
	}
	if first == -1 { // for i := range list
		return at == l.head && l.asksFirst()
	}
	return first == 0 && l.asked() // for i := range n
}

// asksFirst reports whether a round begins with the condition.
func (l *loop) asksFirst() bool {
	return !slices.ContainsFunc(l.head.Instrs, func(i ssa.Instruction) bool {
		v, _ := i.(ssa.Value)
		switch i.(type) {
		case *ssa.Call:
			return v != l.count
		case *ssa.Store:
			return true
		}
		return false
	})
}

func isOne(v ssa.Value) bool {
	k, ok := v.(*ssa.Const)
	return ok && k.Value != nil && k.Value.Kind() == constant.Int && k.Int64() == 1
}

// asked reports whether the block before a loop asks for 0 < n, as range does.
func (l *loop) asked() bool {
	i, ok := l.entry.Instrs[len(l.entry.Instrs)-1].(*ssa.If)
	return ok && l.entry.Succs[0] == l.head && before0(i.Cond, l.count)
}

// before0 reports whether a value is 0 < n.
func before0(v, n ssa.Value) bool {
	b, ok := v.(*ssa.BinOp)
	if !ok || b.Op != token.LSS || b.Y != n {
		return false
	}
	k, ok := b.X.(*ssa.Const)
	return ok && k.Value != nil && k.Value.Kind() == constant.Int && k.Int64() == 0
}

// counts reports whether the count of a loop is a word or a size, and nothing depends on it except loops.
func (l *loop) counts() bool {
	switch n := l.count.(type) {
	case *ssa.Parameter:
	case *ssa.UnOp:
		if _, field := n.X.(*ssa.FieldAddr); !field || n.Op != token.MUL {
			return l.refuse(n.Pos(), "a count of rounds", "it is computed")
		}
	case *ssa.Call:
		if fn := n.Call.StaticCallee(); fn == nil || pathOf(fn) != tensorPath || key(fn) != "Tensor.Dim" {
			return l.refuse(n.Pos(), "a count of rounds", "it is computed")
		}
	default:
		return l.refuse(n.Pos(), "a count of rounds", "it is computed")
	}
	if numeric(l.count.Type()) != "int" {
		return l.refuse(l.count.Pos(), "a count of rounds", "it is no int")
	}
	for _, r := range *l.count.Referrers() {
		if !l.bounds(l.count, r) {
			return l.refuse(r.Pos(), "a count of rounds", "other code depends on it, too")
		}
	}
	return true
}

// bounds reports whether an instruction does no more with a count than to bound loops, and to say how much room a list
// is to have.
func (l *loop) bounds(n ssa.Value, r ssa.Instruction) bool {
	switch r := r.(type) {
	case *ssa.DebugRef:
		return true
	case *ssa.BinOp:
		if before0(r, n) {
			return onlyBranches(r)
		}
		return slices.ContainsFunc(l.f.looped, func(o *loop) bool { return o.cond == r && o.count == n && onlyBranches(r) })
	case *ssa.MakeSlice:
		k, ok := r.Len.(*ssa.Const)
		return ok && k.Int64() == 0
	}
	return l.f.skip[r.Block()]
}

// onlyBranches reports whether all that is done with a comparison is to branch.
func onlyBranches(b *ssa.BinOp) bool {
	for _, r := range *b.Referrers() {
		switch r.(type) {
		case *ssa.If, *ssa.DebugRef:
		default:
			return false
		}
	}
	return true
}

// indexes reports whether the number of a round only says which slice of a tensor it takes.
func (l *loop) indexes() bool {
	for _, v := range []ssa.Value{l.number, l.next} {
		for _, r := range *v.Referrers() {
			if l.f.skip[r.Block()] || r == ssa.Instruction(l.cond) || r == ssa.Instruction(l.next) || r == ssa.Instruction(l.number) {
				continue
			}
			switch r := r.(type) {
			case *ssa.DebugRef:
			case *ssa.Call:
				if !l.blocks[r.Block()] || !selects(r, v) {
					return l.refuse(r.Pos(), "the number of a round", "it is given to more than Select")
				}
			default:
				return l.refuse(r.Pos(), "the number of a round", "code depends on it")
			}
		}
	}
	return true
}

// selects reports whether a call takes the slice of a tensor that a value says.
func selects(c *ssa.Call, v ssa.Value) bool {
	fn := c.Call.StaticCallee()
	if fn == nil || pathOf(fn) != tensorPath || key(fn) != "Tensor.Select" && key(fn) != "Select" {
		return false
	}
	args := c.Call.Args
	return slices.Index(args, v) == len(args)-1
}

// carries reports whether all that a round hands to the next are tensors that it makes, and lists that it adds one to.
func (l *loop) carries() bool {
	for _, i := range l.head.Instrs {
		phi, ok := i.(*ssa.Phi)
		if !ok {
			break
		}
		if phi == l.number {
			continue
		}
		for k, e := range phi.Edges {
			if !l.blocks[l.head.Preds[k]] {
				continue
			}
			switch {
			case isTensor(phi.Type()):
				if !l.f.p.makes(e, map[ssa.Value]bool{}) {
					return l.refuse(phi.Pos(), "the variable "+phi.Comment, "a round may leave it as it is, or nil")
				}
			case l.grows(phi, e):
			default:
				return l.refuse(phi.Pos(), "the variable "+phi.Comment, "it changes from round to round, and is no tensor")
			}
		}
	}
	return true
}

// grows reports whether a list is one that each round adds one tensor to, and that is no more than joined after the loop.
func (l *loop) grows(phi *ssa.Phi, e ssa.Value) bool {
	s, ok := phi.Type().Underlying().(*types.Slice)
	if !ok || !isTensor(s.Elem()) {
		return false
	}
	for k, v := range phi.Edges {
		if l.blocks[l.head.Preds[k]] {
			if v != e { // two ways, on which it may grow by different numbers
				return false
			}
			continue
		}
		if m, made := v.(*ssa.MakeSlice); made && !joined(l, m, phi) || !made && !isNil(v) {
			return false
		}
	}
	c, ok := e.(*ssa.Call)
	if !ok || !appends(c, phi) {
		return false
	}
	one := c.Call.Args[1].(*ssa.Slice).X.(*ssa.Alloc)
	return l.f.p.makes(element(one), map[ssa.Value]bool{}) && joined(l, phi, c) && joined(l, c, phi)
}

// appends reports whether a call is append(list, x).
func appends(c *ssa.Call, list ssa.Value) bool {
	b, ok := c.Call.Value.(*ssa.Builtin)
	if !ok || b.Name() != "append" || len(c.Call.Args) != 2 || c.Call.Args[0] != list {
		return false
	}
	s, ok := c.Call.Args[1].(*ssa.Slice)
	if !ok {
		return false
	}
	one, ok := s.X.(*ssa.Alloc)
	return ok && element(one) != nil
}

// element is what an array of one element holds, nil for other memory.
func element(a *ssa.Alloc) (v ssa.Value) {
	t, ok := pointee(a.Type()).Underlying().(*types.Array)
	if !ok || t.Len() != 1 {
		return nil
	}
	for _, r := range *a.Referrers() {
		switch r := r.(type) {
		case *ssa.Slice, *ssa.DebugRef:
		case *ssa.IndexAddr:
			for _, s := range *r.Referrers() {
				w, ok := s.(*ssa.Store)
				if !ok || v != nil {
					return nil
				}
				v = w.Val
			}
		default:
			return nil
		}
	}
	return v
}

// joined reports whether all that becomes of a list is that it grows, in the loop, and that it is joined after it. other is the list
// before, or after, a round has added to it.
func joined(l *loop, list, other ssa.Value) bool {
	return joinedBut(l, list, other, map[ssa.Value]bool{})
}

func joinedBut(l *loop, list, other ssa.Value, seen map[ssa.Value]bool) bool {
	if seen[list] {
		return true
	}
	seen[list] = true
	for _, r := range *list.Referrers() {
		if v, ok := r.(ssa.Value); ok && v == other {
			continue
		}
		switch r := r.(type) {
		case *ssa.DebugRef:
		case *ssa.Phi:
			if l.blocks[r.Block()] || !joinedBut(l, r, other, seen) {
				return false
			}
		case *ssa.Call:
			fn := r.Call.StaticCallee()
			if l.blocks[r.Block()] || fn == nil || pathOf(fn) != tensorPath || key(fn) != "Stack" && key(fn) != "Cat" {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// body finds the lines of a loop's body.
func (l *loop) body() bool {
	var at []token.Pos
	for b := range l.blocks {
		for _, i := range b.Instrs {
			if c, ok := i.(*ssa.Call); ok && c.Pos().IsValid() && c != l.count {
				at = append(at, c.Pos())
			}
		}
	}
	body := innermost(l.f.fn.Syntax(), at)
	if body == nil {
		return l.refuse(0, "a loop", "no tensor is computed in it")
	}
	fset := l.f.p.ssa.Fset
	l.Body = Body{Package: l.f.p.packageOf(l.f.fn), File: filepath.Base(fset.Position(body.Pos()).Filename), Line: fset.Position(body.Pos()).Line}
	l.From, l.To = l.Line+1, fset.Position(body.End()).Line-1
	for _, p := range at {
		if n := fset.Position(p).Line; n < l.From || n > l.To {
			return l.refuse(p, "a loop", "its body stands in the line of the for; put it on lines of its own")
		}
	}
	return true
}

// innermost is the body of the innermost loop that has all of these positions.
func innermost(n ast.Node, at []token.Pos) (body *ast.BlockStmt) {
	if n == nil || len(at) == 0 {
		return nil
	}
	ast.Inspect(n, func(n ast.Node) bool {
		var b *ast.BlockStmt
		switch s := n.(type) {
		case *ast.ForStmt:
			b = s.Body
		case *ast.RangeStmt:
			b = s.Body
		}
		if b != nil && !slices.ContainsFunc(at, func(p token.Pos) bool { return p < b.Pos() || p >= b.End() }) {
			body = b
		}
		return true
	})
	return body
}

// packageOf is the path that a program knows the package of a function by.
func (p *Loaded) packageOf(fn *ssa.Function) string {
	path := pathOf(fn)
	if q := p.sources[path]; q != nil && q.Name == "main" {
		return "main"
	}
	return path
}
