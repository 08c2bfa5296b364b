import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A certificate with its key, in PEM. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** The properties of an issued certificate. Default: a server of 127.0.0.1 and localhost, valid for two days. */
export interface CertificateOptions {
  /** In OpenSSL's form, such as `DNS:localhost,IP:127.0.0.1`. */
  readonly names?: string;
  /** The names in a section of OpenSSL's configuration, for `names: "@names"`. */
  readonly section?: string;
  readonly usage?: "serverAuth" | "clientAuth";
  readonly days?: number;
}

/** A certificate authority of tests, made by OpenSSL in a folder of its own. */
export interface Authority {
  readonly folder: string;
  /** Its own certificate, in PEM. */
  readonly ca: string;
  /** Issues a certificate with a new key. */
  issue(options?: CertificateOptions): Pair;
  /** The key of a pair, encrypted with a passphrase. */
  encrypted(pair: Pair): string;
  dispose(): void;
}

/** Creates an authority with an elliptic key. */
export function createAuthority(): Authority {
  const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-authority-"));
  const openssl = (...args: string[]): void => void execFileSync("openssl", args, { stdio: "ignore", cwd: folder });
  const read = (name: string): string => readFileSync(join(folder, name), "utf8");
  const newKey = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const about = ["-days", "2", "-subj", "/CN=test-ca"];
  openssl(...newKey, "-x509", "-keyout", "ca.key", "-out", "ca.pem", ...about);
  return {
    folder,
    ca: read("ca.pem"),
    issue({ names = "DNS:localhost,IP:127.0.0.1", section = "", usage = "serverAuth", days = 2 } = {}) {
      writeFileSync(join(folder, "ext"), `subjectAltName=${names}\nextendedKeyUsage=${usage}\n[names]\n${section}\n`);
      openssl(...newKey, "-keyout", "its.key", "-out", "its.csr", "-subj", "/CN=test");
      const by = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"];
      openssl("x509", "-req", "-in", "its.csr", ...by, "-out", "its.pem", "-days", String(days), "-extfile", "ext");
      return { cert: read("its.pem"), key: read("its.key") };
    },
    encrypted({ key }) {
      writeFileSync(join(folder, "plain.key"), key);
      openssl("pkey", "-in", "plain.key", "-aes256", "-passout", "pass:test", "-out", "locked.key");
      return read("locked.key");
    },
    dispose: () => rmSync(folder, { recursive: true }),
  };
}
