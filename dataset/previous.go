package dataset

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/lustrum-mcp/lustrum/attest"
)

// Previous is the name of the criterion that an edition names the one before
// it by digest.
const Previous = "previous"

// previous looks for the edition that this one says it follows, among those
// beside it. A first edition follows none.
func (e *edition) previous(signed *attest.EditionStatement) error {
	want := signed.Predicate.Previous
	if want == "" {
		return nil
	}
	beside := os.DirFS(filepath.Dir(e.dir))
	found, err := fs.Glob(beside, editionPrefix+"*/"+attest.EditionFile)
	if err != nil {
		return err
	}
	earlier := false
	for _, name := range found {
		digest, err := attest.FileDigest(beside, name)
		if err != nil {
			return err
		}
		day := path.Dir(name)[len(editionPrefix):]
		if digest == want {
			e.add(Criterion, Previous, Same, day)
			return nil
		}
		earlier = earlier || day < signed.Predicate.Edition
	}
	if earlier {
		e.add(Criterion, Previous, Different, fmt.Sprintf("no edition beside it has the digest %s that it says it follows", want))
		return nil
	}
	e.add(Criterion, Previous, NotAsked, "the edition it follows is not in this folder")
	return nil
}
