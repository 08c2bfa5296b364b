import { Option, type Command } from "commander";
import { CHECK_NAMES } from "../domain/practice/checks.ts";
import { PRINT_FORMATS } from "../reports/format/names.ts";
import type { AuditOptions } from "./actions/audit.ts";
import type { AuditPracticesOptions } from "./actions/audit-practices.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger audit [practices]`: changes to money and tokens, sign-ins, exports and refused tokens, with person, time and reason. */
export function addAudit(program: Command, context: CommandContext): void {
  const audit = program
    .command("audit")
    .description("list the audit trail, or check the practices of the clusters; see docs/practices.md");
  addPractices(audit, context);
  audit
    .command("list", { isDefault: true })
    .description("list changes of money and tokens, sign-ins, exports and refused tokens: who, when, what, why")
    .option("--since <time>", "from a date or time in UTC on")
    .option("--until <time>", "before a date or time in UTC")
    .option("--who <name>", "only entries of a person or token: a name, or a glob such as *@example.com")
    .option("--what <entry>", "only entries of a kind: a name, or a glob such as export* or 'sign*'")
    .option("--config <file>", "the configuration")
    .addOption(new Option("--format <format>", "table or json").choices(["table", "json"]).default("table"))
    .action(async (options: AuditOptions) => (await import("./actions/audit.ts")).runAudit(options, context));
}

/** Adds `gpu-ledger audit practices`: where the watched clusters do not follow a practice, and the money at stake. */
function addPractices(audit: Command, context: CommandContext): void {
  audit
    .command("practices")
    .description("check the practices of the watched clusters: findings with objects, money at stake and fixes")
    .option("--config <file>", "the configuration")
    .addOption(new Option("--check <name>", "only the findings of a check").choices(CHECK_NAMES))
    .option("--team <name>", "only the findings of a team")
    .addOption(new Option("--format <format>", "table, json or csv").choices([...PRINT_FORMATS]).default("table"))
    .action(async (options: AuditPracticesOptions) =>
      (await import("./actions/audit-practices.ts")).runAuditPractices(options, context),
    );
}
