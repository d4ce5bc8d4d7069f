package compile

import (
	"context"
	"log/slog"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"time"
	"unsafe"

	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/diag"
)

// tellsOf makes the calls of a table that are made again.
func tellsOf[I any](t *state.Table) (all []func(in unsafe.Pointer)) {
	for _, r := range t.Tells {
		switch do := r.Do.(type) {
		case func(*I):
			all = append(all, func(in unsafe.Pointer) { do((*I)(in)) })
		case func(*I) (*slog.Logger, slog.Level, string, []any):
			pc := lineOf(t.Entry, r.Line)
			all = append(all, func(in unsafe.Pointer) {
				l, level, msg, args := do((*I)(in))
				report(l, level, pc, msg, args)
			})
		default:
			panic((&diag.Error{Code: state.Stale, Op: "compile", Msg: "the call at " + r.Line + " takes other arguments than the function", Hint: "run fxgen compile again"}).At(diag.Here()))
		}
	}
	return all
}

// report logs as the line of a program does.
func report(l *slog.Logger, level slog.Level, pc uintptr, msg string, args []any) {
	if ctx := context.Background(); l.Enabled(ctx, level) {
		r := slog.NewRecord(time.Now(), level, msg, pc)
		r.Add(args...)
		_ = l.Handler().Handle(ctx, r) // as package slog does
	}
}

// lineOf returns the address of code of a function's line, as runtime.Callers has it, 0 where the line has none.
func lineOf(fn any, line string) uintptr {
	entry := reflect.ValueOf(fn).Pointer()
	name := runtime.FuncForPC(entry).Name()
	for pc := entry; ; pc++ {
		if f := runtime.FuncForPC(pc); f == nil || f.Entry() != entry {
			return 0
		}
		f, _ := runtime.CallersFrames([]uintptr{pc + 1}).Next()
		if f.Function == name && filepath.Base(f.File)+":"+strconv.Itoa(f.Line) == line {
			return pc + 1
		}
	}
}
