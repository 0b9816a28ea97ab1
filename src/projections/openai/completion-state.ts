/** State of the projection between two rows. Plain JSON, as small as its open waits and the text of one step. */
import type { RowMessage } from '../row-message.ts';
import type { CompletionCall, CompletionUsage } from './completion-chunk.ts';

export interface OpenCompletion {
  /** Id of the completion in OpenAI's form, derived from the execution's id. */
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  /** Text of the open step that was emitted so far. */
  readonly told: string;
  /** Text that the step's current attempt has streamed; `id`: `<step>.<attempt>.<call>`. */
  readonly attempt: { readonly id: string; readonly text: string } | null;
  /** True once text of the answer was emitted, of any step. */
  readonly begun: boolean;
  /** True if the answer has a type: the last text that fits it is emitted at the end, and no other. */
  readonly typed: boolean;
  /** The newest text of such an answer. One that does not fit is emitted at the end if none did, as after a handoff. */
  readonly held: string;
  /** True if that text fits. */
  readonly fits: boolean;
  /** The newest message so far: the row that refers to it follows. */
  readonly said: RowMessage | null;
  /** True if the provider's filter has cut the last answer. */
  readonly filtered: boolean;
  readonly usage: CompletionUsage;
  /** Descriptions of the open waits for people, by wait id. */
  readonly waits: Readonly<Record<string, string>>;
  /** Calls of the client's tools that have no result, by the model's ids of them. */
  readonly calls: Readonly<Record<string, Pick<CompletionCall, 'id' | 'function'>>>;
  /** Ids of the calls that the client must run now, by wait id. */
  readonly clientWaits: Readonly<Record<string, string>>;
  /** True while the thread waits for a person or for the client. */
  readonly waiting: boolean;
}

export interface CompletionReading {
  /** The agent that answers. */
  readonly model: string;
  readonly threadId: string;
  /** If true, text is emitted only once it is committed. */
  readonly whole: boolean;
  /** If true, an answer that fits its type is emitted, and no other text: the client parses it. */
  readonly parsed?: boolean;
  /** Null between executions. */
  readonly open: OpenCompletion | null;
}

export function beginCompletion(begin: Omit<CompletionReading, 'open'>): CompletionReading {
  return { ...begin, open: null };
}

export function openCompletion(executionId: string, at: number, typed = false): OpenCompletion {
  return {
    typed,
    held: '',
    fits: false,
    id: `chatcmpl-${executionId}`,
    created: Math.floor(at / 1_000_000),
    told: '',
    attempt: null,
    begun: false,
    said: null,
    filtered: false,
    usage: {
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
    waits: {},
    calls: {},
    clientWaits: {},
    waiting: false,
  };
}
