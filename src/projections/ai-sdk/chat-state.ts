/** State of the projection between two rows. Plain JSON, as small as its open calls and the text being streamed. */
import type { RowMessage } from '../row-message.ts';
import type { UiDialect } from './ui-chunk.ts';

export interface ChatCall {
  readonly name: string;
  /** The arguments, as the model wrote them. */
  readonly given: string;
  /** True once the call was emitted. It is emitted when its turn comes: pages show an emitted call as running. */
  readonly told: boolean;
  /** Set if a person was asked and did not agree. */
  readonly declined?: true;
}

export interface OpenText {
  /** `<step>.<attempt>.<call>` */
  readonly id: string;
  readonly text: string;
}

/** Reasoning of the running request. */
export interface OpenReasoning {
  /** Ids of its parts, `<step>.<attempt>.<call>.r<n>`: it may go on behind text and calls. */
  readonly ids: readonly string[];
  /** True while the last part is open. */
  readonly open: boolean;
}

/** Arguments that were streamed, of a call that was not emitted yet. */
export interface OpenInput {
  readonly name: string;
  readonly text: string;
}

export interface OpenResponse {
  /** The execution's id: an execution is one assistant message. */
  readonly messageId: string;
  readonly stepOpen: boolean;
  /** The request whose answer is being streamed: `<step>.<attempt>.<call>`. */
  readonly request: string | null;
  readonly text: OpenText | null;
  readonly reasoning: OpenReasoning;
  /** By call id. */
  readonly inputs: Readonly<Record<string, OpenInput>>;
  /** Open calls by id. */
  readonly calls: Readonly<Record<string, ChatCall>>;
  /** Arguments of calls whose `tool.called` row was not read yet, by call id. */
  readonly arguments: Readonly<Record<string, string>>;
  /** The newest message so far: the row that refers to it follows. */
  readonly said: RowMessage | null;
  /** True if the provider's filter has cut the last answer. */
  readonly filtered: boolean;
  /** Open waits by id, each with the id of its call, or null. */
  readonly waits: Readonly<Record<string, string | null>>;
  /** True while the thread waits for a person. */
  readonly waiting: boolean;
}

export interface ChatReading {
  readonly dialect: UiDialect;
  /** Null between executions. */
  readonly response: OpenResponse | null;
}

/** Before the first piece of an answer. */
export const NOTHING_STREAMED = { request: null, text: null, reasoning: { ids: [], open: false } } as const;

export function beginChat(dialect: UiDialect = 6): ChatReading {
  return { dialect, response: null };
}

export function openResponse(executionId: string): OpenResponse {
  return {
    messageId: executionId,
    stepOpen: false,
    ...NOTHING_STREAMED,
    inputs: {},
    calls: {},
    arguments: {},
    said: null,
    filtered: false,
    waits: {},
    waiting: false,
  };
}
