/** A folder of small files as one file, which is complete or not there. */
import { createHash, randomUUID } from "node:crypto";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";

/** The content of a folder. Paths are relative to the folder, and a folder stands before its content. */
interface FolderContent {
  readonly folders: string[];
  /** Symbolic links with their targets. */
  readonly links: [path: string, target: string][];
  /** Files with their bytes in Base64. */
  readonly files: [path: string, base64: string][];
}

/**
 * Writes the content of a folder into a file for its owner alone, without the folders of `without`, which are absolute paths. The file gets its
 * name when it is complete, so that two processes may write the same file. Fails with an error of the file system.
 */
export function packFolder(folder: string, file: string, without: ReadonlySet<string>): void {
  const content: FolderContent = { folders: [], links: [], files: [] };
  collect(folder, folder, without, content);
  const text = JSON.stringify(content);
  const unfinished = `${file}.${randomUUID()}`;
  try {
    writeFileSync(unfinished, `${digestOf(text)}\n${text}`, { mode: 0o600 });
    renameSync(unfinished, file);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

function collect(folder: string, root: string, without: ReadonlySet<string>, content: FolderContent): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const name = relative(root, path);
    if (entry.isSymbolicLink()) content.links.push([name, readlinkSync(path)]);
    else if (entry.isFile()) content.files.push([name, readFileSync(path).toString("base64")]);
    else if (entry.isDirectory() && !without.has(path)) {
      content.folders.push(name);
      collect(path, root, without, content);
    }
  }
}

/**
 * Writes the content of a file of {@link packFolder} into a new folder. Returns false if there is no such file, if the file is not this user's,
 * or if its bytes have changed. Fails with an error of the file system if the folder cannot be written.
 */
export function unpackFolder(file: string, folder: string): boolean {
  const content = readContent(file);
  if (content === undefined) return false;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of content.folders) mkdirSync(join(folder, name), { mode: 0o700 });
  for (const [name, target] of content.links) symlinkSync(target, join(folder, name));
  for (const [name, base64] of content.files)
    writeFileSync(join(folder, name), Buffer.from(base64, "base64"), { mode: 0o600 });
  return true;
}

function readContent(file: string): FolderContent | undefined {
  let packed: string;
  try {
    // The paths in another user's file could lead out of the folder.
    if (statSync(file).uid !== process.getuid?.()) return undefined;
    packed = readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
  const end = packed.indexOf("\n");
  const text = packed.slice(end + 1);
  return packed.slice(0, end) === digestOf(text) ? (JSON.parse(text) as FolderContent) : undefined;
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
