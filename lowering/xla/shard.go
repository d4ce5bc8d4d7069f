package xla

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
)

// Axis is a named direction of a mesh.
type Axis struct {
	Name string
	Size int
}

// Mesh arranges partitions in a grid. They are numbered row by row: the last axis runs fastest.
type Mesh []Axis

// Partitions returns the number of partitions, which pjrt.CompileOptions has to have.
func (m Mesh) Partitions() int {
	n := 1
	for _, a := range m {
		n *= a.Size
	}
	return n
}

// Split says of each dimension of a tensor along which axis of the mesh it is cut into equal
// parts, "" for none. Every partition along the axes that are not named has a copy. nil cuts nothing.
type Split []string

// Layout says which part of each argument of a program a partition has: of inputs by
// the placeholder's name, of weights by path. What is not listed every partition has whole.
type Layout struct {
	Mesh            Mesh
	Inputs, Weights map[string]Split
}

// maxPartitions keeps products of sizes within what compilers number.
const maxPartitions = 1 << 20

// Shard returns the program for the partitions of a mesh, with the layout written as
// attributes of main's arguments (mhlo.sharding); p stays as it is. XLA's partitioner
// follows them through the operations and adds the collectives: the results are those of p.
// The error lists all mistakes (BadSharding).
func (p *Program) Shard(l Layout) (*Program, error) {
	var errs diag.List
	bad := func(msg, hint string) { errs = append(errs, diag.New(BadSharding, msg).WithHint(hint)) }
	l.Mesh.check(bad)
	if len(errs) > 0 {
		return nil, errs
	}
	var texts []string
	one := func(kind string, args []Argument, splits map[string]Split) (out []Argument) {
		known := map[string]bool{}
		for _, a := range args {
			known[a.Name] = true
			s := splits[a.Name]
			if msg, hint := l.Mesh.fits(a, s); msg != "" {
				bad(kind+" "+a.Name+" is "+a.Type().String()+": "+msg, hint)
				continue
			}
			a.Local = l.Mesh.local(a.Dims, s)
			out = append(out, a)
			texts = append(texts, l.Mesh.text(s))
		}
		var unknown []string
		for name := range splits {
			if !known[name] {
				unknown = append(unknown, name)
			}
		}
		slices.Sort(unknown)
		for _, name := range unknown {
			bad("the program has no "+kind+" "+strconv.Quote(name), "Program.Inputs and Program.Weights list the names")
		}
		return out
	}
	q := *p
	q.Inputs = one("input", p.Inputs, l.Inputs)
	q.Weights = one("weight", p.Weights, l.Weights)
	if len(errs) > 0 {
		return nil, errs
	}
	q.code = &stablehlo.Program{Name: p.code.Name, Main: p.code.Main, Partitions: l.Mesh.Partitions(), Shardings: texts, Donated: p.code.Donated}
	if err := stablehlo.Verify(q.code); err != nil {
		return nil, diag.Bug("the sharded program does not verify: " + err.Error())
	}
	return &q, nil
}

func (m Mesh) check(bad func(msg, hint string)) {
	n := 1
	for i, a := range m {
		switch {
		case a.Name == "" || slices.ContainsFunc(m[:i], func(b Axis) bool { return b.Name == a.Name }):
			bad("axis "+strconv.Itoa(i)+" of the mesh is named "+strconv.Quote(a.Name), "give each axis a name of its own")
		case a.Size < 1 || a.Size > maxPartitions/n:
			bad("axis "+a.Name+" of the mesh has size "+strconv.Itoa(a.Size), "sizes are 1 or more, of at most 1048576 partitions together")
			return
		default:
			n *= a.Size
		}
	}
}

// axis returns the place of an axis, -1 where there is none.
func (m Mesh) axis(name string) int {
	return slices.IndexFunc(m, func(a Axis) bool { return a.Name == name })
}

// fits says why an argument cannot be cut so, and the cure.
func (m Mesh) fits(a Argument, s Split) (msg, hint string) {
	if s != nil && len(s) != len(a.Dims) {
		return "the split has " + strconv.Itoa(len(s)) + " dimensions", `write one axis for each dimension, "" where it is not cut`
	}
	for i, name := range s {
		k := m.axis(name)
		switch {
		case name == "":
		case k < 0:
			return "the mesh has no axis " + strconv.Quote(name), "name an axis of the mesh"
		case slices.Contains(s[:i], name):
			return "axis " + name + " cuts two dimensions", "a partition has one place along an axis; cut one dimension by it"
		case a.Dims[i]%m[k].Size != 0:
			return "dimension " + strconv.Itoa(i) + " has no " + strconv.Itoa(m[k].Size) + " equal parts along " + name, "cut another dimension, or choose an axis whose size divides it"
		}
	}
	return "", ""
}

// local returns the sizes of a partition's part.
func (m Mesh) local(dims []int, s Split) []int {
	out := append([]int{}, dims...)
	for i, name := range s {
		if name != "" {
			out[i] /= m[m.axis(name)].Size
		}
	}
	return out
}

// text returns a split in XLA's notation: a grid of tiles over the tensor's dimensions, with a
// last dimension for copies, and as a transposed count the partitions that have them.
func (m Mesh) text(s Split) string {
	var tiles, sizes, order []string
	cut, rest := 1, 1
	used := make([]bool, len(m))
	for _, name := range s {
		size := 1
		if k := m.axis(name); name != "" {
			size, used[k] = m[k].Size, true
			order = append(order, strconv.Itoa(k))
		}
		tiles = append(tiles, strconv.Itoa(size))
		cut *= size
	}
	if cut == 1 {
		return "{replicated}"
	}
	for k, a := range m {
		sizes = append(sizes, strconv.Itoa(a.Size))
		if !used[k] {
			rest *= a.Size
			order = append(order, strconv.Itoa(k))
		}
	}
	last := ""
	if rest > 1 {
		tiles, last = append(tiles, strconv.Itoa(rest)), " last_tile_dim_replicate"
	}
	devices := "[" + strconv.Itoa(m.Partitions()) + "]"
	if !slices.IsSorted(ints(order)) {
		devices = "[" + strings.Join(sizes, ",") + "]T(" + strings.Join(order, ",") + ")"
	}
	return "{devices=[" + strings.Join(tiles, ",") + "]<=" + devices + last + "}"
}

func ints(list []string) (out []int) {
	for _, s := range list {
		n, _ := strconv.Atoi(s) // they are numbers that text wrote
		out = append(out, n)
	}
	return out
}

// Bytes returns what one partition holds of the inputs and of the weights; the whole of
// both where the program is not sharded.
func (p *Program) Bytes() (inputs, weights int) {
	sum := func(list []Argument) (n int) {
		for _, a := range list {
			dims := a.Dims
			if a.Local != nil {
				dims = a.Local
			}
			one := a.DType.Size()
			for _, d := range dims {
				one *= d
			}
			n += one
		}
		return n
	}
	return sum(p.Inputs), sum(p.Weights)
}
