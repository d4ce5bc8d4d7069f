package conform

import (
	"os"
	"testing"

	"github.com/gofx-dev/gofx/op/std"
)

func TestTmpRow(t *testing.T) {
	var m Matrix
	ask(t, &m)
	m.Computed = computed(t)
	_ = os.WriteFile("/tmp/qat_row.txt", []byte(opRow(std.FakeQuantize, Count(std.FakeQuantize), m.except(std.FakeQuantize))), 0o644)
}
