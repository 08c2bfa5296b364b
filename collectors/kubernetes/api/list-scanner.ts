const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** Cuts a list as it arrives into its items, each as JSON by itself. */
export interface ListScanner {
  /** Takes the next bytes and gives the items that they complete; a view into the chunk is valid as long as the chunk. */
  feed(chunk: Buffer): readonly Buffer[];
  /** The list with no items in it: kind, resourceVersion, continue. Throws a `SyntaxError` where it did not end. */
  rest(): unknown;
}

/**
 * A scanner of one `…List` in JSON. It follows strings and depth only, so that a list of 450 MB passes through without
 * being held: what it keeps is the item under way and the few bytes around the items. Whether an item is valid JSON is
 * found out by whoever parses it.
 */
export function createListScanner(): ListScanner {
  let depth = 0;
  let inString = false;
  let escaped = false;
  /** Whether the bytes at hand are the list's own, those between two items, or an item's. */
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
