/** The frames of a thread's stream for clients of Standard Agents: whole rows, pieces of text, events. */
import type { Message } from '../../core/message/message.ts';

/** A message in the format of Standard Agents. */
export interface StandardRow extends Omit<Message, 'subagent_id'> {
  readonly log_id: null;
  readonly reasoning_content: null;
  readonly reasoning_details: null;
  readonly subagent_id: string | null;
}

export type StandardFrame =
  /** A whole row, which replaces the one with the same id. */
  | {
      readonly type: 'message_data';
      readonly message_id: string;
      readonly depth: number;
      readonly data: StandardRow;
    }
  /** A piece of text that is appended to the content of a row that was sent. */
  | {
      readonly type: 'message_chunk';
      readonly message_id: string;
      readonly depth: number;
      readonly chunk: string;
    }
  | {
      readonly type: 'event';
      readonly eventType: string;
      readonly data: unknown;
      /** Milliseconds since 1970. */
      readonly timestamp: number;
    }
  | { readonly type: 'error'; readonly error: string };

export function toStandardRow(message: Message): StandardRow {
  const { subagent_id = null, ...row } = message;
  return { ...row, log_id: null, reasoning_content: null, reasoning_details: null, subagent_id };
}

export function rowFrame(row: StandardRow): StandardFrame {
  return { type: 'message_data', message_id: row.id, depth: row.depth, data: row };
}

export interface StandardFilter {
  readonly includeSilent: boolean;
  /** Rows of sub-prompts down to this depth. */
  readonly depth: number;
}

/** True if the frame passes the client's filter. */
export function isAskedFor(frame: StandardFrame, { includeSilent, depth }: StandardFilter): boolean {
  if (frame.type === 'message_chunk') return frame.depth <= depth;
  if (frame.type !== 'message_data') return true;
  return frame.depth <= depth && (includeSilent || !frame.data.silent);
}
