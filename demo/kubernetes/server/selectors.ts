import { failure } from "./status.ts";
import type { StoredObject } from "./object.ts";

/** Returns true if an object is selected. */
export type Selector = (object: StoredObject) => boolean;

const SET = /^([\w./-]+)\s+(in|notin)\s*\(([^()]*)\)$/;
const EQUALITY = /^([\w./-]+)\s*(==|=|!=)\s*([\w.-]*)$/;
const EXISTENCE = /^(!?)\s*([\w./-]+)$/;

/** Parses a label selector in the form of the API. Fails with a 400 Status if it is invalid. An object without the label is "not in". */
export function parseLabelSelector(text: string): Selector {
  const tests = splitOutsideBrackets(text).map(labelTest);
  return ({ labels }) => tests.every((test) => test(labels));
}

function labelTest(term: string): (labels: Readonly<Record<string, string>>) => boolean {
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
  if (existence === null) {
    throw failure(400, "BadRequest", `unable to parse requirement: ${JSON.stringify(term)}`);
  }
  const [, not, key] = existence;
  return (labels) => (labels[key!] !== undefined) === (not === "");
}

function splitOutsideBrackets(text: string): string[] {
  return text
    .split(/,(?![^()]*\))/)
    .map((term) => term.trim())
    .filter((term) => term !== "");
}

/** Parses a field selector. Fields that the resource does not offer are a 400, as on real servers. */
export function parseFieldSelector(text: string, known: ReadonlySet<string>): Selector {
  const tests = text
    .split(",")
    .filter((term) => term.trim() !== "")
    .map((term) => {
      const match = /^\s*([\w.]+)\s*(==|=|!=)\s*(\S*)\s*$/.exec(term);
      if (match === null) throw failure(400, "BadRequest", `invalid selector: ${JSON.stringify(term)}`);
      const [, field, operator, value] = match;
      if (!known.has(field!)) throw failure(400, "BadRequest", `field label not supported: ${field}`);
      return (object: StoredObject) => (object.field(field!) === value) === (operator !== "!=");
    });
  return (object) => tests.every((test) => test(object));
}
