package pjrt

import (
	"cmp"
	"context"
	"math"
	"slices"
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// Buffer is an array on a device. Its elements may still be on their way; reading them
// waits.
type Buffer struct {
	ref
	client *Client
	handle uintptr
	device *Device
	dtype  array.DType
	shape  []int
}

// DType returns the element type.
func (b *Buffer) DType() array.DType { return b.dtype }

// Shape returns the dimensions.
func (b *Buffer) Shape() []int { return slices.Clone(b.shape) }

// Device returns the device that the buffer is on.
func (b *Buffer) Device() *Device { return b.device }

// Close frees the buffer. What the device still does with it goes on.
func (b *Buffer) Close() error { return b.shut() }

// zero is what an array without elements points to.
var zero [8]byte

func pointer(b []byte) unsafe.Pointer {
	if len(b) == 0 {
		return unsafe.Pointer(&zero)
	}
	return unsafe.Pointer(unsafe.SliceData(b))
}

// Upload copies an array to a device, nil for the first one, and waits until a is read no
// more. Arrays that do not lie in row-major order are copied first. Where ctx ends the
// wait, a may still be read: do not change it then.
func (c *Client) Upload(ctx context.Context, a *array.Array, d *Device) (*Buffer, error) {
	if err := ctx.Err(); err != nil {
		return nil, diag.Stop(err)
	}
	if !c.enter() {
		return nil, closed("client")
	}
	defer c.leave()
	d, err := c.place(d)
	if err != nil {
		return nil, err
	}
	if a == nil {
		return nil, bad("no array to upload", "")
	}
	kind, ok := elementTypes[a.DType()]
	if !ok {
		return nil, bad("arrays of "+a.DType().String()+" cannot be uploaded", "cast it first")
	}
	data, dims := array.Bytes(array.Contiguous(a)), dimsOf(a.Shape())
	args := &fromHostArgs{head: head{size: unsafe.Sizeof(fromHostArgs{})}, client: c.handle, data: pointer(data), kind: kind,
		dims: unsafe.Pointer(unsafe.SliceData(dims)), numDims: uintptr(len(dims)), semantics: untilTransferred, device: d.handle}
	if err := c.plugin.call(fnClientBufferFromHost, unsafe.Pointer(args)); err != nil {
		return nil, err
	}
	b := &Buffer{client: c, handle: args.buffer, device: d, dtype: a.DType(), shape: slices.Clone(a.Shape())}
	err = c.adopt(&b.ref, b.destroy)
	if waited := c.await(ctx, args.done, data, func() {}); waited != nil || err != nil {
		return nil, cmp.Or(err, waited, b.Close())
	}
	c.counts.uploads.Add(1)
	c.counts.up.Add(int64(len(data)))
	return b, nil
}

func (b *Buffer) destroy() error { return b.client.plugin.onObject(fnBufferDestroy, b.handle) }

// received makes a Buffer of a handle that the plugin gave: all of it is the plugin's
// word, and checked. It frees the handle where it fails.
func (c *Client) received(handle uintptr, d *Device) (*Buffer, error) {
	b := &Buffer{client: c, handle: handle, device: d}
	if err := c.adopt(&b.ref, b.destroy); err != nil {
		return nil, err
	}
	kind, err := c.plugin.intOf(fnBufferElementType, handle)
	var dims []int64
	if err == nil {
		dims, err = listOf[int64](c.plugin, fnBufferDimensions, handle)
	}
	if err != nil {
		return nil, cmp.Or(err, b.Close())
	}
	b.dtype = dtypeOf(int32(kind)) // Invalid: refused when it is downloaded
	var ok bool
	if b.shape, ok = shapeOf(dims); !ok {
		return nil, cmp.Or(bad(c.plugin.name()+" gave a buffer with dimensions that no array has", ""), b.Close())
	}
	return b, nil
}

// Download copies the buffer to a new array on the host, in row-major order, and waits for
// it. An error of the work that makes the elements is reported here.
func (b *Buffer) Download(ctx context.Context) (*array.Array, error) {
	if err := ctx.Err(); err != nil {
		return nil, diag.Stop(err)
	}
	if !b.enter() {
		return nil, closed("buffer")
	}
	defer b.leave()
	out, err := b.space()
	if err != nil {
		return nil, err
	}
	data, order := array.Bytes(out), make([]int64, len(b.shape))
	for i := range order {
		order[i] = int64(len(order) - 1 - i)
	}
	rows := &layout{head: head{size: unsafe.Sizeof(layout{})}, tiled: tiled{head: head{size: unsafe.Sizeof(tiled{})}, n: uintptr(len(order))}}
	rows.tiled.minorToMajor = unsafe.Pointer(unsafe.SliceData(order))
	args := &toHostArgs{head: head{size: unsafe.Sizeof(toHostArgs{})}, buffer: b.handle, layout: rows, data: pointer(data), n: uintptr(len(data))}
	if err := b.client.plugin.call(fnBufferToHost, unsafe.Pointer(args)); err != nil {
		return nil, err
	}
	b.hold() // the device reads it until the event
	if err := b.client.await(ctx, args.event, data, func() { b.leave() }); err != nil {
		return nil, err
	}
	if b.dtype == array.Bool {
		array.Truths(data)
	}
	b.client.counts.downloads.Add(1)
	b.client.counts.down.Add(int64(len(data)))
	return out, nil
}

// space allocates the array for a download.
func (b *Buffer) space() (*array.Array, error) {
	if b.dtype == array.Invalid {
		return nil, bad("the buffer has elements of a type that arrays do not have", "convert them in the program")
	}
	n, _ := array.NumElems(b.shape)
	size := int64(n)
	if size <= math.MaxInt64/8 {
		size *= int64(b.dtype.Size())
	}
	if err := array.TooLarge("a downloaded array", size); err != nil {
		return nil, err
	}
	return array.New(b.dtype, b.shape...), nil
}
