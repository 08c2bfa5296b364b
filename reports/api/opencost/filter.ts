/** A condition in OpenCost's filter language. */
export type Filter =
  | { readonly op: "and"; readonly of: readonly Filter[] }
  | { readonly op: "or"; readonly of: readonly Filter[] }
  | { readonly op: "not"; readonly of: Filter }
  | ({ readonly op: "test" } & FieldTest);

/** A test of one field. */
export interface FieldTest {
  readonly by: "equals" | "contains" | "starts" | "ends";
  readonly field: string;
  /** `app` for `label[app]`. */
  readonly key: string | undefined;
  readonly value: string;
}

/** The limit of nested parentheses. A filter with more is refused. */
const DEEPEST = 20;

const OPERATORS: Readonly<Record<string, FieldTest["by"]>> = {
  ":": "equals",
  "~:": "contains",
  "<~:": "starts",
  "~>:": "ends",
};

/** A filter that cannot be parsed. The message is a sentence. */
class FilterError extends Error {}

/**
 * Reads a filter in the form of OpenCost's API: `namespace:"a","b"`, `label[app]~:"x"`, joined by `+` (and) or `|` (or), in parentheses
 * where both occur; `!` before an operator negates it. An error names the part that cannot be parsed.
 */
export function readFilter(text: string): { readonly filter: Filter } | { readonly error: string } {
  let at = 0;
  const rest = (): string => text.slice(at);
  const skip = (): void => {
    at += /^\s*/.exec(rest())![0].length;
  };
  const take = (pattern: RegExp, what: string): RegExpExecArray => {
    skip();
    const found = pattern.exec(rest());
    if (found === null) throw new FilterError(`${what} at ${at + 1} of ${JSON.stringify(text)}`);
    at += found[0].length;
    return found;
  };
  const isNext = (character: string): boolean => {
    skip();
    return text[at] === character;
  };

  function expression(depth: number): Filter {
    if (depth > DEEPEST) throw new FilterError(`parentheses nest deeper than ${DEEPEST}`);
    const terms = [term(depth)];
    let joint: string | undefined;
    while (isNext("+") || isNext("|")) {
      const [next] = take(/^[+|]/, "+ or |");
      if (joint !== undefined && next !== joint) throw new FilterError(`+ and | together need parentheses`);
      joint = next;
      terms.push(term(depth));
    }
    return terms.length === 1 ? terms[0]! : { op: joint === "|" ? "or" : "and", of: terms };
  }

  function term(depth: number): Filter {
    if (isNext("(")) {
      at += 1;
      const inner = expression(depth + 1);
      take(/^\)/, "a closing parenthesis is missing");
      return inner;
    }
    const [, field, key] = take(/^([a-zA-Z]+)(?:\[([^\]"]+)\])?/, "a field is missing");
    const [, not, operator] = take(/^(!?)(<~:|~>:|~:|:)/, "an operator such as : or !~: is missing");
    const by = OPERATORS[operator!]!;
    const values = [value()];
    while (isNext(",")) {
      at += 1;
      values.push(value());
    }
    const each = values.map((one): Filter => ({ op: "test", by, field: field!, key, value: one }));
    const any: Filter = each.length === 1 ? each[0]! : { op: "or", of: each };
    return not === "" ? any : { op: "not", of: any };
  }

  function value(): string {
    const [, quoted] = take(/^"((?:\\.|[^"\\])*)"/s, "a value in quotes is missing");
    return quoted!.replaceAll(/\\(.)/gs, "$1");
  }

  try {
    const filter = expression(0);
    skip();
    if (at < text.length) throw new FilterError(`unexpected text at ${at + 1} of ${JSON.stringify(text)}`);
    return { filter };
  } catch (error) {
    if (error instanceof FilterError) return { error: error.message };
    throw error;
  }
}
