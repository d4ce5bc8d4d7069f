package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// tools are llvm-mc, which disassembles, and llvm-mca, which models.
type tools struct{ disassemble, model string }

// findTools looks for the tools of LLVM, the newest first.
func findTools() (t tools, err error) {
	for _, suffix := range []string{"-22", "-21", "-20", "-19", ""} {
		if t.disassemble, err = exec.LookPath("llvm-mc" + suffix); err != nil {
			continue
		}
		if t.model, err = exec.LookPath("llvm-mca" + suffix); err == nil {
			return t, nil
		}
	}
	return tools{}, missingError("neither llvm-mc-22 and llvm-mca-22 nor older ones are installed (Debian's llvm-22)")
}

// version is LLVM's.
func (t tools) version() string {
	out, err := exec.Command(t.model, "--version").Output()
	if err != nil {
		return "of an unknown version"
	}
	for f := range strings.FieldsSeq(string(out)) {
		if strings.Count(f, ".") == 2 {
			return f
		}
	}
	return "of an unknown version"
}

// extensions are what the loops use beyond Armv8.0.
const extensions = "+dotprod,+i8mm"

// text returns the instructions as assembly.
func (t tools) text(words []uint32) (string, error) {
	var in strings.Builder
	for _, w := range words {
		fmt.Fprintf(&in, "0x%02x 0x%02x 0x%02x 0x%02x\n", byte(w), byte(w>>8), byte(w>>16), byte(w>>24))
	}
	cmd := exec.Command(t.disassemble, "-triple=aarch64", "-mattr="+extensions, "--disassemble")
	cmd.Stdin = strings.NewReader(in.String())
	var why bytes.Buffer
	cmd.Stderr = &why
	out, err := cmd.Output()
	if err != nil || why.Len() > 0 {
		return "", fmt.Errorf("%s: %w %s", t.disassemble, err, why.Bytes())
	}
	return string(out), nil
}

// modelled is a round of a loop on a core.
type modelled struct {
	cycles float64
	bound  string  // what bounds it: a unit, "dispatch", or "waits" for results
	busy   float64 // cycles for which the busiest unit, or dispatch, has work
}

// rounds is how many rounds are modelled: a round is the difference between twice as many and these.
const rounds = 200

// regions models loops on a core. scheduling is the name that LLVM's description of the core has for its units.
func (t tools) regions(core string, code []string) (list []modelled, scheduling string, err error) {
	var in strings.Builder
	for i, c := range code {
		fmt.Fprintf(&in, "# LLVM-MCA-BEGIN r%d\n%s\n# LLVM-MCA-END\n", i, c)
	}
	first, err := t.run(core, in.String(), rounds)
	if err != nil {
		return nil, "", err
	}
	second, err := t.run(core, in.String(), 2*rounds)
	if err != nil {
		return nil, "", err
	}
	if len(first.CodeRegions) != len(code) || len(second.CodeRegions) != len(code) {
		return nil, "", fmt.Errorf("%s: got %d regions, want %d", t.model, len(first.CodeRegions), len(code))
	}
	for i := range code {
		a, b := &first.CodeRegions[i], &second.CodeRegions[i]
		cycles := float64(b.Summary.TotalCycles-a.Summary.TotalCycles) / rounds
		m := modelled{cycles: cycles, bound: "waits"}
		var unit string
		for _, u := range b.Pressure.Info {
			if u.InstructionIndex == len(b.Instructions) && u.ResourceUsage > m.busy {
				m.busy, unit = u.ResourceUsage, first.unit(u.ResourceIndex)
			}
		}
		dispatch := float64(b.Summary.TotaluOps) / (2 * rounds) / float64(b.Summary.DispatchWidth)
		const near = 1.05
		switch {
		case cycles <= near*m.busy:
			m.bound = unit
		case cycles <= near*dispatch:
			m.bound = "dispatch"
		}
		m.busy = max(m.busy, dispatch)
		list = append(list, m)
	}
	return list, first.scheduling(), nil
}

// report is what llvm-mca says.
type report struct {
	CodeRegions []struct {
		Instructions []string
		Pressure     struct {
			Info []struct {
				InstructionIndex, ResourceIndex int
				ResourceUsage                   float64
			} `json:"ResourcePressureInfo"`
		} `json:"ResourcePressureView"`
		Summary struct{ DispatchWidth, TotalCycles, TotaluOps int } `json:"SummaryView"`
	}
	TargetInfo struct{ Resources []string }
}

// scheduling is what stands before Unit in the names of units, such as N1.
func (r *report) scheduling() string {
	for _, name := range r.TargetInfo.Resources {
		if before, _, ok := strings.Cut(name, "Unit"); ok {
			return before
		}
	}
	return ""
}

// unit is a unit's name without that, and without its number among equal ones.
func (r *report) unit(i int) string {
	name := r.TargetInfo.Resources[i]
	name, _, _ = strings.Cut(name, ".")
	_, name, _ = strings.Cut(name, "Unit")
	return name
}

// run has llvm-mca model regions.
func (t tools) run(core, in string, iterations int) (*report, error) {
	cmd := exec.Command(t.model, "-mtriple=aarch64", "-mcpu="+core, "-mattr="+extensions, "-iterations="+strconv.Itoa(iterations), "--json")
	cmd.Stdin = strings.NewReader(in)
	var why bytes.Buffer
	cmd.Stderr = &why
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", t.model, err, why.Bytes())
	}
	var r report
	if err := json.Unmarshal(out, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", t.model, err)
	}
	return &r, nil
}
