package policies

import (
	"context"
	"testing"
)

func TestBuiltInExamples(t *testing.T) {
	all, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 3 {
		t.Fatalf("%d policies; want 3", len(all))
	}
	for _, p := range all {
		if err := Test(context.Background(), p); err != nil {
			t.Error(err)
		}
	}
}
