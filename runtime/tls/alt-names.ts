import type { X509Certificate } from "node:crypto";
import { isIP } from "node:net";

/** The kinds of names that count, as Node writes them. Prometheus compares the same kinds. */
const NAME = /^(?:DNS|IP Address|email|URI):(.*)$/;

/**
 * Returns the DNS names, IP addresses, e-mail addresses and URIs of a certificate. IPv6 addresses have their shortest form. A name with a
 * special character, which Node quotes because it could contain another name (CVE-2021-44532), is left out.
 */
export function altNamesOf({ subjectAltName = "" }: Pick<X509Certificate, "subjectAltName">): readonly string[] {
  const names = subjectAltName.match(/(?:[^,"]|"(?:[^"\\]|\\.)*")+/g) ?? [];
  return names.flatMap((each) => {
    const [, name] = NAME.exec(each.trim()) ?? [];
    return name === undefined || name.includes('"') ? [] : [canonical(name)];
  });
}

/** Returns true if a certificate has one of the names, written the same. */
export function hasAltName(certificate: Pick<X509Certificate, "subjectAltName">, allowed: readonly string[]): boolean {
  const names = new Set(altNamesOf(certificate));
  return allowed.some((name) => names.has(canonical(name)));
}

function canonical(name: string): string {
  return isIP(name) === 6 ? new URL(`http://[${name}]`).hostname.slice(1, -1) : name;
}
