package serve

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
)

// Listener makes connections of l tell apart clients that have gone from those that will
// send no more and still read: net/http ends the context of a request for either. Together
// with Context, of the http.Server.
func Listener(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	own := &conn{Conn: c}
	own.ctx, own.gone = context.WithCancel(context.Background())
	return own, nil
}

// conn is a connection whose context ends when it breaks or is closed, and not when its
// client has sent all that it will.
type conn struct {
	net.Conn
	ctx  context.Context
	gone context.CancelFunc
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrDeadlineExceeded) {
		c.gone()
	}
	return n, err
}

// Close closes the connection before it ends its context: a handler that waits for the latter
// would answer 499 otherwise, to a client that is still connected.
func (c *conn) Close() error {
	defer c.gone()
	return c.Conn.Close()
}

// CloseWrite is called by net/http, so that the last answer arrives.
func (c *conn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return nil
}

type connKey struct{}

// Context is the ConnContext of an http.Server that serves a Listener.
func Context(ctx context.Context, c net.Conn) context.Context {
	if own, ok := c.(*conn); ok {
		return context.WithValue(ctx, connKey{}, own.ctx)
	}
	return ctx
}

// whileThere returns a context that ends with the connection of a request where a Listener
// has made it, else with the request's own context. stop ends the watch.
func whileThere(request context.Context) (ctx context.Context, stop func()) {
	there, ok := request.Value(connKey{}).(context.Context)
	if !ok {
		return request, func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(request))
	watched := context.AfterFunc(there, cancel)
	return ctx, func() {
		watched()
		cancel()
	}
}
