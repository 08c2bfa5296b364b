import { counted } from "../../domain/counted.ts";
import { verifyClosings, type VerifiedPeriod } from "../../processors/ledger/closing/verify.ts";
import { periodOfArgument } from "../period.ts";
import { CommandError, type CommandContext } from "../context.ts";
import { openStore } from "../store.ts";
import { loadLedgerConfig } from "../ledger-config.ts";

/** The options of `gpu-ledger verify`. */
export interface VerifyOptions {
  readonly config?: string;
  readonly format: "text" | "json";
}

/** Prints the result for each closed period. Fails with a `CommandError` if a period has changed. */
export async function runVerify(
  name: string | undefined,
  options: VerifyOptions,
  context: CommandContext,
): Promise<void> {
  const only = name === undefined ? undefined : periodOfArgument(name);
  const { config } = loadLedgerConfig(options.config, context.env);
  const store = await openStore(config);
  try {
    const periods = await verifyClosings(store, only);
    if (name !== undefined && periods.length === 0) throw new CommandError(`${name} is not closed`);
    context.stdout.write(`${options.format === "json" ? JSON.stringify(periods, null, 2) : verifiedText(periods)}\n`);
    const wrong = periods.filter(({ deviations }) => deviations.length > 0).map(({ period }) => period);
    if (wrong.length > 0) throw new CommandError(`different from the closing: ${wrong.join(", ")}`);
  } finally {
    await store.close();
  }
}

/** Returns closed periods in sentences, with all differences from the closing. */
export function verifiedText(periods: readonly VerifiedPeriod[]): string {
  if (periods.length === 0) return "no period is closed";
  return periods
    .map(({ period, closedBy, closedAt, posted, currency, statements, lines, hash, deviations }) => {
      const what = `${period}, closed by ${closedBy} at ${closedAt}: ${posted} ${currency}, ${counted(statements, "statement")}, ${counted(lines, "line")}`;
      if (deviations.length === 0) return `${what}: as it was closed (${hash})`;
      const each = deviations.map(({ what: name, closed, found }) => `  ${name}: ${found}, and was ${closed}`);
      return [`${what}: not as it was closed`, ...each].join("\n");
    })
    .join("\n");
}
