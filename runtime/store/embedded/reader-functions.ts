/** Which functions a reader may call, worked out from what the engine says of its functions. */
import { allowedFunctionCategories, allowedOtherFunctions, parserFunctions } from "./reader-allowlist.ts";

/** A row of `system.functions`. */
export interface EngineFunction {
  readonly name: string;
  readonly aggregate: boolean;
  readonly caseInsensitive: boolean;
  /** The function that this is another name for, or nothing. */
  readonly aliasTo: string;
  readonly category: string;
}

/** The answer for a name as it stands in a statement. */
export interface FunctionPolicy {
  /** Whether the name may be called. Unknown names may not. */
  mayCall(name: string): boolean;
  /** Whether a plain identifier of this name would stand for a forbidden function, as in `arrayMap(file, …)`. */
  isForbiddenFunction(name: string): boolean;
}

/** Makes the policy. `combinators` are those of aggregate functions, `If` and `State` for instance. */
export function createFunctionPolicy(
  functions: readonly EngineFunction[],
  combinators: readonly string[],
): FunctionPolicy {
  const byName = new Map(functions.map((one) => [one.name, one]));
  const allowed = new Set<string>(parserFunctions);
  const allowedFolded = new Set<string>();
  const forbiddenFolded = new Set<string>();
  const aggregates = new Set<string>();
  const aggregatesFolded = new Set<string>();
  for (const one of functions) {
    const meant = one.aliasTo === "" ? one : (byName.get(one.aliasTo) ?? one);
    if (meant.aggregate) {
      aggregates.add(one.name);
      if (one.caseInsensitive) aggregatesFolded.add(one.name.toLowerCase());
    } else if (allowedFunctionCategories.has(meant.category) || allowedOtherFunctions.has(meant.name)) {
      allowed.add(one.name);
      if (one.caseInsensitive) allowedFolded.add(one.name.toLowerCase());
    } else {
      forbiddenFolded.add(one.name.toLowerCase());
    }
  }
  const isAggregate = (name: string): boolean => {
    if (aggregates.has(name) || aggregatesFolded.has(name.toLowerCase())) return true;
    return combinators.some(
      (suffix) => name.length > suffix.length && name.endsWith(suffix) && isAggregate(name.slice(0, -suffix.length)),
    );
  };
  return {
    mayCall: (name) => allowed.has(name) || allowedFolded.has(name.toLowerCase()) || isAggregate(name),
    isForbiddenFunction: (name) => forbiddenFolded.has(name.toLowerCase()),
  };
}
