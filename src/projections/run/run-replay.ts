/** Reads the events of a recorded run; nothing is executed. */
import { RuntimeError } from '../../core/value/error.ts';
import type { RunEvent } from './run-event.ts';
import type { RunReport } from './run-report.ts';

/** A report, also one parsed from JSON, a replay, or a list of events. */
export type RunSource = RunReport | RunReplay | readonly RunEvent[];

/**
 * Gives access to the events of a recorded run.
 * @example
 * ```ts
 * const replay = new RunReplay(await client.runs.report('execution-1'));
 * for (const { summary } of replay.iterEvents('task.status')) console.log(summary);
 * ```
 */
export class RunReplay {
  readonly events: readonly RunEvent[];
  /** Absent if the replay was made from a list of events. */
  readonly report?: RunReport;

  /** Throws `InvalidValue` if the source is neither a report nor a list of events. */
  constructor(source: RunSource) {
    if (source instanceof RunReplay) {
      this.events = source.events;
      if (source.report) this.report = source.report;
      return;
    }
    const events: unknown = Array.isArray(source) ? source : (source as RunReport | undefined)?.events;
    if (!Array.isArray(events) || !events.every(isEvent))
      throw new RuntimeError(
        'InvalidValue',
        'This is not a run report: it has no "events" list of RunEvents.',
      );
    this.events = events;
    if (!Array.isArray(source)) this.report = source as RunReport;
  }

  get eventTypes(): readonly string[] {
    return this.events.map(({ type }) => type);
  }

  /** Yields the events in order; only those of `type` if given. */
  *iterEvents(type?: string): Generator<RunEvent> {
    for (const event of this.events) if (type === undefined || event.type === type) yield event;
  }

  findEvents(type: string): readonly RunEvent[] {
    return [...this.iterEvents(type)];
  }
}

function isEvent(value: unknown): value is RunEvent {
  return typeof value === 'object' && value !== null && 'type' in value && 'payload' in value;
}

/** Returns one line per event, to compare two runs: without ids, times and whatever else differs in each run. */
export function runLines(source: RunSource): readonly string[] {
  return new RunReplay(source).events.map(({ type, payload, severity, summary, final }) => {
    const kind = type === 'llm.stream' ? `${type} ${String(payload.llm_event_type)}` : type;
    return [kind, ...(severity === 'info' ? [] : [severity]), ...(final ? ['final'] : []), summary ?? '']
      .join(' | ')
      .trimEnd();
  });
}

export interface DiffLine {
  /** Which of the two runs has the line. */
  readonly in: 'both' | 'first' | 'second';
  readonly line: string;
}

/**
 * Returns the shortest line diff of two runs. Streamed pieces are left out, because their number depends on timing.
 * @example
 * ```ts
 * const [before, after] = [await client.runs.report('monday'), await client.runs.report('tuesday')];
 * for (const { in: where, line } of diffRuns(before, after)) if (where !== 'both') console.log(where, line);
 * ```
 */
export function diffRuns(first: RunSource, second: RunSource): readonly DiffLine[] {
  const lines = (source: RunSource) =>
    runLines(source).filter((line) => !line.startsWith('llm.stream llm_chunk'));
  const [a, b] = [lines(first), lines(second)];
  const lengths = commonLengths(a, b);
  const found: DiffLine[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const [left, right] = [a[i], b[j]];
    if (left !== undefined && left === right) {
      found.push({ in: 'both', line: left });
      i += 1;
      j += 1;
    } else if (
      right === undefined ||
      (left !== undefined && lengthAt(lengths, i + 1, j) >= lengthAt(lengths, i, j + 1))
    ) {
      found.push({ in: 'first', line: left as string });
      i += 1;
    } else {
      found.push({ in: 'second', line: right });
      j += 1;
    }
  }
  return found;
}

const lengthAt = (lengths: readonly Uint32Array[], i: number, j: number) => lengths[i]?.[j] ?? 0;

/** For each pair of indexes: length of the longest common subsequence of the lines from there on. */
function commonLengths(a: readonly string[], b: readonly string[]): Uint32Array[] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const row = lengths[i] as Uint32Array;
      row[j] =
        a[i] === b[j]
          ? lengthAt(lengths, i + 1, j + 1) + 1
          : Math.max(lengthAt(lengths, i + 1, j), lengthAt(lengths, i, j + 1));
    }
  }
  return lengths;
}
