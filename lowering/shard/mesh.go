package shard

import (
	"slices"
	"strconv"
	"strings"
)

// Axis is a named direction of a mesh.
type Axis struct {
	Name string
	Size int
}

// Mesh arranges partitions in a grid. They are numbered row by row: the last axis runs fastest.
type Mesh []Axis

// Partitions returns the number of partitions.
func (m Mesh) Partitions() int {
	n := 1
	for _, a := range m {
		n *= a.Size
	}
	return n
}

// String returns the axes with their sizes: data=2 tensor=4.
func (m Mesh) String() string {
	var list []string
	for _, a := range m {
		list = append(list, a.Name+"="+strconv.Itoa(a.Size))
	}
	return strings.Join(list, " ")
}

// Split says of each dimension of a tensor along which axis of the mesh it is cut into equal
// parts, "" for none. Every partition along the axes that are not named has a copy. nil cuts nothing.
type Split []string

// String returns the axes: [data,,tensor].
func (s Split) String() string { return "[" + strings.Join(s, ",") + "]" }

// Cuts reports whether a dimension is cut.
func (s Split) Cuts() bool { return slices.ContainsFunc(s, func(a string) bool { return a != "" }) }

// maxPartitions keeps products of sizes within what compilers number.
const maxPartitions = 1 << 20

// check reports axes that are none.
func (m Mesh) check(bad func(msg, hint string)) {
	n := 1
	for i, a := range m {
		switch {
		case a.Name == "" || m[:i].axis(a.Name) >= 0:
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

// fits reports why a tensor of these sizes cannot be cut so, with the cure; a size of -1 is not known, and of
// nil no rank is.
func (m Mesh) fits(dims []int, s Split, bad func(msg, hint string)) {
	if dims != nil && s != nil && len(s) != len(dims) {
		bad("the split has "+strconv.Itoa(len(s))+" dimensions", `write one axis for each dimension, "" where it is not cut`)
		dims = nil // the axes may be wrong, too
	}
	for i, name := range s {
		k := m.axis(name)
		switch {
		case name == "":
		case k < 0:
			bad("the mesh has no axis "+strconv.Quote(name), "name an axis of the mesh")
		case slices.Contains(s[:i], name):
			bad("axis "+name+" cuts two dimensions", "a partition has one place along an axis; cut one dimension by it")
		case dims != nil && dims[i] >= 0 && m[k].Size > 0 && dims[i]%m[k].Size != 0:
			bad("dimension "+strconv.Itoa(i)+" has no "+strconv.Itoa(m[k].Size)+" equal parts along "+name, "cut another dimension, or choose an axis whose size divides it")
		}
	}
}

// Local returns the sizes of a partition's part of a tensor of these sizes.
func (m Mesh) Local(dims []int, s Split) []int {
	out := append([]int{}, dims...)
	for i, name := range s {
		if name != "" {
			out[i] /= m[m.axis(name)].Size
		}
	}
	return out
}

// Sharding returns a split in XLA's notation: a grid of tiles over the tensor's dimensions,
// with a last dimension for copies, and as a transposed count the partitions that have them.
func (m Mesh) Sharding(s Split) string {
	var tiles, sizes, order []string
	var places []int
	cut, rest := 1, 1
	used := make([]bool, len(m))
	for _, name := range s {
		size := 1
		if k := m.axis(name); name != "" {
			size, used[k] = m[k].Size, true
			places = append(places, k)
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
			places = append(places, k)
		}
	}
	last := ""
	if rest > 1 {
		tiles, last = append(tiles, strconv.Itoa(rest)), " last_tile_dim_replicate"
	}
	devices := "[" + strconv.Itoa(m.Partitions()) + "]"
	if !slices.IsSorted(places) {
		for _, k := range places {
			order = append(order, strconv.Itoa(k))
		}
		devices = "[" + strings.Join(sizes, ",") + "]T(" + strings.Join(order, ",") + ")"
	}
	return "{devices=[" + strings.Join(tiles, ",") + "]<=" + devices + last + "}"
}
