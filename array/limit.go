package array

import (
	"math"
	"strconv"
	"sync/atomic"
	"syscall"

	"github.com/gofx-dev/gofx/diag"
)

// MaxBytes returns maxBytes. The variable GOFX_MAX_BYTES sets it when the program
// starts.
var maxBytes = func() *atomic.Int64 {
	var v atomic.Int64
	v.Store(machineBytes())
	if text, ok := syscall.Getenv("GOFX_MAX_BYTES"); ok {
		if n := decimal(text); n > 0 {
			v.Store(n)
		}
	}
	return &v
}()

// decimal returns the number that text has the digits of, 0 for any other text.
// The error code of strconv would be linked into every generated program.
func decimal(text string) (n int64) {
	for _, c := range []byte(text) {
		if c < '0' || c > '9' || n > (math.MaxInt64-9)/10 {
			return 0
		}
		n = 10*n + int64(c-'0')
	}
	return n
}

// fallbackBytes is the limit where the system does not tell its memory.
const fallbackBytes = 16 << 30

// MaxBytes returns the most bytes that one storage may have: those of a result, of
// the intermediate values of a plan together, or of a kernel's scratch memory. It is
// the machine's memory where the system tells (Linux), else 16 GiB, unless
// GOFX_MAX_BYTES or SetMaxBytes says otherwise.
func MaxBytes() int64 { return maxBytes.Load() }

// SetMaxBytes changes MaxBytes for the whole process, from then on, and returns
// the old value.
func SetMaxBytes(n int64) (was int64) { return maxBytes.Swap(n) }

// TooLarge returns an error for a request of n bytes for what, nil when they
// are within MaxBytes.
func TooLarge(what string, n int64) *diag.Error { return TooLargeFor(what, n, MaxBytes()) }

// TooLargeFor is TooLarge for a limit of its own.
func TooLargeFor(what string, n, most int64) *diag.Error {
	if n <= most {
		return nil
	}
	return diag.New(CodeTooLarge, what+" takes "+strconv.Itoa(int(n))+" bytes, expected at most "+strconv.Itoa(int(most))).
		WithHint("check the sizes; GOFX_MAX_BYTES, array.SetMaxBytes and -max-bytes of fxgen change the limit")
}
