/**
 * Returns the cells of a JSON object: `{"service":{"id":"6F81"},"cost":1e-7}` has `service.id` and `cost`. A number keeps its text, because
 * a double can have fewer digits than an amount. A list is one cell with its JSON text. Null has no cell. Undefined if the text is no object.
 */
export function jsonCells(text: string): Map<string, string> | undefined {
  const scanner = new Scanner(text);
  const cells = new Map<string, string>();
  return scanner.object("", cells) && scanner.isAtEnd() ? cells : undefined;
}

const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y;
const STRING = /"(?:[^"\\]|\\.)*"/y;
const BLANKS = /[\s]*/y;

/** A place in a JSON text. Each method takes a part of the text, and returns false or undefined if another part stands there. */
class Scanner {
  private at = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  isAtEnd(): boolean {
    this.take(BLANKS);
    return this.at === this.text.length;
  }

  /** Takes an object, and adds its cells with the path before their names. */
  object(path: string, cells: Map<string, string>): boolean {
    if (!this.sign("{")) return false;
    if (this.sign("}")) return true;
    do {
      const key = this.string();
      if (key === undefined || !this.sign(":")) return false;
      if (!this.value(path === "" ? key : `${path}.${key}`, cells)) return false;
    } while (this.sign(","));
    return this.sign("}");
  }

  private value(path: string, cells: Map<string, string>): boolean {
    this.take(BLANKS);
    const first = this.text[this.at];
    if (first === "{") return this.object(path, cells);
    if (first === "[") {
      const from = this.at;
      if (!this.list()) return false;
      cells.set(path, this.text.slice(from, this.at));
      return true;
    }
    const value = first === '"' ? this.string() : this.take(SCALAR);
    if (value !== undefined && (first === '"' || value !== "null")) cells.set(path, value);
    return value !== undefined;
  }

  private list(): boolean {
    if (!this.sign("[")) return false;
    if (this.sign("]")) return true;
    const unused = new Map<string, string>();
    do {
      if (!this.value("", unused)) return false;
    } while (this.sign(","));
    return this.sign("]");
  }

  private string(): string | undefined {
    this.take(BLANKS);
    const quoted = this.take(STRING);
    if (quoted === undefined) return undefined;
    try {
      return quoted.includes("\\") ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
    } catch {
      return undefined;
    }
  }

  private sign(sign: string): boolean {
    this.take(BLANKS);
    if (this.text[this.at] !== sign) return false;
    this.at += 1;
    return true;
  }

  private take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match === null) return undefined;
    this.at = pattern.lastIndex;
    return match[0];
  }
}
