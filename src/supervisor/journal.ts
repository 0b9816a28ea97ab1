/**
 * The journal that a worker process writes to a separate pipe: which units of author code it begins and ends, and which
 * one blocks its event loop. Lines are written synchronously, so they exist however the process ends.
 * - A line that cannot be parsed is skipped: author code runs in the process that writes them.
 */
import type { AuthorCode, AuthorRun } from '../author/guard/author-run.ts';

/** `work` is the unit's key; `code` and `name` identify the innermost author code that was running. */
export type Unit = AuthorRun;

export interface Culprit extends Unit {
  readonly stack: string;
}

export type JournalLine =
  | { readonly kind: 'begin'; readonly id: number; readonly unit: Unit }
  | { readonly kind: 'end'; readonly id: number }
  /** The watchdog is about to kill the process, whose event loop has been blocked for `forMs`. */
  | { readonly kind: 'stalled'; readonly forMs: number; readonly culprit?: Culprit };

/** File descriptor of the journal pipe in the worker process. */
export const JOURNAL_FD = 4;

const LINE_CHARS = 16_384;

export function toLine(line: JournalLine): string {
  return `${JSON.stringify(line)}\n`;
}

export interface Stall {
  readonly forMs: number;
  readonly culprit?: Culprit;
}

export class Journal {
  readonly #running = new Map<number, Unit>();
  #stall: Stall | undefined;
  #partialLine = '';

  read(text: string): void {
    const lines = (this.#partialLine + text).split('\n');
    this.#partialLine = (lines.pop() ?? '').slice(-LINE_CHARS);
    for (const line of lines) this.#handleLine(parse(line));
  }

  /** Running units, each once, oldest first. */
  get running(): readonly Unit[] {
    return [...new Map([...this.#running.values()].map((unit) => [unit.work, unit])).values()];
  }

  get stall(): Stall | undefined {
    return this.#stall;
  }

  #handleLine(line: JournalLine | undefined): void {
    switch (line?.kind) {
      case 'begin':
        this.#running.set(line.id, line.unit);
        break;
      case 'end':
        this.#running.delete(line.id);
        break;
      case 'stalled':
        this.#stall = { forMs: line.forMs, culprit: line.culprit };
    }
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** Skips unparsable lines. */
function parse(line: string): JournalLine | undefined {
  try {
    const { kind, id, unit, forMs, culprit } = JSON.parse(line) as Fields;
    if (kind === 'begin' && typeof id === 'number' && isUnit(unit)) return { kind, id, unit };
    if (kind === 'end' && typeof id === 'number') return { kind, id };
    if (kind !== 'stalled' || typeof forMs !== 'number') return undefined;
    if (!isUnit(culprit)) return { kind, forMs };
    const { stack } = culprit as { stack?: unknown };
    return { kind, forMs, culprit: { ...culprit, stack: typeof stack === 'string' ? stack : '' } };
  } catch {
    return undefined;
  }
}

/** True if code of this kind is work of a thread: all but loading the project's modules. Must list every kind. */
const IS_WORK: Readonly<Record<AuthorCode, boolean>> = {
  tool: true,
  hook: true,
  effect: true,
  endpoint: true,
  model: true,
  policy: true,
  task: true,
  subprompt: true,
  run_code: true,
  project: false,
};

export function isUnit(value: unknown): value is Unit {
  if (typeof value !== 'object' || value === null) return false;
  const { code, name, threadId, work } = value as Fields;
  return (
    IS_WORK[code as AuthorCode] === true && [name, threadId, work].every((each) => typeof each === 'string')
  );
}
