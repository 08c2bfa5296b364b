import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/** A static import or export of values, a dynamic import, or a built file in a text. Types are erased, so an import of types is none. */
const NAMED =
  /(?:^|\n)\s*(?:import|export)\s+(?!type\b)(?:[^"';]*?\sfrom\s+)?"(?<fixed>\.[^"]+)"|\bimport\(\s*"(?<late>\.[^"]+)"|["'`](?:\.\.\/)*dist\/(?<built>[\w./-]+)\.js["'`]/g;

/** Returns the files that a file names itself, as paths from the project's folder. A built file is named by its source. */
function namedIn(file: string): readonly string[] {
  return [...readFileSync(file, "utf8").matchAll(NAMED)].flatMap(({ groups }) => {
    const { fixed, late, built } = groups!;
    const paths = built === undefined ? [join(dirname(file), (fixed ?? late)!)] : [`${built}.ts`, `${built}.tsx`];
    return paths.map(normalize).filter((path) => existsSync(path));
  });
}

/** Creates a function that returns all files that a file depends on, itself included: its imports, and the built files that it names. */
export function createClosure(): (file: string) => ReadonlySet<string> {
  const named = new Map<string, readonly string[]>();
  const closures = new Map<string, ReadonlySet<string>>();
  return (file) => {
    const known = closures.get(file);
    if (known !== undefined) return known;
    const found = new Set([file]);
    closures.set(file, found);
    for (const each of found) {
      if (!/\.(?:tsx?|mjs)$/.test(each)) continue;
      if (!named.has(each)) named.set(each, namedIn(each));
      for (const other of named.get(each)!) found.add(other);
    }
    return found;
  };
}
