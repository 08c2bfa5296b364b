import { isIP } from "node:net";
import { z } from "zod";

/** The external inputs of the configuration's types: environment variables and files. */
export interface ConfigSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Returns the text of a file. Throws if the file cannot be read. */
  readonly readFile: (path: string) => string;
  /** Returns the absolute path of a file. Relative paths start at the folder of the configuration. */
  readonly resolvePath: (path: string) => string;
}

/** Returns a schema for a non-empty text. */
export const text = (allowed: string): z.ZodType<string, string> =>
  z.string({ error: allowed }).min(1, { error: allowed }).meta({ description: allowed });

/** Returns a schema for a whole number from `least` to `most`. */
export function whole(least: number, most: number): z.ZodType<number, number> {
  const allowed = `a whole number from ${least} to ${most}`;
  return z
    .number({ error: allowed })
    .int({ error: allowed })
    .min(least, { error: allowed })
    .max(most, { error: allowed })
    .meta({ description: allowed });
}

/** The schema for `true` or `false`. */
export const flag = z.boolean({ error: "true or false" });

/** Returns a schema for one of the words. */
export function oneOf<const T extends readonly [string, ...string[]]>(...words: T): z.ZodType<T[number], T[number]> {
  return z.enum(words, { error: `one of: ${words.join(", ")}` });
}

/** Returns a schema for a list of `item`. */
export const list = <T extends z.ZodType>(item: T): z.ZodArray<T> => z.array(item, { error: "a list" });

const WEB_ADDRESS = "an http:// or https:// address without a user name and a password";

/** The schema for an http or https address. Messages and logs show addresses, so credentials have keys of their own. */
export const webAddress = z
  .string({ error: WEB_ADDRESS })
  .refine(isWebAddress, { error: WEB_ADDRESS })
  .meta({ description: WEB_ADDRESS });

/** Returns true for an http or https address without credentials. */
export function isWebAddress(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return /^https?:$/.test(protocol) && username === "" && password === "";
}

const ADDRESS = "an address: host, host:port or an http:// or https:// URL";

/** The schema for the address of a scrape target. Missing parts come from its job. */
export const targetAddress = z
  .string({ error: ADDRESS })
  .refine((value) => URL.canParse(/^https?:\/\//.test(value) ? value : `http://${value}`), { error: ADDRESS })
  .meta({ description: ADDRESS });

/** The schema for `host:port`. With port 0, the system chooses a port. */
export const listenAddress = z
  .string({ error: "host:port, such as 127.0.0.1:8080" })
  .regex(/^(\[[0-9a-fA-F:.]+\]|[^:\s]+):\d{1,5}$/, { error: "host:port, such as 127.0.0.1:8080" })
  .meta({ description: "host:port, such as 127.0.0.1:8080" });

const NETWORK = "an address or a network, such as 10.0.0.7 or 10.0.0.0/8";

/** The schema for an IP address or a network prefix. */
export const network = z
  .string({ error: NETWORK })
  .refine(
    (value) => {
      const [address = "", bits, ...more] = value.split("/");
      const most = isIP(address) === 6 ? 128 : 32;
      const isPrefix = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
      return isIP(address) !== 0 && isPrefix && more.length === 0;
    },
    { error: NETWORK },
  )
  .meta({ description: NETWORK });

/** Returns a schema for the path of a file that is read again while the program runs. The value is the absolute path. */
export function filePath({ resolvePath }: ConfigSources): z.ZodType<string, string> {
  const allowed = "the path of a file";
  return text(allowed)
    .refine((path) => !/[\r\n]|-----BEGIN/.test(path), { error: `${allowed}: write its path, not its content` })
    .transform(resolvePath);
}

/** Returns a schema for a path that reads the file while the configuration is parsed. */
export function fileText(sources: ConfigSources): z.ZodType<string, string> {
  return filePath(sources).transform((path, context) => {
    try {
      return sources.readFile(path);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      context.addIssue({ code: "custom", message: `the path of a file that can be read (${why})` });
      return z.NEVER;
    }
  });
}

/**
 * Returns a schema for a secret: the text itself, `{ file: path }` or `{ env: NAME }`. A file's last line feed is removed. `what` describes
 * the secret in messages.
 */
export function secret(
  sources: ConfigSources,
  what = "a text",
): z.ZodType<string, string | { file: string } | { env: string }> {
  const allowed = `${what}, { file: path } or { env: NAME }`;
  return z
    .union([text(allowed), z.strictObject({ file: filePath(sources) }), z.strictObject({ env: z.string() })], {
      error: allowed,
    })
    .transform((given, context) => {
      try {
        const value =
          typeof given === "string"
            ? given
            : "file" in given
              ? sources.readFile(given.file).replace(/\r?\n$/, "")
              : sources.env[given.env];
        if (value !== undefined && value !== "") return value;
        context.addIssue({ code: "custom", message: `${allowed}; the value is empty` });
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        context.addIssue({ code: "custom", message: `${allowed}; ${why}` });
      }
      return z.NEVER;
    });
}
