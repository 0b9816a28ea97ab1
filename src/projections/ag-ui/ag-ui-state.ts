/** What the reading of an AG-UI run knows between two rows. Plain JSON, as small as its open calls and the text that is being streamed. */
import type { Said } from '../row-message.ts';
import type { AgUiInterrupt, AgUiUsage } from './ag-ui-event.ts';

export interface OpenText {
  readonly messageId: string;
  /** `<step>.<attempt>.<call>` */
  readonly attempt: string;
  readonly text: string;
}

export interface AskedCall {
  readonly name: string;
  readonly given: string;
  readonly parent: string;
}

export interface OpenRun {
  /** The name of the step that is told to be open. */
  readonly step: string | null;
  readonly role: 'assistant' | 'user';
  readonly text: OpenText | null;
  /** Told, and not answered. */
  readonly calls: Readonly<Record<string, true>>;
  /** Of calls that are to be called: what the model wrote, and in which message. */
  readonly asked: Readonly<Record<string, AskedCall>>;
  /** The message before this row. */
  readonly said: Said | null;
  /** Told, and not returned: their threads. */
  readonly subagents: Readonly<Record<string, true>>;
  readonly usage: AgUiUsage | null;
  /** The waits that are open, by id. */
  readonly waits: Readonly<Record<string, AgUiInterrupt>>;
  /** The calls that the client is to run itself now, by the wait of each. */
  readonly clientWaits: Readonly<Record<string, string>>;
  /** It waits for a person, or for its client. */
  readonly waiting: boolean;
}

export interface AgUiReading {
  readonly threadId: string;
  /** When the newest message that was heard was made, and the one before it; microseconds. */
  readonly upTo: number;
  readonly prior: number;
  /** Null between executions. */
  readonly open: OpenRun | null;
}

export function beginAgUi(threadId: string): AgUiReading {
  return { threadId, upTo: 0, prior: 0, open: null };
}

export const NEW_RUN: OpenRun = {
  step: null,
  role: 'assistant',
  text: null,
  calls: {},
  asked: {},
  said: null,
  subagents: {},
  usage: null,
  waits: {},
  clientWaits: {},
  waiting: false,
};
