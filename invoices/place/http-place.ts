import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import type { ListedFile } from "../find/listing.ts";
import { PlaceError, reasonOf, type ExportPlace } from "./place.ts";

/** A page of a listing, and the token of the next page. */
export interface ListingPage {
  readonly files: readonly ListedFile[];
  readonly next: string | undefined;
}

/** How a place is asked for its files over HTTP. */
export interface HttpPlace {
  /** The address, without a slash at its end. */
  readonly base: string;
  /** The name of the interface, as in `a bucket of S3`. */
  readonly kind: string;
  fetch(address: string, options: { readonly signal: AbortSignal }): Promise<Response>;
  /** Returns the address of a page of the listing. */
  listing(token: string | undefined): string;
  /** Returns a page of the listing; undefined if the text is none. */
  page(text: string): ListingPage | undefined;
  /** Returns the address of a file by the path of its key. */
  file(path: string): string;
}

/** The longest wait for a listing or a manifest, and for the beginning of another file. */
const ANSWER_MILLIS = 60_000;
/** A listing has at most this number of pages. A page has 1,000 files in S3 and 5,000 in Azure. */
const MOST_PAGES = 1_000;

/** Returns the exports of a place that answers over HTTP. A request that has no answer in time is given up. */
export function httpPlace(
  { base, kind, fetch, listing, page, file }: HttpPlace,
  answerMillis = ANSWER_MILLIS,
): ExportPlace {
  const unreadable = (error: unknown): PlaceError =>
    error instanceof PlaceError ? error : new PlaceError(`${base} cannot be read: ${reasonOf(error)}`, error);

  async function get<Result>(address: string, read: (answer: Response) => Result | Promise<Result>): Promise<Result> {
    const wait = new AbortController();
    const timer = setTimeout(() => wait.abort(new Error(`no answer within ${answerMillis / 1000} s`)), answerMillis);
    try {
      const answer = await fetch(address, { signal: wait.signal });
      if (answer.ok) return await read(answer);
      const [, code = ""] = /<Code>(\w+)<\/Code>/.exec(await answer.text()) ?? [];
      throw new PlaceError(`${base} answers ${answer.status} ${code}`.trimEnd());
    } catch (error) {
      throw unreadable(error);
    } finally {
      clearTimeout(timer);
    }
  }

  async function* bytesOf(body: ReadableStream): AsyncGenerator<Uint8Array> {
    try {
      yield* body as ReadableStream<Uint8Array>;
    } catch (error) {
      throw unreadable(error);
    }
  }

  return {
    async list() {
      const files: ListedFile[] = [];
      let token: string | undefined;
      for (let number = 0; number < MOST_PAGES; number++) {
        const read = page(await get(listing(token), (answer) => answer.text()));
        if (read === undefined) throw new PlaceError(`${base} does not answer as ${kind} does`);
        files.push(...read.files);
        if (read.next === undefined) return files;
        token = read.next;
      }
      throw new PlaceError(`${base} has more than ${files.length} files with the prefix; a longer prefix has fewer`);
    },
    text: (key) => get(file(pathOf(key)), (answer) => answer.text()),
    async open(key) {
      const body = await get(file(pathOf(key)), (answer) => answer.body);
      if (body === null) throw new PlaceError(`${base} has no content for ${key}`);
      return { name: key, stream: Readable.from(bytesOf(body as ReadableStream), { objectMode: false }) };
    },
  };
}

function pathOf(key: string): string {
  return key.split("/").map(encodeURIComponent).join("/");
}

/** Returns a query in which a space is `%20`: a signature does not cover `+`, which `URLSearchParams` writes. */
export function queryOf(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&");
}
