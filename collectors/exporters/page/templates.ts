import { isDeepStrictEqual } from "node:util";
import { sameProgram, type Program } from "../fold/program.ts";
import type { CutPage, Layout } from "./layout.ts";
import type { Blocks } from "./match.ts";
import type { LineDrop, ScrapeOrigin } from "../../../domain/scrape.ts";

/** The template of a target's last page. If only numbers differ in the next page, it is read by comparison. */
export interface Template extends Blocks {
  readonly layout: Layout;
  readonly program: Program;
  /** The hosts with rows on the page: the stable part of each host's messages, and the range of its values. */
  readonly hosts: readonly {
    readonly origin: ScrapeOrigin;
    readonly stable: Uint8Array;
    readonly from: number;
    readonly until: number;
  }[];
  readonly gpus: number;
  /** The columns of the rows that the program makes. */
  readonly columns: readonly string[];
  /** The drop counts that follow from the page's text, whatever the numbers. */
  readonly dropped: Readonly<Partial<Record<LineDrop, number>>>;
}

/** The templates of all targets within one byte budget. Targets share layouts and programs. */
export interface Templates {
  get(target: string): Template | undefined;
  /** Stores a template in place of the target's previous one. Refuses it if the budget is used up. */
  keep(target: string, cut: CutPage, rest: Omit<Template, keyof Blocks | "layout">): void;
  /** Removes the template of a target that no longer exists. */
  release(target: string): void;
  readonly stats: { readonly templates: number; readonly bytes: number; readonly refused: number };
}

interface SharedLayout {
  readonly key: string;
  readonly layout: Layout;
  readonly programs: Used<Program>[];
  readonly columns: Used<readonly string[]>[];
  users: number;
}

/** A value that templates of one layout share, with the number of its users. */
interface Used<Value> {
  readonly value: Value;
  users: number;
}

interface Kept {
  readonly template: Template;
  readonly shared: SharedLayout;
  readonly program: Used<Program>;
  readonly columns: Used<readonly string[]>;
  readonly bytes: number;
}

/** The size of the objects and typed arrays around the bytes of one template, measured on Node 20. */
const OVERHEAD_BYTES = 700;

/** Creates an empty store of templates with at most `budgetBytes` bytes. */
export function createTemplates(budgetBytes: number): Templates {
  const kept = new Map<string, Kept>();
  const layouts = new Map<string, SharedLayout>();
  let bytes = 0;
  let refused = 0;

  function share(cut: CutPage): SharedLayout {
    let shared = layouts.get(cut.key);
    if (shared === undefined) {
      shared = { key: cut.key, layout: cut.layout, programs: [], columns: [], users: 0 };
      layouts.set(cut.key, shared);
      // The key is stored in addition to the layout's own bytes.
      bytes += cut.layout.bytes + cut.key.length;
    }
    shared.users += 1;
    return shared;
  }

  function leave(shared: SharedLayout): void {
    shared.users -= 1;
    if (shared.users > 0) return;
    layouts.delete(shared.key);
    bytes -= shared.layout.bytes + shared.key.length;
  }

  function release(target: string): void {
    const former = kept.get(target);
    if (former === undefined) return;
    kept.delete(target);
    bytes -= former.bytes;
    if (letGo(former.shared.programs, former.program)) bytes -= programBytes(former.program.value);
    letGo(former.shared.columns, former.columns);
    leave(former.shared);
  }

  return {
    get: (target) => kept.get(target)?.template,
    keep(target, cut, { program, hosts, gpus, columns, dropped }) {
      release(target);
      const ofHosts = hosts.reduce((sum, { stable }) => sum + stable.length + OVERHEAD_BYTES, 0);
      const own = cut.blocks.length + cut.blockStarts.byteLength + ofHosts;
      if (bytes + own + cut.layout.bytes > budgetBytes) {
        refused += 1;
        return;
      }
      const shared = share(cut);
      const ofProgram = use(shared.programs, program, sameProgram);
      if (ofProgram.users === 1) bytes += programBytes(program);
      const ofColumns = use(shared.columns, columns, isDeepStrictEqual);
      const { blocks, blockStarts } = cut;
      kept.set(target, {
        template: {
          layout: shared.layout,
          blocks,
          blockStarts,
          program: ofProgram.value,
          hosts,
          gpus,
          columns: ofColumns.value,
          dropped,
        },
        shared,
        program: ofProgram,
        columns: ofColumns,
        bytes: own,
      });
      bytes += own;
    },
    release,
    get stats() {
      return { templates: kept.size, bytes, refused };
    },
  };
}

/** Returns the known value that is equal, or adds this one, with one more user. */
function use<Value>(known: Used<Value>[], value: Value, isSame: (a: Value, b: Value) => boolean): Used<Value> {
  const same = known.find((each) => isSame(each.value, value));
  const used = same ?? { value, users: 0 };
  if (same === undefined) known.push(used);
  used.users += 1;
  return used;
}

/** Removes a user. Returns whether it was the last one. */
function letGo<Value>(known: Used<Value>[], used: Used<Value>): boolean {
  used.users -= 1;
  if (used.users > 0) return false;
  known.splice(known.indexOf(used), 1);
  return true;
}

function programBytes(program: Program): number {
  return program.cells.length * (4 + 8 + 8 + 8 + 1) + program.folds.from.length * (4 + 4 + 1);
}
