package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"

	"example.com/digits/digitsnet"
	"example.com/digits/streamnet"
)

// The examples of docs/generated.md, which shows the bodies of these functions.

func Example_call() {
	ctx := context.Background()
	net, err := digitsnet.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	pixels := make([]float32, 3*8*8) // three images, row by row
	logits, err := net.Forward(ctx, array.DenseOf(pixels, 3, 1, 8, 8))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(logits.Shape(), len(logits.Data()))
	// Output: [3 10] 30
}

func Example_into() {
	ctx := context.Background()
	net, _ := digitsnet.New()
	x := array.DenseOf(make([]float32, 8*8), 1, 1, 8, 8)
	logits := array.DenseOf(make([]float32, 10), 1, 10)
	for range 3 { // the first call allocates, the others do not
		if err := net.ForwardInto(ctx, x, logits); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(logits.Shape())
	// Output: [1 10]
}

func Example_load() {
	f, err := os.Open("digitsnet/weights.safetensors")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		fmt.Println(err)
		return
	}
	net, err := digitsnet.Load(f, info.Size()) // any io.ReaderAt
	if err != nil {
		fmt.Println(err)
		return
	}
	err = net.Reload(strings.NewReader("no weights"), 10)
	fmt.Println(err) // and net goes on with the weights that it has
	// Output:
	// safetensors: byte 0: header has 7523097587056930670 bytes, expected at most 100000000 [FX8001]
}

func Example_goroutines() {
	ctx := context.Background()
	net, _ := digitsnet.New()
	net.Threads = 1 // many calls at once share the processors best with one goroutine each
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			x := array.DenseOf(make([]float32, 8*8), 1, 1, 8, 8)
			if _, err := net.Forward(ctx, x); err != nil {
				fmt.Println(err)
			}
		})
	}
	wg.Wait()
	// Output:
}

func Example_state() {
	ctx := context.Background()
	net, _ := streamnet.New()
	state, err := net.NewState() // one for each stream of images
	if err != nil {
		fmt.Println(err)
		return
	}
	logits := array.NewDense[float32](2, 10)
	logits.Data()[3] = 16
	for range 2 {
		means, err := net.Forward(ctx, state, logits)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(state.Calls.Data(), means.Data()[3], state.Mean.Data()[3])
	}
	var file bytes.Buffer
	if err := state.Save(&file); err != nil {
		fmt.Println(err)
		return
	}
	later, err := streamnet.LoadState(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(later.Calls.Data(), later.Mean.Data()[3])
	// Output:
	// [1] 4 3
	// [2] 6.25 4.6875
	// [2] 4.6875
}

func Example_errors() {
	ctx, cancel := context.WithCancel(context.Background())
	net, _ := digitsnet.New()
	_, err := net.Forward(ctx, array.DenseOf(make([]float32, 2*64), 1, 2, 8, 8))
	var e *diag.Error
	if errors.As(err, &e) {
		fmt.Println(e.Code, e.Msg)
	}
	cancel()
	_, err = net.Forward(ctx, array.DenseOf(make([]float32, 64), 1, 1, 8, 8))
	fmt.Println(errors.Is(err, context.Canceled))
	// Output:
	// FX1022 input "x" is f32[1,2,8,8], expected f32[N,1,8,8]
	// true
}

func Example_sizes() {
	fmt.Println(digitsnet.PeakBytes(1) < 100_000, digitsnet.PeakBytes(64) < 2_000_000, digitsnet.PeakBytes(-1))
	// Output: true true -1
}

const guide = "../../docs/generated.md"

// TestTheGuideShowsTheseExamples compares every Go block of the guide with this
// file.
func TestTheGuideShowsTheseExamples(t *testing.T) {
	page, err := os.ReadFile(guide)
	require.NoError(t, err)
	here, err := os.ReadFile("guide_test.go")
	require.NoError(t, err)
	flat := regexp.MustCompile(`(?m)^\t`).ReplaceAll(here, nil)
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(page, -1)
	require.GreaterOrEqual(t, len(blocks), 6)
	for _, b := range blocks {
		require.True(t, bytes.Contains(flat, b[1]), "%s shows what is not in guide_test.go:\n%s", guide, b[1])
	}
}

// TestTheGuidesCommands runs the shell commands of the guide, writing elsewhere.
func TestTheGuidesCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: builds for another processor")
	}
	page, err := os.ReadFile(guide)
	require.NoError(t, err)
	for _, b := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllSubmatch(page, -1) {
		for _, line := range strings.Split(strings.TrimSpace(string(b[1])), "\n") {
			out, err := exec.Command("sh", "-c", strings.ReplaceAll(line, "-o digits ", "-o "+filepath.Join(t.TempDir(), "digits")+" ")).CombinedOutput()
			require.NoError(t, err, "%s: %s", line, out)
		}
	}
}
