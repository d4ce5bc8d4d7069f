package compile_test

import (
	"reflect"
	"unsafe"

	"github.com/gofx-dev/gofx/internal/testkit/twins"
)

// twin is a value of a world.
type twin struct {
	p unsafe.Pointer
	t reflect.Type
}

// differ returns the path of the first difference of two worlds, "" where there is none.
func differ(a, b any) string { return twins.Differ(a, b) }
