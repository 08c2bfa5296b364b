import type { StoreParameters } from "./store-parameters.ts";

/**
 * The most characters of a piece. A server accepts no form field of more than 131,072 bytes (`http_max_field_value_size`, which a client
 * cannot raise). A character takes at most four bytes: a quote within an array.
 */
const CHARACTERS = 30_000;
const PLACEHOLDER = /\{\s*(\w+)\s*:\s*([^{}]+?)\s*\}/g;

/** A statement with the values of its placeholders. */
export interface Asked {
  readonly sql: string;
  readonly parameters: StoreParameters;
}

/**
 * Returns the same statement with texts and arrays in pieces if they are longer than a server accepts: the names of thousands of nodes or
 * pods. The server joins the pieces before anything else, so that keys and indexes are used as usual.
 */
export function inPieces({ sql, parameters }: Asked): Asked {
  const cut = new Map<string, { readonly join: string; readonly pieces: readonly unknown[] }>();
  for (const [name, value] of Object.entries(parameters)) {
    if (typeof value === "string" && value.length > CHARACTERS)
      cut.set(name, { join: "concat", pieces: piecesOfText(value) });
    else if (Array.isArray(value) && value.length > 1) {
      const pieces = piecesOfArray(value);
      if (pieces.length > 1) cut.set(name, { join: "arrayConcat", pieces });
    }
  }
  if (cut.size === 0) return { sql, parameters };
  const asked: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(parameters)) {
    const pieces = cut.get(name)?.pieces;
    if (pieces === undefined) asked[name] = value;
    else for (const [index, piece] of pieces.entries()) asked[pieceName(name, index)] = piece;
  }
  const joined = sql.replaceAll(PLACEHOLDER, (whole, name: string, type: string) => {
    const found = cut.get(name);
    if (found === undefined) return whole;
    return `${found.join}(${found.pieces.map((_, index) => `{${pieceName(name, index)}:${type}}`).join(", ")})`;
  });
  return { sql: joined, parameters: asked };
}

function pieceName(name: string, index: number): string {
  return `${name}__${index}`;
}

function piecesOfText(text: string): readonly string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    // The two halves of a character outside of the basic plane stay together.
    const isHalved = /[\uD800-\uDBFF]/.test(text[from + CHARACTERS - 1] ?? "");
    const until = from + CHARACTERS - (isHalved ? 1 : 0);
    pieces.push(text.slice(from, until));
    from = until;
  }
  return pieces;
}

function piecesOfArray(array: readonly unknown[]): readonly (readonly unknown[])[] {
  const pieces: unknown[][] = [[]];
  let characters = 0;
  for (const element of array) {
    // 3 more characters: two quotes and a comma.
    const more = (typeof element === "string" ? element.length : JSON.stringify(element).length) + 3;
    if (characters + more > CHARACTERS && characters > 0) {
      pieces.push([]);
      characters = 0;
    }
    pieces.at(-1)!.push(element);
    characters += more;
  }
  return pieces;
}
