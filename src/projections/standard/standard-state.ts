/** State of the projection between two rows: the answers that are being written. Plain JSON, as small as those. */
import type { MessageRole } from '../../core/message/message.ts';
import { rowFrame, type StandardFrame, type StandardRow } from './standard-frame.ts';

export interface OpenAnswer {
  /** Id of the message that the answer becomes. */
  readonly id: string;
  readonly role: MessageRole;
  readonly depth: number;
  /** When its step began, in microseconds since 1970. */
  readonly at: number;
  /** Null until a piece of it was sent. */
  readonly text: string | null;
}

export interface StandardReading {
  readonly threadId: string;
  /** Answers that are being written, by step. */
  readonly open: Readonly<Record<number, OpenAnswer>>;
}

export function beginStandard(threadId: string): StandardReading {
  return { threadId, open: {} };
}

/** Returns the pending rows with their text so far, for a client that joins now. */
export function openFrames({ open }: StandardReading): readonly StandardFrame[] {
  return Object.values(open)
    .filter(({ text }) => text !== null)
    .map((answer) => answerFrame(answer, { status: 'pending', content: answer.text || null }));
}

export function answerFrame(
  { id, role, depth, at }: OpenAnswer,
  { status, content }: Pick<StandardRow, 'status' | 'content'>,
): StandardFrame {
  return rowFrame({
    id,
    role,
    content,
    name: null,
    tool_calls: null,
    tool_call_id: null,
    created_at: at,
    parent_id: null,
    depth,
    silent: false,
    metadata: {},
    attachments: null,
    status,
    tool_status: null,
    log_id: null,
    reasoning_content: null,
    reasoning_details: null,
    subagent_id: null,
  });
}
