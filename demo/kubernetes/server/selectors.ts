import {
  parseLabelSelector as parseSelector,
  type LabelSelector,
} from "../../../collectors/kubernetes/api/label-selector.ts";
import { failure } from "./status.ts";
import type { StoredObject } from "./object.ts";

/** Returns true if an object is selected. */
export type Selector = (object: StoredObject) => boolean;

/** Parses a label selector in the form of the API. Fails with a 400 Status if it is invalid. */
export function parseLabelSelector(text: string): Selector {
  const selects = parsed(text);
  return ({ labels }) => selects(labels);
}

function parsed(text: string): LabelSelector {
  try {
    return parseSelector(text);
  } catch (error) {
    throw failure(400, "BadRequest", (error as RangeError).message);
  }
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
