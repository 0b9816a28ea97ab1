/** What the reading of a chat knows between two rows. Plain JSON, as small as its open calls and the text that is being streamed. */
import type { Said } from '../row-message.ts';
import type { UiDialect } from './ui-chunk.ts';

export interface ChatCall {
  readonly name: string;
  /** As the model wrote them. */
  readonly given: string;
  /** A call is told when its turn comes: a page takes a call that is told for one that is being done. */
  readonly told: boolean;
  /** A person was asked and did not agree. */
  readonly declined?: true;
}

export interface OpenText {
  /** `<step>.<attempt>.<call>` */
  readonly id: string;
  readonly text: string;
}

export interface OpenResponse {
  /** An execution is one message of the assistant. */
  readonly messageId: string;
  readonly stepOpen: boolean;
  readonly text: OpenText | null;
  /** By the id of the call. */
  readonly calls: Readonly<Record<string, ChatCall>>;
  /** Arguments of calls that are to be called, by the id of the call. */
  readonly arguments: Readonly<Record<string, string>>;
  /** The message before this row. */
  readonly said: Said | null;
  /** The waits that are open, by id: of which call each is. */
  readonly waits: Readonly<Record<string, string | null>>;
  /** It waits for a person. */
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
