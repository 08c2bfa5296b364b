import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CommandError, errorText, type CommandContext } from "./context.ts";

/**
 * Writes to standard output at the speed of its reader, or to a file, which appears under its name when it is complete. Fails like the
 * parts, and with a `CommandError` if the file cannot be written.
 */
export async function writeOut(
  { stdout }: Pick<CommandContext, "stdout">,
  file: string | undefined,
  parts: AsyncIterable<Uint8Array> | Iterable<string | Uint8Array>,
): Promise<void> {
  if (file === undefined) {
    await pipeline(Readable.from(parts), stdout, { end: false });
    return;
  }
  const unfinished = `${file}.unfinished`;
  try {
    await pipeline(Readable.from(parts), createWriteStream(unfinished));
    await rename(unfinished, file);
  } catch (error) {
    // If nothing could be written, the file or its folder may not exist.
    await rm(unfinished, { force: true }).catch(() => {});
    // Errors of the file system become a `CommandError`. The parts' own failures are of other kinds.
    const isOfFile = error instanceof Error && "syscall" in error;
    throw isOfFile ? new CommandError(`${file} cannot be written: ${errorText(error)}`) : error;
  }
}
