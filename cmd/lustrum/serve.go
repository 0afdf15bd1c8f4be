package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// serveSite serves a published folder until the context ends.
func serveSite(ctx context.Context, w io.Writer, dir, addr string) error {
	if _, err := os.Stat(filepath.Join(dir, "index.html")); err != nil {
		return fmt.Errorf("%q is not a published site: %w: give the folder that holds index.html, such as census/current", dir, err)
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("serve the site: %w: choose another address with --addr", err)
	}
	srv := &http.Server{Handler: siteHeaders(http.FileServer(http.Dir(dir))), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ln) }()
	fmt.Fprintf(w, "serving http://%s/ (Ctrl-C ends it)\n", ln.Addr())
	select {
	case err := <-ended:
		return fmt.Errorf("serve the site: %w", err)
	case <-ctx.Done():
		return ignoreClosed(srv.Close())
	}
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// siteHeaders are those that a static host should send too.
func siteHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		next.ServeHTTP(w, r)
	})
}
