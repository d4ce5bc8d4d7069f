package cli

import (
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
)

// limitVar is the variable that limits programs of gofx, those that fxgen builds and
// starts included.
const limitVar = "GOFX_MAX_BYTES"

// limit sets array.MaxBytes, here and in started processes, to the value of -max-bytes.
// A model's file may ask for any amount: without flag and variable it gets half of the
// machine's memory, so that the other half keeps the machine alive.
func (a *app) limit() error {
	n := array.MaxBytes() / 2
	switch {
	case a.maxBytes != "":
		var ok bool
		if n, ok = bytesOf(a.maxBytes); !ok {
			return usagef("-max-bytes %s: expected a number of bytes, with KiB, MiB or GiB after it or without", a.maxBytes)
		}
		a.most = n
	case os.Getenv(limitVar) != "":
		return nil
	}
	array.SetMaxBytes(n)
	return os.Setenv(limitVar, strconv.FormatInt(n, 10))
}

// bytesOf reads 1073741824, 1GiB or 512MiB.
func bytesOf(text string) (n int64, ok bool) {
	unit := int64(1)
	for name, size := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if rest, has := strings.CutSuffix(text, name); has {
			text, unit = rest, size
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64/unit {
		return 0, false
	}
	return n * unit, true
}
