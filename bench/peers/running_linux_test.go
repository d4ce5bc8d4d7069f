package peers

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestThreadsAreCounted: a process that computes is seen to, and one that waits is not.
func TestThreadsAreCounted(t *testing.T) {
	busy, err := script(t, `read l; echo '{}'; while read l; do i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo '{}'; done`)
	require.NoError(t, err)
	defer busy.Close()
	n, processors, err := busy.Running(func() error { _, err := busy.Do(Request{Do: "run"}); return err })
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Greater(t, processors, 0.0)
	require.LessOrEqual(t, processors, 1.05)
	idle, err := script(t, `read l; echo '{}'; while read l; do sleep 0.2; echo '{}'; done`)
	require.NoError(t, err)
	defer idle.Close()
	n, processors, err = idle.Running(func() error { _, err := idle.Do(Request{Do: "run"}); return err })
	require.NoError(t, err)
	require.Zero(t, n)
	require.Less(t, processors, 0.5)
}

func TestMostOfTheLooks(t *testing.T) {
	require.Equal(t, 2, most([]int{0, 70, 20, 10}, 100), "10 of 100 looks have seen three threads, 30 two")
	require.Equal(t, 3, most([]int{0, 70, 0, 30}, 100))
	require.Zero(t, most(nil, 0))
}
