import { execFile } from "node:child_process";
import { copyFileSync, readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../support/folder.ts";

const like = (pattern: RegExp): unknown => expect.stringMatching(pattern);
const SCRIPT = resolve("scripts/audit.mjs");
const json = (answer: ServerResponse, status: number, body: unknown): void => {
  answer.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
};
const advisory = (severity: string) => ({
  fastify: [
    { id: 1, url: "https://example.com/1", title: "t", severity, vulnerable_versions: ">=0", cwe: [], cvss: {} },
  ],
});

/** The result of the audit of the repository's lock, with a registry whose endpoint for advisories answers in this way. */
async function audit(advisories: (answer: ServerResponse) => void) {
  const asked: string[] = [];
  const server = createServer(({ url = "" }, answer) => {
    asked.push(url);
    if (url === "/-/npm/v1/security/advisories/bulk") advisories(answer);
    else json(answer, 404, {});
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { ...(await run((server.address() as AddressInfo).port)), asked };
}

function run(port: number): Promise<{ readonly code: number; readonly text: string }> {
  const folder = temporaryFolder("audit");
  for (const name of ["package.json", "package-lock.json"]) copyFileSync(name, join(folder, name));
  const env = {
    ...process.env,
    npm_config_registry: `http://127.0.0.1:${port}/`,
    npm_config_cache: join(folder, "cache"),
  };
  return new Promise((done) => {
    execFile(process.execPath, [SCRIPT], { cwd: folder, env }, (error, stdout, stderr) =>
      done({ code: Number(error?.code ?? 0), text: `${stdout}${stderr}` }),
    );
  });
}

it("an advisory of high severity for a package of production fails the audit, with its name", async () => {
  const { code, text } = await audit((answer) => json(answer, 200, advisory("high")));
  expect({ code, text }).toEqual({
    code: 1,
    text: like(/"name": "fastify"[\s\S]*npm audit: failed\n$/),
  });
});

it.each([
  ["no advisory", {}],
  ["an advisory of moderate severity", advisory("moderate")],
])("%s passes the audit", async (_, advisories) => {
  const { code, text, asked } = await audit((answer) => json(answer, 200, advisories));
  expect({ code, text }).toEqual({ code: 0, text: "npm audit: no advisory of high or critical severity\n" });
  expect(asked[0]).toBe("/-/npm/v1/security/advisories/bulk");
});

it.each([
  [404, "it has no such endpoint: 404"],
  [405, "it has no such endpoint: 405"],
  [503, "it cannot answer now: 503"],
])("a registry that answers %i is a line, and no failure", async (status, why) => {
  const { code, text } = await audit((answer) => json(answer, status, { error: "x" }));
  expect({ code, text }).toEqual({ code: 0, text: `npm audit: the registry does not answer (${why})\n` });
});

it.each([
  ["that refuses the request", (answer: ServerResponse) => json(answer, 401, {})],
  ["that answers with a page", (answer: ServerResponse) => void answer.end("<html>")],
])("a registry %s fails the audit", async (_, advisories) => {
  const { code, text } = await audit(advisories);
  expect({ code, text }).toEqual({ code: 1, text: like(/npm audit: failed/) });
});

it("a registry that is away, or does not answer for 5 s, is a line, and no failure", async () => {
  const line = (why: string) => `npm audit: the registry does not answer (it cannot be reached: ${why})\n`;
  const away = {
    code: 0,
    text: like(/\(it cannot be reached: connect ECONNREFUSED 127\.0\.0\.1:1\)\n$/),
  };
  expect(await run(1)).toEqual(away);
  expect(await audit(() => {})).toMatchObject({ code: 0, text: line("network timeout") });
});

it("the audit is a step of .ci/run", () => {
  expect(readFileSync(".ci/run", "utf8")).toContain('\nstep "node scripts/audit.mjs"\n');
});
