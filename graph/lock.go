package graph

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// ErrLocked is returned by Open when another process holds the graph.
var ErrLocked = errors.New("the graph is in use")

// DefaultLockTimeout is how long Open waits for another process.
const DefaultLockTimeout = 5 * time.Second

// lock takes the graph's own lock file: the file below waits for ever when a
// second process opens it. The holder writes down who it is.
func lock(ctx context.Context, dir string, timeout time.Duration) (*flock.Flock, error) {
	path := filepath.Join(dir, "lock")
	l := flock.New(path, flock.SetPermissions(0o600))
	wait, cancel := context.WithTimeout(ctx, max(timeout, 0))
	defer cancel()
	ok, err := l.TryLock()
	if err == nil && !ok && timeout > 0 {
		ok, err = l.TryLockContext(wait, 50*time.Millisecond)
	}
	switch {
	case ctx.Err() != nil:
		return nil, errors.Join(ctx.Err(), l.Close())
	case !ok && (err == nil || errors.Is(err, context.DeadlineExceeded)):
		return nil, errors.Join(fmt.Errorf("%w: %q is held by %s; waited %s: let it finish, or give another --data directory",
			ErrLocked, dir, holder(path), max(timeout, 0)), l.Close())
	case err != nil:
		return nil, fmt.Errorf("lock the graph %q: %w", dir, err)
	}
	who := fmt.Sprintf("process %d (%s) since %s\n", os.Getpid(), filepath.Base(os.Args[0]), time.Now().UTC().Format(time.RFC3339))
	if err := os.WriteFile(path, []byte(who), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("lock the graph %q: %w", dir, err), l.Close())
	}
	return l, nil
}

// holder reads who wrote the lock file, as printable text.
func holder(path string) string {
	b, err := os.ReadFile(path)
	who := strings.TrimSpace(string(b[:min(len(b), 200)]))
	if err != nil || who == "" || strings.ContainsFunc(who, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "another process"
	}
	return who
}
