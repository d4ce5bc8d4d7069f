package importer

import (
	"maps"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/onnx/internal/contrib"
	"github.com/gofx-dev/gofx/onnx/internal/ml"
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/onnx/internal/standard"
)

// meaning is that of an operator from one version of its operator set on. Exactly one of
// rule and control is set.
type meaning struct {
	since   int
	rule    *rule.Rule
	control func(c *control) []*rule.Datum
}

// meanings are the operators by domain and name, each with its versions in rising order.
var meanings map[string]map[string][]meaning

func init() { // bodies of control flow need the table that they are in
	meanings = map[string]map[string][]meaning{"": maps.Clone(controlRules), spec.Microsoft: {}, spec.MLDomain: {}}
	for domain, rules := range map[string]map[string][]rule.Rule{"": standard.Rules, spec.Microsoft: contrib.Rules, spec.MLDomain: ml.Rules} {
		for name, versions := range rules {
			for i := range versions {
				meanings[domain][name] = append(meanings[domain][name], meaning{since: versions[i].Since, rule: &versions[i]})
			}
		}
	}
}

// meaningOf finds the meaning of a node in its operator set.
func (im *importer) meaningOf(s *scope, n *pb.Node) (*meaning, *diag.Error) {
	d := modelfile.Domain(n.Domain)
	if !modelfile.PlainName(n.Op) || !modelfile.PlainName("x"+d) {
		return nil, diag.New(spec.CodeModel, "operator "+diag.Quote(modelfile.Short(n.Op))+" of domain "+diag.Quote(modelfile.Short(d))+" is not a valid name")
	}
	if f := im.functions[functionKey(d, n.Op, n.Overload)]; f != nil {
		return &meaning{control: func(c *control) []*rule.Datum { return c.inline(f) }}, nil
	}
	version, ok := s.opsets[d]
	if !ok && d != "" {
		version = 1 // exporters forget to declare the domains of contributed operators
	}
	versions := meanings[d][n.Op]
	if versions == nil {
		name := n.Op
		if d != "" {
			name = d + "." + n.Op
		}
		return nil, diag.New(spec.CodeOperator, "operator "+name+" is not supported").WithHint(alternatives(d, n.Op))
	}
	var best *meaning
	for i := range versions {
		if versions[i].since <= version {
			best = &versions[i]
		}
	}
	if best == nil {
		return nil, diag.New(spec.CodeOperator, "operator "+n.Op+" is not supported in operator set "+strconv.Itoa(version)+
			", only from "+strconv.Itoa(versions[0].since)+" on").WithHint("export the model again with a newer operator set")
	}
	return best, nil
}

// operator is an operator that is imported, and the versions from which on it has meanings.
type operator struct {
	Domain, Name string
	Since        []int
}

// Operators lists the operators that are imported, by domain and name.
func Operators() (list []operator) {
	for _, d := range slices.Sorted(maps.Keys(meanings)) {
		for _, name := range slices.Sorted(maps.Keys(meanings[d])) {
			o := operator{Domain: d, Name: name}
			for _, r := range meanings[d][name] {
				o.Since = append(o.Since, r.since)
			}
			list = append(list, o)
		}
	}
	return list
}
