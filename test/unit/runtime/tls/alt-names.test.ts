import { X509Certificate } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { altNamesOf, hasAltName } from "../../../../runtime/tls/alt-names.ts";
import { createAuthority, type Authority } from "../../../support/certificates.ts";
import { requirePart } from "../../../support/parts.ts";

describe.skipIf(!requirePart("openssl"))("the names of a certificate", () => {
  let authority: Authority;
  beforeAll(() => {
    authority = createAuthority();
  });
  afterAll(() => authority.dispose());

  const named = (names: string, section = ""): X509Certificate =>
    new X509Certificate(authority.issue({ names, section }).cert);

  it("are DNS names, IP addresses, e-mail addresses and URIs, each compared as a whole", () => {
    const certificate = named(
      "DNS:a.example.com,IP:10.0.0.7,IP:2001:db8::1,email:ops@example.com,URI:spiffe://example.com/a,RID:1.2.3.4",
    );
    const names = ["a.example.com", "10.0.0.7", "2001:db8::1", "ops@example.com", "spiffe://example.com/a"];
    expect(altNamesOf(certificate)).toEqual(names);
    for (const name of names) expect(hasAltName(certificate, ["b", name])).toBe(true);
    expect(hasAltName(certificate, ["2001:0DB8:0:0::1"])).toBe(true);
    for (const name of ["example.com", "1.2.3.4", "DNS:a.example.com", "A.example.com", "*"])
      expect(hasAltName(certificate, [name])).toBe(false);
  });

  it("do not contain a name that is written inside of another one", () => {
    const certificate = named("@names", 'DNS = b.example.com\nURI = "http://x/, DNS:allowed, URI:allowed"');
    expect(certificate.subjectAltName).toContain("DNS:allowed");
    expect(altNamesOf(certificate)).toEqual(["b.example.com"]);
    expect(altNamesOf({ subjectAltName: 'URI:"http://x/\\", DNS:allowed", DNS:c' })).toEqual(["c"]);
  });

  it("do not exist without the extension", () => {
    expect(altNamesOf({ subjectAltName: undefined })).toEqual([]);
    expect(hasAltName({ subjectAltName: undefined }, ["a"])).toBe(false);
  });
});
