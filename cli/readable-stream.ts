import type { Writable } from "node:stream";
import { readable } from "../runtime/readable.ts";

/** Returns a stream to which all text of the program goes: a text is made {@link readable}, and bytes, which are data, stay as they are. */
export function readableStream<Stream extends Writable>(stream: Stream): Stream {
  const write = (chunk: unknown, ...rest: []): boolean =>
    stream.write(typeof chunk === "string" ? readable(chunk) : chunk, ...rest);
  return new Proxy(stream, {
    get(_, name) {
      if (name === "write") return write;
      const value: unknown = Reflect.get(stream, name);
      return typeof value === "function" ? (value.bind(stream) as unknown) : value;
    },
  });
}
