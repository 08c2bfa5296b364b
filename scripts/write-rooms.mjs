// Writes the files that follow from the table of rooms (rooms.json): the lint's rules for imports, and the table in docs/architecture.md.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

const rooms = JSON.parse(readFileSync("scripts/rooms.json", "utf8"));
const names = Object.keys(rooms);
const LINT = ".oxlintrc.json";
const PAGE = "docs/architecture.md";
const [BEGIN, END] = ["<!-- rooms: written by npm run generate -->", "<!-- end of rooms -->"];

/** Returns the rooms beside a room: within the same room, or at the top. */
const beside = (room) => {
  const within = room.split("/").slice(0, -1).join("/");
  return names.filter((name) => name.split("/").slice(0, -1).join("/") === within);
};

/** Returns the folder names that a room may not import from: at the top, and within each room around it. */
function refused(room) {
  const { imports } = rooms[room];
  const parts = room.split("/");
  const levels = parts.map((_, depth) => parts.slice(0, depth + 1).join("/"));
  return levels.flatMap((level) =>
    [...beside(level), ...(level.includes("/") ? [] : ["test"])].filter((other) => {
      const isOwn = room === other || room.startsWith(`${other}/`);
      return !isOwn && !imports.includes(other);
    }),
  );
}

/** Returns the folders and files beside a room and beside each room around it. A room of arithmetic may not use those that are not rooms. */
function surroundings(room) {
  const parts = room.split("/");
  return parts.slice(1).flatMap((_, depth) => {
    const around = parts.slice(0, depth + 1).join("/");
    const own = parts[depth + 1];
    return readdirSync(around).flatMap((name) => (name === own ? [] : name.replace(/\.tsx?$/, "")));
  });
}

function ruleOf(room) {
  const { imports, packages = true } = rooms[room];
  const allowed = imports.length === 0 ? "itself alone" : imports.map((name) => `${name}/`).join(", ");
  const message = `${room}/ imports ${allowed}: scripts/rooms.json`;
  const places = new Set([
    ...refused(room).map((name) => name.split("/").at(-1)),
    ...(packages ? [] : surroundings(room)),
  ]);
  const patterns = [{ regex: `^(\\.\\./)+(${[...places].join("|")})(/|\\.ts)`, message }];
  if (!packages) patterns.push({ regex: "^[^.]", message });
  return { files: [`${room}/**`], rules: { "no-restricted-imports": ["error", { patterns }] } };
}

const lint = JSON.parse(readFileSync(LINT, "utf8"));
const others = lint.overrides.filter(({ rules }) => rules["no-restricted-imports"] === undefined);
lint.overrides = [...names.filter((room) => refused(room).length > 0).map(ruleOf), ...others];
writeFileSync(LINT, `${JSON.stringify(lint, null, 2)}\n`);

const rows = names.map((room) => {
  const { holds, imports } = rooms[room];
  return `| \`${room}/\` | ${holds} | ${imports.map((name) => `\`${name}/\``).join(", ") || "itself"} |`;
});
const table = ["| room | contents      | what it imports |", "| --- | --- | --- |", ...rows].join("\n");
const page = readFileSync(PAGE, "utf8");
const [before, after] = [page.split(BEGIN)[0], page.split(END)[1]];
writeFileSync(PAGE, `${before}${BEGIN}\n\n${table}\n\n${END}${after}`);
