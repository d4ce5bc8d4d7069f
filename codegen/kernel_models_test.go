package codegen_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/models"
)

// TestEveryModelBuilds holds that a program with the package of any network in it,
// weights embedded, is built in 2 GB. cmd/fxgen compares the packages' results with
// the references.
func TestEveryModelBuilds(t *testing.T) {
	fxtest.Nightly(t)
	for _, m := range models.All() {
		t.Run(m.Name, func(t *testing.T) {
			c := &kernelCase{name: "net", module: zoo(t, m.Name), opts: codegen.KernelOptions{Weights: codegen.WeightsEmbed}}
			generate(t, c)
			checkStyle(t, c.files)
			checkFunctions(t, c.files)
			dir := tempModule(t)
			writeFiles(t, filepath.Join(dir, "net"), c.files)
			write(t, filepath.Join(dir, "main.go"), []byte("package main\n\nimport \"example.com/gen/net\"\n\nfunc main() { _, _ = net.New() }\n"))
			rss := buildRSS(t, dir)
			t.Logf("built with %d MiB", rss>>20)
			require.Less(t, rss, int64(2<<30))
		})
	}
}
