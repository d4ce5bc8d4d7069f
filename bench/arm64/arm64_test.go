package main

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// folder is where the program is built, once for all tests.
var folder string

var built = sync.OnceValues(func() (*program, error) { return build(folder) })

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "gofx-arm64"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

// rows returns the cells of the page's tables by the first one.
func rows(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/bench/arm64.md")
	require.NoError(t, err)
	all := map[string][]string{}
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(strings.Trim(line, "| \n"), " | "); strings.HasPrefix(line, "| ") {
			all[cells[0]] = cells[1:]
		}
	}
	return all
}

// The page has each kernel, and the loop that the program has today.
func TestLoops(t *testing.T) {
	p, err := built()
	require.NoError(t, err)
	page := rows(t)
	for _, k := range append(append([]kernel{}, products...), vectors...) {
		l, err := find(p, k)
		require.NoError(t, err)
		require.Contains(t, page, k.name)
		require.Equal(t, strconv.Itoa(len(l.words)), page[k.name][0], "instructions of %s: go run ./arm64 -doc brings the page up to date", k.name)
		d, ok := jump(l.words[len(l.words)-1])
		require.True(t, ok)
		require.Equal(t, 1-len(l.words), d, "the last instruction of %s goes back to the first", k.name)
	}
	_, err = find(p, kernel{name: "none", symbol: family + "gemm.gemmTileNEON.abi0", kind: dot})
	require.ErrorContains(t, err, "has no loop with the instructions")
	_, err = find(p, kernel{symbol: "nothing"})
	require.ErrorContains(t, err, "has no function nothing")
}

// What the program counts under emulation is what the page says, within what the runtime adds.
func TestCounts(t *testing.T) {
	p, err := built()
	require.NoError(t, err)
	sections, err := count(p, t.TempDir(), []string{"mlp_b1"})
	if missing := missingError(""); errors.As(err, &missing) {
		t.Skip(err)
	}
	require.NoError(t, err)
	require.Len(t, sections, 1)
	c := sections[0]
	row := rows(t)["mlp_b1"]
	require.NotEmpty(t, row)
	millions, err := strconv.ParseFloat(row[0], 64)
	require.NoError(t, err)
	require.InEpsilon(t, millions, float64(c.instructions)/1e6, 0.1)
	macs, err := networks[0].macs()
	require.NoError(t, err)
	require.Equal(t, row[1], fmt.Sprintf("%.2f", macs/1e6))
	// Four rows of a tile would be computed for one, were the code for few rows not used.
	require.Less(t, float64(4*c.of[fmla]), 1.1*macs)
	require.Contains(t, c.functions, family+"gemm.gemmRowsNEON.abi0")
}

func TestInstructions(t *testing.T) {
	for word, want := range map[uint32]kind{
		0x4f9f13c0: fmla,   // FMLA V0.4S, V30.4S, V31.S[0]
		0x4e39cf00: fmla,   // FMLA V0.4S, V24.4S, V25.4S
		0x4f9fe3c0: dot,    // SDOT V0.4S, V30.16B, V31.4B[0]
		0x4e9f97c0: dot,    // SDOT V0.4S, V30.16B, V31.16B
		0x0e7f83c0: wide,   // SMLAL V0.4S, V30.4H, V31.4H
		0x6e20dc00: vector, // FMUL V0.4S, V0.4S, V0.4S
		0x4cdfa838: memory, // LD1 {V24.4S, V25.4S}, [X1], #32
		0xf9400001: memory, // LDR X1, [X0]
		0x1f000000: single, // FMADD S0, S0, S0, S0
		0x1e210800: scalar, // FMUL S0, S0, S1
		0xf1000400: whole,  // SUBS X0, X0, #1
		0x8b020021: whole,  // ADD X1, X1, X2
		0x54fffde1: branch, // B.NE
		0xd65f03c0: branch, // RET
	} {
		require.Equal(t, want, kindOf(word), "%08x", word)
	}
	for word, want := range map[uint32]int{0x54ffff21: -7, 0x54000041: 2, 0x17ffffff: -1, 0x14000002: 2, 0xb5ffffc0: -2, 0x36000040: 2, 0x3707ffe0: -1} {
		d, ok := jump(word)
		require.True(t, ok, "%08x", word)
		require.Equal(t, want, d, "%08x", word)
	}
	_, ok := jump(0xf1000400)
	require.False(t, ok)
	// Two loops, the first of which is in the one around both.
	code := []uint32{0xd503201f, 0xd503201f, 0x54ffffe1, 0xd503201f, 0xd503201f, 0x54ffffe1, 0x17fffffa}
	require.Equal(t, [][]uint32{code[1:3], code[4:6]}, innermost(code))
}

func TestReadCounts(t *testing.T) {
	p := &program{symbols: []elf.Symbol{{Name: "f", Value: 0x100, Size: 0x10}}}
	got, err := readCounts(strings.NewReader("section 3\n10 100 4f9f13c0 54fffde1\n1 200 f9400001\nsection 999\n5 100 f9400001\n"), p)
	require.NoError(t, err)
	require.Equal(t, map[int]*counted{3: {instructions: 21, of: map[kind]uint64{fmla: 10, branch: 10, memory: 1},
		functions: map[string]uint64{"f": 20, "outside of functions": 1}}}, got)
	require.InDelta(t, 10.0/21, got[3].share(fmla, dot), 1e-9)
	require.Equal(t, []string{"f"}, got[3].most(1))
	require.Equal(t, "f 0.95, outside of functions 0.05", got[3].functionsText(5))
	for text, want := range map[string]string{
		"1 100 f9400001\n":                  "line 1 of the counts: got \"1 100 f9400001\", want a section",
		"section x\n":                       "line 1 of the counts",
		"section 1\n1\n":                    "line 2 of the counts: got \"1\"",
		"section 1\n-1 100 f9400001\n":      "line 2 of the counts",
		"section 1\n1 xyz f9400001\n":       "line 2 of the counts",
		"section 1\n1 100 1f9400001\n":      "line 2 of the counts",
		"section 1\n1 100 f9400001\nbroken": "line 3 of the counts",
	} {
		_, err := readCounts(strings.NewReader(text), p)
		require.ErrorContains(t, err, want)
	}
}

func TestFlags(t *testing.T) {
	all, err := named("all")
	require.NoError(t, err)
	require.Len(t, all, len(networks))
	some, err := named("mlp_b8,mlp_b1")
	require.NoError(t, err)
	require.Equal(t, []string{"mlp_b8", "mlp_b1"}, some)
	none, err := named("none")
	require.NoError(t, err)
	require.Empty(t, none)
	_, err = named("mlp_b1,mpl_b8")
	require.ErrorContains(t, err, `there is no network "mpl_b8", expected some of mlp_b1`)
	require.ErrorContains(t, run(true, "mlp_b1", ""), "the page has all networks")
}
