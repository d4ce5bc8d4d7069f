package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/gofx-dev/gofx/lowering/cpu"
)

func (a *app) devices() *cobra.Command {
	return a.list("devices", "List the targets that this program can run graphs on", func() []item {
		return []item{{cpu.Target{}.Name(), fmt.Sprintf("This machine's processor: %s, %d threads.", runtime.GOARCH, runtime.GOMAXPROCS(0))}}
	})
}
