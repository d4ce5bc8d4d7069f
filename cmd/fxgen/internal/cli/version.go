package cli

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/gomod"
	"github.com/gofx-dev/gofx/kernel"
)

// versionJSON is the output of version -json.
type versionJSON struct {
	Module string `json:"module"`
	Go     string `json:"go"`
	CPU    string `json:"cpu"`
}

func (a *app) version() *cobra.Command {
	asJSON := false
	c := &cobra.Command{Use: "version [flags]", Short: "Print the versions of gofx and Go, and what is used of the processor", Args: exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			v := versionJSON{gomod.Version(), runtime.Version(), runtime.GOARCH + " " + kernel.CPU()}
			if asJSON {
				return json.NewEncoder(a.stdout).Encode(v)
			}
			return a.say(fmt.Sprintf("%s %s\n%s\n%s\n", modulePath, v.Module, v.Go, v.CPU))
		}}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return c
}
