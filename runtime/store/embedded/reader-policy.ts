/** The check of a reader's statement: by the engine's own syntax tree, everything that is not allowed is refused. */
import { FaceError } from "./face-error.ts";
import type { FunctionPolicy } from "./reader-functions.ts";
import {
  allowedExplains,
  allowedNodeKinds,
  allowedSystemTables,
  allowedTableFunctions,
  forbiddenTables,
} from "./reader-allowlist.ts";
import { parseSyntaxTree } from "./syntax-tree.ts";
import type { SyntaxNode } from "./syntax-tree.ts";

/**
 * Passes a statement of which `EXPLAIN AST` printed `dump`, or fails with 497 ACCESS_DENIED and says what is in the way.
 * The tree shows subqueries, CTEs, lambdas and window definitions in full. What it hides is refused as a whole: the
 * `APPLY` of a column matcher, and the conditions of `SHOW`.
 */
export function checkReaderStatement(sql: string, dump: string, functions: FunctionPolicy): void {
  const tree = parseSyntaxTree(dump);
  if (tree[0]?.kind.startsWith("Show") === true && !isPlainShow(sql)) {
    throw new FaceError(497, "reader: Not enough privileges: SHOW is for readers without WHERE and expressions");
  }
  for (const node of tree) {
    // A subquery's SETTINGS pass unchecked by `readonly`, and would lift every limit.
    if (node.kind === "Set" && !node.parentKind.startsWith("Explain")) {
      throw new FaceError(164, "Cannot modify settings in readonly mode: leave out SETTINGS");
    }
    const objection = objectionTo(node, functions);
    if (objection !== undefined) throw new FaceError(497, `reader: Not enough privileges: ${objection}`);
  }
}

/** No parenthesis, so no call and no subquery; and no condition, which could name a table behind `IN`. */
function isPlainShow(sql: string): boolean {
  return /^[\w\s.,;'"`%*-]*$/.test(sql) && !/where/i.test(sql);
}

function objectionTo(node: SyntaxNode, functions: FunctionPolicy): string | undefined {
  if (!allowedNodeKinds.has(node.kind)) return `${node.kind} ${node.label} is not among the statements of a reader`;
  switch (node.kind) {
    case "Explain EXPLAIN":
      return allowedExplains.has(node.label) ? undefined : `EXPLAIN ${node.label} is not for readers`;
    case "Literal":
      // A query's own literals are the file, its compression and the level of INTO OUTFILE.
      return node.depth === 1 ? "INTO OUTFILE writes to this machine" : undefined;
    case "Function":
      return node.parentKind === "TableExpression"
        ? objectionToTableFunction(nameOf(node))
        : objectionToFunction(nameOf(node), functions);
    case "Identifier":
      return objectionToName(nameOf(node)) ?? objectionToBareName(nameOf(node), functions);
    case "TableIdentifier":
      return objectionToName(nameOf(node));
    default:
      return undefined;
  }
}

/** The label without the alias that the tree prints behind it. */
function nameOf(node: SyntaxNode): string {
  const alias = node.label.lastIndexOf(" (alias ");
  return alias < 0 ? node.label : node.label.slice(0, alias);
}

function objectionToTableFunction(name: string): string | undefined {
  // A name with a dot is a parametrised view; no table function has one.
  if (name.includes(".")) return objectionToName(name);
  return allowedTableFunctions.has(name) ? undefined : `the table function ${name} is not for readers`;
}

function objectionToFunction(name: string, functions: FunctionPolicy): string | undefined {
  return functions.mayCall(name) ? undefined : `the function ${name} is not for readers`;
}

/** A bare name can be a function too, as in `arrayMap(file, paths)`. */
function objectionToBareName(name: string, functions: FunctionPolicy): string | undefined {
  return functions.isForbiddenFunction(name) ? `${name} is the name of a function that is not for readers` : undefined;
}

function objectionToName(name: string): string | undefined {
  const [database = "", table] = name.split(".");
  if (forbiddenTables.has(table ?? database)) return `${name} is not for readers`;
  if (database !== "system" || table === undefined) return undefined;
  return allowedSystemTables.has(table) ? undefined : `${name} is not for readers`;
}

/** Fails with 497 for a database that a reader must not make its own. */
export function checkReaderDatabase(database: string): void {
  if (database === "system") {
    throw new FaceError(497, "reader: Not enough privileges: name the tables of system in full (system.tables)");
  }
}
