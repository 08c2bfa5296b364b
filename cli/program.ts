import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { BusError } from "../runtime/bus/bus.ts";
import { ConfigError } from "../runtime/config/load.ts";
import { StoreError } from "../runtime/store/store-error.ts";
import { ListenError } from "../runtime/telemetry/server.ts";
import { addCollect } from "./collect.ts";
import { CommandError, tell, type CommandContext } from "./context.ts";
import { addCheck } from "./check.ts";
import { addDeadLetter } from "./dead-letter.ts";
import { addGenerate } from "./generate.ts";
import { addInspect } from "./inspect.ts";
import { addMigrate } from "./migrate.ts";
import { addProcess } from "./process.ts";
import { addUp } from "./up.ts";

/** The `gpu-ledger` command: one file per verb, registered here. */
export interface Program {
  /** Runs the arguments and resolves with the exit code: 0, 1 where it did not work, 2 where it was used wrongly. */
  run(args: readonly string[]): Promise<number>;
}

/** The program in a given context. */
export function createProgram(surroundings: Omit<CommandContext, "version">): Program {
  const context: CommandContext = { ...surroundings, version: readVersion() };
  const command = new Command("gpu-ledger")
    .description("Every GPU-second of a fleet, metered, owned, priced and explained.")
    .version(context.version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
    });
  addUp(command, context);
  addCollect(command, context);
  addProcess(command, context);
  addInspect(command, context);
  addCheck(command, context);
  addDeadLetter(command, context);
  addMigrate(command, context);
  addGenerate(command, context);
  return {
    async run(args) {
      try {
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
        // What the outside world refuses is no bug of ours: a sentence says it, and no trace.
        if (error instanceof BusError || error instanceof StoreError || error instanceof ListenError) {
          context.stderr.write(`gpu-ledger: ${tell(error)}\n`);
          return 1;
        }
        throw error;
      }
    },
  };
}

/** The version of the package that this file stands in; the build puts its package.json beside the code. */
function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return version;
}
