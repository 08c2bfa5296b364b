import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { ListedFile } from "../find/listing.ts";
import { PlaceError, type ExportPlace } from "./place.ts";

/** Returns the exports of a folder and its subfolders. The size and the time of a file are its etag. */
export function folderPlace(folder: string): ExportPlace {
  const attempt = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw new PlaceError(
        `${folder} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
        error,
      );
    }
  };
  return {
    list: () =>
      attempt(async () => {
        const entries = await readdir(folder, { recursive: true, withFileTypes: true });
        const files = entries.filter((entry) => entry.isFile());
        return Promise.all(
          files.map(async ({ parentPath, name }): Promise<ListedFile> => {
            const path = join(parentPath, name);
            const { size, mtimeMs } = await stat(path);
            const key = relative(folder, path).split(sep).join("/");
            return { key, size, etag: `${size}-${mtimeMs}`, modified: Math.round(mtimeMs) };
          }),
        );
      }),
    text: (key) => attempt(() => readFile(join(folder, key), "utf8")),
    open: (key) => Promise.resolve(join(folder, key)),
  };
}
