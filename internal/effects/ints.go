package effects

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// Sizes that code is told as ints, by Dim and Size.Int, may be compared and given to operators, computed with on the way.
// All such ways are listed, so that a record of symbols knows which sides of comparisons it holds for, and what the numbers that operators were given
// are. A line of which an int goes anywhere else is not listed.

// Ask is a line on which code is told sizes as ints, of which all that it does is known.
type Ask struct {
	Body // the package, the file and the line
}

// IntTerm is a step of an IntExpr, which is in postfix order: "ask" is an int of the line N of Asks, "const" is N; "+", "-", "*", "/", "%", "min" and
// "max" take two.
type IntTerm struct {
	Op string
	N  int
}

// IntExpr is what code computes with ints.
type IntExpr []IntTerm

// IntTest is a comparison of ints.
type IntTest struct {
	A  IntExpr
	Op string // "==", "!=", "<", "<=", ">", ">="
	B  IntExpr
}

// IntUse is a call of an operator that is given ints as sizes.
type IntUse struct {
	Body
	Op    string // "reshape"
	Count int    // of the sizes that are such ints
	Exprs []IntExpr
}

// Ints are the ints that code is told of sizes, and what it does with them.
type Ints struct {
	Asks  []Ask
	Tests []IntTest
	Uses  []IntUse
}

// sizeParams are the functions that call one operator, of their name, and the parameters that are sizes in its attributes.
var sizeParams = map[string]string{
	"Expand": "shape", "Reshape": "shape", "Unflatten": "sizes", "Arange": "end", "Eye": "n", "Full": "size", "Ones": "size", "Zeros": "size",
	"Narrow": "start length", "Slice": "start stop",
}

// maxExprs is the most expressions that an int may be one of.
const maxExprs = 16

// ints finds them for a walk.
type ints struct {
	w      *walk
	at     map[Body]int           // lines with asks, by their number
	bad    map[Body]string        // why lines are not listed
	leaves string                 // where an int goes that is followed no more
	values map[*ssa.Function]bool // that may be called from elsewhere
	called map[*ssa.Function][]*ssa.Call
	flat   map[token.Pos]bool // calls on one line, by their parentheses
	ops    map[opLine]map[token.Pos]bool
	tests  map[*ssa.BinOp]bool
	uses   map[*ssa.Call]map[int]bool // numbers of arguments, and of elements of a variadic one
}

// opLine is an operator that a line calls.
type opLine struct {
	Body
	op string
}

// asked lists the ints that code is told of sizes.
func (w *walk) asked(s *Summary) {
	t := &ints{w: w, at: map[Body]int{}, bad: map[Body]string{}, values: map[*ssa.Function]bool{}, called: map[*ssa.Function][]*ssa.Call{}, flat: map[token.Pos]bool{},
		ops: map[opLine]map[token.Pos]bool{}, tests: map[*ssa.BinOp]bool{}, uses: map[*ssa.Call]map[int]bool{}}
	var asks []*ssa.Call
	for fn := range w.seen {
		t.lines(fn)
		t.each(fn, func(i ssa.Instruction) {
			if !t.mentions(i) {
				return
			}
			c := i.(*ssa.Call)
			switch at := t.line(c); {
			case !told(c):
				t.bad[at] = "other code on the line is told sizes, too"
			case !t.flat[c.Pos()]:
				t.bad[at] = "the call stands on several lines"
			}
			if told(c) {
				asks = append(asks, c)
				t.at[t.line(c)] = 0
			}
		})
	}
	for _, c := range asks {
		if at := t.line(c); t.bad[at] == "" {
			if t.leaves = ""; !t.follow(c, map[ssa.Value]bool{}) {
				t.bad[at] = "code does more with the number than to compare it with such, and to give it to operators as a size, at " + t.leaves
			}
		}
	}
	t.list(s)
}

// told reports whether a call tells code a size as an int.
func told(c *ssa.Call) bool {
	fn := c.Call.StaticCallee()
	return fn != nil && pathOf(fn) == tensorPath && (key(fn) == "Tensor.Dim" || key(fn) == "Size.Int")
}

func (t *ints) each(fn *ssa.Function, do func(ssa.Instruction)) {
	for _, b := range fn.Blocks {
		if b == fn.Recover || t.w.p.dead(b) {
			continue
		}
		for _, i := range b.Instrs {
			do(i)
		}
	}
}

// lines notes the calls that stand on one line, with all that they are given.
func (t *ints) lines(fn *ssa.Function) {
	if fn.Syntax() == nil {
		return
	}
	fset := t.w.p.ssa.Fset
	ast.Inspect(fn.Syntax(), func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && fset.Position(c.Pos()).Line == fset.Position(c.Rparen).Line {
			t.flat[c.Lparen] = true
		}
		return true
	})
}

// line is where an instruction stands.
func (t *ints) line(i ssa.Instruction) Body {
	at := t.w.p.ssa.Fset.Position(i.Pos())
	return Body{t.w.p.packageOf(i.Parent()), filepath.Base(at.Filename), at.Line}
}

// mentions notes which functions an instruction calls or makes values of. It reports whether the instruction is a call that may tell code a
// size as a number.
func (t *ints) mentions(i ssa.Instruction) bool {
	var rands [8]*ssa.Value
	plain := own(i)
	for _, r := range i.Operands(rands[:0]) {
		if fn, ok := (*r).(*ssa.Function); ok && r != plain {
			t.values[fn] = true
		}
	}
	c, ok := i.(*ssa.Call)
	if !ok {
		if c, deferred := i.(ssa.CallInstruction); deferred && c.Common().StaticCallee() != nil {
			t.values[c.Common().StaticCallee()] = true
		}
		return false
	}
	fn := c.Call.StaticCallee()
	if fn == nil {
		return false
	}
	t.called[fn] = append(t.called[fn], c)
	if op := opName(fn); op != "" {
		k := opLine{t.line(c), op}
		if t.ops[k] == nil {
			t.ops[k] = map[token.Pos]bool{}
		}
		t.ops[k][c.Pos()] = true
	}
	return pathOf(fn) == tensorPath && handwritten(key(fn)) && tellsSizes(fn) && !follows(fn)
}

// follows reports whether a function gives code a size as a Size, or computes with such.
func follows(fn *ssa.Function) bool {
	return key(fn) == "Tensor.Size" || strings.HasPrefix(key(fn), "Size.") && key(fn) != "Size.Int"
}

// opName is the operator that a function of sizeParams calls, "" for other functions.
func opName(fn *ssa.Function) string {
	if pathOf(fn) != tensorPath || sizeParams[fn.Name()] == "" {
		return ""
	}
	if r := fn.Signature.Recv(); r != nil && !strings.HasPrefix(key(fn), "Tensor.") {
		return ""
	}
	return strings.ToLower(fn.Name())
}

// callers are the calls of a function; ok is false where others may call it.
func (t *ints) callers(fn *ssa.Function) (list []*ssa.Call, ok bool) {
	if fn == t.w.root || t.w.anyhow[fn] || t.values[fn] || fn.Parent() != nil || fn.Name() == "Forward" && fn.Signature.Recv() != nil {
		return nil, false
	}
	return t.called[fn], true
}

// follow looks at all that is done with an int that comes from a size.
func (t *ints) follow(v ssa.Value, seen map[ssa.Value]bool) bool {
	if seen[v] {
		return true
	}
	seen[v] = true
	for _, r := range *v.Referrers() {
		if !t.w.p.dead(r.Block()) && !t.use(r, v, seen) {
			if t.leaves == "" {
				t.leaves = t.w.p.of(v.Parent()).line(r.Pos())
			}
			return false
		}
	}
	return true
}

func (t *ints) use(r ssa.Instruction, v ssa.Value, seen map[ssa.Value]bool) bool {
	switch r := r.(type) {
	case *ssa.DebugRef:
		return true
	case *ssa.BinOp:
		switch r.Op {
		case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
			_, a := t.exprs(r.X, nil)
			_, b := t.exprs(r.Y, nil)
			t.tests[r] = true
			return a && b
		}
		_, ok := t.exprs(r, nil)
		return ok && t.follow(r, seen)
	case *ssa.Phi:
		_, ok := t.exprs(r, nil)
		return ok && t.follow(r, seen)
	case *ssa.Convert:
		return whole(r.Type()) && t.follow(r, seen)
	case *ssa.MakeInterface:
		return t.given(r, seen)
	case *ssa.Return:
		return t.returned(r, v, seen)
	case *ssa.Call:
		if b, ok := r.Call.Value.(*ssa.Builtin); ok {
			_, known := t.exprs(r, nil)
			return (b.Name() == "min" || b.Name() == "max") && known && t.follow(r, seen)
		}
		fn := r.Call.StaticCallee()
		if fn == nil || len(fn.Blocks) == 0 || t.w.p.trusted[pathOf(fn)] || len(r.Call.Args) != len(fn.Params) {
			return false
		}
		for i, a := range r.Call.Args {
			if a == v && !t.follow(fn.Params[i], seen) {
				return false
			}
		}
		return true
	}
	return false
}

// whole reports whether a type has all values of an int.
func whole(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && (b.Kind() == types.Int || b.Kind() == types.Int64)
}

// returned follows a result to the calls of its function.
func (t *ints) returned(r *ssa.Return, v ssa.Value, seen map[ssa.Value]bool) bool {
	calls, ok := t.callers(r.Parent())
	if !ok {
		return false
	}
	for _, c := range calls {
		if len(r.Results) == 1 {
			if !t.follow(c, seen) {
				return false
			}
			continue
		}
		for _, x := range *c.Referrers() {
			if t.w.p.dead(x.Block()) {
				continue
			}
			if x, ok := x.(*ssa.Extract); !ok || r.Results[x.Index] == v && !t.follow(x, seen) {
				return false
			}
		}
	}
	return true
}

// given looks at what an int in an interface is given to: an operator, as a size.
func (t *ints) given(m *ssa.MakeInterface, seen map[ssa.Value]bool) bool {
	if _, ok := t.exprs(m.X, nil); !ok || !types.Identical(m.X.Type(), types.Typ[types.Int]) {
		return false
	}
	for _, r := range *m.Referrers() {
		ok := true
		switch r := r.(type) {
		case *ssa.DebugRef:
		case *ssa.Call:
			ok = t.takes(r, m, -1)
		case *ssa.Store:
			ok = t.element(r)
		default:
			ok = false
		}
		if !ok && !t.w.p.dead(r.Block()) {
			return false
		}
	}
	return true
}

// element looks at an element of a variadic argument.
func (t *ints) element(s *ssa.Store) bool {
	at, ok := s.Addr.(*ssa.IndexAddr)
	if !ok {
		return false
	}
	k, ok := at.Index.(*ssa.Const)
	list, made := at.X.(*ssa.Alloc)
	if !ok || !made {
		return false
	}
	found := false
	for _, r := range *list.Referrers() {
		switch r := r.(type) {
		case *ssa.DebugRef, *ssa.IndexAddr:
		case *ssa.Slice:
			for _, u := range *r.Referrers() {
				c, ok := u.(*ssa.Call)
				if _, debug := u.(*ssa.DebugRef); !debug && (!ok || !t.takes(c, r, int(k.Int64()))) {
					return false
				}
				found = found || ok
			}
		default:
			return false
		}
	}
	return found
}

// takes notes an operator that is given an int. ok is false where a call is no such operator, or its line has another one.
func (t *ints) takes(c *ssa.Call, v ssa.Value, elem int) bool {
	fn := c.Call.StaticCallee()
	if fn == nil || opName(fn) == "" || !t.flat[c.Pos()] || len(t.ops[opLine{t.line(c), opName(fn)}]) != 1 {
		return false
	}
	args := c.Call.Args
	if fn.Signature.Recv() != nil {
		args = args[1:]
	}
	for i, a := range args {
		if a != v {
			continue
		}
		if !slices.Contains(strings.Fields(sizeParams[fn.Name()]), fn.Signature.Params().At(i).Name()) {
			return false
		}
		if t.uses[c] == nil {
			t.uses[c] = map[int]bool{}
		}
		t.uses[c][i<<16+elem+1] = true
	}
	return true
}

// exprs lists what an int may be, in terms of ints that code is told. ok is false where it may be anything else.
func (t *ints) exprs(v ssa.Value, on []ssa.Value) (list []IntExpr, ok bool) {
	if slices.Contains(on, v) || len(on) > 64 || !whole(v.Type()) {
		return nil, false
	}
	on = append(on, v)
	add := func(o ssa.Value) bool {
		more, ok := t.exprs(o, on)
		for _, e := range more {
			if !slices.ContainsFunc(list, func(x IntExpr) bool { return slices.Equal(x, e) }) {
				list = append(list, e)
			}
		}
		return ok && len(list) <= maxExprs
	}
	switch v := v.(type) {
	case *ssa.Const:
		if v.Value == nil || v.Value.Kind() != constant.Int || v.Int64() > 1<<30 || v.Int64() < -1<<30 {
			return nil, false
		}
		return []IntExpr{{{"const", int(v.Int64())}}}, true
	case *ssa.Convert:
		return list, add(v.X)
	case *ssa.Phi:
		for _, e := range v.Edges {
			if !add(e) {
				return nil, false
			}
		}
		return list, true
	case *ssa.Parameter:
		calls, ok := t.callers(v.Parent())
		i := slices.Index(v.Parent().Params, v)
		for _, c := range calls {
			if !ok || len(c.Call.Args) != len(v.Parent().Params) || !add(c.Call.Args[i]) {
				return nil, false
			}
		}
		return list, ok && len(list) > 0
	case *ssa.BinOp:
		return t.computed(v.Op.String(), v.X, v.Y, on)
	case *ssa.Extract:
		c, ok := v.Tuple.(*ssa.Call)
		return list, ok && t.results(c, v.Index, add)
	case *ssa.Call:
		if told(v) {
			return []IntExpr{{{"ask", t.number(t.line(v))}}}, true
		}
		if b, ok := v.Call.Value.(*ssa.Builtin); ok {
			if (b.Name() == "min" || b.Name() == "max") && len(v.Call.Args) == 2 {
				return t.computed(b.Name(), v.Call.Args[0], v.Call.Args[1], on)
			}
			return nil, false
		}
		return list, t.results(v, 0, add)
	}
	return nil, false
}

// number is the number of a line from which ints come.
func (t *ints) number(at Body) int {
	if t.at[at] == 0 {
		used := 0
		for _, n := range t.at {
			used = max(used, n)
		}
		t.at[at] = used + 1
	}
	return t.at[at]
}

// computed lists what two ints may give. What is divided by is a constant that is 1 or more.
func (t *ints) computed(op string, x, y ssa.Value, on []ssa.Value) (list []IntExpr, ok bool) {
	switch op {
	case "/", "%":
		if k, ok := y.(*ssa.Const); !ok || k.Int64() < 1 {
			return nil, false
		}
	case "+", "-", "*", "min", "max":
	default:
		return nil, false
	}
	a, ok := t.exprs(x, on)
	b, also := t.exprs(y, on)
	for _, p := range a {
		for _, q := range b {
			list = append(list, slices.Concat(p, q, IntExpr{{op, 0}}))
		}
	}
	return list, ok && also && len(list) <= maxExprs && !slices.ContainsFunc(list, func(e IntExpr) bool { return len(e) > 32 })
}

// results adds what a call may return.
func (t *ints) results(c *ssa.Call, i int, add func(ssa.Value) bool) bool {
	fn := c.Call.StaticCallee()
	if fn == nil || len(fn.Blocks) == 0 || t.w.p.trusted[pathOf(fn)] {
		return false
	}
	for _, b := range fn.Blocks {
		if r, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok && !t.w.p.dead(b) && !add(r.Results[i]) {
			return false
		}
	}
	return true
}
