/** State of the projection between two rows. Plain JSON, as small as its open calls and the text being streamed. */
import type { RowMessage } from '../row-message.ts';
import type { AgUiInterrupt, AgUiUsage } from './ag-ui-event.ts';

export interface OpenText {
  readonly messageId: string;
  readonly text: string;
}

/** Reasoning of the running request: the id of the open message, and how many there were. */
export interface OpenReasoning {
  readonly id: string | null;
  readonly count: number;
}

export interface AskedCall {
  readonly name: string;
  readonly given: string;
  readonly parent: string;
}

export interface OpenRun {
  /** Name of the step that was started and is not finished yet in the emitted events. */
  readonly step: string | null;
  readonly role: 'assistant' | 'user';
  /** The request whose answer is being streamed: `<step>.<attempt>.<call>`. */
  readonly request: string | null;
  readonly text: OpenText | null;
  readonly reasoning: OpenReasoning;
  /** Streamed arguments of calls that have not ended, by call id. */
  readonly inputs: Readonly<Record<string, string>>;
  /** Calls that were emitted and have no result yet, by id. */
  readonly calls: Readonly<Record<string, true>>;
  /** Calls that were not emitted yet, by id: name, arguments and message, as the model wrote them. */
  readonly asked: Readonly<Record<string, AskedCall>>;
  /** The newest message so far: the row that refers to it follows. */
  readonly said: RowMessage | null;
  /** Subagents that were emitted and have not returned, by the ids of their threads. */
  readonly subagents: Readonly<Record<string, true>>;
  readonly usage: AgUiUsage | null;
  /** Open waits for people, by id. */
  readonly waits: Readonly<Record<string, AgUiInterrupt>>;
  /** Ids of the calls that the client must run now, by wait id. */
  readonly clientWaits: Readonly<Record<string, string>>;
  /** True while the thread waits for a person or for the client. */
  readonly waiting: boolean;
}

export interface AgUiReading {
  readonly threadId: string;
  /** Creation time of the newest message (`upTo`) and of the one before it (`prior`), in microseconds since 1970. */
  readonly upTo: number;
  readonly prior: number;
  /** Null between executions. */
  readonly open: OpenRun | null;
}

export function beginAgUi(threadId: string): AgUiReading {
  return { threadId, upTo: 0, prior: 0, open: null };
}

/** Before the first piece of an answer. */
export const NOTHING_STREAMED = { request: null, text: null, reasoning: { id: null, count: 0 } } as const;

export const NEW_RUN: OpenRun = {
  step: null,
  role: 'assistant',
  ...NOTHING_STREAMED,
  inputs: {},
  calls: {},
  asked: {},
  said: null,
  subagents: {},
  usage: null,
  waits: {},
  clientWaits: {},
  waiting: false,
};
