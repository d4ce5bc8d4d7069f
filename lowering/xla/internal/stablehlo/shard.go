package stablehlo

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// partitions reads the attributes of a sharded module.
func (r *parser) partitions(p *Program) {
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
func (r *parser) attributesOf(p *Program, arg int) {
	sharded := false
	if r.accept("{") {
		for more := true; more; more = r.accept(",") {
			switch name := r.next().text; name {
			case donor:
				r.expect("=")
				r.expect("true")
				p.Donated = append(p.Donated, make([]bool, arg+1-len(p.Donated))...)
				p.Donated[arg] = true
			case sharding:
				r.expect("=")
				t := r.next()
				if t.kind != 's' {
					r.fail("found %q, expected a sharding", t.text)
				}
				p.Shardings, sharded = append(p.Shardings, t.text), true
			default:
				r.fail("found %q, expected an attribute of an argument", name)
			}
		}
		r.expect("}")
	}
	if p.Donated != nil && len(p.Donated) == arg {
		p.Donated = append(p.Donated, false)
	}
	if p.Partitions > 0 && !sharded {
		r.fail("argument %d has no sharding", arg)
	}
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

// shardings checks that each argument has a sharding of all partitions into equal parts.
func (v *verifier) shardings(p *Program) {
	if p.Donated != nil && len(p.Donated) != len(p.Main.Args) {
		v.fail(errors.New("main has other numbers of arguments and of donations"))
	}
	if p.Partitions == 0 && p.Shardings == nil {
		return
	}
	if len(p.Shardings) != len(p.Main.Args) {
		v.fail(errors.New("main has other numbers of arguments and shardings"))
		return
	}
	for i, text := range p.Shardings {
		t, err := ParseSharding(text)
		if err != nil {
			v.fail(err)
			continue
		}
		dims := p.Main.Args[i].Type.Dims
		if t.Grid == nil {
			continue
		}
		if len(t.Grid) != len(dims) || len(t.Devices) != p.Partitions {
			v.fail(fmt.Errorf("sharding %s of argument %d has another rank, or number of partitions", text, i))
			continue
		}
		for d, n := range t.Grid {
			if dims[d]%n != 0 {
				v.fail(fmt.Errorf("sharding %s of argument %d: dimension %d has no equal parts", text, i, d))
			}
		}
	}
}
