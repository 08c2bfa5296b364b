import { isDeepStrictEqual } from "node:util";
import { sameProgram, type Program } from "../fold/program.ts";
import type { CutPage, Layout } from "./layout.ts";
import type { Blocks } from "./match.ts";
import type { LineDrop, ScrapeOrigin } from "../../../domain/scrape.ts";

/** What is kept of a target's last page so that the next one, if only numbers differ, is read by comparison. */
export interface Template extends Blocks {
  readonly layout: Layout;
  readonly program: Program;
  /** The hosts that the page has rows of: the stable part of the messages of each, and where its values lie. */
  readonly hosts: readonly {
    readonly origin: ScrapeOrigin;
    readonly stable: Uint8Array;
    readonly from: number;
    readonly until: number;
  }[];
  readonly gpus: number;
  /** Of the rows that its program makes. */
  readonly columns: readonly string[];
  /** What the page's text leaves out, whatever the numbers. */
  readonly dropped: Readonly<Partial<Record<LineDrop, number>>>;
}

/** The templates of all targets within one byte budget; layouts and programs are shared between targets. */
export interface Templates {
  get(target: string): Template | undefined;
  /** Keeps a template in the place of the target's former one, or refuses it where the budget is spent. */
  keep(target: string, cut: CutPage, rest: Omit<Template, keyof Blocks | "layout">): void;
  /** Forgets a target that is gone. */
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

/** What templates of one layout have in common, as long as one of them has it. */
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

/** Objects and typed arrays around the bytes of one template, measured on Node 20. */
const OVERHEAD_BYTES = 700;

/** An empty store of templates that takes `budgetBytes` at most. */
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
      // The key is held beside the layout's own bytes.
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

/** The value that is the same and in use, else this one, with one more user. */
function use<Value>(known: Used<Value>[], value: Value, isSame: (a: Value, b: Value) => boolean): Used<Value> {
  const same = known.find((each) => isSame(each.value, value));
  const used = same ?? { value, users: 0 };
  if (same === undefined) known.push(used);
  used.users += 1;
  return used;
}

/** Takes a user away; whether it was the last. */
function letGo<Value>(known: Used<Value>[], used: Used<Value>): boolean {
  used.users -= 1;
  if (used.users > 0) return false;
  known.splice(known.indexOf(used), 1);
  return true;
}

function programBytes(program: Program): number {
  return program.cells.length * (4 + 8 + 8 + 8 + 1);
}
