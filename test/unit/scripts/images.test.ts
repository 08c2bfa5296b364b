import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../../support/folder.ts";

const SCRIPT = resolve("scripts/images.mjs");
const digestOf = (letter: string): string => `sha256:${letter.repeat(64)}`;
const DOCKERFILE = `ARG VERSION=1.2\nARG DIGEST=${digestOf("a")}\nFROM node:\${VERSION}-slim@\${DIGEST} AS build\nFROM build AS last\n`;
const COMPOSE = `services:\n  own: { image: x }\n  ours:\n    image: ghcr.io/gpu-ledger/gpu-ledger:0.3.0\n  bus:\n    image: some/bus:v1@${digestOf("b")}\n`;

function folderOf({ dockerfile = DOCKERFILE, compose = COMPOSE, deploy = "" } = {}): string {
  const folder = temporaryFolder("images");
  mkdirSync(join(folder, "deploy"));
  writeFileSync(join(folder, "Dockerfile"), dockerfile);
  writeFileSync(join(folder, "docker-compose.yml"), compose);
  writeFileSync(join(folder, "deploy/one.yaml"), deploy);
  return folder;
}

function run(
  folder: string,
  ...flags: string[]
): Promise<{ readonly code: number; readonly lines: readonly string[] }> {
  return new Promise((done) => {
    execFile(process.execPath, [SCRIPT, ...flags], { cwd: folder }, (error, stdout, stderr) =>
      done({ code: Number(error?.code ?? 0), lines: `${stdout}${stderr}`.split("\n").filter((line) => line !== "") }),
    );
  });
}

/** A registry with manifests by their reference, which demands an anonymous token as Docker Hub does. */
async function startRegistry(manifests: Readonly<Record<string, readonly string[]>>): Promise<string> {
  const server = createServer(({ url = "", headers }, answer) => {
    const { port } = server.address() as AddressInfo;
    if (url.startsWith("/token?"))
      return answer.end(JSON.stringify({ token: new URL(url, "http://x").searchParams.get("scope") }));
    const [, name, reference] = /^\/v2\/(.+)\/manifests\/(.+)$/.exec(url)!;
    const scope = `repository:${name}:pull`;
    if (headers.authorization !== `Bearer ${scope}`) {
      const demand = `Bearer realm="http://127.0.0.1:${port}/token",service="s",scope="${scope}"`;
      return answer.writeHead(401, { "www-authenticate": demand }).end();
    }
    const platforms = manifests[`${name} ${reference}`];
    if (platforms === undefined) return answer.writeHead(404).end();
    const list = platforms.map((platform) => {
      const [os, architecture] = platform.split("/");
      return { platform: { os, architecture } };
    });
    return answer
      .writeHead(200, { "docker-content-digest": digestOf(name === "some/bus" ? "b" : "c") })
      .end(JSON.stringify({ manifests: list }));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const BOTH = ["linux/amd64", "linux/arm64"];

it("the images of the repository have digests, which the gate checks", async () => {
  expect(await run(resolve("."))).toEqual({ code: 0, lines: [] });
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
  expect(scripts["gate"]!.split(" && ")).toContain("npm run images:check");
  expect(scripts["images:check"]).toBe("node scripts/images.mjs");
});

it.each([
  ["a base image", { dockerfile: "FROM node:26 AS build\n" }, "Dockerfile: node:26 has no digest"],
  ["a part of a digest", { dockerfile: "FROM node:26@sha256:abc AS build\n" }, "Dockerfile: node:26 has no digest"],
  ["a syntax", { dockerfile: `# syntax=docker/dockerfile:1\n${DOCKERFILE}` }, "docker/dockerfile:1 has no digest"],
  ["a service", { compose: "    image: some/bus:v1\n" }, "docker-compose.yml: some/bus:v1 has no digest"],
  ["an image of deploy", { deploy: '      - image: "a/b:1"\n' }, "deploy/one.yaml: a/b:1 has no digest"],
  ["a tag", { compose: `    image: some/bus@${digestOf("b")}\n` }, "docker-compose.yml: some/bus has no tag"],
])("%s that lacks its pin is refused", async (_, files, line) => {
  expect(await run(folderOf(files))).toEqual({ code: 1, lines: [expect.stringContaining(line)] });
});

it("one image with two digests is refused", async () => {
  const { code, lines } = await run(folderOf({ deploy: `image: some/bus:v1@${digestOf("d")}\n` }));
  expect({ code, lines }).toEqual({
    code: 1,
    lines: [
      "docker-compose.yml: some/bus:v1 has another digest in deploy/one.yaml",
      expect.stringContaining("deploy/one.yaml: "),
    ],
  });
});

it("a release asks the registry for each digest, for both platforms", async () => {
  const [node, bus] = [`library/node ${digestOf("a")}`, `some/bus ${digestOf("b")}`];
  expect(await run(folderOf(), `--registry=${await startRegistry({ [node]: BOTH, [bus]: BOTH })}`)).toEqual({
    code: 0,
    lines: [],
  });
  expect(await run(folderOf(), `--registry=${await startRegistry({ [bus]: ["linux/amd64"] })}`)).toEqual({
    code: 1,
    lines: [
      `Dockerfile: node:1.2-slim@${digestOf("a")} is not in the registry (404)`,
      `docker-compose.yml: some/bus:v1@${digestOf("b")} is not for linux/arm64`,
    ],
  });
});

it("a release is refused for a digest that is not known, or a registry that is away", async () => {
  const folder = folderOf({ dockerfile: "", compose: "    image: clickhouse/clickhouse-server:26.3.27.4\n" });
  expect((await run(folder)).code).toBe(0);
  expect((await run(folder, "--registry=http://127.0.0.1:1")).lines).toEqual([
    expect.stringContaining("has no digest"),
  ]);
  expect(await run(folderOf({ compose: "" }), "--registry=http://127.0.0.1:1")).toEqual({
    code: 1,
    lines: [expect.stringContaining("node:1.2-slim: no answer of the registry")],
  });
});

it("the digests of the tags are written from the registry", async () => {
  const folder = folderOf({ compose: COMPOSE.replace(`@${digestOf("b")}`, "") });
  const registry = await startRegistry({ "library/node 1.2-slim": BOTH, "some/bus v1": BOTH });
  expect((await run(folder, `--write=${registry}`)).code).toBe(0);
  expect(readFileSync(join(folder, "Dockerfile"), "utf8")).toBe(DOCKERFILE.replace(digestOf("a"), digestOf("c")));
  expect(readFileSync(join(folder, "docker-compose.yml"), "utf8")).toBe(COMPOSE);
  expect((await run(folder)).code).toBe(0);
});
