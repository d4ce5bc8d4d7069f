//go:build !card

package cardtest

// embedded is the suite in the binary that `make card` builds; other test binaries have none.
var embedded []byte
