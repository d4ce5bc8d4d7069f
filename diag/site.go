//go:build amd64 || arm64

package diag

// framePCs stores the address that it returns to and, following the frame
// pointers of the goroutine's stack outwards, those that its callers return to; it
// returns how many. n is at least 1.
// Go keeps frame pointers on amd64 and arm64 always; the runtime's own tracer
// walks them in the same way.
//
//go:noescape
func framePCs(buf *uintptr, n int) int

// Site is the physical call stack of a place in running code: a key that is a
// hundred times cheaper to get than resolved frames. Equal sites have equal
// stacks; sites are comparable.
type Site [MaxScan]uintptr

// HereSite fills s with the caller's call stack. ok is false on architectures
// without frame pointers.
func HereSite(s *Site) (ok bool) {
	framePCs(&s[0], len(s))
	return true
}
