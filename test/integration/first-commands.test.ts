import { afterEach, beforeEach, expect, it } from "vitest";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { startExporterDouble } from "../support/exporter-double.ts";

/** The first commands of a new user, with a mistake in each: one line has the file or address, the reason and what helps. */
let folder: CommandFolder;

beforeEach(() => {
  folder = createCommandFolder();
});
afterEach(() => folder.dispose());

it.each([
  ["is missing", undefined, "FILE is not a kubeconfig: there is no such file"],
  ["is empty", "", "FILE is not a kubeconfig: it has no clusters, contexts and users"],
  [
    "is no YAML",
    "users: [{ token: hush }\n",
    "FILE is not a kubeconfig: unexpected end of the stream within a flow collection (2:1)",
  ],
  ["is of another program", "hello: world\n", "the context of FILE has no cluster"],
])("A kubeconfig that %s is one line", async (_, text, line) => {
  const file = text === undefined ? `${folder.path}/none` : folder.write("kubeconfig", text);
  const outcome = await folder.call(["snapshot", "--kubeconfig", file]);
  expect(outcome).toEqual({ code: 1, stdout: "", stderr: `gpu-ledger: ${line.replace("FILE", file)}\n` });
});

it.each(["up", "demo"])("`gpu-ledger %s` with a data folder that cannot be written is one line", async (verb) => {
  const file = folder.write("file", "text");
  const config = folder.write("c.yaml", { data: `${file}/data` });
  const { code, stderr } = await folder.run([verb, "--config", config]);
  expect(code).toBe(1);
  expect(stderr.split("\n").filter((line) => line !== "" && !line.startsWith("{"))).toEqual([
    `gpu-ledger: ${file}/data cannot be used as a folder for data: a part of its path is a file. The key data has another place; see docs/install.md`,
  ]);
});

it("An unknown key of the configuration has its line, the nearest key and the file with all keys", async () => {
  const config = folder.write("c.yaml", "server:\n  port: 8080\n");
  const { code, stderr } = await folder.call(["check", "--config", config]);
  expect(code).toBe(2);
  expect(stderr).toBe(
    `${config} is not a valid configuration:\n` +
      "  server.port (line 2): no such key, the nearest is listen; see config/gpu-ledger.example.yaml\n",
  );
});

it("A wrong address of a Prometheus is one line, without another attempt", async () => {
  const other = await startExporterDouble((_, response) => response.writeHead(404).end("no such page"));
  try {
    const importOf = (url: string) =>
      folder.call(["import", "prometheus", "--url", url, "--from", "2026-11-01", "--dry-run"]);
    expect(await importOf("http://127.0.0.1:1")).toEqual({
      code: 1,
      stdout: "",
      stderr: "gpu-ledger: no answer from http://127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1; see docs/import.md\n",
    });
    expect(await importOf(other.url)).toEqual({
      code: 1,
      stdout: "",
      stderr: `gpu-ledger: ${other.url} has no API of Prometheus: HTTP 404: no such page; see docs/import.md\n`,
    });
  } finally {
    await other.close();
  }
});
