import { readFile, stat } from "node:fs/promises";

/** How a target wants to be asked. Secrets are already read, except a bearer token's file, which rotates. */
export interface Credentials {
  readonly basic?: { readonly username: string; readonly password: string };
  readonly bearerToken?: string;
  readonly bearerTokenFile?: string;
}

/** The value of the Authorization header, or `undefined` where none is sent. */
export type Authorization = () => Promise<string | undefined>;

/** A token file that changed is read again: it is looked at before each scrape. Fails where the file cannot be read. */
export function createAuthorization(credentials: Credentials): Authorization {
  const { basic, bearerToken, bearerTokenFile } = credentials;
  if (bearerTokenFile !== undefined) return fromFile(bearerTokenFile);
  const header =
    basic !== undefined
      ? `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString("base64")}`
      : bearerToken === undefined
        ? undefined
        : `Bearer ${bearerToken}`;
  return () => Promise.resolve(header);
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
