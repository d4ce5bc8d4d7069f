//go:build !amd64 && !arm64

package diag

// Site is the physical call stack of a place in running code.
type Site [MaxScan]uintptr

// HereSite fills s with the caller's call stack. ok is false on architectures
// without frame pointers, such as this one.
func HereSite(*Site) (ok bool) { return false }
