import type { Readable, Writable } from "node:stream";

/** The environment of a command. Tests can replace it. */
export interface CommandContext {
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable;
  readonly stdin: Readable;
  readonly env: NodeJS.ProcessEnv;
  readonly version: string;
}

/** Returns a failure as a sentence, with its cause if the sentence does not contain it. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  return cause instanceof Error && !message.includes(cause.message) ? `${message} (${cause.message})` : message;
}

/** A failure that is printed as a sentence, with its exit code: 1 for a failed command, 2 for wrong use. */
export class CommandError extends Error {
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.name = "CommandError";
    this.exitCode = exitCode;
  }
}

/** Returns the value of an argument. If the argument is wrong, fails with the argument's name and its error. */
export function orWrongUse<Value extends object>(argument: string, read: Value | { readonly error: string }): Value {
  if ("error" in read) throw new CommandError(`${argument}: ${read.error}`, 2);
  return read;
}
