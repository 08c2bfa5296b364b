/** Returns true if an object with these labels is selected. */
export type LabelSelector = (labels: Readonly<Record<string, string>>) => boolean;

const SET = /^([\w./-]+)\s+(in|notin)\s*\(([^()]*)\)$/;
const EQUALITY = /^([\w./-]+)\s*(==|=|!=)\s*([\w.-]*)$/;
const EXISTENCE = /^(!?)\s*([\w./-]+)$/;

/**
 * Parses a label selector in the form of the API, `app=web,tier in (a,b),!old`
 * (https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors). An object without the label is "not in".
 * Fails with a `RangeError` if a requirement is invalid.
 */
export function parseLabelSelector(text: string): LabelSelector {
  const tests = splitOutsideBrackets(text).map(testOf);
  return (labels) => tests.every((test) => test(labels));
}

function testOf(term: string): LabelSelector {
  const set = SET.exec(term);
  if (set !== null) {
    const [, key, operator, list] = set;
    const values = new Set(list!.split(",").map((value) => value.trim()));
    return (labels) => {
      const value = labels[key!];
      return operator === "in" ? value !== undefined && values.has(value) : value === undefined || !values.has(value);
    };
  }
  const equality = EQUALITY.exec(term);
  if (equality !== null) {
    const [, key, operator, value] = equality;
    return (labels) => (labels[key!] === value) === (operator !== "!=");
  }
  const existence = EXISTENCE.exec(term);
  if (existence === null) throw new RangeError(`unable to parse requirement: ${JSON.stringify(term)}`);
  const [, not, key] = existence;
  return (labels) => (labels[key!] !== undefined) === (not === "");
}

function splitOutsideBrackets(text: string): string[] {
  return text
    .split(/,(?![^()]*\))/)
    .map((term) => term.trim())
    .filter((term) => term !== "");
}
