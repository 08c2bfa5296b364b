import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "../support/folder.ts";

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };
const IMAGE = { name: `gpu-ledger:${version}`, digest: { sha256: "a".repeat(64) } };
const INTEGRITY = `sha512-${Buffer.alloc(64, 7).toString("base64")}`;

const hashOf = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");
const like = (pattern: RegExp): unknown => expect.stringMatching(pattern);
const containing = (text: string): unknown => expect.stringContaining(text);
const readJson = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));

/** The required fields of CycloneDX 1.5, and those that each component of ours has. */
const sbomSchema = z.object({
  bomFormat: z.literal("CycloneDX"),
  specVersion: z.literal("1.5"),
  serialNumber: z.string().regex(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
  version: z.literal(1),
  metadata: z.object({
    timestamp: z.iso.datetime(),
    component: z.object({ type: z.literal("application"), name: z.literal("gpu-ledger"), version: z.literal(version) }),
  }),
  components: z.array(
    z.object({
      type: z.literal("library"),
      name: z.string(),
      version: z.string(),
      purl: z.string(),
      "bom-ref": z.string(),
      hashes: z
        .tuple([z.object({ alg: z.literal("SHA-512"), content: z.string().regex(/^[0-9a-f]{128}$/) })])
        .optional(),
      licenses: z
        .array(z.object({ license: z.object({ id: z.string() }) }).or(z.object({ expression: z.string() })))
        .optional(),
    }),
  ),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()) })),
});
const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.looseObject({
      name: z.string().optional(),
      version: z.string(),
      integrity: z.string().optional(),
      license: z.string().optional(),
      dev: z.boolean().optional(),
    }),
  ),
});

function release(folder: string, flags: readonly string[], cwd = resolve(".")) {
  const args = [join(cwd, "scripts/release.mjs"), folder, ...flags];
  return spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
}

it("a release has each package of production once in its SBOM, as in the lock, and each file in its provenance", () => {
  const folder = temporaryFolder("release");
  writeFileSync(join(folder, `gpu-ledger-${version}.tgz`), "the chart");
  const flags = ["--trial", "--image", `${IMAGE.name}@sha256:${IMAGE.digest.sha256}`];
  expect(release(folder, flags)).toMatchObject({ status: 0, stderr: "" });
  const files = readdirSync(folder).toSorted();
  expect(files).toEqual(
    ["-source.tar.gz", ".cdx.json", ".provenance.json", ".tgz"].map((ending) => `gpu-ledger-${version}${ending}`),
  );

  const sbom = sbomSchema.parse(readJson(join(folder, `gpu-ledger-${version}.cdx.json`)));
  const { packages } = lockSchema.parse(readJson("package-lock.json"));
  const needed = Object.entries(packages).filter(([path, { dev }]) => path !== "" && dev !== true);
  const expected = needed.map(
    ([path, { name = path.split("node_modules/").at(-1)!, integrity, license, ...entry }]) => ({
      purl: `pkg:npm/${name.replace("@", "%40")}@${entry.version}`,
      hash:
        integrity === undefined ? undefined : Buffer.from(integrity.slice("sha512-".length), "base64").toString("hex"),
      license,
    }),
  );
  const listed = sbom.components.map(({ purl, hashes, licenses }) => {
    const [of] = licenses ?? [];
    return { purl, hash: hashes?.[0].content, license: of && ("license" in of ? of.license.id : of.expression) };
  });
  // A package can be in the lock at two places.
  const byPurl = new Map(expected.map((each) => [each.purl, each]));
  expect(listed.toSorted((a, b) => (a.purl < b.purl ? -1 : 1))).toEqual(
    [...byPurl.values()].toSorted((a, b) => (a.purl < b.purl ? -1 : 1)),
  );
  const refs = new Set(sbom.dependencies.map(({ ref }) => ref));
  expect(refs).toEqual(new Set([`gpu-ledger@${version}`, ...sbom.components.map((each) => each["bom-ref"])]));
  for (const { dependsOn } of sbom.dependencies) expect(dependsOn.filter((ref) => !refs.has(ref))).toEqual([]);

  const commit = execFileSync("git", ["rev-parse", "HEAD"], { encoding: "utf8" }).trim();
  expect(readJson(join(folder, `gpu-ledger-${version}.provenance.json`))).toMatchObject({
    _type: "https://in-toto.io/Statement/v1",
    predicateType: "https://slsa.dev/provenance/v1",
    subject: [
      ...files
        .filter((file) => !file.endsWith(".provenance.json"))
        .map((name) => ({ name, digest: { sha256: hashOf(readFileSync(join(folder, name))) } })),
      IMAGE,
    ],
    predicate: {
      buildDefinition: {
        buildType: like(/^https:\/\//),
        externalParameters: { tag: `v${version}`, trial: true },
        resolvedDependencies: [
          { uri: like(/^git\+https:\/\//), digest: { gitCommit: commit } },
          { name: "package-lock.json", digest: { sha256: hashOf(readFileSync("package-lock.json")) } },
          {
            uri: like(/^docker:\/\/node:/),
            digest: { sha256: like(/^[0-9a-f]{64}$/) },
          },
        ],
      },
      runDetails: { builder: { id: like(/^https:\/\//) } },
    },
  });

  const before = files.map((file) => readFileSync(join(folder, file)));
  expect(release(folder, flags)).toMatchObject({ status: 0 });
  expect(files.map((file) => readFileSync(join(folder, file)).equals(before[files.indexOf(file)]!))).not.toContain(
    false,
  );
});

/** A repository with one package and no images, at the tag of its version. */
function smallRepository(entry: object) {
  const cwd = temporaryFolder("repository");
  const git = (...args: string[]): void => {
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], { cwd });
  };
  const { config } = readJson("package.json") as { readonly config: object };
  const root = { name: "gpu-ledger", version, config, dependencies: { one: "1.0.0" } };
  const write = (path: string, value: unknown): void =>
    writeFileSync(join(cwd, path), typeof value === "string" ? value : JSON.stringify(value));
  cpSync("scripts", join(cwd, "scripts"), { recursive: true });
  mkdirSync(join(cwd, "deploy"));
  write("scripts/lock-rules.json", { installScripts: {}, withoutIntegrity: {} });
  write("package.json", root);
  write("package-lock.json", {
    name: "gpu-ledger",
    version,
    lockfileVersion: 3,
    packages: { "": root, "node_modules/one": { version: "1.0.0", ...entry } },
  });
  write(".npmrc", "ignore-scripts=true\n");
  write("Dockerfile", "");
  write("docker-compose.yml", "");
  git("init", "--quiet");
  git("add", ".");
  git("commit", "--quiet", "--message", "all");
  return { cwd, git, write };
}

it("a release is refused, and nothing is written, unless all is committed, tagged and has its hash", () => {
  const out = join(temporaryFolder("release"), "out");
  const { cwd, git, write } = smallRepository({ integrity: INTEGRITY });
  const refused = (flags: readonly string[], why: string, of = cwd): void => {
    expect(release(out, flags, of)).toMatchObject({ status: 1, stderr: containing(why) });
    expect(existsSync(out)).toBe(false);
  };
  refused([], `HEAD is not v${version}`);
  git("tag", `v${version}`);
  refused(["--image", "gpu-ledger:latest"], "--image gpu-ledger:latest has no digest");
  write("Dockerfile", "FROM node:26 AS build\n");
  refused([], "the working tree has changes");
  git("commit", "--quiet", "--all", "--message", "an image");
  git("tag", "--force", `v${version}`);
  refused([], "node:26 has no digest");

  const lacking = smallRepository({});
  lacking.git("tag", `v${version}`);
  refused([], "one has no SHA-512 integrity", lacking.cwd);
});

it("a release of a commit that is tagged and has all hashes is made, and is no trial", () => {
  const out = temporaryFolder("release");
  const { cwd, git } = smallRepository({ integrity: INTEGRITY });
  git("tag", `v${version}`);
  expect(release(out, [], cwd)).toMatchObject({ status: 0, stderr: "" });
  expect(readJson(join(out, `gpu-ledger-${version}.provenance.json`))).toMatchObject({
    predicate: { buildDefinition: { externalParameters: { tag: `v${version}` } } },
  });
  expect(readFileSync(join(out, `gpu-ledger-${version}.provenance.json`), "utf8")).not.toContain("trial");
});
