import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { BackupError } from "../processors/ledger/backup/backup-error.ts";
import { AccessError } from "../reports/access/mode.ts";
import { BusError } from "../runtime/bus/bus.ts";
import { ConfigError } from "../runtime/config/config-error.ts";
import { StoreError } from "../runtime/store/store-error.ts";
import { FolderError } from "../runtime/private-folder.ts";
import { ListenError } from "../runtime/http/listen-error.ts";
import { PlainHttpError, TlsError } from "../runtime/tls/tls-error.ts";
import { CommandError, errorText, type CommandContext } from "./context.ts";
import { readableStream } from "./readable-stream.ts";

type AddCommand = (program: Command, context: CommandContext) => void;

/**
 * The verbs in the order of the help. A verb's file declares its arguments and options. It loads the file in `actions/`, with all that
 * the verb needs, when the verb runs: a help or a mistake is answered without them.
 */
const VERBS: readonly (readonly [verb: string, load: () => Promise<AddCommand>])[] = [
  ["up", async () => (await import("./up.ts")).addUp],
  ["collect", async () => (await import("./collect.ts")).addCollect],
  ["process", async () => (await import("./process.ts")).addProcess],
  ["serve", async () => (await import("./serve.ts")).addServe],
  ["demo", async () => (await import("./demo.ts")).addDemo],
  ["inspect", async () => (await import("./inspect.ts")).addInspect],
  ["snapshot", async () => (await import("./snapshot.ts")).addSnapshot],
  ["import", async () => (await import("./import.ts")).addImport],
  ["check", async () => (await import("./check.ts")).addCheck],
  ["scenario", async () => (await import("./scenario.ts")).addScenario],
  ["prices", async () => (await import("./prices.ts")).addPrices],
  ["invoices", async () => (await import("./invoices.ts")).addInvoices],
  ["explain", async () => (await import("./explain.ts")).addExplain],
  ["owners", async () => (await import("./owners.ts")).addOwners],
  ["report", async () => (await import("./report.ts")).addReport],
  ["change", async () => (await import("./change.ts")).addChange],
  ["serving", async () => (await import("./serving.ts")).addServing],
  ["focus", async () => (await import("./focus.ts")).addFocusDatasets],
  ["runs", async () => (await import("./runs.ts")).addRuns],
  ["advise", async () => (await import("./advise.ts")).addAdvise],
  ["act", async () => (await import("./act.ts")).addAct],
  ["bill", async () => (await import("./bill.ts")).addBill],
  ["close", async () => (await import("./close.ts")).addClose],
  ["statement", async () => (await import("./statement.ts")).addStatement],
  ["remeter", async () => (await import("./remeter.ts")).addRemeter],
  ["verify", async () => (await import("./verify.ts")).addVerify],
  ["audit", async () => (await import("./audit.ts")).addAudit],
  ["token", async () => (await import("./token.ts")).addToken],
  ["deliveries", async () => (await import("./deliveries.ts")).addDeliveries],
  ["dead-letter", async () => (await import("./dead-letter.ts")).addDeadLetter],
  ["backup", async () => (await import("./backup.ts")).addBackup],
  ["restore", async () => (await import("./restore.ts")).addRestore],
  ["migrate", async () => (await import("./migrate.ts")).addMigrate],
  ["generate", async () => (await import("./generate.ts")).addGenerate],
  ["completion", async () => (await import("./completion.ts")).addCompletion],
];
/** A verb that reads the declarations of all others. */
const OF_ALL = "completion";

/** Errors that come from outside of the program. */
const OUTSIDE = [AccessError, BackupError, BusError, FolderError, ListenError, PlainHttpError, StoreError, TlsError];

/** The `gpu-ledger` command, with one file for each verb. */
export interface Program {
  /** Runs the arguments. Resolves with the exit code: 0, 1 for a failure, 2 for wrong use. */
  run(args: readonly string[]): Promise<number>;
}

/** Creates the program in a given context. */
export function createProgram(surroundings: Omit<CommandContext, "version">): Program {
  const { stdout, stderr } = surroundings;
  const context: CommandContext = {
    ...surroundings,
    stdout: readableStream(stdout),
    stderr: readableStream(stderr),
    version: readVersion(),
  };
  const command = new Command("gpu-ledger")
    .description("Every GPU-second of a fleet, metered, owned, priced and explained.")
    .version(context.version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
    });
  return {
    async run(args) {
      try {
        const asked = VERBS.filter(([verb]) => verb === args[0] && verb !== OF_ALL);
        for (const [, load] of asked.length > 0 ? asked : VERBS) (await load())(command, context);
        await command.parseAsync([...args], { from: "user" });
        return 0;
      } catch (error) {
        if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
        if (error instanceof ConfigError) {
          context.stderr.write(`${error.message}\n`);
          return 2;
        }
        if (error instanceof CommandError) {
          context.stderr.write(`gpu-ledger: ${error.message}\n`);
          return error.exitCode;
        }
        // An error from outside is not a bug: it is printed as a sentence without a stack trace.
        if (OUTSIDE.some((kind) => error instanceof kind)) {
          context.stderr.write(`gpu-ledger: ${errorText(error)}\n`);
          return 1;
        }
        throw error;
      }
    },
  };
}

/** Returns the version of this file's package. The build puts its package.json beside the code. */
function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return version;
}
