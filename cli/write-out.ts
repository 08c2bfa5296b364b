import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CommandError, tell, type CommandContext } from "./context.ts";

/**
 * Writes to standard output, as fast as that is read, or to a file, which appears under its name when it is whole. Fails as the parts
 * do, and with a `CommandError` where the file can't be written.
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
    // Where nothing could be written there may be nothing to remove, nor a folder that it could be in.
    await rm(unfinished, { force: true }).catch(() => {});
    // What the file system refuses is told so; the parts' own failures are of other kinds.
    const isOfFile = error instanceof Error && "syscall" in error;
    throw isOfFile ? new CommandError(`${file} cannot be written: ${tell(error)}`) : error;
  }
}
