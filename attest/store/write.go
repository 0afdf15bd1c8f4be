package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

const tempPrefix = ".tmp-" // leftovers of a killed process are ignored when reading

// writeFile puts data under path at one stroke: after a crash there is the old
// file, the new one, or none, and never half of one.
func writeFile(path string, data []byte, mode os.FileMode) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), tempPrefix+"*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Chmod(mode)
	}
	return commit(tmp, path, err)
}

// commit makes a written temporary file durable and gives it its name; on any
// error, also one passed in, the temporary file is removed.
func commit(tmp *os.File, path string, err error) error {
	if err == nil {
		err = tmp.Sync()
	}
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return syncDir(filepath.Dir(path))
}

// makeDir makes a folder below the store and makes its name durable.
func makeDir(dir string, mode os.FileMode) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, mode); err != nil {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

func syncDir(dir string) error {
	if runtime.GOOS == "windows" { // folders cannot be synced there
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync the folder: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}
