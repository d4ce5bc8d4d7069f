package importer

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gofx-dev/gofx/internal/goname"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/shape"
)

// symbol returns the size that a dim_param stands for: a name, made legal, or an
// expression that exporters write, such as past+seq.
func (im *importer) symbol(param string) shape.Dim {
	if d, ok := im.given.letters[param]; ok {
		return d
	}
	if shape.ValidSymbol(param) {
		return shape.Sym(param)
	}
	if d, err := shape.ParseDim(param); err == nil && !d.IsUnknown() {
		undefined := func(s string) bool { _, given := im.given.letters[s]; return !given && !im.defined[s] }
		if _, number := d.Int(); !number && !slices.ContainsFunc(d.Symbols(), undefined) {
			return d.Bind(func(s string) shape.Dim {
				if to, ok := im.given.letters[s]; ok {
					return to
				}
				return shape.Sym(s)
			})
		}
	}
	if im.symbols[param] == "" {
		im.symbols[param] = im.SymbolLabels.Fresh(goname.Legal(param, "n"))
	}
	return shape.Sym(im.symbols[param])
}

// letterOf is the name of a size that the file leaves open, "" for one without. Some exporters write
// "?" for each size that they do not know: these are not equal.
func letterOf(d *pb.Dim) string {
	if strings.ContainsFunc(d.Param, func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return d.Param
	}
	return ""
}

// reserveSymbols keeps the legal names of sizes from being given to others: different
// names are different sizes.
func (im *importer) reserveSymbols() {
	im.symbols, im.defined = map[string]string{}, map[string]bool{}
	for _, t := range im.given.types {
		for _, d := range t.Dims().Slice() {
			if name, ok := d.IsSymbol(); ok && !im.defined[name] {
				im.defined[im.SymbolLabels.Fresh(name)] = true
			}
		}
	}
	for _, in := range im.Model.Graph.Inputs {
		if _, ok := im.given.types[in.Name]; ok {
			continue
		}
		if in.Type == nil || in.Type.Tensor == nil || in.Type.Tensor.Shape == nil {
			continue
		}
		for _, d := range in.Type.Tensor.Shape.Dims {
			if _, ok := im.given.letters[d.Param]; !ok && shape.ValidSymbol(d.Param) && !im.defined[d.Param] {
				im.defined[im.SymbolLabels.Fresh(d.Param)] = true
			}
		}
	}
}

func (im *importer) freshSymbol(input string, axis int) string {
	return im.SymbolLabels.Fresh(goname.Legal(input, "input") + "_" + strconv.Itoa(axis))
}
