package effects

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Calls of compiled functions are calls of what they run, where it is known.
func TestCompiledFunctionsOfOtherPackages(t *testing.T) {
	p, err := Open(context.Background(), "./testdata/across", os.Environ())
	require.NoError(t, err)
	const net = gofx + "/internal/effects/testdata/across/net"
	short := strings.NewReplacer(net, "net", compilePath, "compile")
	for name, c := range map[string]struct {
		fields []string
		opaque string // what the first one is and why
	}{
		"Variable": {[]string{"Compiled.Func load", "Counter.Gain load", "Counter.Steps load store adds"}, ""},
		"Argument": {[]string{"Compiled.Func load", "Counter.Gain load", "Counter.Steps load store adds"}, ""},
		"Assigned": {[]string{"Compiled.Func load", "Counter.Gain load", "Counter.Steps load store adds"},
			"the variable net.late: generated code in package across cannot name it"},
		"Public": {nil, "a call of (*compile.Func[net.In, net.Out]).Call: its code is not Go, or is not loaded"},
		"Named":  {[]string{"Counter.Gain load", "namedIn.Held load", "namedIn.X load", "stepOut.r0 store"}, ""},
		"Twice":  {[]string{"Counter.Gain load", "stepOut.r0 store", "twiceIn.Held load", "twiceIn.X load"}, ""},
		"Value":  {nil, "a call of (*compile.Func[net.valueIn, net.stepOut]).Call: its code is not Go, or is not loaded"},
		"Counts": {[]string{"Compiled.Func load"}, "a call of (*compile.Func[net.stepIn, net.stepOut]).Stats: its code is not Go, or is not loaded"},
	} {
		t.Run(name, func(t *testing.T) {
			fn, err := p.Function(name)
			require.NoError(t, err)
			s := p.Summary(fn)
			var got []string
			for _, f := range s.Fields {
				got = append(got, strings.TrimPrefix(f.Type, net+".")+"."+f.Name+" "+f.Access.String())
			}
			require.Equal(t, c.fields, got)
			if c.opaque == "" {
				require.Empty(t, s.Opaque)
				return
			}
			require.NotEmpty(t, s.Opaque)
			require.Equal(t, c.opaque, short.Replace(s.Opaque[0].What+": "+s.Opaque[0].Why))
		})
	}
}
