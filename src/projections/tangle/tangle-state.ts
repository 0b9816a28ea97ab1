/** What the reading knows between two rows. Plain JSON, as small as its open calls and the text that is being streamed. */
import type { Said } from '../row-message.ts';

export interface OpenExecution {
  readonly executionId: string;
  readonly round: number;
  /** Names of open calls, by their ids. */
  readonly calls: Readonly<Record<string, string>>;
  /** Arguments of calls that are to be told of, by the id of the call. */
  readonly arguments: Readonly<Record<string, string>>;
  /** The message before this row. */
  readonly said: Said | null;
  /** Streamed of the present answer. */
  readonly text: string;
  /** The last answer of the agent's own. */
  readonly answer: string;
  /** Asked last, and why it has failed. */
  readonly model: string | null;
  readonly failure: string | null;
  /** Waits of the execution and of those it waits for. */
  readonly waits: readonly string[];
  /** The hook that keeps the turn has begun, has done it, or has failed with these words (turn-mark.ts). */
  readonly keeping: 'no' | 'begun' | 'kept';
  readonly notKept: string | null;
  /** Code of another process tells all of it, in its own words. */
  readonly produced: boolean;
}

export interface TangleReading {
  readonly sessionId: string;
  readonly open: OpenExecution | null;
}

export function beginTangle(sessionId: string): TangleReading {
  return { sessionId, open: null };
}

export function openExecution(executionId: string, produced = false): OpenExecution {
  return {
    executionId,
    round: 0,
    calls: {},
    arguments: {},
    said: null,
    text: '',
    answer: '',
    model: null,
    failure: null,
    waits: [],
    keeping: 'no',
    notKept: null,
    produced,
  };
}
