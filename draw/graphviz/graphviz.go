//go:build !js

package graphviz

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/goccy/go-graphviz/cgraph"
	"github.com/goccy/go-graphviz/gvc"

	"github.com/gofx-dev/gofx/diag"
)

// MaxPNGNodes is the number of nodes that a PNG may have. So many
// take seconds to draw and are unreadable long before.
const MaxPNGNodes = 400

// maxPixels bounds a PNG's area: 64 million pixels are 256 MB of memory.
const maxPixels = 64 << 20

// turn is held by the one call that uses the WebAssembly instance, which is
// shared by the process and not safe for concurrent use. A channel, unlike a
// mutex, can be waited for with a context.
var turn = make(chan struct{}, 1)

// engine is the state that one process needs once; turn guards it.
var engine struct {
	ctx    *gvc.Context
	pixels *pixels
}

// Render lays out a DOT graph and draws it; format is "svg" or "png". A PNG of
// more than MaxPNGNodes nodes is refused. ctx is heeded until Graphviz begins,
// which cannot be interrupted. Any number of goroutines may call it; they wait
// for each other.
func Render(ctx context.Context, dot string, format string) (out []byte, err error) {
	if format != "svg" && format != "png" {
		return nil, diag.New(Format, "format "+strconv.Quote(format)+", expected svg or png")
	}
	if strings.ContainsRune(dot, 0) {
		return nil, diag.New(BadDOT, "the text has a zero byte, expected DOT")
	}
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return nil, diag.Stop(ctx.Err())
	}
	defer func() { <-turn }()
	if err := ctx.Err(); err != nil {
		return nil, diag.Stop(err)
	}
	defer func() {
		if r := recover(); r != nil {
			engine.ctx = nil
			out, err = nil, diag.Bug("Graphviz failed")
		}
	}()
	return render(context.WithoutCancel(ctx), dot, format)
}

func render(ctx context.Context, dot, format string) ([]byte, error) {
	if err := start(ctx); err != nil {
		return nil, failed(err)
	}
	g, err := cgraph.ParseBytes([]byte(dot))
	if err != nil || g == nil {
		return nil, failed(err)
	}
	defer g.Close()
	if n, err := g.NodeNum(); err != nil {
		return nil, failed(err)
	} else if format == "png" && n > MaxPNGNodes {
		return nil, tooLarge(strconv.Itoa(n)+" nodes", strconv.Itoa(MaxPNGNodes))
	}
	if err := engine.ctx.Layout(ctx, g, "dot"); err != nil {
		return nil, failed(err)
	}
	defer func() { _ = engine.ctx.FreeLayout(ctx, g) }()
	engine.pixels.err = nil
	var b bytes.Buffer
	if err := engine.ctx.RenderData(ctx, g, format, &b); err != nil {
		return nil, failed(err)
	}
	if format == "png" && engine.pixels.err != nil {
		return nil, engine.pixels.err
	}
	if !bytes.HasPrefix(b.Bytes(), []byte(begins[format])) { // very dense graphs damage Graphviz's memory
		return nil, failed(errors.New("no picture was written"))
	}
	if format == "png" {
		return b.Bytes(), nil
	}
	wide, err := widths(ctx, g)
	if err != nil {
		return nil, failed(err)
	}
	return raise(fitSVG(b.Bytes(), wide)), nil
}

// begins has the first bytes of pictures.
var begins = map[string]string{"svg": "<?xml", "png": "\x89PNG"}

func start(ctx context.Context) error {
	if engine.ctx != nil {
		return nil
	}
	p := &pixels{ImageRenderer: &gvc.ImageRenderer{DefaultRenderEngine: &gvc.DefaultRenderEngine{}}}
	renderer, err := gvc.NewRenderPlugin(ctx, "png", p)
	if err != nil {
		return err
	}
	device, err := gvc.PNGDevicePlugin(ctx)
	if err != nil {
		return err
	}
	c, err := gvc.NewWithPlugins(ctx, renderer, device)
	if err != nil {
		return err
	}
	gvc.SetFontLoader(loadFace)
	engine.ctx, engine.pixels = c, p
	return nil
}

func failed(err error) error {
	msg := "Graphviz does not understand the text"
	if err != nil {
		if s := strings.TrimSpace(err.Error()); s != "" {
			msg = s
		}
	}
	e := diag.New(BadDOT, msg)
	e.Err = err
	return e
}

func tooLarge(have, most string) *diag.Error {
	return diag.New(TooLarge, "PNG of "+have+", expected at most "+most).WithHint("draw it as .svg, or with fewer levels of modules (-depth)")
}
