import { constants } from "node:fs";
import { access, readdir, readFile, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { ListedFile } from "../find/listing.ts";
import { PlaceError, reasonOf, type ExportPlace } from "./place.ts";

/** Returns the exports of a folder and its subfolders. The size and the time of a file are its etag. */
export function folderPlace(folder: string): ExportPlace {
  const attempt = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw new PlaceError(`${folder} cannot be read: ${reasonOf(error)}`, error);
    }
  };
  return {
    list: () =>
      attempt(async () => {
        const entries = await readdir(folder, { recursive: true, withFileTypes: true });
        const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
        const files = await Promise.all(paths.map((path) => fileAt(folder, path)));
        return files.filter((file) => file !== undefined);
      }),
    text: (key) => attempt(() => readFile(join(folder, key), "utf8")),
    open: (key) =>
      attempt(async () => {
        const path = join(folder, key);
        await access(path, constants.R_OK);
        return path;
      }),
  };
}

/** Returns a file of a folder; undefined if it is gone since the folder was read: a program renames a file that it has written. */
async function fileAt(folder: string, path: string): Promise<ListedFile | undefined> {
  try {
    const { size, mtimeMs } = await stat(path);
    const key = relative(folder, path).split(sep).join("/");
    return { key, size, etag: `${size}-${mtimeMs}`, modified: Math.round(mtimeMs) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
