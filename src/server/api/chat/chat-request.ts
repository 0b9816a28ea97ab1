/**
 * Parses what a page of the AI SDK posts: its messages, of which a thread that exists takes only the last one, or only
 * that one. From an assistant's message at the end only the answers to approvals are used: the thread has the inputs
 * and results of calls itself.
 */
import { z } from '@hono/zod-openapi';
import type { OutgoingMessage } from '../../../client/outgoing.ts';
import { type Conversation, readConversation } from '../conversation/conversation.ts';
import type { CopyFiles } from '../conversation/own-files.ts';
import { refuseRequest } from '../problem.ts';
import { optionalField, optionalText } from '../schema/optional-field.ts';
import { toGivenMessages, uiMessage, type uiPart } from './ui-message.ts';

export const chatBody = z
  .looseObject({
    id: z.string().min(1).max(200).meta({ description: "Id of the chat, which is its thread's id" }),
    messages: optionalField(z.array(uiMessage)),
    message: optionalField(uiMessage),
    trigger: optionalText,
    arguments: optionalField(z.record(z.string(), z.unknown())).meta({
      description: 'Arguments of a new thread',
    }),
  })
  .openapi('ChatRequest');

export interface GivenApproval {
  readonly id: string;
  readonly approved: boolean;
  readonly reason?: string | undefined;
}

export type ChatTurn =
  | { readonly kind: 'message'; readonly message: OutgoingMessage; readonly before: Conversation['before'] }
  | { readonly kind: 'approvals'; readonly approvals: readonly GivenApproval[] };

/** Throws `InvalidRequest`. */
export async function readChatTurn(
  { id, messages, message, trigger }: z.infer<typeof chatBody>,
  copy: CopyFiles,
): Promise<ChatTurn> {
  if (trigger === 'regenerate-message')
    refuseRequest('A message of a thread cannot be regenerated, because its log stays: send a new message.');
  const all = message ? [message] : (messages ?? []);
  const last = all.findLast(({ role }) => role !== 'system');
  if (!last) return refuseRequest('There is no message: give "messages", or the last one as "message".');
  const said = await readConversation(all.flatMap(toGivenMessages), { threadId: id, copy });
  if (said.message) return { kind: 'message', message: said.message, before: said.before };
  const approvals = last.parts.flatMap(toApproval);
  if (approvals.length === 0)
    refuseRequest(
      `The last message has the role "${last.role}" and answers no approval: send a message of the user.`,
    );
  return { kind: 'approvals', approvals };
}

function toApproval({ state, approval: given }: z.infer<typeof uiPart>): GivenApproval[] {
  if (state !== 'approval-responded' || given?.approved === undefined) return [];
  return [{ id: given.id, approved: given.approved, reason: given.reason }];
}
