package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/capture"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/gomod"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/keep"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/page"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/proc"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/draw"
	"github.com/gofx-dev/gofx/lowering"
)

func (a *app) draw() *cobra.Command {
	var f flags
	var out, columns string
	c := onSource("draw", "Draw the graph as .dot, .svg, .png or .html, or as .json for a viewer", "one SOURCE")
	viewer := false
	c.Args = func(c *cobra.Command, args []string) error {
		if viewer {
			return exactly(0, "no SOURCE with -viewer: the graphs are files of their own, draw SOURCE -o FILE.json")(c, args)
		}
		return exactly(1, "one SOURCE")(c, args)
	}
	f.sourceFlags(c)
	c.Flags().StringVar(&out, "o", "", "file to write; its ending decides the format")
	d := &f.job.Drawing
	c.Flags().IntVar(&d.Depth, "depth", 0, "levels of modules that are drawn, 0 for all")
	c.Flags().BoolVar(&d.NoFold, "no-fold", false, "draw every repetition of a block instead of the first one")
	c.Flags().BoolVar(&d.ShowConstants, "constants", false, "draw parameters, buffers and other tensors of the model's state")
	c.Flags().BoolVar(&d.LeftToRight, "left-right", false, "let values flow to the right instead of down")
	c.Flags().BoolVar(&viewer, "viewer", false, "write a script that shows files of -o FILE.json in pages of your own, as -o FILE.js; takes no SOURCE")
	c.Flags().StringVar(&columns, "columns", "auto", "columns of a picture: a number, off for one, or auto for as many as a long one needs")
	c.Flags().StringVar(&f.job.Overlay, "overlay", "", "colour by cost (operations; with -device the predicted time), time (of a run), sqnr (signal over the noise that quantisation leaves), or the numbers and texts of a file: FILE.json with {\"NODE\": 1.5}")
	f.deviceFlag(c, " with -overlay cost, in place of operations")
	f.calibFlag(c, " with -overlay sqnr")
	f.configFlag(c, " with -overlay sqnr")
	f.stopFlag(c)
	f.weightFlags(c)
	c.Flags().StringVar(&f.seed, "seed", work.DefaultSeed, "seed of synthetic inputs and weights that have none of their own")
	f.forceFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if viewer {
			return writeViewer(a, &f, out)
		}
		format := strings.TrimPrefix(filepath.Ext(out), ".")
		switch format {
		case "dot", "svg", "png", work.FormatHTML, work.FormatJSON:
		case "":
			return usagef("draw needs -o FILE with the ending .dot, .svg, .png, .html or .json")
		default:
			return usagef("-o %s: expected the ending .dot, .svg, .png, .html or .json", out)
		}
		if err := setColumns(d, columns); err != nil {
			return err
		}
		var standard []string
		switch f.job.Overlay {
		case "":
		case work.OverlayCost:
			if f.device != "" {
				standard = work.Optimise()
			}
		case work.OverlaySQNR, work.OverlayTime:
			standard = work.Optimise()
		default:
			if err := readMarks(&f.job); err != nil {
				return err
			}
		}
		if format == work.FormatHTML || format == work.FormatJSON {
			f.job.Format = format
		}
		j, err := f.fill(c, work.Draw, standard)
		if err != nil {
			return err
		}
		s, err := a.open(args[0], &f, j)
		if err != nil {
			return err
		}
		data, err := a.drawing(s, j, format)
		if err != nil {
			return err
		}
		t, err := stamped(out, data)
		if err != nil {
			return err
		}
		return a.writer(&f, s, j).write([]target{t})
	}
	return c
}

// writeViewer writes the script of a viewer.
func writeViewer(a *app, f *flags, out string) error {
	if filepath.Ext(out) != ".js" {
		return usagef("-viewer needs -o FILE with the ending .js")
	}
	t, err := stamped(out, draw.Viewer())
	if err != nil {
		return err
	}
	return a.writer(f, &source{}, &work.Job{}).write([]target{t})
}

// readMarks reads the file of an overlay.
func readMarks(j *work.Job) error {
	if !strings.HasSuffix(j.Overlay, ".json") {
		return usagef("-overlay %s: expected cost, sqnr, time, or a file with the ending .json", j.Overlay)
	}
	text, err := os.ReadFile(j.Overlay)
	if err != nil {
		return bad("-overlay: "+err.Error(), `give a file of JSON such as {"conv1": 1.5, "fc": "note"}`)
	}
	j.Marks, j.Overlay = work.Named{Name: j.Overlay, Value: string(text)}, work.OverlayFile
	return nil
}

// setColumns enters -columns.
func setColumns(o *draw.Options, text string) error {
	switch n, err := strconv.Atoi(text); {
	case text == "auto":
	case text == "off":
		o.Columns = 1
	case err != nil || n < 1:
		return usagef("-columns %s: expected auto, off or a number from 1", text)
	default:
		o.Columns = n
	}
	return nil
}

func (a *app) drawing(s *source, j *work.Job, format string) ([]byte, error) {
	text, err := a.do(a.ctx, s, j)
	if err != nil || format == "dot" || j.Format != "" {
		return textOf(text), err
	}
	return a.render(a.ctx, s.folder(), text.Text, format)
}

func textOf(r *work.Result) []byte {
	if r == nil {
		return nil
	}
	return []byte(r.Text)
}

// render runs fxdraw, which links Graphviz, built in the module at hand.
func (a *app) render(ctx context.Context, dir, dot, format string) ([]byte, error) {
	h, err := findHome(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer a.busy("drawing")()
	tmp, remove, err := proc.TempDir()
	if err != nil {
		return nil, err
	}
	defer remove()
	p := keep.Binary{Key: lowering.Key("fxdraw", h.dir), Args: []string{"build"}, Of: modulePath + "/cmd/fxgen/fxdraw", Dir: h.dir, Env: capture.GoEnv(tmp)}
	if _, err := os.Stat(filepath.Join(h.dir, "vendor")); err == nil {
		p.Args = append(p.Args, "-mod=readonly") // commands are not vendored
	}
	binary := filepath.Join(tmp, "fxdraw.exe") // Windows wants the ending
	if msg, err := p.Build(ctx, binary); err != nil {
		return nil, notDrawn(ctx, string(msg), err, h.dir)
	}
	cmd := proc.Command(ctx, binary, "-format", format)
	cmd.Env, cmd.Stdin = p.Env, strings.NewReader(dot)
	var out, msg bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &msg
	if err := proc.Run(ctx, cmd); err != nil {
		return nil, notDrawn(ctx, msg.String(), err, h.dir)
	}
	return out.Bytes(), nil
}

// notDrawn is the error that the go command, or fxdraw, ended with a message.
func notDrawn(ctx context.Context, msg string, err error, dir string) error {
	if ctx.Err() != nil {
		return err
	}
	if e := capture.Unready(msg, err, dir); e != nil {
		return e
	}
	return bad("cannot draw: "+strings.TrimSpace(msg), "write .dot instead and render it with another tool")
}

const playgroundHelp = `playground writes a page that runs fxgen itself, as WebAssembly: a reader opens networks in it,
changes their passes, sees what each of them did, and takes the drawing and the Go package
along. The page is one file and loads nothing. docs/playground.md describes it.

The program in the page is built by the go command: in the module at hand, where that requires gofx, else
of the source that this fxgen was installed from. The first time takes minutes, since all of it is compiled.`

func playground(a *app) *cobra.Command {
	var out string
	var f flags
	c := &cobra.Command{Use: "playground [flags]", Short: "Write a page that runs fxgen in a browser", Long: playgroundHelp, Args: exactly(0, "no arguments")}
	c.Flags().StringVar(&out, "o", "", "file to write, which ends in .html")
	f.forceFlag(c)
	c.RunE = func(*cobra.Command, []string) error {
		if filepath.Ext(out) != ".html" {
			return usagef("playground needs -o FILE with the ending .html")
		}
		data, err := pageOf(a.ctx, a)
		if err != nil {
			return err
		}
		t, err := stamped(out, data)
		if err != nil {
			return err
		}
		w := &writer{ctx: a.ctx, force: f.force}
		a.writers = append(a.writers, w)
		return w.write([]target{t})
	}
	return c
}

// pageOf builds the program of the page and makes the page of it.
func pageOf(ctx context.Context, a *app) ([]byte, error) {
	h, err := findHome(ctx, "")
	if err != nil {
		return nil, err
	}
	defer a.busy("building the page's program")()
	tmp, remove, err := proc.TempDir()
	if err != nil {
		return nil, err
	}
	defer remove()
	env := capture.GoEnv(tmp)
	// Paths of this machine are no part of a page that others open.
	p := keep.Binary{Key: lowering.Key("playground", h.dir), Args: []string{"build", "-trimpath"}, Of: modulePath + "/cmd/fxgen/playground",
		Dir: h.dir, Env: append(slices.Clone(env), "GOOS=js", "GOARCH=wasm", "GOWASM=", "CGO_ENABLED=0")}
	if _, err := os.Stat(filepath.Join(h.dir, "vendor")); err == nil {
		p.Args = append(p.Args, "-mod=readonly") // commands are not vendored
	}
	if h.own {
		p.Args = append(p.Args, gomod.Stamp()) // the page tells its version
	}
	file := filepath.Join(tmp, "playground.wasm")
	if msg, err := p.Build(ctx, file); err != nil {
		return nil, notBuilt(ctx, string(msg), err, h.dir)
	}
	var parts page.Parts
	if parts.Wasm, err = os.ReadFile(file); err != nil {
		return nil, err
	}
	root, err := goSays(ctx, h.dir, env, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	if parts.Exec, err = os.ReadFile(filepath.Join(root, "lib", "wasm", "wasm_exec.js")); err != nil {
		return nil, bad("cannot build the page: "+err.Error(), "use a Go installation that has its folder lib/wasm")
	}
	folder, err := goSays(ctx, h.dir, env, "list", "-f", "{{.Dir}}", modulePath+"/models")
	if err != nil {
		return nil, err
	}
	if parts.Sources, err = sourcesIn(folder); err != nil {
		return nil, err
	}
	return page.HTML(parts)
}

// goSays returns what a go command prints.
func goSays(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	cmd := proc.Command(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, env
	out, err := proc.Output(ctx, cmd)
	if err != nil {
		return "", notBuilt(ctx, string(out), err, dir)
	}
	return strings.TrimSpace(string(out)), nil
}

// sourcesIn reads the Go files of the built-in networks, under the paths that a build with -trimpath
// gives them, without the version.
func sourcesIn(folder string) (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	list := map[string]string{}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		list[modulePath+"/models/"+filepath.Base(f)] = string(text)
	}
	return list, err
}

// notBuilt is the error that the go command ended with a message.
func notBuilt(ctx context.Context, msg string, err error, dir string) error {
	if ctx.Err() != nil {
		return err
	}
	if e := capture.Unready(msg, err, dir); e != nil {
		return e
	}
	return bad("cannot build the page: "+strings.TrimSpace(msg), "run it in a module that requires "+modulePath)
}
