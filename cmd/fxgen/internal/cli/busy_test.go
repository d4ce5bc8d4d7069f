package cli

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSpin(t *testing.T) {
	var out bytes.Buffer
	start := time.Now()
	tick, stop, stopped := make(chan time.Time), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		spin(&out, "drawing", start, tick, stop)
	}()
	tick <- start
	tick <- start.Add(2100 * time.Millisecond)
	close(stop)
	<-stopped
	require.Equal(t, "\r| drawing [0s]\x1b[K\r/ drawing [2s]\x1b[K\r\x1b[K", out.String())
}

// Without the go command nothing can be built, and no module mends that.
func TestHomeWantsTheGoCommand(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := findHome(t.Context(), t.TempDir())
	require.ErrorContains(t, err, "install Go")
}
