// Fails if comments, test names, Markdown or the texts of the program have phrases that docs/style.md refuses.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Each phrase with its replacement. The label `cost-centre` of the demo is a name, not a word. */
const PHRASES = [
  [/\bso (many|long|few|often|much)\b/gi, "a number: at most 5, for 30 s"],
  [/\b(tells?|told|says?|said|speaks?|spoke|hears?|heard)\b(?!-)/gi, "things have, return, hold, count"],
  [/\b(whoever|whomever|whosoever)\b/gi, "the noun"],
  [/\bnobody is told\b|\btells nobody\b/gi, "is not reported"],
  [/\b(bury|buries|buried)\b/gi, "dead letter"],
  [/\bcourier\b/gi, "delivery worker"],
  [/\b(the|\d+|\}) dearest\b/gi, "highest cost first"],
  [/\bpaid for nothing\b/gi, "waste"],
  [/\bof (them|which) those\b/gi, "a full clause"],
  [
    /\b(utilis|organis|initialis|behaviour|colour|(?<!cost-)cent(re|res)\b|honour|labell(ed|ing)|neighbour|catalogue)\w*/gi,
    "American spelling",
  ],
  [/\/\*\*\s*(\*\s*)?(What|Whom|Whose|Whether|So) [a-z]/g, "a noun or a verb first"],
];

const NOT_OURS = /^(test\/fixtures|node_modules|dist)\/|^docs\/style\.md$|^scripts\/check-english\.mjs$/;

/** Code whose texts are the inputs and the expectations of tests. */
const TESTS = /^test\//;
/** Tests whose names are texts of a list. A name has a blank, other than most inputs. */
const NAMED_CASES = /^test\/support\/rules\/cases\//;

/** Returns the prose of a file: comments, test names and texts of code, Markdown without its code. */
function proseOf(file, text) {
  if (file.endsWith(".md")) return text.replaceAll(/^```[\s\S]*?^```/gm, "").replaceAll(/`[^`\n]*`/g, "");
  const comments = text.match(/\/\*[\s\S]*?\*\/|(^|\s)\/\/.*$/gm) ?? [];
  const names = text.match(/\b(it|describe|test)(\.\w+(\([^)]*\))?)*\(\s*["'`][^"'`]*["'`]/g) ?? [];
  if (NAMED_CASES.test(file)) names.push(...textsOf(file, text).filter((each) => each.includes(" ")));
  return [...comments, ...(TESTS.test(file) ? names : textsOf(file, text))].join("\n");
}

/** Returns the strings and templates of code, with the values in them, and the texts between the tags of JSX. */
function textsOf(file, text) {
  const between = file.endsWith(".tsx") ? (text.match(/>[^<>{}]+</g) ?? []) : [];
  return [...between, ...(text.match(/"(\\.|[^"\\\n])*"|`(\\[\s\S]|[^`\\])*`/g) ?? [])];
}

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
  if (phrases.length === 0) continue;
  process.exitCode = 1;
  console.error([`${file}: phrases that docs/style.md refuses`, ...phrases].join("\n  "));
}
