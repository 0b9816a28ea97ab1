/**
 * Parses what a page of the AI SDK posts: its messages, of which only the last one counts, or only that one. From an
 * assistant's message only the answers to approvals are used: the thread has the inputs and results of calls itself.
 */
import { z } from '@hono/zod-openapi';
import type { OutgoingMessage } from '../../../client/outgoing.ts';
import { refuseRequest } from '../problem.ts';
import { toAttachment } from './data-url.ts';

const approval = z.looseObject({
  id: z.string(),
  approved: z.boolean().optional(),
  reason: z.string().optional(),
});

const part = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  url: z.string().optional(),
  mediaType: z.string().optional(),
  filename: z.string().optional(),
  state: z.string().optional(),
  approval: approval.optional(),
});

const message = z.looseObject({
  id: z.string().optional(),
  role: z.enum(['user', 'assistant', 'system']),
  parts: z.array(part),
});

type UiMessage = z.infer<typeof message>;

export const chatBody = z
  .looseObject({
    id: z.string().min(1).max(200).meta({ description: "Id of the chat, which is its thread's id" }),
    messages: z.array(message).optional(),
    message: message.optional(),
    trigger: z.string().optional(),
    arguments: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'Arguments of a new thread' }),
  })
  .openapi('ChatRequest');

export interface GivenApproval {
  readonly id: string;
  readonly approved: boolean;
  readonly reason?: string | undefined;
}

export type ChatTurn =
  | { readonly kind: 'message'; readonly message: OutgoingMessage }
  | { readonly kind: 'approvals'; readonly approvals: readonly GivenApproval[] };

/** Throws `InvalidRequest`. */
export function readChatTurn({ messages, message, trigger }: z.infer<typeof chatBody>): ChatTurn {
  if (trigger === 'regenerate-message')
    refuseRequest('A message of a thread cannot be regenerated, because its log stays: send a new message.');
  const last = message ?? messages?.at(-1);
  if (!last) return refuseRequest('There is no message: give "messages", or the last one as "message".');
  if (last.role === 'user') return { kind: 'message', message: toMessage(last) };
  const approvals = last.parts.flatMap(toApproval);
  if (approvals.length === 0)
    refuseRequest(
      `The last message has the role "${last.role}" and answers no approval: send a message of the user.`,
    );
  return { kind: 'approvals', approvals };
}

function toApproval({ state, approval: given }: z.infer<typeof part>): GivenApproval[] {
  if (state !== 'approval-responded' || given?.approved === undefined) return [];
  return [{ id: given.id, approved: given.approved, reason: given.reason }];
}

function toMessage({ id, parts }: UiMessage): OutgoingMessage {
  const texts = parts.flatMap(({ type, text }) => (type === 'text' && text ? [text] : []));
  const attachments = parts
    .filter(({ type }) => type === 'file')
    .map(({ url = '', ...file }, n) => toAttachment({ ...file, url }, n));
  return {
    ...(id === undefined ? {} : { id }),
    content: texts.join('\n'),
    ...(attachments.length > 0 ? { attachments } : {}),
  };
}
