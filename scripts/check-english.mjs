// Counts phrases that docs/style.md refuses, in comments, test names and Markdown. Fails if a file has more of them than english.json allows.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const ALLOWED = "scripts/english.json";

/** Each phrase with what to write instead. */
const PHRASES = [
  [/\bso (many|long|few|often|much)\b/gi, "a number: at most 5, for 30 s"],
  [/\b(tells|told|says|said|speaks|spoke|hears|heard)\b/gi, "things have, return, hold, count"],
  [/\b(whoever|whomever|whosoever)\b/gi, "the noun"],
  [/\bnobody is told\b|\btells nobody\b/gi, "is not reported"],
  [/\b(bury|buries|buried)\b/gi, "dead letter"],
  [/\bcourier\b/gi, "delivery worker"],
  [/\bthe dearest\b/gi, "highest cost first"],
  [/\bof (them|which) those\b/gi, "a full clause"],
  [/\/\*\*\s*(\*\s*)?(What|Whom|Whose|Whether|So) [a-z]/g, "a noun or a verb first"],
];

const NOT_OURS = /^(test\/fixtures|node_modules|dist)\/|^docs\/style\.md$|^scripts\/check-english\.mjs$/;

/** Returns the prose of a file: comments and test names of code, Markdown without its code. */
function proseOf(file, text) {
  if (file.endsWith(".md")) return text.replaceAll(/^```[\s\S]*?^```/gm, "").replaceAll(/`[^`\n]*`/g, "");
  const comments = text.match(/\/\*[\s\S]*?\*\/|(^|\s)\/\/.*$/gm) ?? [];
  const names = text.match(/\b(it|describe|test)(\.\w+(\([^)]*\))?)*\(\s*["'`][^"'`]*["'`]/g) ?? [];
  return [...comments, ...names].join("\n");
}

const found = new Map();
for (const file of execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { encoding: "utf8" }).split("\n")) {
  if (!/\.(tsx?|mjs|md)$/.test(file) || NOT_OURS.test(file)) continue;
  let text;
  try {
    text = proseOf(file, readFileSync(file, "utf8"));
  } catch (error) {
    if (error.code === "ENOENT") continue;
    throw error;
  }
  const phrases = PHRASES.flatMap(([phrase, instead]) =>
    (text.match(phrase) ?? []).map((words) => `${words.replaceAll(/\s+/g, " ").trim()}: ${instead}`),
  );
  if (phrases.length > 0) found.set(file, phrases);
}

if (process.argv.includes("--write")) {
  const counts = Object.fromEntries([...found].map(([file, phrases]) => [file, phrases.length]));
  writeFileSync(ALLOWED, `${JSON.stringify(counts, null, 2)}\n`);
}
const allowed = JSON.parse(readFileSync(ALLOWED, "utf8"));
const worse = [...found].filter(([file, phrases]) => phrases.length > (allowed[file] ?? 0));
for (const [file, phrases] of worse) {
  console.error(`${file}: ${phrases.length} phrases that docs/style.md refuses, ${allowed[file] ?? 0} allowed`);
  for (const phrase of phrases) console.error(`  ${phrase}`);
}
if (process.argv.includes("--count"))
  console.log(
    [...found.values()].reduce((sum, phrases) => sum + phrases.length, 0),
    "in",
    found.size,
    "files",
  );
process.exitCode = worse.length > 0 ? 1 : 0;
