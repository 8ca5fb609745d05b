package output

import (
	"context"
	"time"
)

const (
	followMin = 20 * time.Millisecond
	followMax = 100 * time.Millisecond
)

// Follow is Scan that waits for more, until live says that there will be no
// more, or ctx is done. It returns the offset it came to, and the context's
// error in the latter case. live is asked before each look, so that what was
// written before it turned false is always seen. The files are looked at every
// 20 ms while something comes and every 100 ms when nothing does.
func (r *Reader) Follow(ctx context.Context, sel Selection, live func() bool, fn func(Chunk) error) (int64, error) {
	pos, step := sel.From, followMin
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return pos, ctx.Err()
		case <-timer.C:
		}
		more := live()
		next, err := r.Scan(pos, forever, sel, fn)
		if err != nil {
			return next, err
		}
		if !more {
			return next, nil
		}
		if step = min(step*3/2, followMax); next != pos {
			step = followMin
		}
		pos = next
		timer.Reset(step)
	}
}
