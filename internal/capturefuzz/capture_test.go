package capturefuzz

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/capturefuzz/judge"
)

func TestTry(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("TRY"))
	if n == 0 {
		n = 50
	}
	first, _ := strconv.Atoi(os.Getenv("FIRST"))
	dir := os.Getenv("TRYDIR")
	if dir == "" {
		dir = t.TempDir()
	}
	b := &Batch{Dir: dir, Generate: os.Getenv("GEN") != ""}
	for i := range n {
		b.Programs = append(b.Programs, Generate(uint64(first+i), i))
	}
	start := time.Now()
	list, err := b.Judge()
	require.NoError(t, err)
	t.Log(time.Since(start))
	for id, msg := range b.Broken {
		t.Log("broken", id, msg)
	}
	counts := map[string]int{}
	examples := map[string][]string{}
	bad := map[int]bool{}
	ok := map[int]bool{}
	for _, v := range list {
		k := fmt.Sprintf("%s %s %s %s", v.Kind, v.Engine, v.Capture, v.Code)
		counts[k]++

		if v.Kind == judge.Agree {
			ok[v.ID] = true
		}
		if v.Kind.Bad() {
			bad[v.ID] = true
		}
		d := strings.ReplaceAll(v.Detail, "\n", " ")
		examples[k] = append(examples[k], fmt.Sprintf("   %d n=%d %s", v.ID, v.Size, d[:min(len(d), 260)]))
	}
	var keys []string
	for k := range counts {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		fmt.Println(counts[k], k)
		if judge.Kind(strings.Fields(k)[0]).Bad() || strings.HasPrefix(k, "panics") || strings.HasPrefix(k, "refused") && strings.Contains(k, "fixed") {
			for _, e := range examples[k][:min(40, len(examples[k]))] {
				fmt.Println(e)
			}
		}
	}
	fmt.Println("programs with a failure", len(bad), "that agree somewhere", len(ok))
	if os.Getenv("REDUCE") == "" {
		return
	}
	seen := map[string]int{}
	var fs []Failure
	for _, f := range Failures(list, b.Programs) {
		key := fmt.Sprint(f.Kind, f.Engine, f.Capture, f.Code)
		if seen[key]++; seen[key] <= 4 && regexp.MustCompile(os.Getenv("REDUCE")).MatchString(key) {
			fs = append(fs, f)
		}
	}
	fs, err = Reduce(b, fs[:min(len(fs), 16)])
	require.NoError(t, err)
	for _, f := range fs {
		fmt.Printf("---- %s %s %s n=%d %s\n%s\n%s\n", f.Kind, f.Capture, f.Engine, f.Size, f.Code, f.Detail, f.Program.Brief())
	}
}
