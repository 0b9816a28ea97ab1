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

export interface OpenResponse {
  /** The execution's id: an execution is one assistant message. */
  readonly messageId: string;
  readonly stepOpen: boolean;
  readonly text: OpenText | null;
  /** Open calls by id. */
  readonly calls: Readonly<Record<string, ChatCall>>;
  /** Arguments of calls whose `tool.called` row was not read yet, by call id. */
  readonly arguments: Readonly<Record<string, string>>;
  /** The newest message so far: the row that refers to it follows. */
  readonly said: RowMessage | null;
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

export function beginChat(dialect: UiDialect = 6): ChatReading {
  return { dialect, response: null };
}

export function openResponse(executionId: string): OpenResponse {
  return {
    messageId: executionId,
    stepOpen: false,
    text: null,
    calls: {},
    arguments: {},
    said: null,
    waits: {},
    waiting: false,
  };
}
