// An independent judge: verifies bundles with @sigstore/verify from npm.
//
//   node verify.mjs KEY.pub BUNDLE...
//
// prints "ok FILE" or "refused FILE: why" for each bundle and exits 2 when one
// was refused. The package is looked for from the folder it is run in.
import { createRequire } from "node:module";
import { createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";

const require = createRequire(process.cwd() + "/");
const { Verifier, toSignedEntity, toTrustMaterial } = require("@sigstore/verify");
const { bundleFromJSON } = require("@sigstore/bundle");

const [keyFile, ...bundles] = process.argv.slice(2);
const publicKey = createPublicKey(readFileSync(keyFile));
const nobody = { certificateAuthorities: [], timestampAuthorities: [], tlogs: [], ctlogs: [] };
const trust = toTrustMaterial(nobody, () => ({ publicKey, validFor: () => true }));
const verifier = new Verifier(trust, { ctlogThreshold: 0, tlogThreshold: 0, timestampThreshold: 0 });

for (const file of bundles) {
  try {
    verifier.verify(toSignedEntity(bundleFromJSON(JSON.parse(readFileSync(file, "utf8")))));
    console.log(`ok ${file}`);
  } catch (error) {
    console.log(`refused ${file}: ${error.message}`);
    process.exitCode = 2;
  }
}
