import { describe, expect, it } from "vitest";
import { ConfigError } from "../../../../runtime/config/config-error.ts";
import { parseConfig } from "../../../../runtime/config/load.ts";
import { describeProblem } from "../../../../runtime/config/file-problem.ts";

const FILES = "certFile: tls.crt, keyFile: /run/tls.key";

const read = (tls: string) =>
  parseConfig(`server: { tls: { ${tls} } }`, { source: "test", folder: "/etc/gpu-ledger", env: {} }).server.tls;

function problemsOf(tls: string): readonly string[] {
  try {
    read(tls);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map((problem) => describeProblem(problem).trim());
    throw error;
  }
  return [];
}

describe("server.tls", () => {
  it("has the defaults of Prometheus, and paths beside the configuration", () => {
    expect(read(FILES)).toEqual({
      certFile: "/etc/gpu-ledger/tls.crt",
      keyFile: "/run/tls.key",
      clientAuthType: "NoClientCert",
      clientAllowedSans: [],
      minVersion: "TLS12",
      maxVersion: "TLS13",
      cipherSuites: [],
      preferServerCipherSuites: true,
      curvePreferences: [],
    });
    expect(parseConfig("", { source: "test", folder: ".", env: {} }).server.tls).toBeUndefined();
  });

  it.each([
    ["", ["server.tls.certFile", "server.tls.keyFile"]],
    ["certFile: a", ["server.tls.keyFile"]],
    ["keyFile: a", ["server.tls.certFile"]],
    [`${FILES}, clientAuthType: RequireAndVerifyClientCert`, ["server.tls.clientCaFile"]],
    [`${FILES}, clientAuthType: VerifyClientCertIfGiven`, ["server.tls.clientCaFile"]],
    [`${FILES}, clientCaFile: a`, ["server.tls.clientAuthType"]],
    [`${FILES}, clientAuthType: Always`, ["server.tls.clientAuthType"]],
    [`${FILES}, clientAuthType: RequestClientCert, clientAllowedSans: [a]`, ["server.tls.clientAllowedSans"]],
    [`${FILES}, minVersion: TLS11`, ["server.tls.minVersion"]],
    [`${FILES}, minVersion: TLS13, maxVersion: TLS12`, ["server.tls.minVersion"]],
    [`${FILES}, cipherSuites: [TLS_RSA_WITH_RC4_128_SHA]`, ["server.tls.cipherSuites[0]"]],
    [`${FILES}, curvePreferences: [P-256]`, ["server.tls.curvePreferences[0]"]],
  ])("with { %s } has problems at %j", (tls, keys) => {
    expect(problemsOf(tls).map((line) => line.split(/ \(line|:/)[0])).toEqual(keys);
  });

  it("prints no key that is written in place of a path", () => {
    for (const key of ["certFile", "keyFile", "clientCaFile"]) {
      const problems = problemsOf(
        `certFile: a, keyFile: a, ${key}: "-----BEGIN PRIVATE KEY-----\\nhunter2"`.replace(`${key}: a, `, ""),
      );
      expect(problems.join("\n")).toContain(
        `server.tls.${key} (line 1): the value is not the path of a file: write its path, not its content`,
      );
      expect(problems.join("\n")).not.toContain("hunter2");
    }
  });
});
