import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { request } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";

let folder: CommandFolder;
beforeEach(() => {
  folder = createCommandFolder();
});
afterEach(() => folder.dispose());

/** The processes of a process group. */
function membersOf(group: number): readonly string[] {
  return readdirSync("/proc").filter((id) => {
    if (!/^\d+$/.test(id)) return false;
    const fields = textOf(`/proc/${id}/stat`).split(") ").at(-1)!.split(" ");
    return Number(fields[2]) === group;
  });
}

/** The TCP ports on which processes listen, by the inodes of their sockets. */
function listeningPorts(processes: readonly string[]): ReadonlySet<number> {
  const sockets = new Set(
    processes.flatMap((id) => readdirSync(`/proc/${id}/fd`).map((file) => linkOf(`/proc/${id}/fd/${file}`))),
  );
  const LISTENS = "0A";
  const rows = ["tcp", "tcp6"].flatMap((family) => textOf(`/proc/net/${family}`).trim().split("\n").slice(1));
  return new Set(
    rows.flatMap((row) => {
      const [, local = "", , state, , , , , , inode] = row.trim().split(/\s+/);
      return state === LISTENS && sockets.has(`socket:[${inode}]`)
        ? [Number.parseInt(local.split(":").at(-1)!, 16)]
        : [];
    }),
  );
}

const tried = <Result>(read: () => Result, otherwise: Result): Result => {
  try {
    return read();
  } catch {
    // The process or the file has ended.
    return otherwise;
  }
};
const textOf = (file: string): string => tried(() => readFileSync(file, "utf8"), "");
const linkOf = (file: string): string => tried(() => readlinkSync(file), "");

/** The status of a request to a port. */
function asked(port: number, method: string, headers: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, method, path: "/healthz", headers }, (answer) => {
      answer.resume().once("end", () => resolve(`${answer.statusCode}`));
    });
    sent.once("error", reject).end();
  });
}

// The ports are found in /proc, which Linux alone has.
describe.runIf(process.platform === "linux")("every port of `up`", () => {
  it.each([
    // The server, the store, the page of GPUs; remote write.
    ["with remote write", { collector: { remoteWrite: { listen: "127.0.0.1:0" } } }, "receiving remote write", 4],
    // Beside the first three, the API server of the demo cluster, and its exporters.
    ["with the demo", { demo: { gpus: 8, history: "0s" } }, "this collector watches the cluster", 5],
  ] as const)("%s refuses pages of other sites", async (_, parts, started, least) => {
    const config = folder.write("c.yaml", { data: "data", server: { listen: "127.0.0.1:0" }, ...parts });
    const up = folder.start(["up", "--config", config], { ownGroup: true });
    await up.address();
    await expect.poll(() => up.log(), { timeout: 60_000 }).toContain(started);
    await expect.poll(() => listeningPorts(membersOf(up.processId)).size).toBeGreaterThanOrEqual(least);
    for (const port of listeningPorts(membersOf(up.processId))) {
      const own = `127.0.0.1:${port}`;
      expect([port, await asked(port, "GET", { host: own })]).not.toEqual([port, "403"]);
      expect([port, await asked(port, "GET", { host: "evil.example" })]).toEqual([port, "403"]);
      expect([port, await asked(port, "POST", { host: own, origin: "https://evil.example" })]).toEqual([port, "403"]);
      expect([port, await asked(port, "POST", { host: own, "sec-fetch-site": "cross-site" })]).toEqual([port, "403"]);
    }
  });
});
