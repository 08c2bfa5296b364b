import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { parse } from "yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthority, type Authority, type Pair } from "../support/certificates.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { requirePart } from "../support/parts.ts";
import { startPrometheus } from "../support/prometheus-server.ts";
import { askTls } from "../support/tls-client.ts";

const run = promisify(execFile);
const CLICKHOUSE = { kind: "clickhouse", clickhouse: { url: "http://127.0.0.1:1" } };
const PAGE = readFileSync("docs/tls.md", "utf8");
const JOB = { name: "gpus", targets: ["127.0.0.1:1"] };

describe("a command with a port", () => {
  let folder: CommandFolder;
  beforeAll(() => {
    folder = createCommandFolder();
  });
  afterAll(() => folder.dispose());

  const configOf = (server: object): string =>
    folder.write("c.json", { store: CLICKHOUSE, collector: { jobs: [JOB] }, server: { metricsToken: "a", ...server } });

  it.each(["serve", "process", "collect", "demo", "up"])(
    "%s refuses plain HTTP for other machines, before it starts anything",
    async (verb) => {
      // In this process, `up` would log to its standard error.
      const start = verb === "up" ? folder.run : folder.call;
      const refused = await start([verb, "--config", configOf({ listen: "0.0.0.0:0" })]);
      expect(refused).toMatchObject({ code: 1, stdout: "" });
      expect(refused.stderr).toMatch(/^gpu-ledger: refuses to serve plain HTTP: .*server\.plainHttp: true.*\n$/m);
    },
  );

  it.each(["serve", "process", "collect", "demo"])("%s refuses TLS files that cannot be read", async (verb) => {
    const tls = { certFile: "no.crt", keyFile: "no.key" };
    const refused = await folder.call([verb, "--config", configOf({ listen: "127.0.0.1:0", tls })]);
    const path = join(folder.path, "no.crt");
    const why = `ENOENT: no such file or directory, open '${path}'`;
    expect(refused).toEqual({
      code: 1,
      stdout: "",
      stderr: `gpu-ledger: server.tls.certFile cannot be read: ${why}\n`,
    });
  });
});

describe("gpu-ledger check", () => {
  it("fails for a port that would not start with plain HTTP", async () => {
    const folder = createCommandFolder();
    try {
      const check = async (server: object): Promise<string> =>
        (await folder.call(["check", "--config", folder.write("c.json", { data: "data", server })])).stdout;
      const [listen, refused] = ["0.0.0.0:8080", /^FAIL {2}server\.listen: refuses to serve plain HTTP/m];
      expect(await check({ listen, metricsToken: "a" })).toMatch(refused);
      expect(await check({ listen, metricsToken: "a", plainHttp: true })).not.toMatch(/server\./);
      expect(await check({ listen })).not.toMatch(/server\./);
    } finally {
      await folder.dispose();
    }
  });
});

describe.skipIf(!requirePart("openssl"))("a port that requires certificates of clients", () => {
  const clientAuth = { clientAuthType: "RequireAndVerifyClientCert", clientCaFile: "ca.pem" };
  let authority: Authority;
  let folder: CommandFolder;
  let client: Pair;
  let config: string;
  let address: string;

  beforeAll(async () => {
    authority = createAuthority();
    folder = createCommandFolder();
    client = authority.issue({ usage: "clientAuth", names: "DNS:prometheus.example.com" });
    const server = authority.issue({ names: "DNS:localhost,IP:127.0.0.1,DNS:gpu-ledger.example.com" });
    writeFileSync(join(folder.path, "ca.pem"), authority.ca);
    writeFileSync(join(folder.path, "tls.crt"), server.cert);
    writeFileSync(join(folder.path, "tls.key"), server.key);
    const tls = {
      certFile: "tls.crt",
      keyFile: "tls.key",
      ...clientAuth,
      clientAllowedSans: ["prometheus.example.com"],
    };
    config = folder.write("c.json", {
      data: "data",
      server: { listen: "127.0.0.1:0", metricsToken: "of Prometheus", tls },
      demo: { gpus: 8, history: "0s" },
    });
    address = await folder.start(["demo", "--config", config]).address();
  });
  afterAll(async () => {
    await folder.dispose();
    authority.dispose();
  });

  it("needs the token beside the certificate", async () => {
    const ask = async (headers: Record<string, string>) =>
      (await askTls(`${address}/metrics`, { ca: authority.ca, ...client, headers })).status;
    expect([await ask({}), await ask({ authorization: "Bearer of Prometheus" })]).toEqual([401, 200]);
  });

  it.skipIf(!requirePart("prometheus"))("is scraped by a Prometheus with a certificate, and by no other", async () => {
    const [, text] = /```yaml\n# a job of prometheus\.yml\n(.*?)```/s.exec(PAGE)!;
    const documented = parse(text!.replaceAll("/etc/prometheus/", "")) as { readonly tls_config: object };
    const own = { scrape_interval: "1s", static_configs: [{ targets: [new URL(address).host] }] };
    const without = { ...documented.tls_config, cert_file: undefined, key_file: undefined };
    const prometheus = await startPrometheus({
      configuration: {
        scrape_configs: [
          { job_name: "with", ...own, ...documented },
          { job_name: "without", ...own, ...documented, tls_config: without },
        ],
      },
      files: {
        "gpu-ledger-metrics-token": "of Prometheus",
        "gpu-ledger-ca.crt": authority.ca,
        "client.crt": client.cert,
        "client.key": client.key,
      },
    });
    try {
      const up = async (): Promise<readonly string[]> =>
        (await prometheus.query("up")).map(({ metric, values }) => `${metric["job"]} ${values[0]![1]}`).toSorted();
      await expect.poll(up).toEqual(["with 1", "without 0"]);
      const left = await prometheus.query("gpu_ledger_tls_certificate_expiry_timestamp_seconds - time()");
      expect(left).toHaveLength(1);
      expect(Number(left[0]!.values[0]![1]) / 86_400).toBeCloseTo(2, 1);
      const found = ["GPULedgerCertificateExpiring", "GPULedgerCertificateNotReloaded"].map((alert) => {
        const runbook = readFileSync(`docs/runbooks/${alert}.md`, "utf8");
        const [, expr] = /```promql\n(.*?)```/s.exec(runbook)!;
        return prometheus.query(expr!);
      });
      expect((await Promise.all(found)).map(({ length }) => length)).toEqual([1, 0]);
    } finally {
      await prometheus.stop();
    }
  });

  it("has a health check for Compose in docs/tls.md, for a port without certificates of clients", async () => {
    const [, text] = /```yaml\n# docker-compose\.override\.yml\n(.*?)```/s.exec(PAGE)!;
    const override = parse(text!, { merge: true }) as {
      readonly services: Readonly<Record<string, { readonly healthcheck?: { readonly test: readonly string[] } }>>;
    };
    const config = folder.write("plain.json", {
      data: "other",
      server: { listen: "127.0.0.1:0", tls: { certFile: "tls.crt", keyFile: "tls.key" } },
      demo: { gpus: 8, history: "0s" },
    });
    const { host } = new URL(await folder.start(["demo", "--config", config]).address());
    for (const name of ["collect-real", "process-real", "serve-real"]) {
      const [kind, program, ...args] = override.services[name]!.healthcheck!.test as [string, string, ...string[]];
      expect(kind).toBe("CMD");
      const checkAt = (at: string) =>
        run(
          program,
          args.map((arg) => arg.replace("127.0.0.1:8080", at)),
        );
      // The demo is ready a moment after its port listens.
      await expect.poll(() => checkAt(host).then(() => "healthy", String), { interval: 200 }).toBe("healthy");
      await expect(checkAt(new URL(address).host)).rejects.toThrow("Command failed");
      // A request that a server ends in the handshake can stay without a result. The process ends then, too.
      const withoutResult = "data:text/javascript,globalThis.fetch = () => new Promise(() => {})";
      await expect(run(program, ["--import", withoutResult, ...args])).rejects.toThrow("Command failed");
    }
  });

  it("has its files in gpu-ledger check", async () => {
    const { stdout } = await folder.call(["check", "--config", config]);
    expect(stdout).toMatch(
      /^ok {4}server\.tls: a certificate of DNS:localhost, IP Address:127\.0\.0\.1, DNS:gpu-ledger\.example\.com until 20/m,
    );
    const broken = folder.write("broken.json", {
      data: "data",
      server: { tls: { certFile: "tls.key", keyFile: "tls.key" } },
    });
    const { stdout: failed } = await folder.call(["check", "--config", broken]);
    expect(failed).toMatch(/^FAIL {2}server\.tls: server\.tls\.certFile: .* has no certificate in PEM$/m);
  });
});
