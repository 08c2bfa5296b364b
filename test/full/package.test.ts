import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { findHelm } from "../support/chart/helm.ts";
import { createCommandFolder } from "../support/command.ts";
import { dcgmPage } from "../support/dcgm-page.ts";
import { startExporterDouble } from "../support/exporter-double.ts";
import { temporaryFolder } from "../support/folder.ts";

const run = promisify(execFile);
const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };
const PAGE = dcgmPage({ gpus: 2, host: "gpu-a", families: ["DCGM_FI_DEV_GPU_UTIL"], value: () => "50" });

/** The environment of a person's shell: without the variables of the npm that runs the tests. */
const ENV = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("npm_")));

it("the package, installed in an empty folder, runs up until all parts are ready, and ends", async () => {
  const place = temporaryFolder("package");
  const app = join(place, "app");
  mkdirSync(app);
  await run("npm", ["pack", "--silent", "--pack-destination", place], { env: ENV });
  const install = ["install", "--prefix", app, "--prefer-offline", "--no-audit", "--no-fund"];
  await run("npm", [...install, join(place, `gpu-ledger-${version}.tgz`)], { cwd: app, env: ENV });

  const folder = createCommandFolder({ program: join(app, "node_modules/.bin/gpu-ledger") });
  const exporter = await startExporterDouble((_, response, double) => double.page(response, PAGE));
  try {
    expect(await folder.run(["--version"])).toMatchObject({ code: 0, stdout: `${version}\n` });
    const config = folder.write("c.yaml", {
      data: "data",
      server: { listen: "127.0.0.1:0" },
      collector: { interval: "1s", timeout: "900ms", jobs: [{ name: "gpus", targets: [exporter.url] }] },
    });
    const up = folder.start(["up", "--config", config], { ownGroup: true });
    const address = await up.address();
    const statusOf = async (path: string): Promise<number> => (await fetch(`${address}${path}`)).status;
    await expect.poll(() => statusOf("/readyz")).toBe(200);
    // What the build copies beside the code is in the package.
    for (const path of ["/healthz", "/", "/fleet", "/runbook?alert=GPUExporterDown", "/api/v1/openapi.json"])
      expect([path, await statusOf(path)]).toEqual([path, 200]);
    expect(await up.end("SIGTERM")).toMatchObject({ code: 0 });
  } finally {
    await folder.dispose();
    await exporter.close();
  }
});

it("the command that publishes makes the chart, the package and the program of the image, and uploads nothing in a trial", async (context) => {
  const helm = await findHelm();
  if (helm === undefined) return context.skip();
  const place = join(temporaryFolder("publish"), "repository");
  execFileSync("git", ["clone", "--quiet", ".", place]);
  // The files as they are, committed or not.
  const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { encoding: "utf8" });
  for (const file of files.trim().split("\n")) cpSync(file, join(place, file), { force: true });
  symlinkSync(resolve("node_modules"), join(place, "node_modules"));
  const env = { ...ENV, PATH: [...(helm.includes("/") ? [dirname(helm)] : []), ENV["PATH"]].join(delimiter) };
  const { stdout } = await run(process.execPath, ["scripts/publish.mjs", "--trial"], {
    cwd: place,
    env,
    maxBuffer: 2 ** 26,
  });
  const lines = stdout.split("\n");
  expect(lines).toContain(version);
  expect(lines).toContain(`+ gpu-ledger@${version}`);
  expect(lines.filter((line) => line.startsWith("not tried: "))).toEqual([
    `not tried: docker buildx build and its upload of ghcr.io/gpu-ledger/gpu-ledger:${version} and ghcr.io/gpu-ledger/gpu-ledger:${version}-embedded`,
    `not tried: helm push release/gpu-ledger-${version}.tgz oci://ghcr.io/gpu-ledger/charts`,
  ]);
  const { subject } = JSON.parse(
    readFileSync(join(place, `release/gpu-ledger-${version}.provenance.json`), "utf8"),
  ) as { readonly subject: readonly { readonly name: string }[] };
  expect(subject.map(({ name }) => name)).toContain(`gpu-ledger-${version}.tgz`);

  // Without the trial, a file that is in no commit is refused before anything else.
  writeFileSync(join(place, "other"), "");
  await expect(run(process.execPath, ["scripts/publish.mjs"], { cwd: place, env })).rejects.toThrow(
    "the working tree has changes that are in no commit",
  );
});
