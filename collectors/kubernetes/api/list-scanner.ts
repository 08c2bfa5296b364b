const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** A scanner that cuts a list into its items as it arrives, each as separate JSON. */
export interface ListScanner {
  /** Takes the next bytes. Returns the completed items. An item can be a view into the chunk. Copy it to keep it. */
  feed(chunk: Buffer): readonly Buffer[];
  /** Returns the list without its items: kind, resourceVersion, continue. Throws a `SyntaxError` if the list is incomplete. */
  rest(): unknown;
}

/**
 * Creates a scanner of one `…List` in JSON. It only follows strings and depth, so a list of 450 MB passes through without being in memory:
 * it only buffers the current item and the few bytes around the items. The caller finds invalid JSON when it parses an item.
 */
export function createListScanner(): ListScanner {
  let depth = 0;
  let inString = false;
  let escaped = false;
  /** The region of the current bytes: the list itself, between two items, or an item. */
  let region: "list" | "between" | "item" = "list";
  /** The last string that began at the list's own depth: the key before a `[`. */
  let key = "";
  const list: Buffer[] = [];
  let item: Buffer[] = [];

  return {
    feed(chunk) {
      const items: Buffer[] = [];
      let from = 0;
      for (let at = 0; at < chunk.length; at++) {
        const byte = chunk[at]!;
        if (inString) {
          if (escaped) escaped = false;
          else if (byte === BACKSLASH) escaped = true;
          else if (byte === QUOTE) inString = false;
          if (depth === 1 && inString) key += String.fromCharCode(byte);
        } else if (byte === QUOTE) {
          inString = true;
          if (depth === 1) key = "";
        } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
          depth += 1;
          if (region === "between") {
            region = "item";
            from = at;
          } else if (region === "list" && depth === 2 && byte === OPEN_BRACKET && key === "items") {
            region = "between";
            list.push(Buffer.from(chunk.subarray(from, at + 1)));
          }
        } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
          depth -= 1;
          if (region === "item" && depth === 2) {
            region = "between";
            const last = chunk.subarray(from, at + 1);
            items.push(item.length === 0 ? last : Buffer.concat([...item, last]));
            item = [];
          } else if (region === "between") {
            region = "list";
            from = at;
          }
        }
      }
      if (region === "list") list.push(Buffer.from(chunk.subarray(from)));
      else if (region === "item") item.push(Buffer.from(chunk.subarray(from)));
      return items;
    },
    rest() {
      return JSON.parse(Buffer.concat(list).toString("utf8")) as unknown;
    },
  };
}
