import { execFile, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import type { Container } from "../../../invoices/place/container.ts";
import { freePort } from "../ports.ts";

const VERSION = "3.35.0";
const CACHE = resolve(`node_modules/.cache/gpu-ledger/azurite-${VERSION}`);
const ACCOUNT = "bills";
const KEY = Buffer.from("a key of this test").toString("base64");

/** A container in Azurite, Microsoft's own server for tests. */
export interface Azurite {
  /** How a client reads the container. */
  readonly container: Container;
  put(name: string, content: string): Promise<void>;
  stop(): Promise<void>;
}

/** Installs Azurite from npm, once, and starts it on 127.0.0.1 with an empty container. */
export async function startAzurite(): Promise<Azurite> {
  if (!existsSync(CACHE)) {
    mkdirSync(dirname(CACHE), { recursive: true });
    const partial = mkdtempSync(`${CACHE}-partial-`);
    await promisify(execFile)("npm", ["install", "--prefix", partial, "--no-save", `azurite@${VERSION}`]);
    renameSync(partial, CACHE);
  }
  const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-azurite-"));
  const port = await freePort();
  const program = join(CACHE, "node_modules/azurite/dist/src/blob/main.js");
  const options = ["--blobHost", "127.0.0.1", "--blobPort", String(port), "--location", folder];
  const server = spawn(process.execPath, [program, ...options, "--silent", "--disableTelemetry"], {
    env: { ...process.env, AZURITE_ACCOUNTS: `${ACCOUNT}:${KEY}` },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  while (!printed.includes("successfully listens")) printed += String((await once(server.stdout, "data"))[0]);
  server.stdout.resume();
  const url = `http://127.0.0.1:${port}/${ACCOUNT}/exports`;
  const put = async (address: string, headers: Readonly<Record<string, string>>, body: string): Promise<void> => {
    const answer = await fetch(`${address}${signature("rwlc")}`, { method: "PUT", headers, body });
    if (!answer.ok) throw new Error(`${address} answers ${answer.status} ${await answer.text()}`);
  };
  await put(`${url}?restype=container&`, {}, "");
  return {
    container: { url, prefix: "", sasToken: signature("rl") },
    put: (name, content) => put(`${url}/${encodeURIComponent(name)}?`, { "x-ms-blob-type": "BlockBlob" }, content),
    async stop() {
      server.kill();
      await once(server, "exit");
      rmSync(folder, { recursive: true });
    },
  };
}

/** Returns a shared access signature of the account. Source: https://learn.microsoft.com/rest/api/storageservices/create-account-sas. */
function signature(permissions: string): string {
  const [version, services, types, end, protocol] = ["2022-11-02", "b", "sco", "2099-01-01T00:00:00Z", "https,http"];
  const signed = [ACCOUNT, permissions, services, types, "", end, "", protocol, version, "", ""].join("\n");
  const sig = createHmac("sha256", Buffer.from(KEY, "base64")).update(signed).digest("base64");
  return new URLSearchParams({
    sv: version,
    ss: services,
    srt: types,
    sp: permissions,
    se: end,
    spr: protocol,
    sig,
  }).toString();
}
