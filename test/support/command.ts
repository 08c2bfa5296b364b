import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** The program as it is shipped, from the build that runs before the integration tests. */
const PROGRAM = resolve("dist/cli/main.js");

/** How a command ended, and what it said. */
export interface CommandOutcome {
  /** `null` where a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that runs. */
export interface RunningCommand {
  readonly child: ChildProcess;
  readonly processId: number;
  /** What it has said on standard error so far: its log. */
  log(): string;
  /** The address of its status server, from its log; fails where it ends before, or takes longer than given. */
  address(timeoutMillis: number): Promise<string>;
  readonly ended: Promise<CommandOutcome>;
  /** Sends a signal and waits for the end; gives also how long that took. SIGKILL after 20 s, which is no good end. */
  end(signal: NodeJS.Signals): Promise<CommandOutcome & { readonly millis: number }>;
}

/** A folder for one test: the working directory of commands, their configuration and their data. */
export interface CommandFolder {
  readonly path: string;
  /** Writes a file of the folder and gives its path; what is no text is written as JSON, which YAML reads too. */
  write(name: string, content: string | object): string;
  /**
   * Starts the command; `ownGroup` makes it the leader of a process group, as a terminal does. Variables of `env` stand
   * beside this process's own.
   */
  start(
    args: readonly string[],
    options?: { readonly ownGroup?: boolean; readonly env?: Readonly<Record<string, string>> },
  ): RunningCommand;
  /** Runs the command to its end, with a text or bytes on standard input. */
  run(args: readonly string[], input?: string | Uint8Array): Promise<CommandOutcome>;
  /** Ends with SIGKILL what was started here and still runs, and removes the folder. */
  dispose(): Promise<void>;
}

/** A folder of its own under the system's temporary one, so that no command touches the repository. */
export function createCommandFolder(): CommandFolder {
  const path = mkdtempSync(join(tmpdir(), "gpu-ledger-command-"));
  const started: RunningCommand[] = [];

  const start: CommandFolder["start"] = (args, { ownGroup = false, env = {} } = {}) => {
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      cwd: path,
      detached: ownGroup,
      stdio: "pipe",
      env: { ...process.env, ...env },
    });
    const said = { stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => (said.stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said.stderr += text));
    // Whether the command reads its input is its own affair.
    child.stdin.on("error", () => {});
    const ended = once(child, "close").then(([code]: unknown[]) => ({ code: code as number | null, ...said }));
    const running: RunningCommand = {
      child,
      processId: child.pid!,
      log: () => said.stderr,
      async address(timeoutMillis) {
        const until = performance.now() + timeoutMillis;
        for (;;) {
          const found = /"address":"([^"]+)"/.exec(said.stderr)?.[1];
          if (found !== undefined) return found;
          if (child.exitCode !== null || performance.now() > until) throw new Error(`no address:\n${said.stderr}`);
          await new Promise((settle) => setTimeout(settle, 50));
        }
      },
      ended,
      async end(signal) {
        const asked = performance.now();
        process.kill(ownGroup && signal === "SIGINT" ? -child.pid! : child.pid!, signal);
        const patience = setTimeout(() => child.kill("SIGKILL"), 20_000);
        const outcome = await ended;
        clearTimeout(patience);
        return { ...outcome, millis: performance.now() - asked };
      },
    };
    started.push(running);
    return running;
  };

  return {
    path,
    write(name, content) {
      const file = join(path, name);
      writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
      return file;
    },
    start,
    run(args, input = "") {
      const running = start(args);
      running.child.stdin?.end(input);
      return running.ended;
    },
    async dispose() {
      for (const { child, ended } of started) {
        if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
        await ended;
      }
      rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

/** The JSON that an address answers with. */
export async function getJson<Value>(url: string): Promise<Value> {
  const answer = await fetch(url);
  return (await answer.json()) as Value;
}
