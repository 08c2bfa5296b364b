// Completes the folder of a release, which has the chart: adds the source archive, the SBOM of the packages that the program needs, and the
// provenance of all files and images. The same commit gives the same bytes.
//   node scripts/release.mjs FOLDER [--image NAME@sha256:DIGEST]... [--trial]
//   node scripts/release.mjs --check
// Refuses a commit that is not clean or has no tag of its version, a lock or an image without its hash, and a digest that the registry does
// not have. `--check` does only that. `--trial` leaves these checks out, and the provenance has the trial in it.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { provenanceOf } from "./release/provenance.mjs";
import { sbomOf } from "./release/sbom.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    image: { type: "string", multiple: true, default: [] },
    trial: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
  },
});
const [folder] = positionals;
if (folder === undefined && !values.check)
  refuse("usage: node scripts/release.mjs FOLDER [--image NAME@sha256:DIGEST]... [--trial]");

const run = (program, ...args) => execFileSync(program, args, { encoding: "utf8", maxBuffer: 64e6 }).trim();
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");
const { name, version } = JSON.parse(readFileSync("package.json", "utf8"));
const lock = readFileSync("package-lock.json", "utf8");
const commit = run("git", "rev-parse", "HEAD");
const committedAt = new Date(run("git", "log", "-1", "--format=%cI")).toISOString();

if (!values.trial) {
  if (run("git", "status", "--porcelain") !== "") refuse("the working tree has changes that are in no commit");
  if (!run("git", "tag", "--points-at", "HEAD").split("\n").includes(`v${version}`)) refuse(`HEAD is not v${version}`);
  for (const check of ["scripts/check-lock.mjs --complete", "scripts/images.mjs --registry"]) {
    try {
      execFileSync(process.execPath, check.split(" "), { stdio: "inherit" });
    } catch {
      refuse(`${check} fails`);
    }
  }
}
if (values.check) process.exit();
const images = values.image.map((image) => {
  const [, named, digest] = /^(.+)@sha256:([0-9a-f]{64})$/.exec(image) ?? refuse(`--image ${image} has no digest`);
  return { name: named, digest: { sha256: digest } };
});

const nameOf = (ending) => `${name}-${version}${ending}`;
const provenanceFile = nameOf(".provenance.json");
const write = (file, value) => writeFileSync(join(folder, file), `${JSON.stringify(value, null, 2)}\n`);
mkdirSync(folder, { recursive: true });
run(
  "git",
  "archive",
  "--format=tar.gz",
  `--prefix=${nameOf("")}/`,
  `--output=${join(folder, nameOf("-source.tar.gz"))}`,
  "HEAD",
);
write(nameOf(".cdx.json"), sbomOf({ name, commit, committedAt, run }));

const files = readdirSync(folder, { withFileTypes: true })
  .flatMap((entry) => (entry.isFile() && entry.name !== provenanceFile ? [entry.name] : []))
  .toSorted()
  .map((file) => ({ name: file, digest: { sha256: sha256(readFileSync(join(folder, file))) } }));
const bases = run(process.execPath, "scripts/images.mjs", "--list")
  .split("\n")
  .flatMap((line) => {
    const [, tagged, digest] = /^Dockerfile (.+)@sha256:(.+)$/.exec(line) ?? [];
    return tagged === undefined ? [] : [{ uri: `docker://${tagged}`, digest: { sha256: digest } }];
  });
const release = {
  version,
  commit,
  isTrial: values.trial,
  lockSha256: sha256(lock),
  bases,
  npm: run("npm", "--version"),
};
write(provenanceFile, provenanceOf([...files, ...images], release));
console.log(`${folder}: ${files.length} files, ${images.length} images, ${provenanceFile}`);

function refuse(why) {
  console.error(why);
  process.exit(1);
}
