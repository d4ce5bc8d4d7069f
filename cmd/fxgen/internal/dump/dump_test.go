package dump

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// In a dump the model's line is the innermost one that is neither the library's,
// nor the standard library's, nor the harness's.
func TestFind(t *testing.T) {
	for _, c := range []struct{ name, out, what, at string }{
		{"nothing", "hello\nok  \texample.com/net\t0.1s\n", "", ""},
		{"a line that looks alike", "panic: not really\nfatal error: neither\n", "", ""},
		{"goroutine", "panic: not really\nloading\npanic: boom\n\ngoroutine 8 [running]:\nstrings.Repeat({0x1, 0x2}, 0x3)\n\t/go/src/strings/strings.go:600 +0x5\nexample.com/net.(*Net).Forward.func1()\n\t/src/net/net.go:12 +0x2c\ncreated by example.com/net.(*Net).Forward in goroutine 7\n\t/src/net/net.go:11 +0x25\n\ngoroutine 7 [sleep]:\nruntime.goparkunlock(...)\n\t/go/src/runtime/proc.go:5\nexample.com/net.(*Net).Forward(0x1)\n\t/src/net/net.go:14 +0x1\nexit status 2\n",
			"panic: boom", "/src/net/net.go:12"},
		{"only the go statement", "panic: boom\n\ngoroutine 8 [running]:\nstrings.Repeat({0x1, 0x2}, 0x3)\n\t/go/src/strings/strings.go:600 +0x5\ncreated by example.com/net.Forward in goroutine 7\n\t/src/net/net.go:11 +0x25\n\ngoroutine 1 [chan receive]:\ntesting.(*T).Run(0x1)\n\t/go/src/testing/testing.go:1 +0x2\n",
			"panic: boom", "/src/net/net.go:11"},
		{"deadlock", "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan receive]:\ntesting.(*T).Run(0x1)\n\t/go/src/testing/testing.go:1 +0x2\nmain.main()\n\t_testmain.go:45 +0x9\n\ngoroutine 7 [select (no cases)]:\nexample.com/net.wait(...)\n\t/src/net/wait.go:3\nexample.com/net.Net(0x7)\n\t/src/net/net.go:9 +0x1\ngithub.com/gofx-dev/gofx/cmd/fxgen/internal/work.Do(0x1)\n\t/mod/gofx/cmd/fxgen/internal/work/do.go:9 +0x1\nexample.com/net.TestFxgenHarness(0x7)\n\t/src/net/zz_test.go:9 +0x1\n",
			"fatal error: all goroutines are asleep - deadlock!", "/src/net/wait.go:3"},
		{"recovered", "panic: boom [recovered, repanicked]\n\ngoroutine 7 gp=0x1 m=3 mp=0x5 [running, locked to thread]:\nexample.com/net.Net(0x7)\n\t/src/net/net.go:9 +0x1\n",
			"panic: boom", "/src/net/net.go:9"},
		{"only the harness", "panic: boom\n\ngoroutine 7 [running]:\nexample.com/net.TestFxgenHarness(0x7)\n\t/src/net/zz_test.go:9 +0x1\n", "panic: boom", ""},
		{"folder with a colon and a blank", "panic: boom\n\ngoroutine 7 [running]:\nexample.com/net.Net(0x7)\n\t/home/my: net/net.go:9 +0x1\n", "panic: boom", "/home/my: net/net.go:9"},
	} {
		got := Find(c.out, "zz_test.go")
		if c.what == "" {
			require.Nil(t, got, c.name)
			continue
		}
		require.NotNil(t, got, c.name)
		require.Equal(t, c.what, got.What, c.name)
		require.Equal(t, c.at, got.Pos.String(), c.name)
	}
}
