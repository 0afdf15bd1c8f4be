package check

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

func FuzzJudgeSchema(f *testing.F) {
	var list struct{ Tools []json.RawMessage }
	data, err := os.ReadFile(filepath.Join("testdata", "field", "catalog", "schemas.json"))
	if err != nil {
		f.Fatal(err)
	}
	if err := json.Unmarshal(data, &list); err != nil {
		f.Fatal(err)
	}
	for _, raw := range list.Tools {
		f.Add([]byte(raw))
		var tool struct{ InputSchema json.RawMessage }
		if json.Unmarshal(raw, &tool) == nil {
			f.Add([]byte(tool.InputSchema))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) > 4096 || !json.Valid(raw) {
			return
		}
		for _, object := range []bool{true, false} {
			if fault := judgeSchema(raw, object); fault != nil && fault.text == "" {
				t.Error("a fault without words")
			}
		}
		tool := readTool(0, raw)
		if len(tool.DefinitionDigest) != 64 || tool.key == "" {
			t.Errorf("%+v", tool)
		}
	})
}

func FuzzNames(f *testing.F) {
	f.Add("delete_file")
	f.Add("getHTTPResponse2")
	f.Fuzz(func(t *testing.T, name string) {
		changesThings(name)
		plainlyDestructive(name)
		for _, w := range nameWords(name) {
			if w == "" {
				t.Error("an empty word")
			}
		}
	})
}
