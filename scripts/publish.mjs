// Publishes a release: the image in its two forms for amd64 and arm64, the chart, and the package of npm. Every check, the build and the
// packing come before the first upload, and the images before what names them.
//   node scripts/publish.mjs [--trial]
// The names are those of `config` in package.json. It needs Docker with buildx, Helm and npm, each signed in to its registry. `--trial` uploads
// nothing and needs no daemon: it makes the chart, the package and the release's files, and builds the program from the files that
// .dockerignore gives to the image. What it cannot try, it names.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { trial: { type: "boolean", default: false } } });
const { name, version, config } = JSON.parse(readFileSync("package.json", "utf8"));
const FORMS = [
  { target: "production", tag: `${config.image}:${version}` },
  { target: "embedded", tag: `${config.image}:${version}-embedded` },
];
const RELEASE = "release";
const PACKAGE = join(RELEASE, "npm");

const run = (program, ...args) => {
  console.log(`$ ${program} ${args.join(" ")}`);
  execFileSync(program, args, { stdio: "inherit" });
};

if (!values.trial) run(process.execPath, "scripts/release.mjs", "--check");
rmSync(RELEASE, { recursive: true, force: true });
mkdirSync(PACKAGE, { recursive: true });
run("npm", "run", "--silent", "build");
run("npm", "pack", "--silent", "--pack-destination", PACKAGE);
run("helm", "package", "deploy", "--destination", RELEASE);
const [chart, archive] = [join(RELEASE, `${name}-${version}.tgz`), join(PACKAGE, `${name}-${version}.tgz`)];
if (values.trial) {
  buildFromContext();
  run(process.execPath, "scripts/release.mjs", RELEASE, "--trial");
  run("npm", "publish", "--dry-run", archive);
  console.log(`not tried: docker buildx build and its upload of ${FORMS.map(({ tag }) => tag).join(" and ")}`);
  console.log(`not tried: helm push ${chart} ${config.charts}`);
} else {
  const images = FORMS.map(({ target, tag }) => `${tag}@${pushed(target, tag)}`);
  run(process.execPath, "scripts/release.mjs", RELEASE, ...images.flatMap((image) => ["--image", image]));
  run("helm", "push", chart, config.charts);
  run("npm", "publish", "--access", "public", archive);
}

/** Builds a form of the image for both platforms and uploads it. Returns its digest. */
function pushed(target, tag) {
  const metadata = join(PACKAGE, `${target}.json`);
  const platforms = "linux/amd64,linux/arm64";
  run(
    "docker",
    "buildx",
    "build",
    "--platform",
    platforms,
    "--target",
    target,
    "--tag",
    tag,
    "--metadata-file",
    metadata,
    "--push",
    ".",
  );
  return JSON.parse(readFileSync(metadata, "utf8"))["containerimage.digest"];
}

/** Builds and starts the program in a folder with only the files that the image's build gets, as the Dockerfile does, with these packages. */
function buildFromContext() {
  const context = mkdtempSync(join(tmpdir(), "gpu-ledger-context-"));
  try {
    for (const line of readFileSync(".dockerignore", "utf8").split("\n")) {
      const [, path] = /^!(.+)$/.exec(line) ?? [];
      if (path !== undefined) cpSync(path, join(context, path), { recursive: true });
    }
    symlinkSync(resolve("node_modules"), join(context, "node_modules"));
    const [, build] = /^RUN (npm run build .*)$/m.exec(readFileSync("Dockerfile", "utf8"));
    console.log(`$ ${build}`);
    execFileSync("sh", ["-c", build], { cwd: context, stdio: "inherit" });
    execFileSync(process.execPath, ["dist/cli/main.js", "--version"], { cwd: context, stdio: "inherit" });
  } finally {
    rmSync(context, { recursive: true });
  }
}
