import type { Readable, Writable } from "node:stream";

/** What a command needs of its surroundings, so that tests can give it others. */
export interface CommandContext {
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable;
  readonly stdin: Readable;
  readonly env: NodeJS.ProcessEnv;
  readonly version: string;
}

/** A failure in a sentence, with its cause where the sentence does not say it already. */
export function tell(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  return cause instanceof Error && !message.includes(cause.message) ? `${message} (${cause.message})` : message;
}

/** A failure that a person is told in a sentence, with the exit code that goes with it: 1 it did not work, 2 wrong use. */
export class CommandError extends Error {
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.name = "CommandError";
    this.exitCode = exitCode;
  }
}

/** What was read of an argument. Fails with its sentence, and which argument it was, where that was used wrongly. */
export function orWrongUse<Value extends object>(argument: string, read: Value | { readonly error: string }): Value {
  if ("error" in read) throw new CommandError(`${argument}: ${read.error}`, 2);
  return read;
}
