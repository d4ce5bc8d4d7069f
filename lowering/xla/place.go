package xla

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/shard"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
)

// place is how tensors lie on devices: on each one part, in the order of partitions. The
// parts together may be larger than a tensor, where a program has bounds.
type place struct {
	devices []*pjrt.Device
	dims    []int // of the parts together
	tiles   stablehlo.Tiles
	key     string // the same for the same place
}

func newPlace(devices []*pjrt.Device, dims []int, sharding string) (place, error) {
	p := place{devices: devices, dims: dims}
	if sharding != "" {
		var err error
		if p.tiles, err = stablehlo.ParseSharding(sharding); err != nil {
			return p, diag.Bug(err.Error())
		}
	}
	ids := make([]int, len(devices))
	for i, d := range devices {
		ids[i] = d.ID()
	}
	p.key = fmt.Sprint(dims, p.tiles.Grid, p.tiles.Devices, ids)
	return p, nil
}

// placesOf returns the places of a program's arguments or results.
func placesOf(devices []*pjrt.Device, types []hlo, shardings []string) ([]place, error) {
	list := make([]place, len(types))
	for i, t := range types {
		sharding := ""
		if shardings != nil {
			sharding = shardings[i]
		}
		var err error
		if list[i], err = newPlace(devices, t.Dims, sharding); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// part returns where the part of a partition begins, and its sizes.
func (p place) part(partition int) (begin, dims []int) {
	begin, dims = make([]int, len(p.dims)), slices.Clone(p.dims)
	if p.tiles.Grid == nil {
		return begin, dims
	}
	tile := slices.Index(p.tiles.Devices, partition) / p.copies()
	for d := len(dims) - 1; d >= 0; d-- {
		dims[d] /= p.tiles.Grid[d]
		begin[d] = tile % p.tiles.Grid[d] * dims[d]
		tile /= p.tiles.Grid[d]
	}
	return begin, dims
}

// copies is how many partitions have the same part.
func (p place) copies() int {
	n := len(p.devices)
	for _, k := range p.tiles.Grid {
		n /= k
	}
	return n
}

// different are partitions that have all parts, each once.
func (p place) different() []int {
	if p.tiles.Grid == nil {
		return []int{0}
	}
	var list []int
	for i := 0; i < len(p.tiles.Devices); i += p.copies() {
		list = append(list, p.tiles.Devices[i])
	}
	return list
}

// copied returns a layout that its author cannot change.
func copied(l *shard.Layout) *shard.Layout {
	return &shard.Layout{Mesh: slices.Clone(l.Mesh), Inputs: maps.Clone(l.Inputs), Weights: maps.Clone(l.Weights), Values: maps.Clone(l.Values), Stored: maps.Clone(l.Stored)}
}

// window is the view of a part of an array.
func window(a *array.Array, begin, dims []int) *array.Array {
	for d, n := range dims {
		if begin[d] != 0 || n != a.Dim(d) {
			a = array.Slice(a, d, begin[d], begin[d]+n, 1)
		}
	}
	return a
}

// placed is a tensor on devices.
type placed struct {
	place
	client  *pjrt.Client
	buffers []*pjrt.Buffer // by partition
}

// put copies an array to a place; after its elements, where the place is larger, are zeros.
func (p place) put(ctx context.Context, c *pjrt.Client, a *array.Array) (*placed, error) {
	if !slices.Equal(a.Shape(), p.dims) {
		whole := array.New(a.DType(), p.dims...)
		array.Copy(window(whole, make([]int, len(p.dims)), a.Shape()), a)
		a = whole
	}
	out := &placed{place: p, client: c}
	for k, d := range p.devices {
		begin, dims := p.part(k)
		b, err := c.Upload(ctx, window(a, begin, dims), d)
		if err != nil {
			return nil, cmp.Or(err, out.close())
		}
		out.buffers = append(out.buffers, b)
	}
	return out, nil
}

// get copies the tensor, which has these sizes, to the host.
func (p *placed) get(ctx context.Context, dims []int) (*array.Array, error) {
	var whole *array.Array
	for _, k := range p.different() {
		part, err := p.buffers[k].Download(ctx)
		if err != nil {
			return nil, err
		}
		begin, size := p.part(k)
		if !slices.Equal(part.Shape(), size) {
			return nil, diag.New(lowering.BadOutput, fmt.Sprintf("the device has a tensor of sizes %v, expected %v", part.Shape(), size)).
				WithHint("the plugin made another program than it was given")
		}
		if p.tiles.Grid == nil {
			whole = part
			break
		}
		if whole == nil {
			whole = array.New(part.DType(), p.dims...)
		}
		array.Copy(window(whole, begin, size), part)
	}
	if slices.Equal(dims, p.dims) {
		return whole, nil
	}
	return array.Clone(window(whole, make([]int, len(dims)), dims)), nil
}

// close frees the parts. All are, also where one reports an error.
func (p *placed) close() (err error) {
	for _, b := range p.buffers {
		err = cmp.Or(err, b.Close())
	}
	return err
}
