import { instantOf, INSTANT_FORM } from "../../domain/price/instant.ts";
import { readAudit } from "../../processors/ledger/closing/audit.ts";
import { CommandError, type CommandContext } from "../context.ts";
import { openStore } from "../store.ts";
import { renderTable } from "../table.ts";
import { loadLedgerConfig } from "../ledger-config.ts";

/** The options of `gpu-ledger audit list`. */
export interface AuditOptions {
  readonly config?: string;
  readonly since?: string;
  readonly until?: string;
  readonly who?: string;
  readonly what?: string;
  readonly format: "table" | "json";
}

/** Prints the audit trail. */
export async function runAudit(
  { config: path, since, until, who, what, format }: AuditOptions,
  context: CommandContext,
): Promise<void> {
  const from = since === undefined ? undefined : momentOf("--since", since);
  const before = until === undefined ? undefined : momentOf("--until", until);
  const { config } = loadLedgerConfig(path, context.env);
  const store = await openStore(config);
  try {
    const entries = await readAudit(store, { from, until: before, who, what });
    const rows = entries.map(({ at, who, what, subject, why }) => [at, who, what, subject, why]);
    const text =
      format === "json" ? JSON.stringify(entries, null, 2) : renderTable(["when", "who", "what", "of", "why"], rows);
    context.stdout.write(`${entries.length === 0 && format === "table" ? "no entries" : text}\n`);
  } finally {
    await store.close();
  }
}

function momentOf(option: string, text: string): number {
  const moment = instantOf(text);
  if (moment === undefined) throw new CommandError(`${option} ${text}: must be ${INSTANT_FORM}`, 2);
  return moment;
}
