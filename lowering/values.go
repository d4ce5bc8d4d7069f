package lowering

import (
	"context"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/shape"
)

// Value is a tensor where a target keeps it: in the memory of a device, or of the host. Its
// methods may be called by many goroutines.
type Value interface {
	// Type is the element type and the sizes.
	Type() shape.Type
	// Array returns the elements, copied from the device. It waits for what makes them.
	Array(ctx context.Context) (*array.Array, error)
	// Close gives the memory back; what is running still reads it. Later uses are errors.
	// Closing again does nothing.
	Close() error
}

// Resident is what an Executable is, too, where values may stay on its device between runs.
type Resident interface {
	Executable
	// Put copies an array to the device, for RunValues of this and all executables on it.
	Put(ctx context.Context, a *array.Array) (Value, error)
	// RunValues is Run of values: those on the device are read there, others are copied to it;
	// nil stands for a default. The results are the caller's to close, and stay on the device.
	// A value of an input that Options.Donate names is closed by the run, which may make
	// results in its memory; it must not be in use elsewhere.
	RunValues(ctx context.Context, in []Value) ([]Value, error)
}

// Host returns the value of an array in the host's memory, nil for none. Array returns the array
// itself, and Close does nothing.
func Host(a *array.Array) Value {
	if a == nil {
		return nil
	}
	return hostValue{a}
}

// Hosts returns the values of arrays in the host's memory.
func Hosts(list []*array.Array) []Value {
	values := make([]Value, len(list))
	for i, a := range list {
		values[i] = Host(a)
	}
	return values
}

type hostValue struct{ a *array.Array }

func (v hostValue) Type() shape.Type { return shape.TypeOf(v.a) }

func (v hostValue) Array(context.Context) (*array.Array, error) { return v.a, nil }

func (hostValue) Close() error { return nil }
