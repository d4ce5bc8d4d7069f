package pt2

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
)

// The program as its JSON has it: the dataclasses of torch.export's schema, as far as they
// affect the computation. Arguments of nodes stay JSON until a rule asks for them, so that
// a graph inside of an argument is read once, however deep it lies.

// program is ExportedProgram.
type program struct {
	Module struct {
		Graph     *graphJSON `json:"graph"`
		Signature struct {
			Inputs  []map[string]json.RawMessage `json:"input_specs"`
			Outputs []map[string]json.RawMessage `json:"output_specs"`
		} `json:"signature"`
		Calls []struct {
			Name      string         `json:"fqn"`
			Signature *callSignature `json:"signature"`
		} `json:"module_call_graph"`
	} `json:"graph_module"`
	Ranges map[string]struct {
		Min json.RawMessage `json:"min_val"`
		Max json.RawMessage `json:"max_val"`
	} `json:"range_constraints"`
	Schema struct {
		Major int `json:"major"`
		Minor int `json:"minor"`
	} `json:"schema_version"`
	Torch  string   `json:"torch_version"`
	Guards []string `json:"guards_code"`
}

// callSignature says how the arguments of a call become the inputs of the graph.
type callSignature struct {
	In    string   `json:"in_spec"`
	Out   string   `json:"out_spec"`
	Names []string `json:"forward_arg_names"`
}

// graphJSON is Graph.
type graphJSON struct {
	Inputs  []argument            `json:"inputs"`
	Outputs []argument            `json:"outputs"`
	Nodes   []nodeJSON            `json:"nodes"`
	Tensors map[string]tensorMeta `json:"tensor_values"`
	Ints    map[string]symbolic   `json:"sym_int_values"`
	Single  bool                  `json:"is_single_tensor_return"`
}

// nodeJSON is Node.
type nodeJSON struct {
	Target string `json:"target"`
	Inputs []struct {
		Name string   `json:"name"`
		Arg  argument `json:"arg"`
	} `json:"inputs"`
	Outputs []argument `json:"outputs"`
	Meta    struct {
		Stack   string `json:"stack_trace"`
		Modules string `json:"nn_module_stack"`
	} `json:"metadata"`
	Name string `json:"name"`
}

// tensorMeta is TensorMeta.
type tensorMeta struct {
	DType   int        `json:"dtype"`
	Sizes   []symbolic `json:"sizes"`
	Strides []symbolic `json:"strides"`
	Layout  int        `json:"layout"`
}

// symbolic is SymInt: a number or an expression.
type symbolic struct {
	Int  *int64 `json:"as_int"`
	Expr *struct {
		Text string `json:"expr_str"`
	} `json:"as_expr"`
}

// its one key, and the value under it.
type argument struct {
	kind string
	raw  json.RawMessage
}

// UnmarshalJSON reads a union.
func (a *argument) UnmarshalJSON(b []byte) error {
	kind, raw, err := union(b)
	if err != nil {
		return err
	}
	a.kind, a.raw = kind, raw
	return nil
}

// union takes an object of one key apart.
func union(b []byte) (string, json.RawMessage, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(b, &m); err != nil {
		return "", nil, err
	}
	return only(m)
}

// only returns the one member of a union; others that are null do not count.
func only(m map[string]json.RawMessage) (kind string, raw json.RawMessage, err error) {
	for k, v := range m {
		if bytes.Equal(v, []byte("null")) {
			continue
		}
		if kind != "" {
			return "", nil, diag.New(CodeFormat, "an object has the keys "+diag.Quote(min(kind, k))+" and "+diag.Quote(max(kind, k))+", expected one of them")
		}
		kind, raw = k, v
	}
	if kind == "" {
		return "", nil, diag.New(CodeFormat, "an object has no key, expected one, as_tensor for instance")
	}
	return kind, raw, nil
}

// named is the value of arguments that have a name: tensors, and sizes and booleans that
// nodes compute.
type named struct {
	Name string `json:"name"`
	As   string `json:"as_name"`
}

// float reads a number that may be infinite, which JSON has no number for.
func float(raw json.RawMessage) (float64, bool) {
	var f float64
	if json.Unmarshal(raw, &f) == nil {
		return f, true
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return 0, false
	}
	switch s {
	case "Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	case "NaN":
		return math.NaN(), true
	}
	return 0, false
}

// Limits of the data that is read, far above those of real programs.
const (
	mostJSON   = 256 << 20 // bytes of a program's text
	mostTokens = 4 << 20   // objects, lists and members in it
	mostDepth  = 12        // of graphs in graphs
)

// readProgram reads the JSON of a program.
func readProgram(b []byte, member string) (*program, *diag.Error) {
	fail := func(msg string, err error) *diag.Error {
		return &diag.Error{Code: CodeFormat, Msg: "member " + quote(member) + " " + msg, Err: err}
	}
	tokens := 0
	for _, c := range b {
		if c == '{' || c == '[' || c == ',' {
			tokens++
		}
	}
	if tokens > mostTokens {
		return nil, fail("has "+strconv.Itoa(tokens)+" values, more than "+strconv.Itoa(mostTokens), nil)
	}
	p := &program{}
	if err := json.Unmarshal(finite(b), p); err != nil {
		return nil, fail("is malformed", err)
	}
	if p.Module.Graph == nil {
		return nil, fail("has no graph_module.graph, expected a program of torch.export", nil)
	}
	if p.Schema.Major != 0 && (p.Schema.Major < oldestSchema || p.Schema.Major > newestSchema) {
		return nil, fail("has version "+strconv.Itoa(p.Schema.Major)+" of the schema, expected "+strconv.Itoa(oldestSchema)+" to "+strconv.Itoa(newestSchema), nil).
			WithHint("export the program with another version of PyTorch")
	}
	return p, nil
}

// Versions of the schema that are read: PyTorch 2.5 wrote 7, or 8 since it was 2.6.
const oldestSchema, newestSchema = 5, 8

// finite quotes Infinity and NaN as older writers wrote them, which is no JSON.
func finite(b []byte) []byte {
	var out []byte
	last, inText := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case !inText && (c == 'I' || c == 'N'):
			word := "NaN"
			if c == 'I' {
				word = "Infinity"
			}
			if !bytes.HasPrefix(b[i:], []byte(word)) {
				continue
			}
			at := i
			if at > 0 && b[at-1] == '-' {
				at--
			}
			out = append(append(out, b[last:at]...), '"')
			out = append(append(out, b[at:i+len(word)]...), '"')
			last = i + len(word)
			i = last - 1
		}
	}
	if out == nil {
		return b
	}
	return append(out, b[last:]...)
}

// quote quotes hostile text for messages, shortened.
func quote(s string) string {
	if len(s) > 160 {
		s = s[:80] + "..." + s[len(s)-80:]
	}
	return diag.Quote(s)
}
