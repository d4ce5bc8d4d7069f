package optim

import (
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/named"
)

// namedSchedule is the settings of a schedule; then is nil for all but warmup.
type namedSchedule interface {
	check() string // what is wrong, "" where nothing is
	of(then Schedule) Schedule
}

type (
	warmUp struct {
		Steps int
		First float64
	}
	cosine struct {
		Steps int
		Least float64
	}
	stepDecay struct {
		Size  int
		Gamma float64
	}
	exponential struct{ Gamma float64 }
	oneCycle    struct {
		Steps            int
		Part, Div, Final float64
	}
)

func (s warmUp) of(then Schedule) Schedule { return WarmUp(s.Steps, s.First, then) }
func (s cosine) of(Schedule) Schedule      { return Cosine(s.Steps, s.Least) }
func (s stepDecay) of(Schedule) Schedule   { return StepDecay(s.Size, s.Gamma) }
func (s exponential) of(Schedule) Schedule { return Exponential(s.Gamma) }
func (s oneCycle) of(Schedule) Schedule    { return OneCycle(s.Steps, s.Part, s.Div, s.Final) }
func (s warmUp) check() string             { return faults(count("steps", s.Steps), factor("first", s.First)) }
func (s cosine) check() string             { return faults(count("steps", s.Steps), factor("least", s.Least)) }
func (s stepDecay) check() string          { return faults(count("size", s.Size), above("gamma", s.Gamma)) }
func (s exponential) check() string        { return above("gamma", s.Gamma) }
func (s oneCycle) check() string {
	part := ""
	if !(s.Part > 0 && s.Part < 1) {
		part = "part is " + number(s.Part) + ", expected a number between 0 and 1"
	}
	return faults(count("steps", s.Steps), part, above("div", s.Div), above("final", s.Final))
}

// schedules are the schedules by name, with PyTorch's settings where it has such. How many updates
// they take nobody can guess.
var schedules = []named.Entry[namedSchedule]{
	{Name: "warmup", Value: warmUp{}},
	{Name: "cosine", Value: cosine{}},
	{Name: "step", Value: stepDecay{Gamma: 0.1}},
	{Name: "exponential", Value: exponential{}},
	{Name: "onecycle", Value: oneCycle{Part: 0.3, Div: 25, Final: 1e4}},
}

// ScheduleNames lists the schedules that ParseSchedule knows.
func ScheduleNames() []string { return named.Names(schedules) }

// ParseSchedule returns a schedule by its name, with the settings in parentheses after it as for
// Parse: "cosine(steps=900,least=0.1)". After a warm-up another one may follow:
// "warmup(steps=100) then cosine(steps=900)". The names are warmup (steps, first), cosine
// (steps, least), step (size, gamma), exponential (gamma) and onecycle (steps, part, div, final), of WarmUp,
// Cosine, StepDecay, Exponential and OneCycle. Its error (FX3101) names what is wrong.
func ParseSchedule(text string) (Schedule, error) {
	parts := strings.Split(text, " then ")
	list := make([]namedSchedule, len(parts))
	var errs diag.List
	for i, part := range parts {
		s, err := named.Make(BadSetting, "schedule", part, schedules)
		if err != nil {
			errs.Add(err)
			continue
		}
		name, _, _ := strings.Cut(strings.TrimSpace(part), "(")
		if fault := s.check(); fault != "" {
			errs.Add(mistake("schedule " + name + ": " + fault).WithHint("write " + name + "(NAME=NUMBER,...); steps and sizes are numbers of updates, the others factors of the learning rates"))
		}
		if _, warms := s.(warmUp); !warms && i < len(parts)-1 {
			errs.Add(mistake("schedule " + name + " has no end that another one could follow").WithHint("write 'warmup(steps=N) then " + name + "(...)'"))
		}
		list[i] = s
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	var s Schedule
	for i := len(list) - 1; i >= 0; i-- {
		s = list[i].of(s)
	}
	return s, nil
}

// faults joins what is wrong.
func faults(list ...string) string {
	var some []string
	for _, f := range list {
		if f != "" {
			some = append(some, f)
		}
	}
	return strings.Join(some, "; ")
}

func count(name string, n int) string {
	if n > 0 {
		return ""
	}
	return name + " is " + strconv.Itoa(n) + ", expected a number of updates from 1"
}

func factor(name string, v float64) string {
	if v >= 0 && v <= 1 {
		return ""
	}
	return name + " is " + number(v) + ", expected a number from 0 to 1"
}

func above(name string, v float64) string {
	if v > 0 && v <= 1e30 {
		return ""
	}
	return name + " is " + number(v) + ", expected a number above 0"
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
