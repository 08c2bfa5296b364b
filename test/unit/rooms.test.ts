import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/folder.ts";

interface Room {
  readonly holds: string;
  readonly imports: readonly string[];
  readonly packages?: boolean;
}

const ROOMS = JSON.parse(readFileSync("scripts/rooms.json", "utf8")) as Readonly<Record<string, Room>>;
const NAMES = Object.keys(ROOMS);
const DEPTHS = ["", "a/", "a/b/"];

const isWithin = (path: string, room: string): boolean => path === room || path.startsWith(`${room}/`);
/** The innermost room of a path. */
const roomOf = (path: string): string | undefined =>
  NAMES.filter((room) => isWithin(path, room)).toSorted((a, b) => b.length - a.length)[0];

/** The files of a folder with imports that the lint refuses, once for each import. */
function refusedIn(folder: string): readonly string[] {
  const linted = spawnSync(resolve("node_modules/.bin/oxlint"), ["--format", "json", "."], { cwd: folder });
  const { diagnostics } = JSON.parse(linted.stdout.toString()) as {
    readonly diagnostics: readonly { readonly code: string; readonly filename: string }[];
  };
  return diagnostics.flatMap(({ code, filename }) => (code.includes("no-restricted-imports") ? [filename] : []));
}

/** True if a file of a room may import from another room, by the table: the allowed rooms, or the room itself and the rooms around it. */
function mayImport(room: string, other: string): boolean {
  const { imports } = ROOMS[room]!;
  if (imports.includes(other) || room === other) return true;
  // A room that may use packages may use the rooms around it, and the rooms within it.
  if (ROOMS[room]!.packages === false) return false;
  return isWithin(other, room) || isWithin(room, other) || imports.some((allowed) => isWithin(other, allowed));
}

/** A module of a room that is in no inner room; undefined if there is none. */
function moduleIn(room: string): string | undefined {
  const files = readdirSync(room, { recursive: true }).map((file) => `${room}/${String(file)}`);
  return files.find((file) => /\.tsx?$/.test(file) && (room === "test" || roomOf(file) === room));
}

describe("the rooms of the program", () => {
  it("are all of its folders", () => {
    const folders = readdirSync(".").filter(
      (name) =>
        statSync(name).isDirectory() &&
        readdirSync(name, { recursive: true }).some((file) => /\.tsx?$/.test(String(file))),
    );
    const others = ["node_modules", "dist", "test"];
    expect(folders.filter((name) => !others.includes(name)).toSorted()).toEqual(
      NAMES.filter((name) => !name.includes("/")).toSorted(),
    );
  });

  it("are in docs/architecture.md, which `npm run generate` writes", () => {
    const rows = readFileSync("docs/architecture.md", "utf8").matchAll(/^\| `([\w/]+)\/` +\| (.*?) +\| (.*?) +\|$/gm);
    const documented = [...rows].map(([, room, holds, imports]) => ({ room, holds, imports }));
    const listed = ({ imports }: Room): string => imports.map((name) => `\`${name}/\``).join(", ") || "itself";
    expect(documented).toEqual(
      NAMES.map((room) => ({ room, holds: ROOMS[room]!.holds, imports: listed(ROOMS[room]!) })),
    );
  });

  it("import only what the table allows, at any depth", () => {
    const folder = temporaryFolder("rooms");
    cpSync(".oxlintrc.json", join(folder, ".oxlintrc.json"));
    const expected: string[] = [];
    for (const room of NAMES)
      for (const depth of DEPTHS)
        for (const other of [...NAMES, "test"]) {
          const target = moduleIn(other);
          if (room === other || target === undefined) continue;
          const file = `${room}/${depth}imports-${other.replaceAll("/", "-")}.ts`;
          const path = join(folder, file);
          mkdirSync(dirname(path), { recursive: true });
          writeFileSync(path, `export * from "${relative(dirname(file), target)}";\n`);
          if (other === "test" ? !ROOMS[room]!.imports.includes("test") : !mayImport(room, other)) expected.push(file);
        }
    expect([...new Set(refusedIn(folder))].toSorted()).toEqual(expected.toSorted());
    expect(expected.length).toBeGreaterThan(300);
  });

  it("of arithmetic import no packages", () => {
    const folder = temporaryFolder("rooms");
    cpSync(".oxlintrc.json", join(folder, ".oxlintrc.json"));
    const expected = NAMES.filter((room) => ROOMS[room]!.packages === false);
    for (const room of NAMES) {
      mkdirSync(join(folder, room), { recursive: true });
      writeFileSync(join(folder, room, "packages.ts"), 'export * from "node:crypto";\nexport * from "zod";\n');
    }
    const refused = refusedIn(folder).map(roomOf);
    expect(new Set(refused)).toEqual(new Set(expected));
    expect(refused).toHaveLength(2 * expected.length);
  });
});
