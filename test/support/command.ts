import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Readable, Writable } from "node:stream";
import type { createProgram as createProgramOfSource } from "../../cli/program.ts";

const ROOT = process.cwd();
/** The program as released, from the build that runs before the integration tests. */
const PROGRAM = resolve("dist/cli/main.js");
/** The longest wait for a program's start. */
const START_MILLIS = 180_000;
/** The longest wait for a program's end. */
const END_MILLIS = 60_000;
const PROGRAM_MODULE = resolve("dist/cli/program.js");

/** The result of a command: its exit code and its output. */
export interface CommandOutcome {
  /** `null` if a signal ended the command. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running command. */
export interface RunningCommand {
  readonly child: ChildProcess;
  readonly processId: number;
  /** Its standard error so far: its log. */
  log(): string;
  /** The address of its status server, from its log. Fails if the command ends first, or takes longer than a loaded machine would. */
  address(): Promise<string>;
  readonly ended: Promise<CommandOutcome>;
  /** Sends a signal and waits for the end. Sends SIGKILL after a minute, so that the exit code of a command that hangs is `null`. */
  end(signal: NodeJS.Signals): Promise<CommandOutcome>;
}

/** A folder for one test: the working directory of commands, their configuration and their data. */
export interface CommandFolder {
  readonly path: string;
  /** Writes a file in the folder and returns its path. An object is written as JSON, which YAML parsers accept. */
  write(name: string, content: string | object): string;
  /**
   * Starts the command; `ownGroup` makes it the leader of a process group, as a terminal does. The variables of `env` are added to those of this
   * process.
   */
  start(
    args: readonly string[],
    options?: { readonly ownGroup?: boolean; readonly env?: Readonly<Record<string, string>> },
  ): RunningCommand;
  /** Runs the command to its end as a process of its own, with a text or bytes on standard input. */
  run(args: readonly string[], input?: string | Uint8Array): Promise<CommandOutcome>;
  /** The same as `run`, but in this process. It saves the time in which a process loads the program. */
  call(args: readonly string[], input?: string | Uint8Array): Promise<CommandOutcome>;
  /** Kills the processes that were started here and still run with SIGKILL, with their process groups, and removes the folder. */
  dispose(): Promise<void>;
}

/** A folder of its own in the system's temporary folder, so that no command touches the repository. Processes run `program`. */
export function createCommandFolder({ program = PROGRAM } = {}): CommandFolder {
  const path = mkdtempSync(join(tmpdir(), "gpu-ledger-command-"));
  /** The commands, each with the process to kill; a negative id is a process group. */
  const started = new Map<RunningCommand, number>();

  const start: CommandFolder["start"] = (args, { ownGroup = false, env = {} } = {}) => {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: path,
      detached: ownGroup,
      stdio: "pipe",
      env: { ...variables(), ...env },
    });
    const printed = { stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => (printed.stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (printed.stderr += text));
    // The command may end without reading its input.
    child.stdin.on("error", () => {});
    const ended = once(child, "close").then(([code]: unknown[]) => ({ code: code as number | null, ...printed }));
    const running: RunningCommand = {
      child,
      processId: child.pid!,
      log: () => printed.stderr,
      async address() {
        const until = performance.now() + START_MILLIS;
        for (;;) {
          const found = /"address":"([^"]+)"/.exec(printed.stderr)?.[1];
          if (found !== undefined) return found;
          if (child.exitCode !== null || performance.now() > until) throw new Error(`no address:\n${printed.stderr}`);
          await new Promise((settle) => setTimeout(settle, 50));
        }
      },
      ended,
      async end(signal) {
        process.kill(ownGroup && signal === "SIGINT" ? -child.pid! : child.pid!, signal);
        const patience = setTimeout(() => child.kill("SIGKILL"), END_MILLIS);
        const outcome = await ended;
        clearTimeout(patience);
        return outcome;
      },
    };
    started.set(running, ownGroup ? -child.pid! : child.pid!);
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
    call: (args, input = "") => callProgram(path, args, input),
    async dispose() {
      for (const [{ child, ended }, target] of started) {
        if (child.exitCode === null && child.signalCode === null) process.kill(target, "SIGKILL");
        await ended;
      }
      rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

/** The variables of commands. Their cache is not that of a person. */
function variables(): NodeJS.ProcessEnv {
  return { ...process.env, XDG_CACHE_HOME: join(tmpdir(), "gpu-ledger-cache") };
}

/** The number of running calls, all in one folder: a process has one working directory. */
let calls = 0;

async function callProgram(
  folder: string,
  args: readonly string[],
  input: string | Uint8Array,
): Promise<CommandOutcome> {
  const { createProgram } = (await import(PROGRAM_MODULE)) as { readonly createProgram: typeof createProgramOfSource };
  const printed = { stdout: "", stderr: "" };
  const listener = (name: keyof typeof printed): Writable =>
    new Writable({
      decodeStrings: false,
      write(chunk: string | Buffer, _encoding, done) {
        printed[name] += String(chunk);
        done();
      },
    });
  const program = createProgram({
    stdout: listener("stdout"),
    stderr: listener("stderr"),
    stdin: Readable.from([Buffer.from(input)]),
    env: variables(),
  });
  if (calls > 0 && process.cwd() !== folder) throw new Error("Commands are called in two folders at once.");
  calls += 1;
  process.chdir(folder);
  try {
    return { code: await program.run(args), ...printed };
  } finally {
    calls -= 1;
    if (calls === 0) process.chdir(ROOT);
  }
}

/** The JSON that an address returns. */
export async function getJson<Value>(url: string): Promise<Value> {
  const answer = await fetch(url);
  return (await answer.json()) as Value;
}
