package stablehlo

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// partitions reads the attributes of a sharded module.
func (r *parser) partitions(p *Module) {
	r.expect("{")
	r.expect("mhlo.num_partitions")
	r.expect("=")
	n, err := strconv.Atoi(r.next().text)
	if err != nil || n < 1 {
		r.fail("the number of partitions is no positive number")
	}
	p.Partitions = n
	for _, text := range []string{":", "i32", ",", "mhlo.num_replicas", "=", "1", ":", "i32", "}"} {
		r.expect(text)
	}
}

// attributesOf reads the attributes of an argument of main: those of a sharded program have
// shardings.
func (r *parser) attributesOf(p *Module, arg int) {
	sharded := false
	if r.accept("{") {
		for more := true; more; more = r.accept(",") {
			switch name := r.next().text; name {
			case donor:
				r.expect("=")
				r.expect("true")
				p.Donated = append(p.Donated, make([]bool, arg+1-len(p.Donated))...)
				p.Donated[arg] = true
			case aliasing:
				r.expect("=")
				n := r.integer()
				if n < 0 {
					r.fail("found result %d, expected one from 0 on", n)
				}
				r.expect(":")
				r.expect("i32")
				p.Aliases = append(p.Aliases, make([]int, arg+1-len(p.Aliases))...)
				p.Aliases[arg] = n + 1
			case shardingAttr:
				p.Shardings, sharded = append(p.Shardings, r.shardingText()), true
			default:
				r.fail("found %q, expected an attribute of an argument", name)
			}
		}
		r.expect("}")
	}
	if p.Donated != nil && len(p.Donated) == arg {
		p.Donated = append(p.Donated, false)
	}
	if p.Aliases != nil && len(p.Aliases) == arg {
		p.Aliases = append(p.Aliases, 0)
	}
	if p.Partitions > 0 && !sharded {
		r.fail("argument %d has no sharding", arg)
	}
}

// mainResults reads the types that main returns, in brackets, with shardings or without.
func (r *parser) mainResults(p *Module) (list []Type) {
	r.expect("(")
	for !r.accept(")") {
		if len(list) > 0 {
			r.expect(",")
		}
		list = append(list, r.typ())
		if r.peek().text == "{" {
			p.ResultShardings = append(p.ResultShardings, r.sharding())
		}
	}
	return list
}

// shardingAttr is the attribute that XLA's partitioner reads, shardingTarget the custom call that
// stands for a value which is laid out so.
const (
	shardingAttr   = "mhlo.sharding"
	shardingTarget = "Sharding"
)

// Sharded returns x, to be laid out as a sharding says.
func (b *Builder) Sharded(x *Value, sharding string) *Value {
	return b.Add(b.With("custom_call", []*Value{x}, "call_target_name", Str(shardingTarget), shardingAttr, Str(sharding)))[0]
}

// inferCustom is the rule of the one custom call that programs have.
func inferCustom(o *Op) ([]Type, error) {
	if target := o.Get("call_target_name").(Str); target != shardingTarget {
		return nil, fmt.Errorf("calls %q, which is not known", string(target))
	}
	if _, err := ParseSharding(string(o.Get(shardingAttr).(Str))); err != nil {
		return nil, err
	}
	return []Type{o.Operands[0].Type}, nil
}

// sharding reads the attribute of a result.
func (r *parser) sharding() string {
	r.expect("{")
	r.expect(shardingAttr)
	text := r.shardingText()
	r.expect("}")
	return text
}

// shardingText reads what the attribute is.
func (r *parser) shardingText() string {
	r.expect("=")
	t := r.next()
	if t.kind != 's' {
		r.fail("found %q, expected a sharding", t.text)
	}
	return t.text
}

// Tiles is a sharding: a grid of equal tiles over a tensor, and who has which.
type Tiles struct {
	Grid []int // the tiles of each dimension; nil: everyone has all
	// Devices are the partitions, tile by tile in row-major order, those that have copies of
	// one tile side by side.
	Devices []int
}

var tiled = regexp.MustCompile(`^\{devices=\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?( last_tile_dim_replicate)?\}$`)

// ParseSharding reads the notations {replicated} and {devices=[tiles]<=[sizes]T(order)}, the
// latter with a last dimension of copies or without.
func ParseSharding(text string) (t Tiles, err error) {
	if text == "{replicated}" {
		return t, nil
	}
	m := tiled.FindStringSubmatch(text)
	if m == nil {
		return t, fmt.Errorf("%q is no sharding that is known", text)
	}
	grid, sizes := numbers(m[1]), numbers(m[2])
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	if m[3] != "" {
		order = numbers(m[3])
	}
	n := product(sizes)
	seen := map[int]bool{}
	for _, k := range order {
		if k < 0 || k >= len(sizes) || seen[k] {
			return t, fmt.Errorf("%q does not transpose its sizes", text)
		}
		seen[k] = true
	}
	if n < 1 || n > 1<<20 || len(order) != len(sizes) || product(grid) != n {
		return t, fmt.Errorf("%q has other numbers of tiles and partitions", text)
	}
	for i := range n { // the coordinates of place i, in the transposed order
		rest, id := i, 0
		at := make([]int, len(sizes))
		for k := len(order) - 1; k >= 0; k-- {
			at[order[k]] = rest % sizes[order[k]]
			rest /= sizes[order[k]]
		}
		for k, size := range sizes {
			id = id*size + at[k]
		}
		t.Devices = append(t.Devices, id)
	}
	t.Grid = grid
	if m[4] != "" {
		t.Grid = grid[:len(grid)-1]
	}
	return t, nil
}

func numbers(text string) (list []int) {
	for _, s := range strings.Split(text, ",") {
		n, err := strconv.Atoi(s)
		if err != nil {
			return []int{-1}
		}
		list = append(list, n)
	}
	return list
}

// product returns 0 where a factor is not positive, or the product is beyond all partitions.
func product(list []int) int {
	n := 1
	for _, f := range list {
		if f < 1 || f > 1<<20 || n > 1<<20 {
			return 0
		}
		n *= f
	}
	return n
}

// aliases checks that results are made in arguments of their type, each in one.
func (v *verifier) aliases(p *Module) {
	if p.Aliases == nil {
		return
	}
	if len(p.Aliases) != len(p.Main.Args) {
		v.fail(errors.New("main has other numbers of arguments and of aliases"))
		return
	}
	results, made := p.Results(), map[int]bool{}
	for i, n := range p.Aliases {
		switch {
		case n == 0:
			continue
		case n < 0 || n > len(results) || made[n]:
			v.fail(errors.New("argument " + strconv.Itoa(i) + " has no result of its own that is made in it"))
		case results[n-1].String() != p.Main.Args[i].Type.String():
			v.fail(errors.New("argument " + strconv.Itoa(i) + " is " + p.Main.Args[i].Type.String() + ", the result that is made in it " + results[n-1].String()))
		case i < len(p.Donated) && p.Donated[i]:
			v.fail(errors.New("argument " + strconv.Itoa(i) + " is donated and has a result that is made in it"))
		}
		made[n] = true
	}
}

// shardings checks that each argument and each result has a sharding of all partitions into
// equal parts, and so has every value within that is to be laid out.
func (v *verifier) shardings(p *Module) {
	if p.Donated != nil && len(p.Donated) != len(p.Main.Args) {
		v.fail(errors.New("main has other numbers of arguments and of donations"))
	}
	v.aliases(p)
	if p.Shardings != nil || p.Partitions > 0 {
		if len(p.Shardings) != len(p.Main.Args) {
			v.fail(errors.New("main has other numbers of arguments and shardings"))
			return
		}
		for i, text := range p.Shardings {
			v.tiles(p, text, p.Main.Args[i].Type.Dims, "argument "+strconv.Itoa(i))
		}
	}
	if results := p.Results(); p.ResultShardings != nil {
		if len(p.ResultShardings) != len(results) || p.Partitions == 0 {
			v.fail(errors.New("main has other numbers of results and shardings, or no partitions"))
			return
		}
		for i, text := range p.ResultShardings {
			v.tiles(p, text, results[i].Dims, "result "+strconv.Itoa(i))
		}
	}
	for _, o := range p.Main.Ops {
		if text, ok := o.Get(shardingAttr).(Str); ok && len(o.Results) == 1 {
			v.tiles(p, string(text), o.Results[0].Type.Dims, "a custom call")
		}
	}
}

// tiles checks one sharding against the sizes of what it is of.
func (v *verifier) tiles(p *Module, text string, dims []int, what string) {
	t, err := ParseSharding(text)
	if err != nil {
		v.fail(err)
		return
	}
	if t.Grid == nil {
		return
	}
	if len(t.Grid) != len(dims) || len(t.Devices) != p.Partitions {
		v.fail(fmt.Errorf("sharding %s of %s has another rank, or number of partitions", text, what))
		return
	}
	for d, n := range t.Grid {
		if dims[d]%n != 0 {
			v.fail(fmt.Errorf("sharding %s of %s: dimension %d has no equal parts", text, what, d))
		}
	}
}
