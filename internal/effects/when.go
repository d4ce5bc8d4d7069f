package effects

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// Cond is a comparison of a word with a constant. A condition on a field of a type says that it holds for some object of the
// type, and none holds of the value zero: objects that a function makes begin with that.
type Cond struct {
	Type, Name string // a field of a struct type, or a global where Type is ""
	Arg        int    // the number of an argument, from 1: then Name is the way from it, "Config.Debug", or ""
	Op         token.Token
	Value      any // bool, int64, uint64, string, or nil
}

// MarshalText is String.
func (c Cond) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// String is the condition as Go has it.
func (c Cond) String() string {
	name := c.Name
	switch {
	case c.Type != "":
		name = c.Type + "." + name
	case c.Arg > 0:
		name = strings.TrimSuffix(fmt.Sprintf("argument %d.%s", c.Arg, name), ".")
	}
	value := fmt.Sprint(c.Value)
	if s, ok := c.Value.(string); ok {
		value = fmt.Sprintf("%q", s)
	} else if c.Value == nil {
		value = "nil"
	}
	return name + " " + c.Op.String() + " " + value
}

// conditions are the branches on the way to a block, as far as they are known: one of the lists holds, all of it. A list without
// conditions always holds, and no list tells that the block is on no way.
type conditions [][]Cond

// always is what holds of code of whose branches nothing is known.
func always() conditions { return conditions{{}} }

// maxWays is the most lists that are kept. Where there are more, the branches nearest to the code count for nothing.
const maxWays = 8

// or adds lists, and leaves out those that others imply.
func (c conditions) or(o conditions) conditions {
	all := slices.Concat(c, o)
	for again := true; again; {
		again = false
		for i, a := range all {
			for j, b := range all {
				if i == j {
					continue
				}
				if implies(b, a) {
					all, again = slices.Delete(slices.Clone(all), j, j+1), true
				} else if m, ok := merged(a, b); ok {
					all[i], again = m, true
				}
				if again {
					break
				}
			}
			if again {
				break
			}
		}
	}
	return all
}

// and joins each list with each.
func (c conditions) and(o conditions) (all conditions) {
	for _, a := range c {
		for _, b := range o {
			list := slices.Clone(a)
			for _, x := range b {
				if !slices.Contains(list, x) {
					list = append(list, x)
				}
			}
			slices.SortFunc(list, func(a, b Cond) int { return strings.Compare(a.String(), b.String()) })
			all = all.or(conditions{list})
		}
	}
	return all
}

// implies reports whether all that b says is said by a.
func implies(a, b []Cond) bool {
	return !slices.ContainsFunc(b, func(x Cond) bool { return !slices.Contains(a, x) })
}

// merged is what two lists have in common that differ in one condition, which holds in one and not in the other.
func merged(a, b []Cond) ([]Cond, bool) {
	if len(a) != len(b) {
		return nil, false
	}
	for i, x := range a {
		rest := slices.Delete(slices.Clone(a), i, i+1)
		if j := slices.Index(b, x.not()); j >= 0 && implies(b, rest) && implies(rest, slices.Delete(slices.Clone(b), j, j+1)) {
			return rest, true
		}
	}
	return nil, false
}

var inverse = map[token.Token]token.Token{token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.GEQ, token.GEQ: token.LSS, token.GTR: token.LEQ, token.LEQ: token.GTR}

var mirrored = map[token.Token]token.Token{token.EQL: token.EQL, token.NEQ: token.NEQ, token.LSS: token.GTR, token.GEQ: token.LEQ, token.GTR: token.LSS, token.LEQ: token.GEQ}

func (c Cond) not() Cond {
	c.Op = inverse[c.Op]
	return c
}

// zero reports whether a condition holds of the value zero.
func (c Cond) zero() bool {
	zero := map[bool]constant.Value{}
	switch v := c.Value.(type) {
	case nil:
		return c.Op == token.EQL
	case bool:
		return (c.Op == token.EQL) != v
	case string:
		zero[true], zero[false] = constant.MakeString(""), constant.MakeString(v)
	case int64:
		zero[true], zero[false] = constant.MakeInt64(0), constant.MakeInt64(v)
	case uint64:
		zero[true], zero[false] = constant.MakeInt64(0), constant.MakeUint64(v)
	}
	return constant.Compare(zero[true], c.Op, zero[false])
}

// branches finds the conditions of the blocks of one function.
type branches struct {
	root  *ssa.Function // whose parameters are arguments
	known map[*ssa.BasicBlock]conditions
}

// of returns what holds where a block is run.
func (b *branches) of(block *ssa.BasicBlock) conditions {
	if c, ok := b.known[block]; ok {
		return c
	}
	above := block.Idom()
	if above == nil {
		b.known[block] = always()
		return always()
	}
	b.known[block] = always() // of a block that leads to itself other than through a loop's head
	var c conditions
	for _, p := range block.Preds {
		if block.Dominates(p) { // the next round of a loop, which a first one was before
			continue
		}
		if taken, cond, known := b.edge(p, block); !known {
			c = c.or(b.of(p))
		} else if taken {
			c = c.or(b.of(p).and(conditions{{cond}}))
		}
	}
	if len(c) > maxWays {
		c = b.of(above)
	}
	b.known[block] = c
	return c
}

// edge returns the condition under which a block leads to another one. taken is false where it never does.
func (b *branches) edge(from, to *ssa.BasicBlock) (taken bool, c Cond, known bool) {
	i, ok := from.Instrs[len(from.Instrs)-1].(*ssa.If)
	if !ok || from.Succs[0] == from.Succs[1] {
		return true, c, false
	}
	holds := from.Succs[0] == to
	if k, ok := i.Cond.(*ssa.Const); ok {
		return constant.BoolVal(k.Value) == holds, c, constant.BoolVal(k.Value) != holds
	}
	if c, known = b.cond(i.Cond); known && !holds {
		c = c.not()
	}
	return true, c, known
}

// cond reads a condition.
func (b *branches) cond(v ssa.Value) (Cond, bool) {
	switch x := v.(type) {
	case *ssa.UnOp:
		if x.Op == token.NOT {
			c, ok := b.cond(x.X)
			return c.not(), ok
		}
	case *ssa.BinOp:
		if k, ok := x.Y.(*ssa.Const); ok {
			return b.compared(x.X, x.Op, k)
		}
		if k, ok := x.X.(*ssa.Const); ok {
			return b.compared(x.Y, mirrored[x.Op], k)
		}
		return Cond{}, false
	}
	if t, ok := v.Type().Underlying().(*types.Basic); !ok || t.Kind() != types.Bool {
		return Cond{}, false
	}
	c, ok := b.word(v)
	c.Op, c.Value = token.EQL, true
	return c, ok
}

// compared is a comparison of a word with a constant.
func (b *branches) compared(v ssa.Value, op token.Token, k *ssa.Const) (Cond, bool) {
	c, ok := b.word(v)
	if c.Op = op; !ok || inverse[op] == 0 {
		return c, false
	}
	if k.IsNil() {
		_, iface := v.Type().Underlying().(*types.Interface)
		return c, !iface
	}
	t, ok := v.Type().Underlying().(*types.Basic)
	if !ok || k.Value == nil {
		return c, false
	}
	switch info := t.Info(); {
	case info&types.IsBoolean != 0:
		c.Value = constant.BoolVal(k.Value)
	case info&types.IsString != 0:
		c.Value = constant.StringVal(k.Value)
	case info&types.IsUnsigned != 0:
		c.Value, ok = constant.Uint64Val(constant.ToInt(k.Value))
	case info&types.IsInteger != 0:
		c.Value, ok = constant.Int64Val(constant.ToInt(k.Value))
	default:
		return c, false
	}
	return c, ok
}

// word names the word that a value is loaded from.
func (b *branches) word(v ssa.Value) (Cond, bool) {
	switch v := v.(type) {
	case *ssa.Parameter:
		i := slices.Index(v.Parent().Params, v)
		return Cond{Arg: i + 1}, v.Parent() == b.root
	case *ssa.Field:
		return fieldWord(v.X.Type(), v.Field)
	case *ssa.UnOp:
		if v.Op != token.MUL {
			break
		}
		switch at := v.X.(type) {
		case *ssa.FieldAddr:
			if arg, way, ok := b.way(at); ok {
				return Cond{Arg: arg, Name: way}, true
			}
			return fieldWord(pointee(at.X.Type()), at.Field)
		case *ssa.Global:
			return Cond{Name: globalName(at)}, true
		case *ssa.FreeVar: // listed where a table is of the literal
			if at.Parent() == b.root && b.root.Parent() != nil {
				return Cond{Name: capturedName(at)}, true
			}
		}
	}
	return Cond{}, false
}

// way is how code of the root comes from an argument to a field.
func (b *branches) way(at *ssa.FieldAddr) (arg int, way string, ok bool) {
	from := at.X
	if load, ok := from.(*ssa.UnOp); ok && load.Op == token.MUL {
		from = load.X
	}
	name := pointee(at.X.Type()).Underlying().(*types.Struct).Field(at.Field).Name()
	switch x := from.(type) {
	case *ssa.Parameter:
		return slices.Index(x.Parent().Params, x) + 1, name, from == at.X && x.Parent() == b.root
	case *ssa.FieldAddr:
		arg, way, ok = b.way(x)
		return arg, way + "." + name, ok
	}
	return 0, "", false
}

func globalName(g *ssa.Global) string { return g.Pkg.Pkg.Path() + "." + g.Name() }

func fieldWord(t types.Type, i int) (Cond, bool) {
	s, ok := t.Underlying().(*types.Struct)
	if !ok || sealed(t) {
		return Cond{}, false
	}
	return Cond{Type: TypeName(t), Name: s.Field(i).Name()}, true
}
