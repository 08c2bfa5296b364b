import { readFile, stat } from "node:fs/promises";

/** The credentials for a target. Secrets are already read, except the file of a bearer token, which rotates. */
export interface Credentials {
  readonly basic?: { readonly username: string; readonly password: string };
  readonly bearerToken?: string;
  readonly bearerTokenFile?: string;
}

/** Credentials that are known at the start. */
export interface FixedCredentials {
  readonly basic?: { readonly username: string; readonly password: string } | undefined;
  readonly bearerToken?: string | undefined;
}

/** Returns the value of the Authorization header, or `undefined` if none is sent. */
export type Authorization = () => Promise<string | undefined>;

/**
 * Returns the source of the Authorization header. A token file is checked before each scrape and read again if it changed. Fails if the
 * file cannot be read.
 */
export function createAuthorization(credentials: Credentials): Authorization {
  const { bearerTokenFile } = credentials;
  if (bearerTokenFile !== undefined) return fromFile(bearerTokenFile);
  const header = authorizationOf(credentials);
  return () => Promise.resolve(header);
}

/** Returns the value of the Authorization header of credentials without a file; undefined if there are none. */
export function authorizationOf({ basic, bearerToken }: FixedCredentials): string | undefined {
  if (basic !== undefined) return `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString("base64")}`;
  return bearerToken === undefined ? undefined : `Bearer ${bearerToken}`;
}

function fromFile(path: string): Authorization {
  let seen = "";
  let header = "";
  return async () => {
    const { mtimeMs, ino, size } = await stat(path);
    const version = `${mtimeMs}:${ino}:${size}`;
    if (version !== seen) {
      header = `Bearer ${(await readFile(path, "utf8")).trim()}`;
      seen = version;
    }
    return header;
  };
}
