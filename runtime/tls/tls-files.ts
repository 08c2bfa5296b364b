import { createPrivateKey, X509Certificate, type KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import type { ServerTls } from "../config/server-tls.ts";
import { secureContextOptions, type TlsFiles } from "./secure-context.ts";
import { TlsError } from "./tls-error.ts";

/** Files that can be served, with the certificate that clients see. */
export interface UsableFiles {
  readonly files: TlsFiles;
  readonly context: SecureContextOptions;
  /** The time from which clients refuse the certificate, in milliseconds since the epoch. */
  readonly expiresMillis: number;
  readonly subjectAltName: string | undefined;
}

/** Reads the files of the settings. Fails with a {@link TlsError} that names the file. */
export async function readTlsFiles({ certFile, keyFile, clientCaFile }: ServerTls): Promise<TlsFiles> {
  return {
    cert: await read("certFile", certFile),
    key: await read("keyFile", keyFile),
    clientCa: clientCaFile === undefined ? undefined : await read("clientCaFile", clientCaFile),
  };
}

async function read(key: string, path: string): Promise<string> {
  return readFile(path, "utf8").catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new TlsError(`server.tls.${key} cannot be read: ${why}`, { cause: error });
  });
}

/** Returns the files with the options of their handshakes. Fails with a {@link TlsError} if they cannot be served. */
export function usableFiles(settings: ServerTls, files: TlsFiles): UsableFiles {
  const { certFile, keyFile, clientCaFile } = settings;
  const [certificate] = certificatesOf("certFile", certFile, files.cert);
  const key = keyOf(keyFile, files.key);
  if (!certificate.checkPrivateKey(key))
    throw new TlsError(`server.tls: the key in ${keyFile} (keyFile) is not the key of ${certFile} (certFile)`);
  if (files.clientCa !== undefined) certificatesOf("clientCaFile", clientCaFile!, files.clientCa);
  const context = secureContextOptions(settings, files);
  try {
    createSecureContext(context);
  } catch (error) {
    throw problem("certFile", certFile, `cannot be served (${codeOf(error)})`);
  }
  const { validTo, subjectAltName } = certificate;
  return { files, context, expiresMillis: Date.parse(validTo), subjectAltName };
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

function certificatesOf(key: string, path: string, text: string): [X509Certificate, ...X509Certificate[]] {
  try {
    const [first, ...others] = (text.match(CERTIFICATE) ?? []).map((pem) => new X509Certificate(pem));
    if (first !== undefined) return [first, ...others];
  } catch (error) {
    throw problem(key, path, `has a certificate that cannot be read (${codeOf(error)})`);
  }
  throw problem(key, path, "has no certificate in PEM");
}

function keyOf(path: string, text: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch (error) {
    throw problem("keyFile", path, `has no private key in PEM without a passphrase (${codeOf(error)})`);
  }
}

function problem(key: string, path: string, what: string): TlsError {
  return new TlsError(`server.tls.${key}: ${path} ${what}`);
}

/** Returns the code of an error of OpenSSL. Only the code is shown, because the files are secret. */
function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException | undefined)?.code ?? "no code";
}
