import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { Agent } from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import pino from "pino";
import { Registry } from "prom-client";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { parseConfig } from "../../runtime/config/load.ts";
import type { ServerTls } from "../../runtime/config/server-tls.ts";
import { startStatusServer, type StatusServer } from "../../runtime/http/status-server.ts";
import { openTls } from "../../runtime/tls/port-tls.ts";
import { createAuthority, type Authority, type Pair } from "../support/certificates.ts";
import { requirePart } from "../support/parts.ts";
import { askTls, endOf, outcomeOf } from "../support/tls-client.ts";

const REREAD_MILLIS = 30;
const REFUSED = "alert protocol version";
const VERIFIED = { clientAuthType: "RequireAndVerifyClientCert", clientCaFile: "ca.pem" };

interface Port {
  readonly url: string;
  readonly registry: Registry;
  /** The requests that were read. */
  readonly requests: string[];
  readonly log: () => string;
  metric(name: string): Promise<number>;
}

describe.skipIf(!requirePart("openssl"))("a port with TLS", () => {
  let [authority, other] = [] as unknown as [Authority, Authority];
  let folder: string;
  let own: Pair;
  const servers: StatusServer[] = [];
  const path = (name: string): string => join(folder, name);

  beforeAll(() => {
    [authority, other] = [createAuthority(), createAuthority()];
    folder = mkdtempSync(join(tmpdir(), "gpu-ledger-port-tls-"));
    own = authority.issue();
    writePair("server", own);
    writeFileSync(path("ca.pem"), authority.ca);
  });
  afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));
  afterAll(() => {
    authority.dispose();
    other.dispose();
    rmSync(folder, { recursive: true });
  });

  function writePair(name: string, { cert, key }: Pair): void {
    writeFileSync(path(`${name}.crt`), cert);
    writeFileSync(path(`${name}.key`), key);
  }

  /** The settings of `server.tls` for the files of a name. */
  function settings(more: object = {}, name = "server"): ServerTls {
    const tls = { certFile: `${name}.crt`, keyFile: `${name}.key`, ...more };
    return parseConfig(JSON.stringify({ server: { tls } }), { source: "test", folder, env: {} }).server.tls!;
  }

  async function serve(tls: ServerTls): Promise<Port> {
    const registry = new Registry();
    const requests: string[] = [];
    let text = "";
    const lines = new Writable({ write: (chunk, _, done) => ((text += String(chunk)), done()) });
    const server = await startStatusServer(
      { listen: "127.0.0.1:0" },
      {
        status: () => Promise.resolve({}),
        metrics: () => registry.metrics(),
        notReady: () => [],
        guard: {
          guardRoutes: (fastify) =>
            void fastify.addHook("onRequest", ({ url }) => Promise.resolve(void requests.push(url))),
          isOperator: () => Promise.resolve(true),
        },
        tls: { ...(await openTls(tls)), registry, rereadMillis: REREAD_MILLIS },
      },
      pino({}, lines),
    );
    servers.push(server);
    return {
      url: `${server.url}/healthz`,
      registry,
      requests,
      log: () => text,
      async metric(name) {
        const all = await registry.getMetricsAsJSON();
        return Number(all.find((each) => each.name === name)!.values[0]!.value);
      },
    };
  }

  /** Tries a request of a client that trusts the authority. */
  const tryAt = ({ url }: Port, more: object = {}): Promise<string> =>
    outcomeOf(askTls(url, { ca: authority.ca, ...more }));

  it("serves clients that trust its CA, by the names of its certificate", async () => {
    const port = await serve(settings());
    expect(port.url).toMatch(/^https:\/\/127\.0\.0\.1:/);
    expect(await tryAt(port)).toBe("status 200");
    expect(await tryAt(port, { ca: other.ca })).toBe("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
    expect(await tryAt(port, { servername: "ledger.example.com" })).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
  });

  it("answers no request without TLS", async () => {
    const port = await serve(settings());
    await expect(fetch(port.url.replace("https", "http"))).rejects.toThrow("fetch failed");
    expect(port.requests).toEqual([]);
  });

  it.each([
    ["TLS12", "TLS13", { "TLSv1.1": REFUSED, "TLSv1.2": "status 200", "TLSv1.3": "status 200" }],
    [
      "TLS13",
      "TLS13",
      {
        "TLSv1.1": REFUSED,
        "TLSv1.2": REFUSED,
        "TLSv1.3": "status 200",
      },
    ],
    [
      "TLS12",
      "TLS12",
      {
        "TLSv1.1": REFUSED,
        "TLSv1.2": "status 200",
        "TLSv1.3": REFUSED,
      },
    ],
  ])("with versions from %s to %s refuses the others, and TLS 1.1 always", async (minVersion, maxVersion, expected) => {
    const port = await serve(settings({ minVersion, maxVersion }));
    // At OpenSSL's own level of security a client does not offer TLS 1.1.
    const only = (version: string) => ({ minVersion: version, maxVersion: version, ciphers: "ALL:@SECLEVEL=0" });
    const outcomes = Object.keys(expected).map(async (version) => [version, await tryAt(port, only(version))] as const);
    expect(Object.fromEntries(await Promise.all(outcomes))).toEqual(expected);
  });

  it("uses the cipher suites and curves of its settings, and by default none with CBC", async () => {
    const suite = "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA";
    const old = { maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES256-SHA" } as const;
    expect(await tryAt(await serve(settings()), old)).toBe("alert handshake failure");
    const port = await serve(settings({ cipherSuites: [suite], curvePreferences: ["CurveP384"] }));
    expect(await askTls(port.url, { ca: authority.ca, ...old })).toMatchObject({ suite });
    expect(await askTls(port.url, { ca: authority.ca })).toMatchObject({ protocol: "TLSv1.3" });
    expect(await tryAt(port, { ecdhCurve: "X25519" })).toBe("alert handshake failure");
  });

  it("closes a connection that does not finish its handshake in 10 s", async () => {
    const port = await serve(settings());
    const socket = connect(Number(new URL(port.url).port), "127.0.0.1");
    await new Promise((resolve) =>
      socket
        .on("close", resolve)
        .on("error", () => undefined)
        .resume(),
    );
    expect(socket.destroyed).toBe(true);
  });

  describe("and certificates of clients", () => {
    const allowed = "spiffe://example.com/prometheus";
    const clients: Record<string, Pair | undefined> = {};
    beforeAll(() => {
      Object.assign(clients, {
        none: undefined,
        verified: authority.issue({ usage: "clientAuth", names: "DNS:other.example.com" }),
        named: authority.issue({ usage: "clientAuth", names: `DNS:a.example.com,URI:${allowed}` }),
        "of another CA": other.issue({ usage: "clientAuth", names: `URI:${allowed}` }),
        "of a server": authority.issue({ names: `URI:${allowed}` }),
      });
    });
    const everybody = ["none", "verified", "named", "of another CA", "of a server"];

    it.each<[string, object, readonly string[]]>([
      ["NoClientCert", {}, everybody],
      ["RequestClientCert", {}, everybody],
      ["RequireAnyClientCert", {}, everybody.slice(1)],
      ["RequireAnyClientCert", { clientAllowedSans: [allowed] }, ["named", "of another CA", "of a server"]],
      ["VerifyClientCertIfGiven", { clientCaFile: "ca.pem" }, ["none", "verified", "named"]],
      ["RequireAndVerifyClientCert", { clientCaFile: "ca.pem" }, ["verified", "named"]],
      ["RequireAndVerifyClientCert", { clientCaFile: "ca.pem", clientAllowedSans: [allowed] }, ["named"]],
    ])("admits with %s and %j: %j, and reads no request of others", async (clientAuthType, more, admitted) => {
      for (const maxVersion of ["TLSv1.2", "TLSv1.3"]) {
        const port = await serve(settings({ clientAuthType, ...more }));
        const seen: string[] = [];
        for (const [name, pair] of Object.entries(clients)) {
          if ((await tryAt(port, { ...pair, maxVersion })) === "status 200") seen.push(name);
        }
        expect([maxVersion, seen]).toEqual([maxVersion, admitted]);
        expect(port.requests).toHaveLength(admitted.length);
      }
    });

    it("refuses a client without one in the handshake, if each client has to be verified", async () => {
      const { url, log } = await serve(settings(VERIFIED));
      const options = { ca: authority.ca };
      expect(await endOf(url, options)).toBe("alert certificate required");
      expect(await endOf(url, { ...options, maxVersion: "TLSv1.2" })).toBe("alert handshake failure");
      await expect.poll(log).toContain("ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE");
    });

    it("resumes no session with them, because it would not verify the certificate again", async () => {
      for (const [more, isResumed] of [
        [{}, true],
        [VERIFIED, false],
      ] as const) {
        const port = await serve(settings(more));
        const agent = new Agent({ maxCachedSessions: 10, keepAlive: false });
        const options = { ca: authority.ca, ...clients["named"], agent, maxVersion: "TLSv1.2" } as const;
        await askTls(port.url, options);
        expect((await askTls(port.url, options)).isResumed).toBe(isResumed);
      }
    });

    it("takes a changed CA of clients for new connections", async () => {
      writeFileSync(path("rotated-ca.pem"), authority.ca);
      const tls = settings({ ...VERIFIED, clientCaFile: "rotated-ca.pem" });
      const port = await serve(tls);
      expect(await tryAt(port, clients["named"])).toBe("status 200");
      writeFileSync(path("rotated-ca.pem"), other.ca);
      await expect.poll(() => tryAt(port, clients["of another CA"])).toBe("status 200");
      expect(await tryAt(port, clients["named"])).not.toBe("status 200");

      expect(port.log()).toContain('"reason":"UNABLE_TO_VERIFY_LEAF_SIGNATURE","msg":"a TLS client was refused"');
    });
  });

  describe("whose files change", () => {
    const expiry = "gpu_ledger_tls_certificate_expiry_timestamp_seconds";
    const failures = "gpu_ledger_tls_reload_failures_total";
    const serialOf = async ({ url }: Port, more: object = {}): Promise<string> =>
      (await askTls(url, { ca: authority.ca, ...more })).certificate.serialNumber;

    /** Mounts a pair as Kubernetes mounts a Secret: links to `..data`, itself a link that is replaced. */
    function mount(name: string, version: number, { cert, key }: Pair): void {
      mkdirSync(path(`${name}/..${version}`), { recursive: true });
      writeFileSync(path(`${name}/..${version}/tls.crt`), cert);
      writeFileSync(path(`${name}/..${version}/tls.key`), key);
      symlinkSync(`..${version}`, path(`${name}/..data_tmp`));
      renameSync(path(`${name}/..data_tmp`), path(`${name}/..data`));
      if (version > 1) return;
      for (const file of ["tls.crt", "tls.key"]) symlinkSync(`..data/${file}`, path(`${name}/${file}`));
    }

    it("serves a Secret's new certificate on new connections, while an old one stays open", async () => {
      mount("secret", 1, own);
      const port = await serve(settings({}, "secret/tls"));
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const first = await askTls(port.url, { ca: authority.ca, agent });
      const validTo = Date.parse(first.certificate.valid_to) / 1_000;
      expect(await port.metric(expiry)).toBe(validTo);
      mount("secret", 2, authority.issue({ days: 30 }));
      await expect.poll(() => serialOf(port)).not.toBe(first.certificate.serialNumber);
      const later = await askTls(port.url, { ca: authority.ca, agent });
      expect([later.status, later.port]).toEqual([200, first.port]);
      expect(await port.metric(expiry)).toBeGreaterThan(validTo + 27 * 86_400);
      expect(await port.metric(failures)).toBe(0);
      agent.destroy();
    });

    it("keeps the old certificate while the new files cannot be served, logs that once and counts it", async () => {
      writePair("broken", own);
      const port = await serve(settings({}, "broken"));
      const serial = await serialOf(port);
      const refusals = (): number => port.log().split("cannot be served: the old ones stay").length - 1;
      const renewed = authority.issue();
      writeFileSync(path("broken.crt"), renewed.cert);
      await expect.poll(() => port.metric(failures)).toBeGreaterThan(3);
      expect([refusals(), await serialOf(port)]).toEqual([1, serial]);
      rmSync(path("broken.key"));
      await expect.poll(refusals).toBe(2);
      expect(port.log()).toContain("server.tls.keyFile cannot be read: ENOENT");
      expect(await serialOf(port)).toBe(serial);
      writeFileSync(path("broken.key"), renewed.key);
      await expect.poll(() => serialOf(port)).not.toBe(serial);
      const counted = await port.metric(failures);
      await new Promise((resolve) => setTimeout(resolve, 4 * REREAD_MILLIS));
      expect([await port.metric(failures), refusals()]).toEqual([counted, 2]);
      expect(port.log()).not.toContain("PRIVATE KEY");
    });
  });

  describe("does not start, and prints one line without a secret,", () => {
    it.each<[string, object, () => Record<string, string>, RegExp]>([
      [
        "if a file is missing",
        { keyFile: "no.key" },
        () => ({}),
        /^server\.tls\.keyFile cannot be read: ENOENT.*no\.key/,
      ],
      ["if a file is a folder", { certFile: "." }, () => ({}), /^server\.tls\.certFile cannot be read: EISDIR/],
      [
        "if the key is of another certificate",
        { keyFile: "x" },
        () => ({ x: authority.issue().key }),
        /^server\.tls: the key in .* is not the key of/,
      ],
      [
        "if there is no certificate",
        { certFile: "x" },
        () => ({ x: own.key }),
        /^server\.tls\.certFile: .* has no certificate in PEM$/,
      ],
      [
        "if the certificate is damaged",
        { certFile: "x" },
        () => ({ x: own.cert.replace(/\n.{9}/, "\n") }),
        /^server\.tls\.certFile: .* cannot be read/,
      ],
      ["if there is no key", { keyFile: "x" }, () => ({ x: own.cert }), /^server\.tls\.keyFile: .* has no private key/],
      [
        "if the key has a passphrase",
        { keyFile: "x" },
        () => ({ x: authority.encrypted(own) }),
        /^server\.tls\.keyFile: .* without a passphrase/,
      ],
      [
        "if the CA of clients is empty",
        { clientCaFile: "x", clientAuthType: "VerifyClientCertIfGiven" },
        () => ({ x: "" }),
        /^server\.tls\.clientCaFile: .* has no certificate in PEM$/,
      ],
    ])("%s", async (_, more, files, message) => {
      for (const [name, text] of Object.entries(files())) writeFileSync(path(name), text);
      const refused = await openTls(settings(more)).catch((error: unknown) => error as Error & { code: string });
      expect(refused).toMatchObject({ code: "unusable-tls-files", message: expect.stringMatching(message) as unknown });
      const { message: text } = refused as Error;
      expect(text.split("\n")).toHaveLength(1);
      for (const line of own.key.split("\n").filter((each) => each.length > 20)) expect(text).not.toContain(line);
    });
  });
});
