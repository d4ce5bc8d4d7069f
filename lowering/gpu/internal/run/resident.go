package run

import (
	"context"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/turn"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/lower"
	"github.com/gofx-dev/gofx/shape"
)

// resident is a tensor in the memory of a device, in row-major order. What made it has ended.
type resident struct {
	dev   *Device
	dtype array.DType
	dims  []int

	use turn.Lock // held while commands that read the memory are enqueued
	buf device.Buffer
}

// Put copies an array to the memory of a device.
func Put(ctx context.Context, d *Device, a *array.Array) (lowering.Value, error) {
	v := &resident{dev: d, dtype: a.DType(), dims: a.Shape()}
	var err error
	if v.buf, err = d.dev.Alloc(lower.BytesOf(v.dtype, v.dims)); err != nil {
		return nil, err
	}
	if err := d.copying(ctx, func(q device.Queue) error { return write(q, v.buf, a) }); err != nil {
		v.buf.Free()
		return nil, err
	}
	return v, nil
}

// Gift has the values of inputs that are given away, of those that lie on the device.
type Gift struct {
	any  []*resident         // for a result of as many bytes
	into map[int][]*resident // for one result, by its number
}

// Donated returns the values of inputs that are given away.
func Donated(d *Device, in []lowering.Value, given []bool, into []lowering.Into) (g Gift) {
	for i, v := range in {
		r, ok := v.(*resident)
		if !ok || i >= len(given) || !given[i] || r.dev != d {
			continue
		}
		if k := slices.IndexFunc(into, func(p lowering.Into) bool { return p.Input == i }); k >= 0 {
			if g.into == nil {
				g.into = map[int][]*resident{}
			}
			g.into[into[k].Result] = []*resident{r}
			continue
		}
		g.any = append(g.any, r)
	}
	return g
}

// Type implements lowering.Value.
func (v *resident) Type() shape.Type { return shape.TypeOf(lower.Header(v.dtype, v.dims)) }

// Array implements lowering.Value.
func (v *resident) Array(ctx context.Context) (*array.Array, error) {
	a := array.New(v.dtype, v.dims...)
	err := v.read(ctx, func(from device.Buffer) error {
		if a.Len() == 0 {
			return nil
		}
		return v.dev.copying(ctx, func(q device.Queue) error { return q.Read(array.Bytes(a), from) })
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// read has the memory read, which is not given back meanwhile.
func (v *resident) read(ctx context.Context, by func(from device.Buffer) error) error {
	if err := v.use.RLock(ctx); err != nil {
		return err
	}
	defer v.use.RUnlock()
	if v.buf == nil {
		return diag.New(lowering.Closed, "the value "+v.Type().String()+" is closed, expected an open one").
			WithHint("close values after their last use; a donated value is closed by the run that it is given to")
	}
	return by(v.buf)
}

// Close implements lowering.Value.
func (v *resident) Close() error {
	if b := v.give(); b != nil {
		b.Free()
	}
	return nil
}

// give closes the value and hands its memory over; nil when it was closed.
func (v *resident) give() device.Buffer {
	_ = v.use.Lock(context.Background()) // what never ends gives no error
	defer v.use.Unlock()
	b := v.buf
	v.buf = nil
	return b
}

// keep copies the results out of the memory of the run.
func (p *Compiled) keep(x *instance, given Gift) (out []lowering.Value, err error) {
	defer func() {
		if err != nil {
			for _, v := range out {
				_ = v.Close()
			}
			out = nil
		}
	}()
	for i, v := range p.build.Outputs {
		r := &resident{dev: p.dev, dtype: v.DType(), dims: v.Shape()}
		bytes := lower.BytesOf(r.dtype, r.dims)
		from := given.any
		if own := given.into[i]; own != nil {
			from = own
		}
		if r.buf = taken(from, bytes); r.buf == nil {
			if r.buf, err = p.dev.dev.Alloc(bytes); err != nil {
				return out, err
			}
		}
		out = append(out, r)
		if v.Header.Len() == 0 {
			continue
		}
		if err := x.queue.Copy(r.buf, x.views[v.Buf], v.Header.Len()*r.dtype.Size()); err != nil {
			return out, err
		}
	}
	return out, p.refused(x)
}

// taken hands over the memory of a donated value of that many bytes, nil where there is none.
func taken(given []*resident, bytes int) device.Buffer {
	for _, r := range given {
		if lower.BytesOf(r.dtype, r.dims) != bytes {
			continue
		}
		if b := r.give(); b != nil {
			return b
		}
	}
	return nil
}

// move copies an operand to the start of memory of the device.
func (d *Device) move(ctx context.Context, q device.Queue, to device.Buffer, v lowering.Value) error {
	if r, ok := v.(*resident); ok && r.dev == d {
		return r.read(ctx, func(from device.Buffer) error {
			if n := lower.Header(r.dtype, r.dims).Len() * r.dtype.Size(); n > 0 {
				return q.Copy(to, from, n)
			}
			return nil
		})
	}
	a, err := v.Array(ctx)
	if err != nil {
		return err
	}
	return write(q, to, a)
}
