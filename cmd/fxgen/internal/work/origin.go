package work

import (
	"path/filepath"
	"strings"

	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/diag"
)

// origin says where the values of the parameters come from, in words that do not depend on
// the machine, and whether nobody has chosen them. "" where there are none.
func (c *captured) origin(j *Job) (text string, unchosen bool) {
	some := false
	for _, p := range c.gm.Params() {
		some = some || !p.Buffer
	}
	seed, synthetic := strings.CutPrefix(j.Weights, "synthetic:")
	if j.Weights == "synthetic" {
		seed, synthetic = j.seed(), true
	}
	const random = ", values that mean nothing"
	switch {
	case len(c.gm.Params()) == 0:
		return "", false
	case synthetic:
		return "synthetic:" + seed + random, false
	case j.Weights != "":
		return filepath.Base(j.Weights), false
	case c.src.Model != nil:
		return "synthetic:" + j.seed() + random, some
	case c.src.New != nil:
		return "the constructor of " + c.src.Name, some
	case c.src.onnx != nil:
		return c.src.Name, false
	case c.src.Graph != nil:
		return "the graph " + c.src.Name, false
	}
	return "the function " + c.src.Name, false
}

// about is what is known of the model for the comments of its package.
func (c *captured) about(j *Job) *codegen.About {
	about := c.src.about()
	about.Weights, _ = c.origin(j)
	return about
}

// warnOfWeights notes that what is written has weights that nobody has chosen: the usual
// cause is a forgotten flag.
func (c *captured) warnOfWeights(j *Job, res *Result) {
	text, unchosen := c.origin(j)
	if !unchosen {
		return
	}
	if c.src.Model == nil {
		text += ", random initial values unless it loads others"
	}
	res.Notes.Add(&diag.Error{Note: true, Msg: "no -weights is given, what is written has weights from " + text,
		Hint: "give -weights FILE, or -weights synthetic:SEED for values that mean nothing"})
}
