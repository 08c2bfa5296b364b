import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { ChildBus } from "./make.ts";

/** A member of a group in a process of its own. */
export interface ChildMember {
  /** Values of the messages that it has handled. */
  received(): readonly string[];
  /** The number of commits that it has made while it handled messages. */
  commits(): number;
  /** The events of the member: `assigned`, `revoked`, and the code of a commit that failed during a revocation. */
  events(): readonly string[];
  /** SIGSTOP and SIGCONT: a process that is stalled, with everything it holds. */
  stall(): void;
  wake(): void;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
}

/** The options of a member in a process of its own. */
export interface ChildMemberOptions {
  readonly bus: ChildBus;
  readonly group: string;
  readonly topic: string;
  /** The number of handled messages of a partition after which the member commits. */
  readonly commitEvery: number;
}

/** Starts `child-member.mjs`, which runs the built code, and resolves when it has been assigned partitions. */
export async function spawnMember(options: ChildMemberOptions): Promise<ChildMember> {
  const script = new URL("child-member.mjs", import.meta.url);
  const child = spawn(process.execPath, [script.pathname, JSON.stringify(options)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  // A failed test may leave the process stalled.
  process.once("exit", () => child.kill("SIGKILL"));
  const received: string[] = [];
  const events: string[] = [];
  let commits = 0;
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  await new Promise<void>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`The member ended early with ${code}.`)));
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (!line.startsWith("!")) received.push(line);
      else if (line === "!committed") commits += 1;
      else if (events.push(line.slice(1)) === 1) resolve();
    });
  });
  return {
    received: () => received,
    commits: () => commits,
    events: () => events,
    stall: () => void child.kill("SIGSTOP"),
    wake: () => void child.kill("SIGCONT"),
    async kill() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}
