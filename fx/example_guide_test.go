package fx_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/fusion"
)

// Apply demands a number of matches, compares the results before and after each
// pass, and leaves the graphs in a folder.
func ExampleGraphModule_Apply() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "gofx")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	gm := capture(models.NewResNet18(), fx.Input("x", "f32[N,3,H,W]"))

	report, err := gm.Apply(ctx, []fx.Pass{fusion.ConvBN}, fx.PassOptions{
		Expect:  []passes.Expectation{fx.Expect("conv-bn", 20)},
		Numeric: &passes.Numeric{Sizes: map[string]int{"N": 1, "H": 32, "W": 32}},
		DumpDir: dir,
	})

	fmt.Println(report.Matches("conv-bn"), err)
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range files {
		fmt.Println(filepath.Base(f))
	}
	// Output:
	// 20 <nil>
	// 00-trace.fx
	// 01-conv-bn.diff
	// 01-conv-bn.fx
}
