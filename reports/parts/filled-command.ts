/** The names in commands of runbooks by the words that stand for them, such as NODE. An empty name is unknown. */
export type CommandNames = Readonly<Record<string, string>>;

/**
 * Returns a command or a query with names in the place of their words. Names come from labels of alerts, which tenants choose: in a command of
 * the shell a name is quoted as its place needs it, in a query of PromQL it is escaped. A word without a name stays, and so does a label that
 * has the name of a word. `language` is that of the code, `promql` or `sh`; undefined for code within a sentence.
 */
export function filledCommand(code: string, language: string | undefined, names: CommandNames): string {
  if (/^\w+$/.test(code)) return code;
  const isQuery = language === "promql" || (language === undefined && /[{(]/.test(code));
  return isQuery ? filledQuery(code, names) : filledShell(code, names);
}

function filledQuery(code: string, names: CommandNames): string {
  return code.replaceAll(/"([A-Z]+)"/g, (text, word: string) => {
    const name = nameOf(names, word);
    return name === undefined ? text : JSON.stringify(name);
  });
}

/** An escaped character, a quote, or a word that can stand for a name: no label and no head of a column. */
const PARTS = /\\.|['"]|(?<!\w)[A-Z]+(?![\w=]|:\.)/g;

function filledShell(code: string, names: CommandNames): string {
  let quote = "";
  return code.replaceAll(PARTS, (part) => {
    if (part === "'" || part === '"') {
      if (quote === "") quote = part;
      else if (quote === part) quote = "";
      return part;
    }
    const name = nameOf(names, part);
    if (name === undefined) return part;
    // The quotes around the place end before the name and begin again after it.
    return PLAIN.test(name) ? name : `${quote}${inShell(name)}${quote}`;
  });
}

/** Names that the shell takes as they are. Those of Kubernetes are. */
const PLAIN = /^[\w.:@%+,/-]+$/;

/** Returns a name in single quotes, in which the shell takes every other character as it is. */
function inShell(name: string): string {
  return `'${name.replaceAll("'", String.raw`'\''`)}'`;
}

function nameOf(names: CommandNames, word: string): string | undefined {
  const name = Object.hasOwn(names, word) ? names[word] : undefined;
  return name === "" ? undefined : name;
}
