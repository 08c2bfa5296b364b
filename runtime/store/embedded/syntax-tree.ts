/** The engine's own syntax tree, as `EXPLAIN AST` prints it: one node a line, indented by its depth. */

/** A node. `label` is everything after the kind: a function's name, an identifier, a literal. */
export interface SyntaxNode {
  readonly depth: number;
  readonly kind: string;
  readonly label: string;
  readonly parentKind: string;
}

const childrenPattern = / \(children \d+\)$/;
const linePattern = /^( *)([A-Za-z:]+(?: (?:query|EXPLAIN|definition))?)(?: (.*))?$/;

/**
 * Reads the dump. A quoted identifier may hold line breaks and so forge further nodes; it cannot hide one, because the
 * engine prints every node on a line of its own and starts the line itself.
 */
export function parseSyntaxTree(dump: string): readonly SyntaxNode[] {
  const parents: string[] = [];
  const nodes: SyntaxNode[] = [];
  for (const line of dump.split("\n")) {
    if (line === "") continue;
    const found = linePattern.exec(line.replace(childrenPattern, ""));
    if (found === null) {
      nodes.push({ depth: 0, kind: "?", label: line, parentKind: "" });
      continue;
    }
    const depth = found[1]?.length ?? 0;
    const kind = found[2] ?? "";
    nodes.push({ depth, kind, label: found[3] ?? "", parentKind: parents[depth - 1] ?? "" });
    parents.length = depth;
    parents[depth] = kind;
  }
  return nodes;
}
