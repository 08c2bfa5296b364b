import { isIP } from "node:net";
import { z } from "zod";

/** What the configuration's types need of the outside: variables and files. */
export interface ConfigSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The file's text; throws where it cannot be read. */
  readonly readFile: (path: string) => string;
}

/** A text that is not empty. */
export const text = (allowed: string): z.ZodType<string, string> =>
  z.string({ error: allowed }).min(1, { error: allowed }).meta({ description: allowed });

/** A whole number between two bounds. */
export function whole(least: number, most: number): z.ZodType<number, number> {
  const allowed = `a whole number from ${least} to ${most}`;
  return z
    .number({ error: allowed })
    .int({ error: allowed })
    .min(least, { error: allowed })
    .max(most, { error: allowed })
    .meta({ description: allowed });
}

/** `true` or `false`. */
export const flag = z.boolean({ error: "true or false" });

/** One of some words. */
export function oneOf<const T extends readonly [string, ...string[]]>(...words: T): z.ZodType<T[number], T[number]> {
  return z.enum(words, { error: `one of: ${words.join(", ")}` });
}

/** A list of what `item` takes. */
export const list = <T extends z.ZodType>(item: T): z.ZodArray<T> => z.array(item, { error: "a list" });

/** An http or https address. */
export const webAddress = z
  .string({ error: "an http:// or https:// address" })
  .refine((value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol), {
    error: "an http:// or https:// address",
  })
  .meta({ description: "an http:// or https:// address" });

const ADDRESS = "an address: host, host:port or an http:// or https:// URL";

/** The address of a scrape target; what is missing of it comes from its job. */
export const targetAddress = z
  .string({ error: ADDRESS })
  .refine((value) => URL.canParse(/^https?:\/\//.test(value) ? value : `http://${value}`), { error: ADDRESS })
  .meta({ description: ADDRESS });

/** `host:port`; the port can be 0, which lets the system choose. */
export const listenAddress = z
  .string({ error: "host:port, such as 127.0.0.1:8080" })
  .regex(/^(\[[0-9a-fA-F:.]+\]|[^:\s]+):\d{1,5}$/, { error: "host:port, such as 127.0.0.1:8080" })
  .meta({ description: "host:port, such as 127.0.0.1:8080" });

const NETWORK = "an address or a network, such as 10.0.0.7 or 10.0.0.0/8";

/** An IP address, or a network by its prefix. */
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

/** A file whose text is read while the configuration is. */
export function fileText({ readFile }: ConfigSources): z.ZodType<string, string> {
  return z.string({ error: "the path of a file that can be read" }).transform((path, context) => {
    try {
      return readFile(path);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      context.addIssue({ code: "custom", message: `the path of a file that can be read (${why})` });
      return z.NEVER;
    }
  });
}

/**
 * A secret: the text itself, `{ file: path }` or `{ env: NAME }`. A file's last line feed is not part of it. What the text has to be can
 * be told for messages.
 */
export function secret(
  sources: ConfigSources,
  what = "a text",
): z.ZodType<string, string | { file: string } | { env: string }> {
  const allowed = `${what}, { file: path } or { env: NAME }`;
  return z
    .union([text(allowed), z.strictObject({ file: z.string() }), z.strictObject({ env: z.string() })], {
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
        context.addIssue({ code: "custom", message: `${allowed}; what it names is empty` });
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        context.addIssue({ code: "custom", message: `${allowed}; ${why}` });
      }
      return z.NEVER;
    });
}
