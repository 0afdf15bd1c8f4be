package dataset

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// readBounded reads a file and stops one byte beyond the length it should
// have, which is enough to tell that it differs.
func readBounded(path string, length int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, int64(length)+1))
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", path, err)
	}
	return raw, nil
}

// firstLine says on which line two texts part, with what stands there. Both
// are quoted, so that nothing in them reaches a terminal raw.
func firstLine(got, want []byte) string {
	a, b := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i], b[i]) {
			return fmt.Sprintf("line %d: %s is there, %s should be", i+1, quote(a[i]), quote(b[i]))
		}
	}
	return fmt.Sprintf("line %d, where one of them ends", min(len(a), len(b))+1)
}

func quote(line []byte) string {
	const most = 120
	if len(line) > most {
		return fmt.Sprintf("%q…", line[:most])
	}
	return fmt.Sprintf("%q", line)
}
