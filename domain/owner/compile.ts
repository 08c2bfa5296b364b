import { momentText } from "../time.ts";
import { contradictionsInFile, contradictionsInList } from "./contradictions.ts";
import { DIMENSIONS, PLATFORM, UNOWNED, type Dimension, type Owner } from "./owner.ts";
import { compileFile, type CompiledRow } from "./file.ts";
import { sourceOfLabel } from "./label.ts";
import { readPattern, type Pattern } from "./pattern.ts";
import { isReserved, readsReserved } from "./reserved.ts";
import type { Source } from "./source.ts";
import {
  holdsAt,
  MATCH_KINDS,
  matchOf,
  type OwnerConfig,
  type OwnerProblem,
  type OwnerRule,
  type RuleTerm,
} from "./rule.ts";

/** The compiled owner rules of a configuration. */
export interface OwnerRules {
  /** The sources of each dimension, in order of precedence. */
  readonly sources: Readonly<Record<Dimension, readonly Source[]>>;
  /** Undefined if every name is accepted as a team. */
  readonly register: ReadonlySet<string> | undefined;
  /** The teams that read like reserved names, and count: the configuration or earlier charges have them. */
  readonly given: ReadonlySet<string>;
  /** The moments at which a dated rule begins or ends, sorted, without duplicates. */
  readonly changes: readonly number[];
}

/** The rules, or all of their problems at once. */
export type CompiledOwners = { readonly rules: OwnerRules } | { readonly problems: readonly OwnerProblem[] };

/** A row of finance's file with the owner that it names. */
interface Answer extends CompiledRow {
  readonly owner: Owner;
}

/** A compiled list, with its patterns by index. A pattern is undefined for a rule that reads a label. */
interface CompiledList {
  readonly sources: readonly Source[];
  readonly patterns: readonly (Pattern | undefined)[];
}

/**
 * Compiles the rules of a configuration (docs/owners.md). Invalid patterns are problems. So are two rules that match the same name at the
 * same time with different values.
 */
export function compileOwners(config: OwnerConfig): CompiledOwners {
  const { owners, ownersFile = [], register } = config;
  const problems: OwnerProblem[] = [];
  const rows = compileFile(ownersFile, problems);
  const sources = {} as Record<Dimension, readonly Source[]>;
  for (const dimension of DIMENSIONS) {
    const rules = owners[dimension];
    const list = compileList(rules, dimension, rows, problems);
    sources[dimension] = list.sources;
    problems.push(...contradictionsInList(rules, list.patterns, dimension));
  }
  problems.push(...contradictionsInFile(rows), ...reservedTeams(config));
  if (problems.length > 0) return { problems };
  const dated = [
    ...ownersFile,
    ...DIMENSIONS.flatMap((dimension) => owners[dimension].filter((rule) => "value" in rule)),
  ];
  const moments = dated.flatMap(({ from, until }) => [from, until]).filter((moment) => moment !== undefined);
  const changes = [...new Set(moments)].toSorted((a, b) => a - b);
  const given = new Set([...givenTeams(config), ...(config.chargedTeams ?? [])].filter(readsReserved));
  return { rules: { sources, register: register === undefined ? undefined : new Set(register), given, changes } };
}

/** Returns the teams that a configuration names itself. Labels of a cluster can name others. */
export function givenTeams({ owners, ownersFile = [], register = [] }: OwnerConfig): readonly string[] {
  const ofRules = owners.team.flatMap((rule) => ("value" in rule ? [rule.value] : []));
  return [...register, ...ofRules, ...ownersFile.flatMap(({ values: { team } }) => (team === undefined ? [] : [team]))];
}

/** Returns a problem for each team with a reserved name. Labels of a cluster with such a name are refused when they are read. */
function reservedTeams({ owners, ownersFile = [], register = [] }: OwnerConfig): readonly OwnerProblem[] {
  const allowed = `a team that is called neither ${PLATFORM} nor ${UNOWNED}`;
  return [
    ...register.flatMap((name, index) => (isReserved(name) ? [{ path: ["register", index], allowed }] : [])),
    ...owners.team.flatMap((rule, index) =>
      "value" in rule && isReserved(rule.value) ? [{ path: ["owners", "team", index, "value"], allowed }] : [],
    ),
    ...ownersFile.flatMap(({ line, values: { team } }) =>
      team !== undefined && isReserved(team)
        ? [{ path: ["ownersFile"], allowed: `a file of owners: in line ${line}, the team is ${team}, not ${allowed}` }]
        : [],
    ),
  ];
}

/** Compiles the rules of one dimension. Finance's file comes where the list has it, otherwise it comes first. */
function compileList(
  rules: readonly OwnerRule[],
  dimension: Dimension,
  rows: readonly CompiledRow[],
  problems: OwnerProblem[],
): CompiledList {
  const patterns: (Pattern | undefined)[] = [];
  const sources = rules.map((rule, index): Source => {
    if ("ownersFile" in rule) return sourceOfFile(rows, dimension);
    if (!("value" in rule)) return sourceOfLabel(rule);
    const { kind, match } = matchOf(rule);
    const pattern = readPattern(match);
    if ("allowed" in pattern) {
      problems.push({ path: ["owners", dimension, index, kind], allowed: pattern.allowed });
      return () => [];
    }
    patterns[index] = pattern;
    const source = `${kind} ${match}`;
    const answer = [{ value: rule.value, rule: rule.name ?? `${source}${termText(rule)}`, source }];
    return (subject, at) => (holdsAt(rule, at) && subject[kind] !== "" && pattern.fits(subject[kind]) ? answer : []);
  });
  const hasOwnersFile = rules.some((rule) => "ownersFile" in rule);
  return { sources: hasOwnersFile ? sources : [sourceOfFile(rows, dimension), ...sources], patterns };
}

/**
 * Returns the source for a dimension from finance's file, in the order of rank. Exact names are looked up in a map; patterns are tried one
 * by one.
 */
function sourceOfFile(rows: readonly CompiledRow[], dimension: Dimension): Source {
  const asked = MATCH_KINDS.map((kind) => ({ kind, exact: new Map<string, Answer[]>(), others: [] as Answer[] }));
  for (const { row, pattern } of rows) {
    const value = row.values[dimension];
    const of = asked.find(({ kind }) => kind === row.kind);
    if (value === undefined || of === undefined) continue;
    const source = `${row.kind} ${row.match}`;
    const owner = { value, rule: `ownersFile ${source}${termText(row)}`, source };
    const answer = { row, pattern, owner };
    if (pattern.kind !== "exact") of.others.push(answer);
    else of.exact.set(row.match, [...(of.exact.get(row.match) ?? []), answer]);
  }
  const answering = asked.filter(({ exact, others }) => exact.size + others.length > 0);
  return (subject, at) =>
    answering.flatMap(({ kind, exact, others }) => {
      const name = subject[kind];
      if (name === "") return [];
      const fitting = [...(exact.get(name) ?? []), ...others.filter(({ pattern }) => pattern.fits(name))];
      return fitting.filter(({ row }) => holdsAt(row, at)).map(({ owner }) => owner);
    });
}

/** When a rule holds, as the end of its name; empty for one that always holds. */
function termText({ from, until }: RuleTerm): string {
  return `${from === undefined ? "" : ` from ${momentText(from)}`}${until === undefined ? "" : ` until ${momentText(until)}`}`;
}
