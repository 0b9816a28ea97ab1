/** State of the projection between two rows. Plain JSON, as small as its open calls and the text being streamed. */
import type { RowMessage } from '../row-message.ts';

export interface OpenExecution {
  readonly executionId: string;
  readonly round: number;
  /** Names of open calls, by their ids. */
  readonly calls: Readonly<Record<string, string>>;
  /** Arguments of calls that were not emitted yet, by call id. */
  readonly arguments: Readonly<Record<string, string>>;
  /** The newest message so far: the row that refers to it follows. */
  readonly said: RowMessage | null;
  /** Text of the current answer that was streamed so far. */
  readonly text: string;
  /** Text of the agent's last answer; sub-prompts do not count. */
  readonly answer: string;
  /** The model that was asked last; `failure`: why its request has failed. */
  readonly model: string | null;
  readonly failure: string | null;
  /** Ids of the open waits of the execution, and of the descendants that it waits for. */
  readonly waits: readonly string[];
  /** Progress of the hook that keeps the turn (turn-mark.ts); `notKept`: its error, if it has failed. */
  readonly keeping: 'no' | 'begun' | 'kept';
  readonly notKept: string | null;
  /** True if code of another process produces the execution, and with it the events. */
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
