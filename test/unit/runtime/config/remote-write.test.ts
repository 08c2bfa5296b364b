import { describe, expect, test } from "vitest";
import { ConfigError } from "../../../../runtime/config/config-error.ts";
import { parseConfig } from "../../../../runtime/config/load.ts";

function problemsOf(remoteWrite: string): readonly string[] {
  try {
    parseConfig(`collector: { remoteWrite: ${remoteWrite} }`, { source: "test", folder: ".", env: {} });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ key }) => key);
    throw error;
  }
}

describe("the port for remote write", () => {
  test.each([
    "{ listen: '127.0.0.1:9095' }",
    "{ listen: '0.0.0.0:9095', bearerToken: a, tls: { certFile: a.pem, keyFile: a.key } }",
    "{ listen: '0.0.0.0:9095', bearerToken: a, plainHttp: true }",
    "{ listen: '0.0.0.0:9095', basic: { username: a, password: b }, plainHttp: true }",
    "{ listen: '0.0.0.0:9095', tls: { certFile: a.pem, keyFile: a.key, clientCaFile: ca.pem, clientAuthType: RequireAndVerifyClientCert } }",
  ])("accepts %s", (text) => expect(problemsOf(text)).toEqual([]));

  test.each([
    ["{}", "listen"],
    ["{ listen: '0.0.0.0:9095' }", "listen"],
    ["{ listen: '0.0.0.0:9095', tls: { certFile: a.pem, keyFile: a.key } }", "listen"],
    ["{ listen: '0.0.0.0:9095', bearerToken: a }", "tls"],
    ["{ listen: '127.0.0.1:9095', bearerToken: a, basic: { username: a, password: b } }", "basic"],
    ["{ listen: '127.0.0.1:9095', token: a }", "token"],
  ])("refuses %s", (text, key) => expect(problemsOf(text)).toEqual([`collector.remoteWrite.${key}`]));
});
