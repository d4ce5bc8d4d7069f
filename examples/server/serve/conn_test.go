package serve

import (
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// closing is a connection that calls a function when it is closed.
type closing struct {
	net.Conn
	closed func()
}

func (c closing) Close() error {
	c.closed()
	return c.Conn.Close()
}

type only struct {
	net.Listener
	conn net.Conn
}

func (l only) Accept() (net.Conn, error) { return l.conn, nil }

// A handler that waits for the end of the context has no client to answer any more.
func TestConn_endsAfterItIsClosed(t *testing.T) {
	ours, _ := net.Pipe()
	var ctx context.Context
	calls := 0
	c, err := Listener(only{conn: closing{ours, func() {
		calls++
		require.NoError(t, ctx.Err())
	}}}).Accept()
	require.NoError(t, err)
	ctx, stop := whileThere(Context(t.Context(), c))
	defer stop()
	require.NoError(t, c.Close())
	require.Equal(t, 1, calls)
	<-ctx.Done()
}
