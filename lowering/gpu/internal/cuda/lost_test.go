package cuda_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/cuda"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/cuda/cudatest"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

// work does everything once, and returns the first error.
func (b *bench) work() error {
	x, err := b.d.Alloc(8)
	if err != nil {
		return err
	}
	defer x.Free()
	y, err := b.d.Alloc(3 << 20)
	if err != nil {
		return err
	}
	defer y.Free()
	image, err := b.program.Binary()
	if err != nil {
		return err
	}
	p, _, err := b.d.Build(kernels, image)
	if err != nil {
		return err
	}
	defer p.Free()
	k, err := p.Kernel("twice")
	if err != nil {
		return err
	}
	q, err := b.d.NewQueue()
	if err != nil {
		return err
	}
	defer q.Free()
	if err := q.Write(x, floats(1, 2)); err != nil {
		return err
	}
	r, err := q.(device.Recorder).Record(func() error { return q.Launch(twice(k, y, x, 2)) })
	if err != nil {
		return err
	}
	defer r.Free()
	for _, step := range []func() error{
		func() error { return r.Replay(q) },
		func() error { return q.Launch(twice(k, y, x, 2)) },
		func() error { return q.Copy(x, y, 8) },
		q.Flush, q.Finish,
		func() error { return q.Write(y, make([]byte, 3<<20)) },
		func() error { return q.Read(make([]byte, 3<<20), y) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// Whichever call it is at which the device is lost: an error of code Lost that names what
// the driver said, then Lost from every call, at once, without the driver; and nothing is
// alive after Close, which does not fail.
func TestDeviceIsLostAtEveryCall(t *testing.T) {
	program := newBench(t)
	image, err := program.program.Binary()
	require.NoError(t, err)
	for at := 0; ; at++ {
		drv := cudatest.New(t)
		b := &bench{t: t, drv: drv, d: drv.Device()}
		b.program, _, err = b.d.Build(kernels, image)
		require.NoError(t, err)
		b.q, err = b.d.NewQueue()
		require.NoError(t, err)
		require.NoError(t, b.work(), "all is well before")
		drv.Set("lose in", at)
		err := b.work()
		if drv.Get("lost") == 0 {
			require.NoError(t, err)
			require.Greater(t, at, 30)
			break
		}
		if err == nil { // lost in a Free, which tells nobody: the next call does
			err = b.work()
		}
		require.ErrorIs(t, err, device.Lost, "lost at call %d", at)
		require.ErrorContains(t, err, "CUDA_ERROR_LAUNCH_FAILED (719)")
		calls := drv.Calls("cuCtxPushCurrent_v2")
		for range 2 {
			require.ErrorIs(t, b.work(), device.Lost)
			require.ErrorIs(t, b.q.Flush(), device.Lost)
			require.ErrorIs(t, b.q.Finish(), device.Lost)
		}
		require.Equal(t, calls, drv.Calls("cuCtxPushCurrent_v2"), "a lost device is not asked again")
		require.NoError(t, b.d.Close())
		require.Zero(t, drv.Alive(cudatest.Memory))
	}
}

// A kernel that crashes is found out by whoever waits for it.
func TestKernelCrashes(t *testing.T) {
	b := newBench(t)
	m := b.alloc(256)
	require.NoError(t, b.q.Launch(&device.Launch{Kernel: b.kernel("uneven"), Group: [3]int{64}, Args: []device.Arg{{Buffer: m}}}))
	require.ErrorIs(t, b.q.Read(make([]byte, 4), m), device.Lost)
	b.drv.Set("faults", 0)
}

// Goroutines that run when the device is lost all end; one of them at least is told what
// happened.
func TestManyGoroutinesLoseTheDevice(t *testing.T) {
	b := newBench(t)
	k := b.kernel("twice")
	b.drv.Set("lose in", 150)
	var told atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				q, err := b.d.NewQueue()
				if err == nil {
					err = doubled(b.d, q, k, float32(i))
					q.Free()
				}
				if err != nil {
					if e, ok := err.(*diag.Error); ok && e.Code == device.Lost {
						told.Add(1)
					}
					return
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, int32(8), told.Load())
}

func TestDeviceIsClosed(t *testing.T) {
	b := newBench(t)
	m := b.alloc(8)
	k := b.kernel("twice")
	require.NoError(t, b.q.Write(m, floats(1, 2)))
	require.NoError(t, b.d.Close(), "commands that wait are run first")
	require.NoError(t, b.d.Close())
	require.Zero(t, b.drv.Alive(cudatest.Contexts))
	require.ErrorIs(t, b.work(), device.Lost)
	require.ErrorContains(t, b.work(), "is closed")
	require.Error(t, b.q.Launch(twice(k, m, m, 1)))
	m.Free()
	b.q.Free()
	b.program.Free()
}

// Closing waits for calls that are under way.
func TestDeviceIsClosedInUse(t *testing.T) {
	b := newBench(t)
	k := b.kernel("twice")
	var wg sync.WaitGroup
	var once sync.Once
	started := make(chan struct{})
	for range 4 {
		wg.Go(func() {
			q, err := b.d.NewQueue()
			for i := 0; err == nil; i++ {
				err = doubled(b.d, q, k, float32(i))
				once.Do(func() { close(started) })
			}
			_, coded := err.(*diag.Error)
			if !coded {
				t.Error(err)
			}
		})
	}
	<-started
	require.NoError(t, b.d.Close())
	wg.Wait()
}

func TestNoDevices(t *testing.T) {
	for name, set := range map[string]func(*cudatest.Driver){
		"does not start: CUDA_ERROR_NO_DEVICE (100)": func(d *cudatest.Driver) { d.Set("init", 100) },
		"does not start: CUDA error 803":             func(d *cudatest.Driver) { d.Set("init", 803) },
		"finds no device that can compute":           func(d *cudatest.Driver) { d.Set("devices", 0) },
	} {
		drv := cudatest.New(t)
		set(drv)
		_, err := cuda.DevicesOf([]string{drv.Path}, nil, nil, nil)
		require.ErrorIs(t, err, device.NoDevice)
		require.ErrorContains(t, err, name)
	}
	drv := cudatest.New(t)
	drv.Set("devices", 3)
	all, err := cuda.DevicesOf([]string{drv.Path}, nil, nil, nil)
	require.NoError(t, err)
	require.Len(t, all, 2, "one is not for computing")
	_, err = cuda.DevicesOf([]string{"/no/such/libcuda.so.1"}, nil, nil, nil)
	require.ErrorIs(t, err, device.NoDevice)
	require.ErrorContains(t, err, "no CUDA driver is installed: ")
	_, err = cuda.DevicesOf([]string{drv.NVRTC}, nil, nil, nil)
	require.ErrorIs(t, err, device.NoDevice)
	require.ErrorContains(t, err, "has no function cu")
}

// On a machine with a driver it lists devices, elsewhere it says why in one line.
func TestDevicesOfThisMachine(t *testing.T) {
	all, err := cuda.Devices()
	if err != nil {
		require.ErrorIs(t, err, device.NoDevice)
		require.Empty(t, all)
		return
	}
	for _, d := range all {
		require.NotEmpty(t, d.Info().Name)
		require.NoError(t, d.Close())
	}
}

func TestOtherDevicesContextFails(t *testing.T) {
	drv := cudatest.New(t)
	d := drv.Device()
	drv.Set("lost", 1)
	drv.Set("lose code", 46)
	_, err := d.Alloc(8)
	require.ErrorIs(t, err, device.Lost)
	require.ErrorContains(t, err, "a context of Fake H100: the device is lost: CUDA error 46")
}
