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

/** Returns the patterns of the imports that a room refuses. */
function patternsOf(room) {
  const { imports, packages = true } = rooms[room];
  const allowed = imports.length === 0 ? "itself alone" : imports.map((name) => `${name}/`).join(", ");
  const message = `${room}/ imports ${allowed}: scripts/rooms.json`;
  const places = new Set([
    ...refused(room).map((name) => name.split("/").at(-1)),
    ...(packages ? [] : surroundings(room)),
  ]);
  const patterns = [{ regex: `^(\\.\\./)+(${[...places].join("|")})(/|\\.ts)`, message }];
  return packages ? patterns : [...patterns, { regex: "^[^.]", message }];
}

/** Returns the patterns of the imports that a folder refuses because they are on its own floor of the room, or above. */
function floorPatterns(room, folder) {
  const { floors } = rooms[room];
  const own = floors.findIndex((names) => names.includes(folder));
  const places = floors
    .slice(own)
    .flat()
    .filter((name) => name !== folder);
  const message = `${room}/${folder}/ imports the floors below it: scripts/rooms.json`;
  return [{ regex: `^(\\.\\./)+(${places.join("|")})/`, message }];
}

/** Returns the rule for a room, or for a folder on a floor of a room. The last rule that matches a file counts, so it has all patterns. */
function ruleOf(place) {
  const room = place.split("/").slice(0, -1).join("/");
  const patterns = [
    ...patternsOf(rooms[place] === undefined ? room : place),
    ...(rooms[room]?.floors === undefined ? [] : floorPatterns(room, place.split("/").at(-1))),
  ];
  return { files: [`${place}/**`], rules: { "no-restricted-imports": ["error", { patterns }] } };
}

const places = names.flatMap((room) => {
  const onFloors = (rooms[room].floors ?? []).flat().map((name) => `${room}/${name}`);
  return [room, ...onFloors.filter((place) => rooms[place] === undefined)];
});

const lint = JSON.parse(readFileSync(LINT, "utf8"));
const others = lint.overrides.filter(({ rules }) => rules["no-restricted-imports"] === undefined);
lint.overrides = [
  ...places.filter((place) => rooms[place] === undefined || refused(place).length > 0).map(ruleOf),
  ...others,
];
writeFileSync(LINT, `${JSON.stringify(lint, null, 2)}\n`);

const rows = names.map((room) => {
  const { holds, imports } = rooms[room];
  return `| \`${room}/\` | ${holds} | ${imports.map((name) => `\`${name}/\``).join(", ") || "itself"} |`;
});
const floors = names.flatMap((room) =>
  rooms[room].floors === undefined
    ? []
    : [
        `- \`${room}/\`: ${rooms[room].floors.map((floor) => floor.map((name) => `\`${name}/\``).join(" ")).join(", then ")}`,
      ],
);
const table = ["| room | contents      | what it imports |", "| --- | --- | --- |", ...rows].join("\n");
const page = readFileSync(PAGE, "utf8");
const [before, after] = [page.split(BEGIN)[0], page.split(END)[1]];
writeFileSync(
  PAGE,
  `${before}${BEGIN}\n\n${table}\n\nThree rooms have floors. A folder imports the floors before its own alone:\n\n${floors.join("\n")}\n\n${END}${after}`,
);
