package lowering

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/gofx-dev/gofx/diag"
)

// Cache keeps what is costly to make, such as a graph lowered for some sizes, by key. It
// keeps at most as many values as it is made for, beyond those that are held: the one that
// was asked for longest ago goes first. Its methods may be called by many goroutines.
type Cache[V any] struct {
	most int
	drop func(V)

	mu     sync.Mutex
	closed bool
	recent []*CacheEntry[V] // the last asked for one last
	byKey  map[string]*CacheEntry[V]
	stats  CacheStats
}

// CacheStats counts the requests for values that were there (Hits) and that were not
// (Misses), and the values that were given up.
type CacheStats struct {
	Hits, Misses, Evicted int
	Kept                  int // values at hand
}

// NewCache returns a cache that keeps most values that nobody holds. drop, where it is not
// nil, ends one that is given up.
func NewCache[V any](most int, drop func(V)) *Cache[V] {
	if drop == nil {
		drop = func(V) {}
	}
	return &Cache[V]{most: most, drop: drop, byKey: map[string]*CacheEntry[V]{}}
}

// CacheEntry is a value of a Cache that is not given up before it is released.
type CacheEntry[V any] struct {
	Value V

	cache *Cache[V]
	key   string
	ready chan struct{} // closed when Value or err is set
	err   error
	users int  // guarded by cache.mu, as is gone
	gone  bool // from the cache: dropped with the last use
}

// Hold returns the value of a key, made where it is not there: once, others that ask for it
// wait until it is made or their context ends. What could not be made is made again for the
// next who asks, and for those who wait where only the context of who made it has ended. Whoever holds a
// value releases it.
func (c *Cache[V]) Hold(ctx context.Context, key string, make func() (V, error)) (*CacheEntry[V], error) {
	for {
		h, made, err := c.hold(ctx, key, make)
		stopped := err != nil && !made && errors.Is(err, diag.Stopped)
		if !stopped || ctx != nil && ctx.Err() != nil {
			return h, err
		}
	}
}

// hold is Hold, and tells whether it has made the value, or tried to.
func (c *Cache[V]) hold(ctx context.Context, key string, make func() (V, error)) (h *CacheEntry[V], made bool, err error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, true, isClosed()
	}
	if h = c.byKey[key]; h != nil {
		c.stats.Hits++
		h.users++
		c.touch(h)
		c.mu.Unlock()
		h, err = h.wait(ctx)
		return h, false, err
	}
	c.stats.Misses++
	h = c.enter(key)
	c.mu.Unlock()
	if h.make(make); h.err != nil {
		return nil, true, h.err
	}
	c.trim()
	return h, true, nil
}

// enter makes an entry, in use, with mu.
func (c *Cache[V]) enter(key string) *CacheEntry[V] {
	h := &CacheEntry[V]{cache: c, key: key, ready: make(chan struct{}), users: 1}
	c.byKey[key] = h
	c.recent = append(c.recent, h)
	return h
}

// touch makes h the last one that was asked for, with mu.
func (c *Cache[V]) touch(h *CacheEntry[V]) {
	if i := slices.Index(c.recent, h); i >= 0 {
		c.recent = append(slices.Delete(c.recent, i, i+1), h)
	}
}

// make makes the value. Those who wait for it are told even where that panics, and find what could not
// be made gone.
func (h *CacheEntry[V]) make(make func() (V, error)) {
	h.err = diag.Bug("what was to be kept was not made")
	defer func() {
		if h.err != nil {
			h.forget()
		}
		close(h.ready)
	}()
	h.Value, h.err = make()
}

// wait returns the value when somebody else has made it.
func (h *CacheEntry[V]) wait(ctx context.Context) (*CacheEntry[V], error) {
	var end <-chan struct{}
	if ctx != nil {
		end = ctx.Done()
	}
	select {
	case <-h.ready:
	case <-end:
		h.Release()
		return nil, diag.Stop(ctx.Err())
	}
	if h.err != nil {
		h.Release()
		return nil, h.err
	}
	return h, nil
}

// forget removes an entry whose value could not be made.
func (h *CacheEntry[V]) forget() {
	c := h.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	h.users--
	c.remove(h)
}

// remove takes an entry out, with mu.
func (c *Cache[V]) remove(h *CacheEntry[V]) {
	h.gone = true
	if c.byKey[h.key] == h {
		delete(c.byKey, h.key)
	}
	if i := slices.Index(c.recent, h); i >= 0 {
		c.recent = slices.Delete(c.recent, i, i+1)
	}
}

// Release ends the use of the value.
func (h *CacheEntry[V]) Release() {
	c := h.cache
	c.mu.Lock()
	h.users--
	last := h.gone && h.users == 0 && h.err == nil
	c.mu.Unlock()
	if last {
		c.drop(h.Value)
		return
	}
	c.trim()
}

// trim gives up values that nobody holds, beyond those that are kept.
func (c *Cache[V]) trim() {
	var old []*CacheEntry[V]
	c.mu.Lock()
	for i := 0; i < len(c.recent) && len(c.recent) > c.most; {
		h := c.recent[i]
		if h.users > 0 {
			i++
			continue
		}
		c.remove(h)
		c.stats.Evicted++
		old = append(old, h)
	}
	c.mu.Unlock()
	for _, h := range old {
		c.drop(h.Value)
	}
}

// Newest returns the value that was asked for last, if it is made.
func (c *Cache[V]) Newest() (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.recent); n > 0 {
		select {
		case <-c.recent[n-1].ready:
			return c.recent[n-1].Value, true
		default:
		}
	}
	return v, false
}

// Stats counts what has been asked for so far.
func (c *Cache[V]) Stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Kept = len(c.recent)
	return s
}

// Close gives up all values; those that are held, when they are released. Holding one
// afterwards is an error of code Closed.
func (c *Cache[V]) Close() {
	var old []*CacheEntry[V]
	c.mu.Lock()
	c.closed = true
	for _, h := range c.recent {
		if h.gone = true; h.users == 0 {
			old = append(old, h)
		}
	}
	c.recent, c.byKey = nil, map[string]*CacheEntry[V]{}
	c.mu.Unlock()
	for _, h := range old {
		c.drop(h.Value)
	}
}
