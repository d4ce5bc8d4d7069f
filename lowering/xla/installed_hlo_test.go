//go:build linux && amd64

package xla_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// collective is what partitions of a compiled program do together.
type collective struct {
	name   string
	kind   string
	groups [][]int // of partitions, none where it is all
	bytes  []int   // of each tensor that a partition has of the result
	source string
}

// field is one of a message of protocol buffers.
type field struct {
	number int
	value  uint64
	bytes  []byte
}

// fields reads a message.
func fields(b []byte) (list []field, err error) {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errors.New("no tag")
		}
		b = b[n:]
		f := field{number: int(tag >> 3)}
		switch tag & 7 {
		case 0:
			f.value, n = binary.Uvarint(b)
			if n <= 0 {
				return nil, errors.New("no number")
			}
			b = b[n:]
		case 1, 5:
			size := map[uint64]int{1: 8, 5: 4}[tag&7]
			if len(b) < size {
				return nil, errors.New("no fixed number")
			}
			b = b[size:]
		case 2:
			size, n := binary.Uvarint(b)
			if n <= 0 || uint64(len(b)-n) < size {
				return nil, errors.New("no bytes")
			}
			f.bytes, b = b[n:n+int(size)], b[n+int(size):]
		default:
			return nil, fmt.Errorf("wire type %d", tag&7)
		}
		list = append(list, f)
	}
	return list, nil
}

// ints reads a repeated field of numbers, packed or not.
func ints(list []field, number int) (out []int) {
	for _, f := range list {
		if f.number != number {
			continue
		}
		if f.bytes == nil {
			out = append(out, int(f.value))
		}
		for b := f.bytes; len(b) > 0; {
			v, n := binary.Uvarint(b)
			if n <= 0 {
				break
			}
			out, b = append(out, int(v)), b[n:]
		}
	}
	return out
}

// numberOf reads a field of one number.
func numberOf(list []field, number int) int {
	for _, n := range ints(list, number) {
		return n
	}
	return 0 // which is not written
}

// all reads a repeated field of messages.
func all(t testing.TB, list []field, number int) (out [][]field) {
	for _, f := range list {
		if f.number == number {
			m, err := fields(f.bytes)
			require.NoError(t, err)
			out = append(out, m)
		}
	}
	return out
}

func textOf(list []field, number int) string {
	for _, f := range list {
		if f.number == number {
			return string(f.bytes)
		}
	}
	return ""
}

// widths are the bytes of elements by xla.PrimitiveType.
var widths = map[int]int{1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 2, 8: 4, 9: 8, 10: 2, 11: 4, 12: 8, 16: 2}

// sizesOf returns the bytes of each tensor of a ShapeProto.
func sizesOf(t testing.TB, shape []field) []int {
	if members := all(t, shape, 4); len(members) > 0 {
		var out []int
		for _, m := range members {
			out = append(out, sizesOf(t, m)...)
		}
		return out
	}
	n := widths[numberOf(shape, 2)]
	for _, d := range ints(shape, 3) {
		n *= d
	}
	return []int{n}
}

// collectives reads an optimised program ("hlo_with_config").
func collectives(t testing.TB, code []byte) (list []collective) {
	whole, err := fields(code)
	require.NoError(t, err)
	modules := all(t, whole, 1)
	require.Len(t, modules, 1)
	for _, computation := range all(t, modules[0], 3) {
		for _, i := range all(t, computation, 2) {
			kind := strings.TrimSuffix(textOf(i, 2), "-start")
			if !slices.Contains([]string{"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute", "collective-broadcast", "ragged-all-to-all"}, kind) {
				continue
			}
			c := collective{name: textOf(i, 1), kind: kind, bytes: sizesOf(t, all(t, i, 3)[0])}
			for _, m := range all(t, i, 7) {
				c.source = textOf(m, 2)
			}
			for _, g := range all(t, i, 49) {
				c.groups = append(c.groups, ints(g, 1))
			}
			for _, d := range all(t, i, 87) {
				c.groups = append(c.groups, deviceList(t, d)...)
			}
			for _, g := range all(t, i, 92) {
				c.groups = append(c.groups, iota(g)...)
			}
			for _, g := range all(t, i, 93) {
				c.groups = append(c.groups, alongAxes(t, g)...)
			}
			for _, pair := range all(t, i, 52) { // of collective-permute
				c.groups = append(c.groups, []int{numberOf(pair, 1), numberOf(pair, 2)})
			}
			list = append(list, c)
		}
	}
	return list
}

// deviceList reads a CollectiveDeviceListProto.
func deviceList(t testing.TB, d []field) (groups [][]int) {
	for _, g := range all(t, d, 1) {
		groups = append(groups, ints(g, 1))
	}
	for _, g := range all(t, d, 2) {
		groups = append(groups, iota(g)...)
	}
	return groups
}

// iota reads an IotaReplicaGroupListProto: groups of a size, one after the other, in an array of
// numbers that is reshaped and transposed.
func iota(g []field) [][]int {
	dims, perm := ints(g, 3), ints(g, 4)
	n := 1
	for _, k := range dims {
		n *= k
	}
	var ids []int
	for at := range n {
		index := make([]int, len(dims))
		for k := len(perm) - 1; k >= 0; k-- {
			index[perm[k]] = at % dims[perm[k]]
			at /= dims[perm[k]]
		}
		id := 0
		for k, i := range index {
			id = id*dims[k] + i
		}
		ids = append(ids, id)
	}
	return slices.Collect(slices.Chunk(ids, numberOf(g, 2)))
}

// alongAxes reads a MeshAxesReplicaGroupListProto: the partitions of a mesh that differ along some axes.
func alongAxes(t testing.TB, g []field) [][]int {
	mesh := all(t, g, 1)[0]
	var sizes []int
	for _, a := range all(t, mesh, 1) {
		sizes = append(sizes, max(numberOf(a, 2), 1))
	}
	n := 1
	for _, k := range sizes {
		n *= k
	}
	ids := ints(mesh, 2)
	if ids == nil {
		ids = upto(n)
	}
	require.Len(t, ids, n)
	type part struct{ pre, size int } // an axis is pre parts of size parts
	parts := map[int]part{}
	for _, a := range all(t, g, 2) {
		k := numberOf(a, 1)
		parts[k] = part{1, sizes[k]}
		for _, sub := range all(t, a, 2) {
			parts[k] = part{numberOf(sub, 1), numberOf(sub, 2)}
		}
	}
	at := map[string]int{}
	var groups [][]int
	for i, id := range ids {
		place, rest := "", i
		for k := len(sizes) - 1; k >= 0; k-- {
			c := rest % sizes[k]
			if p, ok := parts[k]; ok {
				post := sizes[k] / (p.pre * p.size)
				c -= c / post % p.size * post
			}
			place += fmt.Sprint(c, " ")
			rest /= sizes[k]
		}
		if _, ok := at[place]; !ok {
			at[place] = len(groups)
			groups = append(groups, nil)
		}
		groups[at[place]] = append(groups[at[place]], id)
	}
	return groups
}
