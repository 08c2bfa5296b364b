import { describe, expect, it } from "vitest";
import { parseConfig } from "../../../runtime/config/load.ts";
import { openPortTls } from "../../../services/port-tls.ts";

const HASH = "ab".repeat(32);
const serverOf = (text: string) => parseConfig(`server: { ${text} }`, { source: "test", folder: ".", env: {} }).server;

describe("plain HTTP on an address that other machines reach", () => {
  it.each(["0.0.0.0:8080", "[::]:8080", "10.0.0.7:8080", "ledger.example.com:8080"])(
    "is refused on %s where tokens are in force, with the remedies",
    async (listen) => {
      for (const [name, more] of [
        ["server", ""],
        ["processor", ""],
        ["collector", ", metricsToken: a"],
        ["demo", `, access: { tokens: [{ name: a, role: finance, sha256: ${HASH} }] }`],
      ] as const) {
        const refused = openPortTls(name, serverOf(`listen: "${listen}"${more}`));
        await expect(refused).rejects.toMatchObject({ code: "plain-http" });
        await expect(refused).rejects.toThrow(
          /^refuses to serve plain HTTP: .*\(server\.listen\).*server\.tls\.certFile.*127\.0\.0\.1.*server\.plainHttp: true/,
        );
      }
    },
  );

  it("is served if the configuration allows it, or if a port without the store has no token", async () => {
    for (const name of ["server", "processor", "collector"] as const)
      expect(
        await openPortTls(name, serverOf('listen: "0.0.0.0:80", metricsToken: a, plainHttp: true')),
      ).toBeUndefined();
    for (const name of ["collector", "demo"] as const)
      expect(await openPortTls(name, serverOf('listen: "0.0.0.0:80"'))).toBeUndefined();
  });

  it.each(["127.0.0.1:8080", "[::1]:8080", "localhost:8080"])("is served on %s", async (listen) => {
    expect(await openPortTls("server", serverOf(`listen: "${listen}", metricsToken: a`))).toBeUndefined();
  });

  it("is not what a port with TLS serves, also if plain HTTP is allowed", async () => {
    const server = serverOf('listen: "0.0.0.0:80", plainHttp: true, tls: { certFile: /no.crt, keyFile: /no.key }');
    await expect(openPortTls("server", server)).rejects.toMatchObject({ code: "unusable-tls-files" });
  });
});
