package cli

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
)

// busy shows that something long is going on, when a person is watching: stderr is
// a terminal and NO_COLOR is not set. The returned function ends it and may be
// called once.
func (a *app) busy(what string) (done func()) {
	f, ok := a.stderr.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" {
		return func() {}
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 || os.Getenv("TERM") == "dumb" {
		return func() {}
	}
	bar := progressbar.NewOptions(-1, progressbar.OptionSetWriter(f), progressbar.OptionSetDescription(what),
		progressbar.OptionSpinnerType(14), progressbar.OptionClearOnFinish(), progressbar.OptionSetElapsedTime(true))
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				if bar.Add(1) != nil {
					return
				}
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
		if bar.Finish() != nil {
			return
		}
	}
}
