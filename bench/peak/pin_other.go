//go:build !linux

package peak

// pin does nothing where threads cannot be bound to processors.
func pin(int) (undo func()) { return func() {} }
