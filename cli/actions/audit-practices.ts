import { formatAmount } from "../../domain/exact/units.ts";
import type { Finding } from "../../domain/practice/check.ts";
import { whyAddress } from "../../domain/practice/page.ts";
import { OPEN } from "../../reports/access/viewer.ts";
import { findingJson } from "../../domain/practice/finding-json.ts";
import { formatCsv, type CsvCell } from "../../reports/format/csv.ts";
import type { PrintFormat } from "../../reports/format/names.ts";
import { filteredFindings, readPracticeSpends, readPractices } from "../../reports/read/practices.ts";
import type { CommandContext } from "../context.ts";
import { loadLedgerConfig } from "../ledger-config.ts";
import { openLedger } from "../store.ts";
import { renderTable } from "../table.ts";

/** The options of `gpu-ledger audit practices`. */
export interface AuditPracticesOptions {
  readonly config?: string;
  readonly check?: string;
  readonly team?: string;
  readonly format: PrintFormat;
}

interface View {
  readonly at: number;
  readonly days: number;
  readonly currency: string;
  readonly findings: readonly Finding[];
}

/** Prints the findings of the practices. */
export async function runAuditPractices(
  { config: path, check, team, format }: AuditPracticesOptions,
  context: CommandContext,
): Promise<void> {
  const { config } = loadLedgerConfig(path, context.env);
  const { practices } = config;
  const { store, ledger } = await openLedger(config, context);
  try {
    const of = { ledger, practices, viewer: OPEN, now: Date.now() };
    const spends = await readPracticeSpends(store, ledger, OPEN, { now: of.now, days: practices.days });
    const findings = filteredFindings(await readPractices(store, { ...of, spends }), { check, team });
    const view = { at: of.now, days: practices.days, currency: ledger.book.currency, findings };
    context.stdout.write(RENDERERS[format](view));
  } finally {
    await store.close();
  }
}

const RENDERERS: Readonly<Record<PrintFormat, (view: View) => string>> = {
  table: (view) => `${tableText(view)}\n`,
  json: ({ at, findings, ...view }) =>
    `${JSON.stringify({ at: new Date(at).toISOString(), ...view, findings: findings.map(findingJson) }, null, 2)}\n`,
  csv: ({ findings }) => formatCsv([CSV_HEAD.map((text) => ({ verbatim: text })), ...findings.flatMap(csvRows)]),
};

/** The most objects that the table names under a finding. */
const MOST_NAMED = 3;

function tableText({ days, currency, findings }: View): string {
  if (findings.length === 0) return "no findings; only watched clusters have facts";
  const rows = findings.map(({ severity, check, cluster, team, count, atStake, objects }) => [
    severity,
    check,
    cluster,
    team ?? "",
    String(count),
    atStake === undefined ? "" : formatAmount(atStake),
    `${objects
      .slice(0, MOST_NAMED)
      .map(({ kind, namespace, name }) => `${kind} ${namespace === "" ? "" : `${namespace}/`}${name}`)
      .join(", ")}${count > MOST_NAMED ? ", …" : ""}`,
  ]);
  const head = ["severity", "check", "cluster", "team", "objects", `${currency} at stake`, ""];
  const note = `At stake: charges of the last ${days} days for GPUs without work, or for work that an interruption makes worthless. Amounts of different checks overlap.`;
  const fixes = findings.map(
    ({ title, check, cluster, team, fixes: lines }) =>
      `${title} (${team ?? cluster}), see ${whyAddress(check)}\n${lines.join("\n").replaceAll(/^/gm, "  ")}`,
  );
  return [renderTable(head, rows), note, "How to mend the first objects of each finding:", ...fixes].join("\n\n");
}

const CSV_HEAD = ["check", "severity", "cluster", "team", "kind", "namespace", "name", "detail", "atStake", "why"];

/** Returns a row for each named object of a finding. */
function csvRows({ check, severity, cluster, team, objects }: Finding): readonly (readonly CsvCell[])[] {
  return objects.map(({ kind, namespace, name, detail, atStake }) => [
    { text: check },
    { text: severity },
    { text: cluster },
    { text: team ?? "" },
    { text: kind },
    { text: namespace },
    { text: name },
    { text: detail },
    atStake === undefined ? { text: "" } : { number: formatAmount(atStake) },
    { verbatim: whyAddress(check) },
  ]);
}
