package xla_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/internal/testkit/xlajax"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
)

// corpus are short programs that have every operation among them, in as many element types as it takes.
func corpus(t *testing.T) (texts []string) {
	seen := map[string]bool{}
	for _, o := range triedOps() {
		for _, s := range o.Samples() {
			p, err := xla.Emit(oneCall(o, s.Attrs, s.In), lowering.Options{})
			if err != nil {
				continue
			}
			text := p.String()
			if len(text) > 6000 {
				continue
			}
			more := false
			for _, op := range operation.FindAllStringSubmatch(text, -1) {
				for _, d := range elemType.FindAllString(text, -1) {
					if key := op[1] + " " + d; !seen[key] {
						seen[key], more = true, true
					}
				}
			}
			if more {
				texts = append(texts, text)
			}
		}
	}
	for _, m := range []string{flow, "gofx 1\n" + open} {
		p, err := xla.Emit(parsedModule(t, strings.TrimPrefix(m, "gofx 1\n")), lowering.Options{Shapes: map[string]int{"N": 3}})
		require.NoError(t, err)
		texts = append(texts, p.String())
	}
	for _, name := range stablehlo.Names() {
		if !slices.Contains([]string{"custom_call", "is_finite", "set_dimension_size"}, name) { // of shardings, of nothing, of bounds
			require.True(t, slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, `"stablehlo.`+name+`"`) }), name)
		}
	}
	return texts
}

var (
	operation = regexp.MustCompile(`"stablehlo\.(\w+)"`)
	elemType  = regexp.MustCompile(`\b(?:f16|bf16|f32|f64|i1|i8|i16|i32|i64|ui8|ui16|ui32|ui64)\b`)
	number    = regexp.MustCompile(`\b\d+\b`)
	attribute = regexp.MustCompile(`\w+ = (?:array<[^>]*>|\d+ : i64|#stablehlo<[^>]*>|true|false)(?:, )?`)
	operand   = regexp.MustCompile(`%(?:arg)?\d+`)
	word      = regexp.MustCompile(`comparison_direction \w+`)
)

// mutated changes one place of a program: a line of it, so that results of other lines have the types they had.
func mutated(r *rand.Rand, text string) string {
	lines := strings.SplitAfter(text, "\n")
	var at []int
	for i, l := range lines {
		if strings.Contains(l, "stablehlo.") || strings.HasPrefix(strings.TrimSpace(l), "})") {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return text
	}
	k := at[r.IntN(len(at))]
	change := func(re *regexp.Regexp, with func(old string) string) {
		places := re.FindAllStringIndex(lines[k], -1)
		if len(places) == 0 {
			return
		}
		p := places[r.IntN(len(places))]
		lines[k] = lines[k][:p[0]] + with(lines[k][p[0]:p[1]]) + lines[k][p[1]:]
	}
	oneOf := func(list ...string) func(string) string {
		return func(string) string { return list[r.IntN(len(list))] }
	}
	switch r.IntN(7) {
	case 0:
		change(number, func(old string) string {
			n, _ := strconv.Atoi(old)
			return oneOf("0", "1", "2", "-1", strconv.Itoa(n+1), strconv.Itoa(max(n-1, 0)))("")
		})
	case 1:
		change(elemType, oneOf("f32", "f64", "f16", "bf16", "i1", "i8", "i32", "i64", "ui8", "ui32", "ui64"))
	case 2: // all of a line, so that operands and results agree
		from := elemType.FindString(lines[k])
		lines[k] = strings.ReplaceAll(lines[k], from+">", oneOf("f32", "f64", "f16", "bf16", "i1", "i8", "i32", "i64", "ui8", "ui32", "ui64")("")+">")
	case 3:
		change(operation, func(string) string { return `"stablehlo.` + oneOf(stablehlo.Names()...)("") + `"` })
	case 4:
		change(attribute, func(string) string { return "" })
	case 5:
		change(operand, oneOf(operand.FindAllString(text, -1)...))
	case 6:
		change(word, oneOf("comparison_type FLOAT", "comparison_direction EQ", "comparison_direction LT", "comparison_direction OF"))
	}
	return strings.Join(lines, "")
}

// known are programs of one comparison with each type of comparisons and of elements, for XLA looks at the type only where
// the comparison has not become something simpler, and of sorts along dimensions that are counted from either end.
func known() (texts []string) {
	for _, d := range []string{"f32", "bf16", "i32", "ui8", "i1"} {
		for _, kind := range []string{"FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"} {
			texts = append(texts, strings.ReplaceAll(`module @m {
  func.func public @main(%arg0: tensor<3xT>, %arg1: tensor<3xT>) -> (tensor<3xi1>) {
    %0 = "stablehlo.compare"(%arg0, %arg1) {compare_type = #stablehlo<comparison_type `+kind+`>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<3xT>, tensor<3xT>) -> tensor<3xi1>
    "func.return"(%0) : (tensor<3xi1>) -> ()
  }
}
`, "T", d))
		}
	}
	for _, dim := range []string{"-3", "-2", "-1", "0", "1", "2"} {
		texts = append(texts, strings.ReplaceAll(`module @m {
  func.func public @main(%arg0: tensor<2x3xi32>) -> (tensor<2x3xi32>) {
    %0 = "stablehlo.sort"(%arg0) ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>):
      %1 = "stablehlo.compare"(%arg1, %arg2) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%1) : (tensor<i1>) -> ()
    }) {dimension = DIM : i64, is_stable = true} : (tensor<2x3xi32>) -> tensor<2x3xi32>
    "func.return"(%0) : (tensor<2x3xi32>) -> ()
  }
}
`, "DIM", dim))
	}
	return texts
}

// TestXLAJudgesAsTheVerifier: of programs with a mistake XLA compiles those that the verifier accepts, and no others.
func TestXLAJudgesAsTheVerifier(t *testing.T) {
	x := xlajax.Start(t)
	texts := corpus(t)
	count := 120
	if fxtest.IsNightly() {
		count = 6000
	}
	r := rand.New(rand.NewPCG(26, 754))
	list := known()
	for len(list) < count {
		base := texts[r.IntN(len(texts))]
		if text := mutated(r, base); text != base {
			list = append(list, text)
		}
	}
	accepted := 0
	for some := range slices.Chunk(list, batch) {
		var programs []xlajax.Job
		for _, text := range some {
			programs = append(programs, xlajax.Job{Text: text})
		}
		out, err := x.Run(programs...)
		require.NoError(t, err)
		for i, text := range some {
			ours := judged(text)
			if ours == nil {
				accepted++
			}
			if ours != nil && out[i].Err == nil && hole.MatchString(ours.Error()) {
				continue
			}
			if (ours == nil) != (out[i].Err == nil) {
				t.Errorf("the verifier: %v\nXLA: %v\n%s", ours, out[i].Err, text)
			}
		}
	}
	t.Log(fmt.Sprint(accepted, " of ", count, " programs are accepted"))
}

// hole matches errors of programs that XLA compiles though they are wrong: where the widths are equal it does not
// compare the sizes, and returns a result of other sizes than the program says.
var hole = regexp.MustCompile(`^operation \d+: stablehlo.bitcast_convert: operand is .*: sizes must be equal$`)

// judged is the verifier's error of a program, or the parser's.
func judged(text string) error {
	p, err := stablehlo.Parse(text)
	if err != nil {
		return err
	}
	return stablehlo.Verify(p)
}
